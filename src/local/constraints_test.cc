// Constraints of a caller's own code: the answers of a local model are held to them.
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <set>
#include <stdexcept>

#include "local/local.h"
#include "local/tiny_local_test.h"
#include "provider/gather.h"
#include "support/tiny_model.h"
#include "wick/constraint.h"

namespace wick {
namespace {

using test::TinyLocal;

const test::TinyModel kLong = {.context = 1024};

// Brackets that balance, one pair or more, at most eight deep.
class Brackets final : public ByteRecognizer {
 public:
  bool push(unsigned char byte) override {
    const auto at = std::string_view("()[]").find(static_cast<char>(byte));
    if (at == std::string_view::npos) return false;
    std::string open = opens_.back();
    if (at % 2 == 0) {
      if (open.size() == 8) return false;
      open += static_cast<char>(byte);
    } else {
      if (open.empty() || open.back() != "()[]"[at - 1]) return false;
      open.pop_back();
    }
    opens_.push_back(open);
    return true;
  }

  void pop() override { opens_.pop_back(); }

  bool accepting() override { return opens_.size() > 1 && opens_.back().empty(); }

 private:
  std::vector<std::string> opens_ = {""};
};

bool is_balanced(std::string text) {
  if (text.empty()) return false;
  for (std::size_t before = 0; before != text.size();) {
    before = text.size();
    for (const char* pair : {"()", "[]"})
      if (const auto at = text.find(pair); at != std::string::npos) text.erase(at, 2);
  }
  return text.empty();
}

Request asking(std::uint64_t seed, int max_tokens) {
  return {.prompt = "abc",
          .generation = {.temperature = 3, .seed = seed, .max_tokens = max_tokens}};
}

std::string id_of(LocalModel& model, const Request& request) {
  const auto answer = ask(model, request);
  return answer ? "answered" : answer.error().id;
}

TEST(Constraints, ARecognizerHoldsEveryAnswerHoweverShort) {
  const TinyLocal f({}, kLong);
  std::set<std::string> texts;
  int n_steered = 0;
  for (int most = 2; most < 40; most += 1 + most / 6) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Request request = asking(seed, most);
      request.generation.recognizer = std::make_unique<Brackets>;
      const auto answer = ask(*f.model, request);
      ASSERT_TRUE(answer) << to_string(answer.error());
      EXPECT_TRUE(is_balanced(answer->text)) << most << " " << answer->text;
      texts.insert(answer->text);
      n_steered += answer->usage.steered_tokens > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(texts.size(), 8U);
  EXPECT_GT(n_steered, 5);
  Request request = asking(1, 1);
  request.generation.recognizer = std::make_unique<Brackets>;
  EXPECT_EQ(id_of(*f.model, request), "max_tokens_too_small");
}

TEST(Constraints, DraftTokensDoNotChangeTheText) {
  const TinyLocal plain({}, kLong);
  const TinyLocal drafts({.engine = {.draft_max = 8, .adaptive_drafting = false}}, kLong);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Request request = asking(seed, 60);
    request.generation.recognizer = std::make_unique<Brackets>;
    const auto a = ask(*plain.model, request), b = ask(*drafts.model, request);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->text, b->text);
  }
}

// The constraint of an address: it judges the text with each next token.
bool may_be_address(std::string_view text) {
  static const std::regex kBeginning(R"([a-z]{1,8}(@([a-z]{1,8}(\.([a-z]{0,3})?)?)?)?)");
  return std::regex_match(text.begin(), text.end(), kBeginning);
}

bool is_address(std::string_view text) {
  static const std::regex kWhole(R"([a-z]{1,8}@[a-z]{1,8}\.[a-z]{2,3})");
  return std::regex_match(text.begin(), text.end(), kWhole);
}

TEST(Constraints, ATextConstraintIsAskedForCandidatesOnly) {
  const TinyLocal f({}, kLong);
  for (const int candidates : {1, 4, 0}) {
    int n_asked = 0, n_tokens = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Request request = asking(seed, 0);
      request.generation.token_mask =
          to_token_mask({.is_valid_next_token =
                             [&](std::string_view text, std::string_view token) {
                               ++n_asked;
                               return may_be_address(std::string(text) + std::string(token));
                             },
                         .is_complete = is_address,
                         .candidates = candidates});
      const auto answer = ask(*f.model, request);
      ASSERT_TRUE(answer) << to_string(answer.error());
      EXPECT_TRUE(is_address(answer->text)) << answer->text;
      n_tokens += answer->usage.generated_tokens;
    }
    const int per_token = n_asked / n_tokens;
    if (candidates == 1) {
      EXPECT_LT(per_token, 100);
    } else if (candidates == 0) {
      EXPECT_GE(per_token, 150);  // nearly all bytes
    }
  }
}

