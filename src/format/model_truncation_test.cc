// The default model, cut off at 2,000 places, always gives an error that names what is missing.
// One mapping serves all of them: a truncated file is a shorter view of it.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/mapped_file.h"
#include "format/gguf.h"
#include "support/test_data.h"

namespace wick {
namespace {

using test::default_model;

constexpr int kPlaces = 2000;

TEST(ModelTruncation, EveryPlaceGivesAnErrorThatNamesWhatIsMissing) {
  const auto file = MappedFile::open(default_model());
  ASSERT_TRUE(file) << to_string(file.error());
  const auto whole = parse_gguf(file->bytes(), "model.gguf");
  ASSERT_TRUE(whole) << to_string(whole.error());
  const auto data_begin =
      static_cast<std::size_t>(whole->tensors.front().bytes.data() - file->bytes().data());
  const TensorView& last = whole->tensors.back();
  const auto data_end =
      static_cast<std::size_t>(last.bytes.data() + last.bytes.size() - file->bytes().data());
  std::mt19937_64 random(1);
  int named_tensor = 0;
  for (int i = 0; i < kPlaces; ++i) {  // half of them in the metadata and the tensor table
    const std::size_t size = random() % (i % 2 == 0 ? data_begin : data_end);
    const auto part = parse_gguf(file->bytes().first(size), "model.gguf");
    ASSERT_FALSE(part) << "read a model cut off at byte " << size;
    const Error& error = part.error();
    EXPECT_EQ(error.id.substr(0, 10), "truncated_") << size << ": " << error.message;
    EXPECT_NE(error.message.find("model.gguf: "), std::string::npos) << error.message;
    const bool names_part = error.message.find("inside ") != std::string::npos ||
                            error.message.find("tensor '") != std::string::npos;
    EXPECT_TRUE(names_part) << size << ": " << error.message;
    named_tensor += error.id == "truncated_tensor" ? 1 : 0;
  }
  EXPECT_GE(named_tensor, kPlaces / 2 - 200);
}

TEST(ModelOpen, ReadsTheDefaultModel) {
  const auto file = ModelFile::open(default_model());
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->format(), FileFormat::kGguf);
  EXPECT_EQ(file->tensors().size(), 272U);
  EXPECT_EQ(file->bytes(), 98362432U);
  EXPECT_EQ(file->metadata().integer("llama.block_count"), 30);
  EXPECT_EQ(file->metadata().strings("tokenizer.ggml.tokens")->size(), 49152U);
  const TensorView* q = file->find("blk.29.attn_q.weight");
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(to_string(q->shape), "[576, 576]");
  EXPECT_EQ(q->type, DType::kQ4_1);
}

}  // namespace
}  // namespace wick
