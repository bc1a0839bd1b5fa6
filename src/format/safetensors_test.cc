#include "format/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "base/strings.h"
#include "format/limits.h"
#include "support/safetensors_writer.h"

namespace wick {
namespace {

using test::Bytes;
using test::bytes_of;
using test::SafetensorsWriter;

SafetensorsWriter small_model() {
  SafetensorsWriter file;
  file.add_raw(R"("__metadata__":{"format":"pt"})");
  file.add("z.weight", "F32", {2, 3}, bytes_of<float>({1, 2, 3, 4, 5, 6}));
  file.add("a.weight", "BF16", {4}, Bytes(8, std::byte{7}));
  return file;
}

std::string error_id(const Bytes& bytes) {
  const auto file = parse_safetensors(bytes, "m.safetensors");
  return file ? "" : file.error().id;
}

std::string error_message(const Bytes& bytes) {
  const auto file = parse_safetensors(bytes, "m.safetensors");
  return file ? "" : file.error().message;
}

Bytes with_entry(std::string_view entry, std::size_t data_bytes) {
  return SafetensorsWriter::with_header(cat("{", entry, "}"), Bytes(data_bytes));
}

TEST(Safetensors, ReadsBackWhatTheWriterWroteInTheOrderOfTheData) {
  const Bytes bytes = small_model().build();
  auto parsed = parse_safetensors(bytes, "m.safetensors");
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  const SafetensorsFile file = *std::move(parsed);
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].name, "z.weight");
  EXPECT_EQ(to_string(file.tensors[0].shape), "[2, 3]");
  EXPECT_EQ(file.tensors[1].name, "a.weight");
  EXPECT_EQ(file.tensors[1].type, DType::kBF16);
  EXPECT_EQ(file.tensors[1].bytes.size(), 8U);
  EXPECT_EQ(file.tensors[1].bytes.data() + 8, bytes.data() + bytes.size());
  float last = 0;
  std::memcpy(&last, file.tensors[0].bytes.data() + 20, sizeof last);
  EXPECT_EQ(last, 6);
}

TEST(Safetensors, ReadsScalarsAndEmptyFiles) {
  SafetensorsWriter scalar;
  scalar.add("scale", "F32", {}, Bytes(4));
  const Bytes bytes = scalar.build();
  const auto file = parse_safetensors(bytes, "m.safetensors");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->tensors[0].shape.rank, 0);
  EXPECT_EQ(error_id(SafetensorsWriter::with_header("{}", {})), "");
}

TEST(HostileSafetensors, TruncationAtEveryByteIsAnErrorThatSaysSo) {
  const Bytes whole = small_model().build();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto file = parse_safetensors(part, "m.safetensors");
    ASSERT_FALSE(file) << "read " << size << " of " << whole.size() << " bytes";
    EXPECT_EQ(file.error().id.substr(0, 10), "truncated_") << size << ": " << file.error().message;
  }
  EXPECT_EQ(error_id(whole), "");
}

TEST(HostileSafetensors, TheHeadersLengthMayHoldAnythingWithoutHarm) {
  const Bytes whole = small_model().build();
  const std::uint64_t true_length = whole.size() - 8 - 32;  // 32 bytes are data
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, true_length - 1, true_length + 1,
        std::uint64_t{whole.size()}, kMaxSafetensorsHeader, kMaxSafetensorsHeader + 1,
        std::uint64_t{1} << 63U, std::numeric_limits<std::uint64_t>::max()}) {
    Bytes bytes = whole;
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_NE(error_id(bytes), "") << length;
  }
}

