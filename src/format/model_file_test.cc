#include "format/model_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "format/tensor_bytes.h"
#include "support/safetensors_writer.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::bytes_of;
using test::GgufWriter;
using test::SafetensorsWriter;
using test::TempDir;
using test::write_file;

constexpr const char* kConfig =
    R"({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1})";

// Part `number` (from 0) of three; each holds one tensor.
void write_part(const fs::path& folder, int number, int count = 3, int tensors = 3) {
  GgufWriter gguf;
  if (number == 0) gguf.add_string("general.architecture", "llama");
  gguf.add_integer("split.no", number, MetaType::kU16)
      .add_integer("split.count", count, MetaType::kU16)
      .add_integer("split.tensors.count", tensors, MetaType::kI32)
      .add_tensor(cat("t", number), DType::kF32, {2}, bytes_of<float>({1, 2}));
  gguf.write(folder / cat("m-0000", number + 1, "-of-00003.gguf"));
}

std::string error_id(const fs::path& path) {
  const auto file = ModelFile::open(path);
  return file ? "" : file.error().id;
}

TEST(ModelFile, FindsTensorsByName) {
  const TempDir dir;
  GgufWriter gguf;
  for (const char* name : {"b", "c", "a", "aa"}) {
    gguf.add_tensor(name, DType::kF32, {1}, bytes_of<float>({1}));
  }
  gguf.write(dir.path() / "m.gguf");
  const auto file = ModelFile::open(dir.path() / "m.gguf");
  ASSERT_TRUE(file) << to_string(file.error());
  for (const TensorView& tensor : file->tensors())
    EXPECT_EQ(file->find(tensor.name), &tensor);
  EXPECT_EQ(file->find("d"), nullptr);
  EXPECT_EQ(file->find(""), nullptr);
  EXPECT_EQ(file->bytes(), fs::file_size(dir.path() / "m.gguf"));
}

TEST(ModelFile, ViewsStayValidWhenItIsMoved) {
  const TempDir dir;
  write_file(dir.path() / "config.json", kConfig);
  SafetensorsWriter()
      .add("w", "F32", {1}, bytes_of<float>({1}))
      .write(dir.path() / "model.safetensors");
  auto opened = ModelFile::open(dir.path());
  ASSERT_TRUE(opened) << to_string(opened.error());
  const ModelFile file = *std::move(opened);
  ASSERT_NE(file.find("w"), nullptr);
  EXPECT_EQ(file.find("w")->name, "w");
}

TEST(ModelFile, AnyPartOfASplitModelOpensAll) {
  const TempDir dir;
  for (int number = 0; number < 3; ++number)
    write_part(dir.path(), number);
  for (int number = 1; number <= 3; ++number) {
    const auto file = ModelFile::open(dir.path() / cat("m-0000", number, "-of-00003.gguf"));
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->metadata().string("general.architecture"), "llama");
    ASSERT_EQ(file->tensors().size(), 3U);
    EXPECT_EQ(file->tensors()[2].name, "t2");
    EXPECT_NE(file->find("t1"), nullptr);
  }
}

TEST(HostileModelFile, NamesAPartThatIsMissing) {
  const TempDir dir;
  write_part(dir.path(), 0);
  write_part(dir.path(), 2);
  const auto file = ModelFile::open(dir.path() / "m-00001-of-00003.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().id, "missing_part");
  EXPECT_NE(file.error().message.find("m-00002-of-00003.gguf"), std::string::npos);
}

TEST(HostileModelFile, RefusesPartsThatContradictEachOther) {
  const TempDir dir;
  for (int number = 0; number < 3; ++number)
    write_part(dir.path(), number);
  const fs::path first = dir.path() / "m-00001-of-00003.gguf";
  EXPECT_EQ(error_id(first), "");
  write_part(dir.path(), 2, 4);
  EXPECT_EQ(error_id(first), "bad_split");
  fs::copy_file(dir.path() / "m-00002-of-00003.gguf", dir.path() / "m-00003-of-00003.gguf",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(error_id(first), "bad_split");
  write_part(dir.path(), 2);
  write_part(dir.path(), 0, 3, 4);
  EXPECT_EQ(error_id(first), "bad_split");
  write_part(dir.path(), 0);
  fs::copy_file(first, dir.path() / "renamed.gguf");
  EXPECT_EQ(error_id(dir.path() / "renamed.gguf"), "bad_split_name");
}

TEST(ModelFile, KnowsAGgufFileByItsMagicWhateverItsName) {
  const TempDir dir;
  GgufWriter().add_string("general.architecture", "llama").write(dir.path() / "sha256-0123");
  const auto file = ModelFile::open(dir.path() / "sha256-0123");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->format(), FileFormat::kGguf);
}

TEST(ModelFile, OpensAFolderOrAFileOfSafetensors) {
  const TempDir dir;
  write_file(dir.path() / "config.json", kConfig);
  write_file(dir.path() / "tokenizer.json", "{}");
  SafetensorsWriter().add("w", "F16", {1, 2}, Bytes(4)).write(dir.path() / "model.safetensors");
  for (const fs::path& path : {dir.path(), dir.path() / "model.safetensors"}) {
    const auto file = ModelFile::open(path);
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->format(), FileFormat::kSafetensors);
    EXPECT_EQ(file->metadata().integer("llama.embedding_length"), 8);
    EXPECT_EQ(file->metadata().string("tokenizer.huggingface.json"), "{}");
    EXPECT_EQ(file->tensors().size(), 1U);
  }
}

