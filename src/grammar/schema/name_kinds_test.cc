// Kinds of names against the expressions that say what they are: a kind exists if some text matches
// these patterns and none of the others.
#include "grammar/schema/name_kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "regex/ecma.h"

namespace wick::grammar {
namespace {

using regex::ExprId;

class NameKindsTest : public testing::Test {
 protected:
  ExprId parsed(const std::string& pattern) {
    const auto out = regex::parse_ecma(automaton.pool(), pattern);
    EXPECT_TRUE(out) << pattern;
    return out ? *out : regex::kNoExpr;
  }

  // The texts of one kind.
  ExprId texts_of(const std::vector<ExprId>& sets, NameKinds::Kind kind) {
    regex::ExprPool& pool = automaton.pool();
    ExprId out = pool.any_text();
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const bool is_in = (kind >> i & 1U) != 0;
      out = pool.intersect({out, is_in ? sets[i] : pool.complement(sets[i])});
    }
    return out;
  }

  regex::Automaton automaton;
  NameKinds names = {};
};

TEST_F(NameKindsTest, AreThoseThatSomeTextHas) {
  const std::string patterns[] = {"^(.*)_script$", "^(.*)script$", "cache$", "^x-", "^(a|b|x-a)$",
                                  "^[ab]*$",       "^$",           ".",      "\u00e9$", "^.{2,3}$",
                                  "^[^x]",         "(?!)",         "a.*b",   "[\\s\\S]"};
  std::mt19937 random(5);
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    std::vector<ExprId> sets;
    std::string all;
    for (std::size_t n = random() % 5; n > 0; --n) {
      const std::string& pattern = patterns[random() % std::size(patterns)];
      sets.push_back(parsed(pattern));
      all += cat(pattern, " ");
    }
    SCOPED_TRACE(all);
    automaton.pool().refuel();
    const auto* const kinds = names.of(automaton, sets);
    ASSERT_NE(kinds, nullptr);
    std::vector<NameKinds::Kind> wanted;
    for (NameKinds::Kind kind = 0; kind < NameKinds::Kind{1} << sets.size(); ++kind) {
      if (!*automaton.is_empty(texts_of(sets, kind))) wanted.push_back(kind);
    }
    EXPECT_EQ(*kinds, wanted);

    std::vector<NameKinds::Judged> judged;
    std::vector<ExprId> good;
    for (const NameKinds::Kind kind : *kinds) {
      judged.push_back({.kind = kind, .is_good = random() % 2 == 0});
      if (judged.back().is_good) good.push_back(texts_of(sets, kind));
    }
    regex::ExprPool& pool = automaton.pool();
    const ExprId their_union = pool.unite(good);
    const ExprId united =
        pool.intersect({pool.any_text(), NameKinds::united(pool, sets, judged)});
    EXPECT_TRUE(*automaton.contains(united, their_union));
    EXPECT_TRUE(*automaton.contains(their_union, united));
  }
}

TEST_F(NameKindsTest, UnitedSetsHaveNoNeedlessParts) {
  const std::vector<ExprId> sets = {parsed("a$"), parsed("b$")};
  regex::ExprPool& pool = automaton.pool();
  EXPECT_EQ(NameKinds::united(pool, sets, {}), regex::kEmptySet);
  const std::vector<NameKinds::Judged> all = {{0, true}, {1, true}, {2, true}};
  EXPECT_EQ(NameKinds::united(pool, sets, all), regex::kEverything);
  const std::vector<NameKinds::Judged> first = {{0, false}, {1, true}, {2, false}};
  EXPECT_EQ(NameKinds::united(pool, sets, first), sets[0]);
  const std::vector<NameKinds::Judged> either = {{0, false}, {1, true}, {2, true}};
  EXPECT_EQ(NameKinds::united(pool, sets, either), pool.unite({sets[0], sets[1]}));
  const std::vector<NameKinds::Judged> none = {{0, true}, {1, false}, {2, true}};
  EXPECT_EQ(NameKinds::united(pool, sets, none), pool.complement(sets[0]));
}

TEST_F(NameKindsTest, AreNotFoundWhereThePatternsAreTooLarge) {
  std::vector<ExprId> sets;
  for (int i = 0; i < 12; ++i)  // each remembers which of the last bytes was an a
    sets.push_back(parsed(cat("a.{", i, "}$")));
  automaton.pool().refuel();
  EXPECT_EQ(names.of(automaton, sets), nullptr);
  const std::uint64_t left = automaton.pool().fuel();
  EXPECT_EQ(names.of(automaton, sets), nullptr);
  EXPECT_EQ(automaton.pool().fuel(), left) << "it is known";
}

TEST_F(NameKindsTest, WantOfFuelIsNoAnswer) {
  const std::vector<ExprId> sets = {parsed("^(.*)_script$"), parsed("cache$"), parsed("^x-")};
  automaton.pool().refuel();
  const std::vector<NameKinds::Kind> wanted = *NameKinds().of(automaton, sets);
  int n_refused = 0;
  for (std::uint64_t fuel = 1;; fuel *= 2) {
    automaton.pool().refuel(fuel);
    const auto* const kinds = names.of(automaton, sets);
    if (kinds == nullptr) {
      ++n_refused;
      continue;
    }
    EXPECT_EQ(*kinds, wanted);
    break;
  }
  EXPECT_GT(n_refused, 4);
}

}  // namespace
}  // namespace wick::grammar