TEST(HostileSafetensors, EachByteOfTheHeaderMayHoldAnythingWithoutHarm) {
  const Bytes whole = small_model().build();
  int refused = 0;
  for (std::size_t at = 0; at + 32 < whole.size(); ++at) {
    for (const int value : {0, 1, 0x30, 0x39, 0x5B, 0x7B, 0x7F, 0xFF}) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::byte>(value);
      const auto file = parse_safetensors(bytes, "m.safetensors");
      refused += file ? 0 : 1;
      if (!file) continue;
      for (const TensorView& tensor : file->tensors) {  // every byte given is readable
        for (const std::byte byte : tensor.bytes)
          EXPECT_NE(byte, std::byte{0xEE});
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(HostileSafetensors, RefusesWhatIsNoSafetensorsFile) {
  EXPECT_EQ(error_id(bytes_of<char>({'v', 'e', 'r', 's', 'i', 'o', 'n', ' ', 'h'})), "bad_magic");
  EXPECT_EQ(error_id(SafetensorsWriter::with_header("[]", {})), "bad_magic");
  EXPECT_EQ(error_id(SafetensorsWriter::with_header("{nonsense}", {})), "bad_json");
}

TEST(HostileSafetensors, RefusesDeepJson) {
  const std::string deep = cat(R"({"a":)", std::string(100, '['), std::string(100, ']'), "}");
  EXPECT_EQ(error_id(SafetensorsWriter::with_header(deep, {})), "deep_json");
  const std::string open = cat(R"({"a":)", std::string(1'000'000, '['));
  EXPECT_EQ(error_id(SafetensorsWriter::with_header(open, {})), "deep_json");
}

// Old checkpoints of BERT have embeddings.position_ids.
TEST(Safetensors, PassesOverBuffersOf64BitIntegers) {
  const auto bytes = with_entry(R"("ids":{"dtype":"I64","shape":[1,4],"data_offsets":[0,32]})", 32);
  const auto file = parse_safetensors(bytes, "x");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->tensors.empty());
  const auto wrong = with_entry(R"("ids":{"dtype":"I64","shape":[1,4],"data_offsets":[0,16]})", 16);
  EXPECT_EQ(error_id(wrong), "bad_tensor_size");
}

TEST(HostileSafetensors, RefusesTypesThatItDoesNotReadByName) {
  const auto bytes = with_entry(R"("q":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]})", 4);
  EXPECT_EQ(error_id(bytes), "unsupported_tensor_type");
  EXPECT_NE(error_message(bytes).find("F8_E4M3"), std::string::npos) << error_message(bytes);
  EXPECT_NE(error_message(bytes).find("'q'"), std::string::npos) << error_message(bytes);
}

TEST(HostileSafetensors, RefusesEntriesOfAnotherKind) {
  EXPECT_EQ(error_id(with_entry(R"("q":7)", 0)), "bad_tensor_entry");
  EXPECT_EQ(error_id(with_entry(R"("q":{})", 0)), "bad_tensor_type");
  EXPECT_EQ(error_id(with_entry(R"("q":{"dtype":1})", 0)), "bad_tensor_type");
  EXPECT_EQ(error_id(with_entry(R"("q":{"dtype":"F32"})", 0)), "bad_tensor_shape");
  EXPECT_EQ(error_id(with_entry(R"("q":{"dtype":"F32","shape":[1]})", 4)), "bad_tensor_offset");
  EXPECT_EQ(error_id(with_entry(R"("":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 4)),
            "bad_tensor_name");
}

std::string entry_of(std::string_view shape, std::string_view offsets) {
  return cat(R"("q":{"dtype":"F32","shape":)", shape, R"(,"data_offsets":)", offsets, "}");
}

TEST(HostileSafetensors, RefusesShapesThatOverflowOrDisagreeWithTheBytes) {
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[0,16]"), 16)), "");
  EXPECT_EQ(error_id(with_entry(entry_of("[5]", "[0,16]"), 16)), "bad_tensor_size");
  EXPECT_EQ(error_id(with_entry(entry_of("[4611686018427387904,4]", "[0,0]"), 0)),
            "bad_tensor_size");
  EXPECT_EQ(error_id(with_entry(entry_of("[9223372036854775807,9223372036854775807]", "[0,4]"), 4)),
            "bad_tensor_size");
  EXPECT_EQ(error_id(with_entry(entry_of("[0]", "[0,0]"), 0)), "bad_tensor_shape");
  EXPECT_EQ(error_id(with_entry(entry_of("[-4]", "[0,16]"), 16)), "bad_tensor_shape");
  EXPECT_EQ(error_id(with_entry(entry_of("[4.0]", "[0,16]"), 16)), "bad_tensor_shape");
  EXPECT_EQ(error_id(with_entry(entry_of("[1,1,1,1,4]", "[0,16]"), 16)), "bad_tensor_rank");
}

TEST(HostileSafetensors, RefusesOffsetsThatAreReversedOrPastTheEnd) {
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[16,0]"), 16)), "bad_tensor_offset");
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[-16,0]"), 16)), "bad_tensor_offset");
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[0]"), 16)), "bad_tensor_offset");
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[0,16]"), 12)), "truncated_tensor");
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[4,20]"), 20)), "bad_tensor_offset");
  EXPECT_EQ(error_id(with_entry(entry_of("[4]", "[0,16]"), 20)), "trailing_bytes");
  EXPECT_EQ(
      error_id(with_entry(entry_of("[4]", "[18446744073709551600,18446744073709551616]"), 16)),
      "bad_tensor_offset");
}

TEST(HostileSafetensors, RefusesTensorsThatOverlap) {
  const std::string first = R"("a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]})";
  const std::string second = R"("b":{"dtype":"F32","shape":[4],"data_offsets":[8,24]})";
  EXPECT_EQ(error_id(with_entry(cat(first, ",", second), 24)), "overlapping_tensors");
}

TEST(Safetensors, ReadsManyTensorsInTimeThatGrowsWithTheirNumber) {
  SafetensorsWriter file;
  constexpr int kMany = 20'000;  // a reader that is quadratic here takes many seconds
  for (int i = 0; i < kMany; ++i)
    file.add(cat("t", i), "BF16", {1}, Bytes(2));
  const Bytes bytes = file.build();
  const auto parsed = parse_safetensors(bytes, "m.safetensors");
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  EXPECT_EQ(parsed->tensors.size(), static_cast<std::size_t>(kMany));
}

TEST(HostileSafetensors, RefusesATensorThatIsNamedTwice) {
  const std::string entry = entry_of("[4]", "[0,16]");
  EXPECT_EQ(error_id(with_entry(cat(entry, ",", entry), 16)), "duplicate_tensor");
}

TEST(HostileSafetensors, RefusesNumbersThatAreNotAligned) {
  const std::string half = R"("a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]})";
  const std::string full = R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]})";
  EXPECT_EQ(error_id(with_entry(cat(half, ",", full), 6)), "misaligned_tensor");
}

}  // namespace
}  // namespace wick