// Two shards with "a" in the first and "b" in the second, as the index says.
void write_shards(const fs::path& folder) {
  write_file(folder / "config.json", kConfig);
  SafetensorsWriter().add("a", "F32", {1}, bytes_of<float>({1})).write(folder / "m-1.safetensors");
  SafetensorsWriter().add("b", "F32", {1}, bytes_of<float>({2})).write(folder / "m-2.safetensors");
  write_file(folder / "model.safetensors.index.json",
             R"({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
}

TEST(ModelFile, OpensShardsThroughTheirIndex) {
  const TempDir dir;
  write_shards(dir.path());
  for (const fs::path& path : {dir.path(), dir.path() / "m-2.safetensors"}) {
    const auto file = ModelFile::open(path);
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->tensors().size(), 2U);
    EXPECT_NE(file->find("a"), nullptr);
    EXPECT_NE(file->find("b"), nullptr);
  }
}

TEST(HostileModelFile, RefusesAnIndexThatDisagreesWithTheShards) {
  const TempDir dir;
  write_shards(dir.path());
  const fs::path index = dir.path() / "model.safetensors.index.json";
  write_file(index, R"({"weight_map": {"a": "m-1.safetensors", "c": "m-2.safetensors"}})");
  EXPECT_EQ(error_id(dir.path()), "missing_tensor");
  write_file(index, R"({"weight_map": {"a": "m-2.safetensors", "b": "m-1.safetensors"}})");
  EXPECT_EQ(error_id(dir.path()), "missing_tensor");
  write_file(index, R"({"weight_map": {"a": "m-1.safetensors", "b": "m-3.safetensors"}})");
  EXPECT_EQ(error_id(dir.path()), "missing_part");
  write_file(index, R"({"weight_map": {}})");
  EXPECT_EQ(error_id(dir.path()), "bad_index");
  SafetensorsWriter().add("a", "F32", {1}, Bytes(4)).write(dir.path() / "m-2.safetensors");
  write_file(index, R"({"weight_map": {"a": "m-1.safetensors", "x": "m-2.safetensors"}})");
  EXPECT_EQ(error_id(dir.path()), "missing_tensor");
}

TEST(HostileModelFile, RefusesATensorThatTwoShardsHold) {
  const TempDir dir;
  write_shards(dir.path());
  SafetensorsWriter()
      .add("b", "F32", {1}, Bytes(4))
      .add("a", "F32", {1}, Bytes(4))
      .write(dir.path() / "m-2.safetensors");
  EXPECT_EQ(error_id(dir.path()), "duplicate_tensor");
}

TEST(HostileModelFile, RefusesIndexEntriesThatLeaveTheFolder) {
  const TempDir dir;
  write_shards(dir.path());
  for (const char* file : {"../m-1.safetensors", "/etc/passwd", "sub/m.safetensors", "m-1.bin"}) {
    write_file(dir.path() / "model.safetensors.index.json",
               cat(R"({"weight_map": {"a": ")", file, R"("}})"));
    EXPECT_EQ(error_id(dir.path()), "bad_index") << file;
  }
}

TEST(ModelFile, SaysWhatIsMissing) {
  const TempDir dir;
  EXPECT_EQ(error_id(dir.path() / "none.gguf"), "file_not_found");
  EXPECT_EQ(error_id(dir.path()), "missing_weights");
  SafetensorsWriter().add("w", "F32", {1}, Bytes(4)).write(dir.path() / "model.safetensors");
  EXPECT_EQ(error_id(dir.path()), "missing_config");
  write_file(dir.path() / "notes.txt", "hello");
  EXPECT_EQ(error_id(dir.path() / "notes.txt"), "unknown_format");
  write_file(dir.path() / "empty.gguf", "");
  EXPECT_EQ(error_id(dir.path() / "empty.gguf"), "truncated_header");
}

TEST(TensorBytes, AreRowsTimesTheDimensionsOutsideThem) {
  const auto bytes = [](DType type, std::array<std::int64_t, 4> dim, int rank) {
    return checked_tensor_bytes(type, {dim, rank});
  };
  EXPECT_EQ(bytes(DType::kF32, {1, 1, 1, 1}, 0), 4U);
  EXPECT_EQ(bytes(DType::kF32, {3, 1, 1, 1}, 1), 12U);
  EXPECT_EQ(bytes(DType::kQ4_1, {2, 3, 5, 64}, 4), 2U * 3 * 5 * 40);
  EXPECT_EQ(bytes(DType::kQ4_1, {64, 33, 1, 1}, 2), std::nullopt);  // the row is no whole block
  EXPECT_EQ(bytes(DType::kF32, {0, 4, 1, 1}, 2), std::nullopt);
  EXPECT_EQ(bytes(DType::kF32, {4, 0, 1, 1}, 2), std::nullopt);
  EXPECT_EQ(bytes(DType::kF32, {-1, 4, 1, 1}, 2), std::nullopt);
  EXPECT_EQ(bytes(DType::kF32, {1LL << 30, 1LL << 30, 2, 1}, 3), std::nullopt);  // 2^63
  EXPECT_EQ(bytes(DType::kF32, {1LL << 30, 1LL << 30, 1, 1}, 3), 1ULL << 62U);
  EXPECT_EQ(bytes(DType::kF32, {1, 1, 1, 1}, 5), std::nullopt);
}

}  // namespace
}  // namespace wick
