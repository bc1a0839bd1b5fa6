// The automaton against a matcher that knows only the definitions of the operations, on random
// expressions and all short strings; then searches, and what is refused.
#include "regex/automaton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/byte_language.h"

namespace wick::regex {
namespace {

using test::all_texts;
using test::build;
using test::random_tree;
using test::Tree;

TEST(RegexAutomaton, MatchesWhatTheDefinitionsMatch) {
  std::mt19937 random(19);
  const std::vector<std::string> texts = all_texts(5);
  Automaton automaton;
  for (int round = 0; round < 3'000; ++round) {
    if (round % 500 == 0) automaton = Automaton();
    const Tree tree = random_tree(random, 4);
    const ExprId id = build(automaton.pool(), tree);
    ASSERT_NE(id, kNoExpr);
    for (const std::string& text : texts) {
      const auto found = automaton.matches(id, text);
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_EQ(*found, tree.matches(text)) << "round " << round << ", text '" << text << "'";
    }
  }
}

// Shortest strings and emptiness of small expressions are decided by looking at all short texts:
// where none is in the language, neither may the engine's answer be short.
TEST(RegexAutomaton, FindsTheShortestStringOrProvesThatThereIsNone) {
  std::mt19937 random(7);
  const std::vector<std::string> texts = all_texts(5);
  int n_empty = 0, n_found = 0;
  Automaton automaton;
  for (int round = 0; round < 4'000; ++round) {
    if (round % 500 == 0) automaton = Automaton();
    const Tree tree = random_tree(random, 4);
    const ExprId id = build(automaton.pool(), tree);
    const auto shortest = automaton.shortest(id);
    const auto length = automaton.min_length(id);
    const auto empty = automaton.is_empty(id);
    ASSERT_TRUE(shortest && length && empty) << round;
    ASSERT_EQ(*empty, !shortest->has_value());
    ASSERT_EQ(length->has_value(), shortest->has_value());
    const auto by_hand = std::find_if(texts.begin(), texts.end(),
                                      [&](const std::string& t) { return tree.matches(t); });
    if (!shortest->has_value()) {
      ASSERT_EQ(by_hand, texts.end()) << "round " << round << ": '" << *by_hand << "' is in it";
      ++n_empty;
      continue;
    }
    ASSERT_EQ(**length, (*shortest)->size());
    if ((*shortest)->size() < 10) {
      ASSERT_TRUE(tree.matches(**shortest)) << round;
    }
    if (by_hand == texts.end()) continue;
    // Bytes other than a, b and c are in complements, so ours may be as short, never longer.
    ASSERT_LE((*shortest)->size(), by_hand->size()) << round;
    ++n_found;
  }
  EXPECT_GT(n_empty, 200);
  EXPECT_GT(n_found, 2'000);
}

TEST(RegexAutomaton, FindsTheShortestStringsInTheirOrder) {
  std::mt19937 random(11);
  const std::vector<std::string> texts = all_texts(4);
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  const ExprId abc = pool.repeat(pool.bytes(ByteSet::range('a', 'c')), 0, kUnbounded);
  int n_all = 0;
  for (int round = 0; round < 2'000; ++round) {
    const Tree tree = random_tree(random, 4);
    const ExprId id = pool.intersect({build(pool, tree), abc});
    std::vector<std::string> wanted;
    std::copy_if(texts.begin(), texts.end(), std::back_inserter(wanted),
                 [&](const std::string& text) { return tree.matches(text); });
    const std::size_t n = random() % 8;
    auto found = automaton.shortest_strings(id, n);
    ASSERT_TRUE(found) << round;
    ASSERT_LE(found->size(), n);
    ASSERT_TRUE(std::is_sorted(found->begin(), found->end(), [](const auto& a, const auto& b) {
      return a.size() < b.size();
    })) << round;
    if (found->size() < n) {
      ASSERT_GE(found->size(), wanted.size()) << round;
      ++n_all;
    }
    for (std::size_t i = 0; i < found->size(); ++i) {
      if (i < wanted.size()) {
        ASSERT_EQ((*found)[i].size(), wanted[i].size()) << round;
      }
      if ((*found)[i].size() < 10) {
        ASSERT_TRUE(tree.matches((*found)[i])) << round;
      }
    }
    std::sort(found->begin(), found->end());
    ASSERT_EQ(std::adjacent_find(found->begin(), found->end()), found->end()) << round;
  }
  EXPECT_GT(n_all, 200);
}

// Found by fuzzing: parts that are shared by many ways were looked at once for each way (103 s).
TEST(RegexAutomaton, SharedPartsAreLookedAtOnce) {
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  const ExprId a = pool.literal("a"), b = pool.literal("b");
  // No string, which only a search finds out.
  ExprId none = pool.intersect({pool.concat(pool.repeat(a, 0, kUnbounded), b),
                                pool.concat(pool.repeat(b, 0, kUnbounded), a)});
  for (int i = 0; i < 60; ++i)
    none = pool.unite({pool.concat(a, none), pool.concat({b, b, none})});
  automaton.pool().refuel(10'000);
  EXPECT_EQ(automaton.liveness(none), Liveness::kDead);
}

// A step leads to kEmptySet exactly where no text goes on; found by asking each state for one.
TEST(RegexAutomaton, StepsIntoNothingAreKnownAsSuch) {
  std::mt19937 random(3);
  const std::vector<std::string> texts = all_texts(6);
  Automaton automaton;
  for (int round = 0; round < 400; ++round) {
    const Tree tree = random_tree(random, 3);
    const ExprId id = build(automaton.pool(), tree);
    for (const std::string& text : texts) {
      if (!tree.matches(text)) continue;
      automaton.pool().refuel();
      ExprId state = id;
      for (const char c : text) {
        state = automaton.step(state, static_cast<unsigned char>(c));
        ASSERT_NE(state, kEmptySet) << "'" << text << "' is in the language";
      }
    }
    for (const char c : {'a', 'b', 'c', 'z'}) {
      const ExprId state = automaton.step(id, static_cast<unsigned char>(c));
      if (state == kEmptySet) continue;
      const auto rest = automaton.shortest(state);
      ASSERT_TRUE(rest && rest->has_value());
      ASSERT_TRUE(*automaton.matches(id, c + **rest));
    }
  }
}

TEST(RegexAutomaton, ContainmentAndDisjointnessFollowTheLaws) {
  std::mt19937 random(5);
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  for (int round = 0; round < 300; ++round) {
    const ExprId x = build(pool, random_tree(random, 3)), y = build(pool, random_tree(random, 3));
    const auto same = [&](ExprId p, ExprId q) {
      return *automaton.contains(p, q) && *automaton.contains(q, p);
    };
    ASSERT_TRUE(*automaton.contains(pool.unite({x, y}), x));
    ASSERT_TRUE(*automaton.contains(x, pool.intersect({x, y})));
    ASSERT_TRUE(*automaton.are_disjoint(x, pool.complement(x)));
    ASSERT_TRUE(*automaton.contains(kEverything, x));
    ASSERT_TRUE(same(pool.complement(pool.unite({x, y})),
                     pool.intersect({pool.complement(x), pool.complement(y)})));
    ASSERT_TRUE(same(pool.concat(pool.repeat(x, 0, kUnbounded), x), pool.repeat(x, 1, kUnbounded)));
    ASSERT_EQ(*automaton.contains(x, y), *automaton.is_empty(pool.minus(y, x)));
  }
}

TEST(RegexAutomaton, ForcedBytesEndWhereThereIsAChoice) {
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  ExprId state =
      pool.concat(pool.literal("abc"), pool.unite({pool.literal("de"), pool.literal("df")}));
  EXPECT_EQ(*automaton.forced(state, 100), "abcd");
  EXPECT_EQ(*automaton.forced(state, 100), "");
  state = pool.literal("xyz");
  EXPECT_EQ(*automaton.forced(state, 2), "xy");
  EXPECT_EQ(*automaton.forced(state, 2), "z");
  EXPECT_EQ(state, kEpsilon);
  // What is excluded forces the rest.
  state =
      pool.minus(pool.unite({pool.literal("left"), pool.literal("right")}), pool.literal("left"));
  EXPECT_EQ(*automaton.forced(state, 100), "right");
}

TEST(RegexAutomaton, CountersAreNotUnrolled) {
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  const std::size_t before = pool.size();
  const ExprId x = pool.bytes(ByteSet::range('x', 'x'));
  const ExprId many = pool.repeat(x, 100'000, 200'000);
  EXPECT_LE(pool.size(), before + 2);
  EXPECT_EQ(**automaton.min_length(many), 100'000U);
  const auto found = automaton.matches(many, std::string(150'000, 'x'));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(*found);
  EXPECT_FALSE(*automaton.matches(many, std::string(99'999, 'x')));
}

TEST(RegexAutomaton, SearchesThroughLargeCounters) {
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  const ExprId x = pool.bytes(ByteSet::range('x', 'x')), xy = pool.bytes(ByteSet::range('x', 'y'));
  const ExprId both = pool.intersect({pool.repeat(xy, 5'000, 6'000), pool.repeat(x, 0, 5'500)});
  EXPECT_EQ(**automaton.min_length(both), 5'000U);
  EXPECT_EQ(**automaton.shortest(both), std::string(5'000, 'x'));
  EXPECT_TRUE(*automaton.are_disjoint(pool.repeat(xy, 5'000, 6'000), pool.repeat(x, 0, 4'999)));
}

}  // namespace
}  // namespace wick::regex