TEST(Constraints, ATokenMaskHoldsBesideAFormat) {
  const TinyLocal f({}, kLong);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Request request = asking(seed, 40);
    request.generation.response_format = {.type = "regex", .schema = "[a-d]{5,20}"};
    std::vector<std::string> seen;
    request.generation.token_mask = [&](const TokenPlace& place, std::span<std::uint64_t> allowed) {
      seen.emplace_back(place.text);
      EXPECT_EQ(place.text.size(), place.tokens.size());
      EXPECT_EQ(place.bytes('a'), "a");
      allowed['c' / 64] &= ~(std::uint64_t{1} << ('c' % 64));
    };
    const auto answer = ask(*f.model, request);
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->text.find_first_not_of("abd"), std::string::npos) << answer->text;
    EXPECT_GE(answer->text.size(), 5U);
    for (const std::string& text : seen)
      EXPECT_TRUE(answer->text.starts_with(text));
  }
}

TEST(Constraints, APredicateDecidesWhereATextMayEnd) {
  const TinyLocal f({}, kLong);
  const auto is_right = [](std::string_view text) {
    int sum = 0;
    for (const char c : text)
      sum += c - '0';
    return sum % 7 == 0;
  };
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Request request = asking(seed, seed % 2 == 0 ? 0 : 12);
    request.generation.response_format = {.type = "regex", .schema = "[0-9]{3,12}"};
    request.generation.predicate = is_right;
    const auto answer = ask(*f.model, request);
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_TRUE(answer->text.size() >= 3 && is_right(answer->text)) << answer->text;
    texts.insert(answer->text);
  }
  EXPECT_GT(texts.size(), 20U);
}

TEST(Constraints, WhatCannotHoldIsAnErrorWithAName) {
  const TinyLocal f({}, kLong);
  Request two = asking(1, 9);
  two.generation.recognizer = std::make_unique<Brackets>;
  two.generation.response_format = {.type = "regex", .schema = "a"};
  EXPECT_EQ(id_of(*f.model, two), "two_constraints");

  Request tools = asking(1, 9);
  tools.prompt = std::vector<Message>{{.content = "Hm?"}};
  tools.generation.tools = {{.name = "time"}};
  tools.generation.predicate = [](std::string_view) { return true; };
  EXPECT_EQ(id_of(*f.model, tools), "constraint_with_tools");

  Request never = asking(1, 0);
  never.generation.response_format = {.type = "regex", .schema = "ab"};
  never.generation.predicate = [](std::string_view) { return false; };
  EXPECT_EQ(id_of(*f.model, never), "constraint_dead_end");
  never.generation.max_tokens = 9;
  EXPECT_EQ(id_of(*f.model, never), "no_short_end");

  Request none = asking(1, 0);
  none.generation.token_mask = [](const TokenPlace&, std::span<std::uint64_t> allowed) {
    std::fill(allowed.begin(), allowed.end(), 0);
  };
  EXPECT_EQ(id_of(*f.model, none), "constraint_dead_end");
  none.generation.token_mask = [](const TokenPlace&, std::span<std::uint64_t>) {
    throw std::runtime_error("no");
  };
  EXPECT_EQ(id_of(*f.model, none), "callback_failed");
  none.generation.token_mask = [](const TokenPlace&, std::span<std::uint64_t> allowed) {
    std::fill(allowed.begin(), allowed.end(), ~std::uint64_t{0});
  };
  EXPECT_EQ(id_of(*f.model, none), "bad_token_mask");
}

TEST(Constraints, CodeThatAsksItsOwnModelIsRefusedAndDoesNotWait) {
  const TinyLocal f({}, kLong);
  std::set<std::string> ids;
  Request request = asking(1, 2);
  request.generation.token_mask = [&](const TokenPlace&, std::span<std::uint64_t>) {
    ids.insert(id_of(*f.model, asking(1, 1)));
  };
  EXPECT_EQ(id_of(*f.model, request), "answered");
  EXPECT_EQ(ids, std::set<std::string>{"called_in_hook"});
}

}  // namespace
}  // namespace wick
