#include "format/metadata.h"

#include <gtest/gtest.h>

#include <limits>

namespace wick {
namespace {

constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();

template <class T>
MetaValue scalar(MetaType type, const T& value) {
  return {.type = type, .bytes = std::as_bytes(std::span(&value, 1))};
}

TEST(Metadata, ReadsEveryIntegerTypeAsInteger) {
  const std::uint8_t u8 = 255;
  const std::int8_t i8 = -128;
  const std::uint16_t u16 = 65535;
  const std::int16_t i16 = -32768;
  const std::uint32_t u32 = 4294967295U;
  const std::int32_t i32 = -2147483647;
  const std::uint64_t u64 = static_cast<std::uint64_t>(kMax64);
  const std::int64_t i64 = kMin64;
  Metadata meta;
  EXPECT_TRUE(meta.add("u8", scalar(MetaType::kU8, u8)));
  EXPECT_TRUE(meta.add("i8", scalar(MetaType::kI8, i8)));
  EXPECT_TRUE(meta.add("u16", scalar(MetaType::kU16, u16)));
  EXPECT_TRUE(meta.add("i16", scalar(MetaType::kI16, i16)));
  EXPECT_TRUE(meta.add("u32", scalar(MetaType::kU32, u32)));
  EXPECT_TRUE(meta.add("i32", scalar(MetaType::kI32, i32)));
  EXPECT_TRUE(meta.add("u64", scalar(MetaType::kU64, u64)));
  EXPECT_TRUE(meta.add("i64", scalar(MetaType::kI64, i64)));
  EXPECT_EQ(meta.integer("u8"), 255);
  EXPECT_EQ(meta.integer("i8"), -128);
  EXPECT_EQ(meta.integer("u16"), 65535);
  EXPECT_EQ(meta.integer("i16"), -32768);
  EXPECT_EQ(meta.integer("u32"), 4294967295);
  EXPECT_EQ(meta.integer("i32"), -2147483647);
  EXPECT_EQ(meta.integer("u64"), kMax64);
  EXPECT_EQ(meta.integer("i64"), kMin64);
  EXPECT_EQ(meta.number("i8"), -128.0);
}

TEST(Metadata, AnIntegerBeyondInt64ReadsAsAbsentButStillAsNumber) {
  const std::uint64_t huge = ~std::uint64_t{0};
  Metadata meta;
  meta.add("huge", scalar(MetaType::kU64, huge));
  EXPECT_EQ(meta.integer("huge"), std::nullopt);
  EXPECT_EQ(meta.number("huge"), 18446744073709551615.0);
}

TEST(Metadata, AValueOfAnotherKindReadsAsAbsent) {
  Metadata meta;
  meta.set_integer("integer", 1);
  meta.set_number("number", 1.5);
  meta.set_boolean("boolean", true);
  meta.set_string("string", "1");
  meta.set_strings("strings", std::vector<std::string>{"a"});
  meta.set_integers("integers", std::vector<std::int64_t>{1});
  EXPECT_EQ(meta.integer("number"), std::nullopt);
  EXPECT_EQ(meta.integer("boolean"), std::nullopt);
  EXPECT_EQ(meta.integer("string"), std::nullopt);
  EXPECT_EQ(meta.integer("integers"), std::nullopt);
  EXPECT_EQ(meta.number("boolean"), std::nullopt);
  EXPECT_EQ(meta.boolean("integer"), std::nullopt);
  EXPECT_EQ(meta.string("strings"), std::nullopt);
  EXPECT_EQ(meta.strings("integers"), std::nullopt);
  EXPECT_EQ(meta.strings("string"), std::nullopt);
  EXPECT_EQ(meta.integers("strings"), std::nullopt);
  EXPECT_EQ(meta.integers("integer"), std::nullopt);
  EXPECT_EQ(meta.numbers("strings"), std::nullopt);
  EXPECT_EQ(meta.integer("absent"), std::nullopt);
  EXPECT_FALSE(meta.has("absent"));
}

TEST(Metadata, WhatIsSetReadsBack) {
  Metadata meta;
  meta.set_integer("integer", kMin64);
  meta.set_number("number", 0.1);
  meta.set_boolean("boolean", false);
  meta.set_string("string", "");
  meta.set_strings("strings", std::vector<std::string>{"a", "", "c"});
  meta.set_integers("integers", std::vector<std::int64_t>{});
  meta.set_numbers("numbers", std::vector<double>{-1.5, 2});
  EXPECT_EQ(meta.integer("integer"), kMin64);
  EXPECT_EQ(meta.number("number"), 0.1);
  EXPECT_EQ(meta.boolean("boolean"), false);
  EXPECT_EQ(meta.string("string"), "");
  EXPECT_EQ(meta.strings("strings"), (std::vector<std::string_view>{"a", "", "c"}));
  EXPECT_EQ(meta.integers("integers"), std::vector<std::int64_t>{});
  EXPECT_EQ(meta.numbers("numbers"), (std::vector<double>{-1.5, 2}));
  EXPECT_EQ(meta.entries().size(), 7U);
}

TEST(Metadata, SetReplacesAndAddRefusesAKeyThatIsThere) {
  Metadata meta;
  meta.set_integer("b", 1);
  meta.set_integer("a", 2);
  meta.set_string("b", "new");
  const std::int32_t value = 3;
  EXPECT_FALSE(meta.add("a", scalar(MetaType::kI32, value)));
  EXPECT_EQ(meta.integer("a"), 2);
  EXPECT_EQ(meta.string("b"), "new");
  ASSERT_EQ(meta.entries().size(), 2U);
  EXPECT_EQ(meta.entries()[0].key, "b");  // the order of the file
}

TEST(Metadata, KeepsItsValuesWhenMoved) {
  Metadata meta;
  meta.set_string("key", "a text that is longer than any small-string buffer");
  const Metadata moved = std::move(meta);
  EXPECT_EQ(moved.string("key"), "a text that is longer than any small-string buffer");
}

TEST(Metadata, FindsEachOfManyKeys) {
  Metadata meta;
  for (int i = 0; i < 1000; ++i)
    meta.set_integer(std::to_string(i * 7919 % 1000), i);
  EXPECT_EQ(meta.entries().size(), 1000U);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(meta.integer(std::to_string(i * 7919 % 1000)), i);
}

TEST(Metadata, StringsAreViewsNotCopies) {
  const std::string_view packed("\3\0\0\0\0\0\0\0abc", 11);
  const auto bytes = std::as_bytes(std::span(packed.data(), packed.size()));
  Metadata meta;
  meta.add("tokens", {MetaType::kArray, MetaType::kString, 1, bytes});
  const auto strings = meta.strings("tokens");
  ASSERT_TRUE(strings);
  EXPECT_EQ(strings->front().data(), packed.data() + 8);
}

TEST(HostileMetadata, ArraysWhoseCountAndBytesDisagreeReadAsAbsent) {
  const std::string_view packed("\3\0\0\0\0\0\0\0ab", 10);  // the text is a byte short
  const auto bytes = std::as_bytes(std::span(packed.data(), packed.size()));
  Metadata meta;
  meta.add("short", {MetaType::kArray, MetaType::kString, 1, bytes});
  meta.add("many", {MetaType::kArray, MetaType::kString, std::uint64_t{1} << 60U, bytes});
  meta.add("wraps", {MetaType::kArray, MetaType::kU64, std::uint64_t{1} << 61U, bytes.first(0)});
  meta.add("nested", {MetaType::kArray, MetaType::kArray, 1, bytes});
  meta.add("scalar", {MetaType::kI64, MetaType::kU8, 1, bytes.first(4)});
  EXPECT_EQ(meta.strings("short"), std::nullopt);
  EXPECT_EQ(meta.strings("many"), std::nullopt);
  EXPECT_EQ(meta.integers("wraps"), std::nullopt);
  EXPECT_EQ(meta.numbers("nested"), std::nullopt);
  EXPECT_EQ(meta.integer("scalar"), std::nullopt);
}

TEST(Metadata, NeedNamesKeyValueAndWish) {
  Metadata meta;
  meta.set_integer("llama.block_count", -1);
  const auto negative = meta.need_integer("llama.block_count", 1, 1000);
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().message,
            "key 'llama.block_count' is -1, wanted an integer in [1, 1000]");
  const auto missing = meta.need_string("general.architecture");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().id, "missing_key");
  meta.set_string("eps", "small");
  const auto text = meta.need_number("eps", 0, 1);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "key 'eps' is 'small', wanted a number in [0, 1]");
}

TEST(Metadata, NotANumberIsInNoRange) {
  Metadata meta;
  meta.set_number("eps", std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(meta.need_number("eps", -1e300, 1e300));
}

TEST(Metadata, PerLayerTakesAScalarOrOneValueForEachLayer) {
  Metadata meta;
  meta.set_integer("scalar", 3);
  meta.set_integers("each", std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(*meta.need_per_layer("scalar", 2, 1, 9), (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(*meta.need_per_layer("each", 2, 1, 9), (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(meta.need_per_layer("each", 3, 1, 9));
  EXPECT_FALSE(meta.need_per_layer("scalar", 2, 4, 9));
  const auto wrong = meta.need_per_layer("each", 2, 2, 9);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "key 'each' is 1 for layer 0, wanted [2, 9]");
}

}  // namespace
}  // namespace wick
