#include "chat/json_value.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "chat/python_text.h"

namespace wick {
namespace {

std::string again(std::string_view json) {
  const auto value = parse_json(json);
  return value ? to_json(*value) : cat("failed: ", to_string(value.error()));
}

TEST(Object, KeepsTheOrderOfFirstInsertion) {
  Object object;
  for (int i = 0; i < 100; ++i)
    object[cat("k", i)] = i;
  object["k5"] = "new";
  object.erase("k7");
  EXPECT_EQ(object.size(), 99U);
  EXPECT_EQ(object.begin()[5].first, "k5");
  EXPECT_EQ(*object.begin()[5].second.string(), "new");
  EXPECT_EQ(object.begin()[7].first, "k8");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(object.find(cat("k", i)) != nullptr, i != 7) << i;
  }
  EXPECT_EQ(object.find("k"), nullptr);
}

TEST(Json, WritesAsPythonsDumpsDoes) {
  EXPECT_EQ(again(R"({"a":[1,2.0,true,null,"é\n\u0001"],"b":{}})"),
            R"({"a": [1, 2.0, true, null, "é\n\u0001"], "b": {}})");
  EXPECT_EQ(again("[1e16, 1.5e-7, 0.1, 1e2, -0.0]"), "[1e+16, 1.5e-07, 0.1, 100.0, -0.0]");
  EXPECT_EQ(again("[9223372036854775807, -9223372036854775808, 9223372036854775808]"),
            "[9223372036854775807, -9223372036854775808, 9.223372036854776e+18]");
  EXPECT_EQ(again(R"({"a": 1, "b": 2, "a": 3})"), R"({"a": 3, "b": 2})");
}

TEST(HostileJson, BrokenAndDeepTextIsRefused) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\" 1}", "nul", "\"\\ud800\"", "1 2", "NaN", "'a'"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
  EXPECT_TRUE(parse_json(cat(std::string(64, '['), std::string(64, ']'))));
  EXPECT_FALSE(parse_json(cat(std::string(65, '['), std::string(65, ']'))));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  std::string many = "[0";  // 2 bytes a value, 50 in memory
  for (int i = 0; i < 1'100'000; ++i)
    many += ",0";
  const auto refused = parse_json(many + "]");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "JSON has more than 1048576 values and keys");
}

TEST(PythonText, FloatsPrintAsRepr) {
  EXPECT_EQ(python_float(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(python_float(1e22), "1e+22");
  EXPECT_EQ(python_float(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(python_float(5e-324), "5e-324");
  EXPECT_EQ(python_float(0.0001), "0.0001");
  EXPECT_EQ(python_float(-1e-5), "-1e-05");
  EXPECT_EQ(python_float(9.999999999999999e-05), "9.999999999999999e-05");
  EXPECT_EQ(python_float(9007199254740994.0), "9007199254740994.0");
  EXPECT_EQ(python_float(1e16), "1e+16");
  EXPECT_EQ(python_float(-0.0), "-0.0");
}

TEST(PythonText, ReprChoosesItsQuotesAndEscapes) {
  std::string out;
  append_python_repr(out, "it's");
  append_python_repr(out, "a\"b'c\\\n\x7f");
  append_python_repr(out, "é\u200b");
  EXPECT_EQ(out, R"("it's"'a"b\'c\\\n\x7f''é\u200b')");
}

TEST(JsonText, AnErrorIsOurOwnSentenceWithItsPlace) {
  const auto said = [](std::string_view text) {
    const auto value = parse_json(text);
    return value ? "accepted" : value.error().message;
  };
  const std::string begin = "JSON is not well formed";
  EXPECT_EQ(said("nope"), begin + " at line 1, column 1: unexpected 'no'");
  EXPECT_EQ(said("{\"a\": 1,\n \"b\" 123}"), begin + " at line 2, column 6: unexpected '123'");
  EXPECT_EQ(said("{\"a\":"), begin + ": it ends too early");
  EXPECT_EQ(said(""), begin + ": it ends too early");
  EXPECT_EQ(said("[\"a\nb\"]"), begin + " at line 1, column 4: unexpected '\\x0A'");
  EXPECT_EQ(said("[1e999]"), begin + " at line 1, column 2: too large a number, '1e999'");
  EXPECT_EQ(said("[\xFF]"), begin + " at line 1, column 2: unexpected '\\xFF'");
  EXPECT_EQ(said("[ tru]"), begin + " at line 1, column 6: unexpected ']'");
  EXPECT_EQ(said("{\"a\": 1, \"b\" true}"), begin + " at line 1, column 14: unexpected 'true'");
  EXPECT_EQ(said("{\"a\" \"b c\"}"), begin + " at line 1, column 6: unexpected '\"b c\"'");
  EXPECT_EQ(said("[1,]"), begin + " at line 1, column 4: unexpected ']'");
  EXPECT_EQ(said("1 2"), begin + " at line 1, column 3: unexpected '2'");
}

}  // namespace
}  // namespace wick
