#include "remote/json_view.h"

#include <gtest/gtest.h>

#include <vector>

#include "remote/json_frame.h"

namespace wick::remote {

namespace {

// What visit() of read_frame() returns for the frame `data`; "refused" where it is no JSON.
template <class Visit>
std::string seen(std::string_view data, const Visit& visit) {
  std::string out = "not visited";
  const auto read = read_frame(data, [&](Json frame) { out = visit(frame); });
  return read ? out : "refused";
}

std::string copied(std::string_view data) {
  return seen(data, [](Json frame) { return to_json(frame); });
}

TEST(JsonView, TheLaterOfTwoEqualKeysCountsAndNullIsNone) {
  const auto a_of = [](Json frame) { return frame.find("a") ? text_of(frame, "a") : "none"; };
  EXPECT_EQ(seen(R"({"a":"x","b":{"a":"y"},"a":"z"})", a_of), "z");
  EXPECT_EQ(seen(R"({"a":"x","a":null})", a_of), "none");
  EXPECT_EQ(seen(R"({"b":"x"})", a_of), "none");
  EXPECT_EQ(seen("[1]", a_of), "none");
  EXPECT_EQ(seen("null", a_of), "none");
  EXPECT_EQ(seen(R"({"a":7})", a_of), "");
}

TEST(JsonView, CountsAreWholeNumbersThatFit) {
  const auto count = [](Json frame) { return std::to_string(count_of(frame, "n", -1)); };
  EXPECT_EQ(seen(R"({"n":7})", count), "7");
  EXPECT_EQ(seen(R"({"n":7.0})", count), "7");
  EXPECT_EQ(seen(R"({"n":10000000})", count), "10000000");
  const char* const others[] = {"10000001", "4294967303", "-1",    "7.5",
                                "18446744073709551615",   "\"7\"", "null"};
  for (const char* const none : others)
    EXPECT_EQ(seen(std::string("{\"n\":") + none + "}", count), "-1") << none;
}

TEST(JsonView, VisitsTheItemsOfAnArrayInOrder) {
  const auto items = [](Json frame) {
    std::string all;
    frame.find("a").each([&](Json item) { all += text_of(item) + ","; });
    return all;
  };
  EXPECT_EQ(seen(R"({"a":["x",null,{"y":1},"z"]})", items), "x,,,z,");
  EXPECT_EQ(seen(R"({"a":{"b":1}})", items), "");
}

// What simdjson refuses is read as parse_json() reads it.
TEST(JsonView, HasWhatParseFrameHas) {
  const std::string long_text(40'000, 'x');
  const std::vector<std::string> frames = {
      R"({"a":[1,-2,3.5,true,false,null,"t",{}]})",
      R"({"smile":"\ud83d\ude00"})",
      R"({"half":"\ud83d"})",
      "{\"bad\":\"\xff\"}",
      "\xEF\xBB\xBF{\"bom\":1}",
      R"({"big":123456789012345678901234567890})",
      R"({"e":1e-7,"huge":18446744073709551615})",
      "{\"long\":\"" + long_text + "\"}",
      "\"text\"",
      "",
      "{",
      "[DONE]",
      std::string(70, '[') + std::string(70, ']'),
  };
  for (const std::string& frame : frames) {
    const auto parsed = parse_frame(frame);
    EXPECT_EQ(copied(frame), parsed ? wick::to_json(*parsed) : "refused") << frame.substr(0, 80);
    EXPECT_EQ(copied(frame), copied(frame)) << "the same text again";
  }
}

}  // namespace

}  // namespace wick::remote
