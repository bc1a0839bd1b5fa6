#include "format/gguf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "format/limits.h"
#include "support/gguf_writer.h"

namespace wick {
namespace {

using test::Bytes;
using test::bytes_of;
using test::GgufWriter;

// Two tensors, and a key of every kind.
GgufWriter small_model(const GgufWriter::Options& options = {}) {
  GgufWriter gguf(options);
  gguf.add_string("general.architecture", "llama")
      .add_integer("llama.block_count", 2)
      .add_number("llama.rope.freq_base", 10000.0)
      .add_bool("tokenizer.ggml.add_bos_token", true)
      .add_strings("tokenizer.ggml.tokens", {"a", "", "ccc"})
      .add_integers("tokenizer.ggml.token_type", {1, 2, 3})
      .add_bools("llama.attention.sliding_window_pattern", {true, false});
  gguf.add_tensor("output_norm.weight", DType::kF32, {3}, bytes_of<float>({1, 2, 3}));
  gguf.add_tensor("output.weight", DType::kQ8_0, {2, 32}, Bytes(68, std::byte{7}));
  return gguf;
}

// The id of the error that `bytes` gives; "" if they are read.
std::string error_id(const Bytes& bytes) {
  const auto file = parse_gguf(bytes, "m.gguf");
  return file ? "" : file.error().id;
}

std::string error_message(const Bytes& bytes) {
  const auto file = parse_gguf(bytes, "m.gguf");
  return file ? "" : file.error().message;
}

bool names(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

template <class T>
void overwrite(Bytes& bytes, std::size_t at, T value) {
  ASSERT_LE(at + sizeof value, bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(Gguf, ReadsBackWhatTheWriterWrote) {
  for (const std::uint32_t version : {2U, 3U}) {
    const Bytes bytes = small_model({.version = version}).build();
    const auto file = parse_gguf(bytes, "m.gguf");
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->metadata.string("general.architecture"), "llama");
    EXPECT_EQ(file->metadata.integer("llama.block_count"), 2);
    EXPECT_EQ(file->metadata.number("llama.rope.freq_base"), 10000.0);
    EXPECT_EQ(file->metadata.boolean("tokenizer.ggml.add_bos_token"), true);
    EXPECT_EQ(file->metadata.strings("tokenizer.ggml.tokens"),
              (std::vector<std::string_view>{"a", "", "ccc"}));
    EXPECT_EQ(file->metadata.integers("llama.attention.sliding_window_pattern"),
              (std::vector<std::int64_t>{1, 0}));
    ASSERT_EQ(file->tensors.size(), 2U);
    EXPECT_EQ(file->tensors[0].name, "output_norm.weight");
    EXPECT_EQ(file->tensors[0].bytes.size(), 12U);
    EXPECT_EQ(file->tensors[1].type, DType::kQ8_0);
    EXPECT_EQ(to_string(file->tensors[1].shape), "[2, 32]");
    EXPECT_EQ(file->tensors[1].bytes.size(), 68U);
    EXPECT_EQ(file->tensors[1].bytes[67], std::byte{7});
  }
}

TEST(Gguf, ViewsPointIntoTheFile) {
  const Bytes bytes = small_model().build();
  const auto file = parse_gguf(bytes, "m.gguf");
  ASSERT_TRUE(file);
  for (const TensorView& tensor : file->tensors) {
    EXPECT_GE(tensor.bytes.data(), bytes.data());
    EXPECT_LE(tensor.bytes.data() + tensor.bytes.size(), bytes.data() + bytes.size());
    EXPECT_EQ((tensor.bytes.data() - bytes.data()) % 32, 0);
  }
}

TEST(Gguf, HonoursAnotherAlignment) {
  for (const std::uint64_t alignment : {8U, 64U, 4096U}) {
    const Bytes bytes = small_model({.alignment = alignment}).build();
    const auto file = parse_gguf(bytes, "m.gguf");
    ASSERT_TRUE(file) << alignment << ": " << to_string(file.error());
    EXPECT_EQ(file->tensors[1].bytes[0], std::byte{7});
    EXPECT_EQ(static_cast<std::uint64_t>(file->tensors[1].bytes.data() - bytes.data()) % alignment,
              0U);
  }
}

TEST(Gguf, ReadsAFileWithoutTensors) {
  GgufWriter vocabulary;
  vocabulary.add_string("general.architecture", "llama");
  const auto bytes = vocabulary.build();
  const auto file = parse_gguf(bytes, "vocab.gguf");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_TRUE(file->tensors.empty());
}

TEST(HostileGguf, TruncationAtEveryByteIsAnErrorThatSaysSo) {
  const Bytes whole = small_model().build();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto file = parse_gguf(part, "m.gguf");
    ASSERT_FALSE(file) << "read " << size << " of " << whole.size() << " bytes";
    EXPECT_EQ(file.error().id.substr(0, 10), "truncated_") << size << ": " << file.error().message;
    EXPECT_FALSE(file.error().hint.empty());
  }
  EXPECT_EQ(error_id(whole), "");
}

TEST(HostileGguf, EachHeaderFieldMayHoldAnythingWithoutHarm) {
  const Bytes whole = small_model().build();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const auto data_begin = whole.size() - 32 - 68;  // the tensor data: one padded row, two blocks
  int refused = 0;
  for (std::size_t at = 0; at + 8 <= data_begin; ++at) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, kMax, std::int64_t{-1}}) {
      Bytes eight = whole;
      overwrite(eight, at, value);
      Bytes four = whole;
      overwrite(four, at, static_cast<std::int32_t>(value));
      for (const Bytes& bytes : {eight, four}) {
        const auto file = parse_gguf(bytes, "m.gguf");
        if (!file) {
          ++refused;
          EXPECT_FALSE(file.error().id.empty());
          continue;
        }
        for (const TensorView& tensor : file->tensors) {  // reads every byte that it was given
          for (const std::byte byte : tensor.bytes)
            EXPECT_NE(byte, std::byte{0xEE});
        }
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(HostileGguf, RefusesAnotherMagic) {
  Bytes bytes = small_model().build();
  overwrite(bytes, 0, std::uint32_t{0x67676D6C});
  EXPECT_EQ(error_id(bytes), "bad_magic");
}

TEST(HostileGguf, NamesTheVersionThatItDoesNotRead) {
  EXPECT_EQ(error_id(small_model({.version = 1}).build()), "gguf_version");
  EXPECT_EQ(error_id(small_model({.version = 4}).build()), "gguf_version");
  EXPECT_TRUE(names(error_message(small_model({.version = 4}).build()), "version 4"));
}

TEST(HostileGguf, SaysThatAFileIsBigEndian) {
  EXPECT_EQ(error_id(small_model({.version = 0x03000000}).build()), "big_endian");
}

TEST(HostileGguf, RefusesCountsThatTheFileCannotHold) {
  Bytes tensors = small_model().build();
  overwrite(tensors, 8, std::uint64_t{100'000});
  EXPECT_EQ(error_id(tensors), "truncated_table");
  overwrite(tensors, 8, std::uint64_t{1} << 62U);
  EXPECT_EQ(error_id(tensors), "too_many");
  Bytes keys = small_model().build();
  overwrite(keys, 16, std::uint64_t{kMaxMetaKeys});
  EXPECT_EQ(error_id(keys), "truncated_metadata");
}

TEST(HostileGguf, RefusesADuplicateKey) {
  GgufWriter gguf;
  gguf.add_integer("a", 1).add_integer("b", 1).add_integer("a", 2);
  EXPECT_EQ(error_id(gguf.build()), "duplicate_key");
  EXPECT_TRUE(names(error_message(gguf.build()), "'a'"));
}

TEST(HostileGguf, RefusesAnEmptyOrOverlongKey) {
  GgufWriter empty;
  empty.add_integer("", 1);
  EXPECT_EQ(error_id(empty.build()), "bad_key_name");
  GgufWriter overlong;
  overlong.add_integer(std::string(kMaxKeyBytes + 1, 'k'), 1);
  EXPECT_EQ(error_id(overlong.build()), "bad_key_name");
}

TEST(HostileGguf, RefusesUnknownValueTypesAndNestedArrays) {
  GgufWriter unknown;
  unknown.add_raw("key", 13, Bytes(64));
  EXPECT_EQ(error_id(unknown.build()), "bad_value_type");
  GgufWriter element;
  element.add_raw("key", 9, bytes_of<std::uint32_t>({99, 0, 0}));
  EXPECT_EQ(error_id(element.build()), "bad_value_type");
  GgufWriter nested;
  nested.add_raw("key", 9, bytes_of<std::uint32_t>({9, 1, 0}));
  EXPECT_EQ(error_id(nested.build()), "nested_array");
}

TEST(HostileGguf, RefusesArrayCountsWhoseSizeWraps) {
  for (const std::uint32_t element : {0U, 4U, 8U, 10U}) {
    for (const std::uint32_t high : {0x20000000U, 0x40000000U, 0x80000000U, 0xFFFFFFFFU}) {
      GgufWriter gguf;
      gguf.add_raw("key", 9, bytes_of<std::uint32_t>({element, 0, high, 0, 0, 0, 0}));
      EXPECT_EQ(error_id(gguf.build()), "truncated_metadata") << element << " " << high;
    }
  }
}

TEST(HostileGguf, RefusesATruthValueOtherThanZeroAndOne) {
  GgufWriter gguf;
  gguf.add_raw("flag", 7, Bytes{std::byte{2}});
  gguf.add_string("padding", "so that the counts fit");
  EXPECT_EQ(error_id(gguf.build()), "bad_bool");
}

TEST(HostileGguf, RefusesAnAlignmentThatIsNoPowerOfTwoOrTooLarge) {
  for (const std::int64_t alignment : {0, 1, 4, 24, 33, 131072}) {
    GgufWriter gguf;
    gguf.add_integer("general.alignment", alignment);
    const std::string id = error_id(gguf.build());
    EXPECT_TRUE(id == "bad_alignment" || id == "bad_key") << alignment << ": " << id;
  }
  GgufWriter text;
  text.add_string("general.alignment", "32");
  EXPECT_EQ(error_id(text.build()), "bad_key");
}

GgufWriter one_tensor(std::uint32_t type, const std::vector<std::int64_t>& shape, Bytes bytes) {
  GgufWriter gguf;
  gguf.add_string("general.architecture", "llama");
  gguf.add_tensor_of_id("blk.0.attn_q.weight", type, shape, std::move(bytes));
  return gguf;
}

TEST(HostileGguf, RefusesShapesWhoseSizeOverflows) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::vector<std::int64_t>> shapes = {
      {kMax},                     // × 4 bytes wraps
      {kMax, kMax},               //
      {1LL << 31, 1LL << 31, 4},  // exactly 2^64 with 4 bytes each
      {1LL << 62, 4},             //
      {3, 0},                     //
      {0},                        //
      {-1, 32},                   //
  };
  for (const auto& shape : shapes) {
    const auto bytes = one_tensor(0, shape, Bytes(64)).build();
    EXPECT_EQ(error_id(bytes), "bad_tensor_shape") << error_message(bytes);
    EXPECT_TRUE(names(error_message(bytes), "blk.0.attn_q.weight"));
  }
}

TEST(HostileGguf, RefusesMoreThanFourDimensions) {
  EXPECT_EQ(error_id(one_tensor(0, {1, 1, 1, 1, 1}, Bytes(64)).build()), "bad_tensor_rank");
}

TEST(HostileGguf, RefusesRowsThatAreNoWholeNumberOfBlocks) {
  const auto bytes = one_tensor(8, {2, 33}, Bytes(128)).build();
  EXPECT_EQ(error_id(bytes), "bad_tensor_shape");
  EXPECT_TRUE(names(error_message(bytes), "32 weights")) << error_message(bytes);
}

TEST(HostileGguf, NamesATypeThatItDoesNotRead) {
  const auto bytes = one_tensor(16, {256}, Bytes(66)).build();
  EXPECT_EQ(error_id(bytes), "unsupported_tensor_type");
  EXPECT_TRUE(names(error_message(bytes), "IQ2_XXS")) << error_message(bytes);
  EXPECT_TRUE(names(error_message(bytes), "blk.0.attn_q.weight")) << error_message(bytes);
  EXPECT_EQ(error_id(one_tensor(0xFFFFFFFF, {256}, Bytes(66)).build()), "unsupported_tensor_type");
}

TEST(HostileGguf, RefusesATensorReachingPastTheFilesEnd) {
  const auto bytes = one_tensor(0, {64}, Bytes(252)).build();  // 256 bytes wanted
  EXPECT_EQ(error_id(bytes), "truncated_tensor");
  EXPECT_TRUE(names(error_message(bytes), "needs 256 bytes")) << error_message(bytes);
}

// The offset is the last field of the only row of the table: 8 bytes before its end.
Bytes with_offset(std::uint64_t offset) {
  GgufWriter gguf;
  gguf.add_tensor("t", DType::kF32, {8}, Bytes(64));
  Bytes bytes = gguf.build();
  overwrite(bytes, 24 + 8 + 1 + 4 + 8 + 4, offset);
  return bytes;
}

TEST(HostileGguf, RefusesOffsetsThatAreUnalignedOrWrap) {
  EXPECT_EQ(error_id(with_offset(0)), "");
  EXPECT_EQ(error_id(with_offset(32)), "");
  EXPECT_EQ(error_id(with_offset(4)), "bad_tensor_offset");
  EXPECT_EQ(error_id(with_offset(64)), "truncated_tensor");
  EXPECT_EQ(error_id(with_offset(0xFFFFFFFFFFFFFFE0U)), "truncated_tensor");
  EXPECT_EQ(error_id(with_offset(0x8000000000000000U)), "truncated_tensor");
}

TEST(HostileGguf, RefusesTensorsThatOverlap) {
  GgufWriter gguf;
  gguf.add_tensor("a", DType::kF32, {16}, Bytes(64));
  gguf.add_tensor("b", DType::kF32, {8}, Bytes(32));
  Bytes bytes = gguf.build();
  EXPECT_EQ(error_id(bytes), "");
  const std::size_t row = 8 + 1 + 4 + 8 + 4 + 8;
  overwrite(bytes, 24 + 2 * row - 8, std::uint64_t{32});
  EXPECT_EQ(error_id(bytes), "overlapping_tensors");
  EXPECT_TRUE(names(error_message(bytes), "'a'")) << error_message(bytes);
  overwrite(bytes, 24 + 2 * row - 8, std::uint64_t{0});
  EXPECT_EQ(error_id(bytes), "overlapping_tensors");
}

TEST(HostileGguf, RefusesTwoTensorsOfOneName) {
  GgufWriter gguf;
  gguf.add_tensor("a", DType::kF32, {8}, Bytes(32));
  gguf.add_tensor("a", DType::kF32, {8}, Bytes(32));
  EXPECT_EQ(error_id(gguf.build()), "duplicate_tensor");
}

TEST(HostileGguf, RefusesEmptyAndOverlongTensorNames) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{kMaxTensorNameBytes + 1}}) {
    GgufWriter gguf;
    gguf.add_tensor(std::string(length, 'n'), DType::kF32, {8}, Bytes(32));
    EXPECT_EQ(error_id(gguf.build()), "bad_tensor_name");
  }
}

TEST(HostileGguf, ErrorsShowForeignNamesWithoutControlCharacters) {
  GgufWriter gguf;
  gguf.add_raw("\x1b[31mred", 13, Bytes(64));
  EXPECT_TRUE(names(error_message(gguf.build()), "\\x1B[31mred")) << error_message(gguf.build());
}

}  // namespace
}  // namespace wick
