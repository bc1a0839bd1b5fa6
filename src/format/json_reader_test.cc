// The reader against nlohmann's parser: what one refuses, the other does.
#include "format/json_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/strings.h"

namespace wick {
namespace {

using Json = nlohmann::json;

bool accepts(std::string_view text) {
  JsonReader in(text);
  in.skip();
  return in.is_done();
}

TEST(JsonReader, HandsOutMembersItemsTextsAndNumbers) {
  JsonReader in(R"( {"a" : 1, "list":["x", "\u00e9\n\ud83d\ude00", []], )"
                R"("deep": {"b": [1.5, null]}, "z": -7} )");
  std::string seen;
  std::string_view key;
  for (in.open('{'); in.next_member(key);) {
    seen += cat(key, "=");
    if (key == "list") {
      for (in.open('['); in.next_item();) {
        seen += in.peek() == '"' ? in.string() : in.skip();
        seen += ',';
      }
    } else if (key == "deep") {
      seen += in.skip();
    } else {
      seen += std::to_string(in.integer());
    }
    seen += ' ';
  }
  EXPECT_TRUE(in.is_done());
  EXPECT_EQ(seen, "a=1 list=x,é\n😀,[], deep={\"b\": [1.5, null]} z=-7 ");
}

TEST(JsonReader, FailsForGoodWhereSomethingElseComes) {
  JsonReader in(R"({"a": "x"})");
  std::string_view key;
  ASSERT_TRUE(in.open('{'));
  ASSERT_TRUE(in.next_member(key));
  EXPECT_EQ(in.integer(), 0);
  EXPECT_TRUE(in.has_failed());
  EXPECT_EQ(in.string(), "");
  EXPECT_FALSE(in.next_member(key));
  EXPECT_FALSE(in.is_done());
}

TEST(HostileJsonReader, AcceptsWhatIsJsonAndNothingElse) {
  for (const char* const text : {"",
                                 " ",
                                 "{",
                                 "[1,]",
                                 "[,1]",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{,}",
                                 "[1 2]",
                                 "{\"a\" 1}",
                                 "01",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "+1",
                                 "-",
                                 "tru",
                                 "nul",
                                 "\"\n\"",
                                 "\"\\x\"",
                                 "\"\\u12\"",
                                 "\"\\ud800\"",
                                 "\"\\ud800\\u0041\"",
                                 "\"\\udc00\"",
                                 "\"",
                                 "\"\\",
                                 "\"\\u",
                                 "[]]",
                                 "{}x",
                                 "[\"a\":1]",
                                 "'a'",
                                 "\xFF",
                                 "\"\xC3\"",
                                 "[1}",
                                 "{]",
                                 "[[",
                                 "1 1",
                                 "NaN",
                                 "\"\\\"",
                                 "{\"\\",
                                 "\xEF\xBB\xBF"}) {
    EXPECT_FALSE(accepts(text)) << text;
    EXPECT_FALSE(Json::accept(text)) << text;
  }
  for (const char* const text :
       {"0", "-0", "1e5", "1.5E-3", "\"\\u0041\\/\"", "[ ]", "{ }", "[[],{}]", "true", " null ",
        "{\"a\":{\"a\":[]},\"b\":\"\"}", "\xEF\xBB\xBF[]"}) {
    EXPECT_TRUE(accepts(text)) << text;
    EXPECT_TRUE(Json::accept(text)) << text;
  }
}

TEST(HostileJsonReader, AgreesWithAnotherParserOnMutatedTexts) {
  const std::string whole = R"({"a":[1,-2.5e3,true,null,"x\"\u00e9\ud83d\ude00é"],)"
                            R"("":{"b":{},"c":[[],[""]]}, "d" : false })";
  ASSERT_TRUE(accepts(whole));
  std::mt19937 random(5);
  int n_good = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = whole;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      static constexpr std::string_view kBytes = "{}[],:\"\\ue0-1. tn\xC3\xA9\n";
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 3);
          break;
        case 1:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
          break;
        default:
          text[at] = kBytes[random() % kBytes.size()];
      }
    }
    n_good += accepts(text) ? 1 : 0;
    ASSERT_EQ(accepts(text), Json::accept(text)) << printable(text);
  }
  EXPECT_GT(n_good, 1000);
}

TEST(HostileJsonReader, LimitsTheNestingOfWhatItSkips) {
  EXPECT_TRUE(accepts(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(accepts(std::string(65, '[') + std::string(65, ']')));
  EXPECT_FALSE(accepts(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace wick
