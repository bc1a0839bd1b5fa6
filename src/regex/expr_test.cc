// The laws of languages, and that what is written differently becomes one expression.
#include "regex/expr.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regex/automaton.h"

namespace wick::regex {
namespace {

class RegexExpr : public testing::Test {
 protected:
  ExprId byte(char c) {
    const auto code = static_cast<unsigned char>(c);
    return pool.bytes(ByteSet::range(code, code));
  }

  ExprPool pool;
  ExprId a = byte('a'), b = byte('b'), ab = pool.concat(a, b);
};

TEST_F(RegexExpr, UnionAndIntersectionAreSets) {
  EXPECT_EQ(pool.unite({a, b}), pool.unite({b, a, b}));
  EXPECT_EQ(pool.unite({ab, pool.unite({pool.concat(b, a), kEpsilon})}),
            pool.unite({kEpsilon, pool.concat(b, a), ab}));
  EXPECT_EQ(pool.unite({ab, kEmptySet}), ab);
  EXPECT_EQ(pool.unite({ab, kEverything}), kEverything);
  EXPECT_EQ(pool.intersect({ab, kEverything}), ab);
  EXPECT_EQ(pool.intersect({ab, kEmptySet}), kEmptySet);
  EXPECT_EQ(pool.intersect({a, b}), kEmptySet);
  EXPECT_EQ(pool.intersect({a, ab}), kEmptySet);  // of different lengths
}

TEST_F(RegexExpr, ComplementFollowsTheLaws) {
  EXPECT_EQ(pool.complement(pool.complement(ab)), ab);
  EXPECT_EQ(pool.intersect({ab, pool.complement(ab)}), kEmptySet);
  EXPECT_EQ(pool.unite({ab, pool.complement(ab)}), kEverything);
  EXPECT_EQ(pool.complement(kEmptySet), kEverything);
  EXPECT_EQ(pool.intersect({pool.complement(ab), pool.complement(a)}),
            pool.complement(pool.unite({a, ab})));
  EXPECT_EQ(pool.intersect({ab, pool.complement(pool.unite({ab, a}))}), kEmptySet);
}

TEST_F(RegexExpr, ConcatenationLeansRightAndCountersJoin) {
  EXPECT_EQ(pool.concat(pool.concat(a, b), a), pool.concat(a, pool.concat(b, a)));
  EXPECT_EQ(pool.concat(a, pool.repeat(a, 0, kUnbounded)), pool.repeat(a, 1, kUnbounded));
  EXPECT_EQ(pool.concat(pool.repeat(a, 2, 5), pool.repeat(a, 1, 7)), pool.repeat(a, 3, 12));
  EXPECT_EQ(pool.unite({pool.repeat(a, 2, 5), pool.repeat(a, 6, 9)}), pool.repeat(a, 2, 9));
  EXPECT_EQ(pool.unite({pool.repeat(a, 2, 4), pool.repeat(a, 6, 9)}),
            pool.unite({pool.repeat(a, 6, 9), pool.repeat(a, 2, 4)}));
  EXPECT_NE(pool.unite({pool.repeat(a, 2, 4), pool.repeat(a, 6, 9)}), pool.repeat(a, 2, 9));
  EXPECT_EQ(pool.unite({kEpsilon, pool.repeat(a, 1, 9)}), pool.repeat(a, 0, 9));
}

TEST_F(RegexExpr, NestedRepetitionsJoinOnlyWhereTheirRangesTouch) {
  EXPECT_EQ(pool.repeat(pool.repeat(a, 0, 3), 2, 4), pool.repeat(a, 0, 12));
  EXPECT_EQ(pool.repeat(pool.repeat(a, 2, 3), 5, 5), pool.repeat(a, 10, 15));
  EXPECT_EQ(pool.repeat(pool.repeat(a, 0, kUnbounded), 0, kUnbounded),
            pool.repeat(a, 0, kUnbounded));
  const ExprId gaps = pool.repeat(pool.repeat(a, 3, 3), 1, 2);  // 3 or 6
  EXPECT_NE(gaps, pool.repeat(a, 3, 6));
  EXPECT_EQ(pool.at(gaps).min_len, 3U);
  EXPECT_EQ(pool.at(gaps).max_len, 6U);
}

TEST_F(RegexExpr, LiteralsAreATree) {
  const std::string_view texts[] = {"north", "northeast", "south", "north"};
  const ExprId tree = pool.literals(texts);
  const ExprId list =
      pool.unite({pool.literal("north"), pool.literal("northeast"), pool.literal("south")});
  Automaton automaton;
  const ExprId one = automaton.pool().literals(texts);
  for (const std::string_view t : texts) {
    EXPECT_TRUE(*automaton.matches(one, t)) << t;
  }
  for (const std::string_view t : {"", "nort", "northe", "southeast"}) {
    EXPECT_FALSE(*automaton.matches(one, t)) << t;
  }
  EXPECT_EQ(pool.at(tree).min_len, pool.at(list).min_len);
  EXPECT_EQ(pool.at(tree).max_len, 9U);
}

// Many words are a list, few a tree; the union of trees says what the list must.
class RegexWords : public testing::Test {
 protected:
  RegexWords() {
    std::mt19937 random(7);
    const std::string_view parts[] = {"a", "b", "ab", "\xC3\xA9", "\x7F"};
    while (words.size() < 600) {
      std::string word;
      for (std::size_t n = random() % 9; n > 0; --n)
        word += parts[random() % std::size(parts)];
      words.insert(word);
    }
    const std::vector<std::string_view> all(words.begin(), words.end());
    list = pool().literals(all);
    std::vector<ExprId> trees;
    for (std::size_t i = 0; i < all.size(); i += 100)
      trees.push_back(pool().literals(std::span(all).subspan(i, 100)));
    tree = pool().unite(trees);
  }

  ExprPool& pool() { return automaton.pool(); }

  Automaton automaton;
  std::set<std::string> words;
  ExprId list = kNoExpr, tree = kNoExpr;
};

TEST_F(RegexWords, AListIsTheSameLanguageAsATree) {
  EXPECT_EQ(pool().at(list).kind, ExprKind::kWords);
  EXPECT_EQ(pool().at(tree).kind, ExprKind::kUnion);
  EXPECT_TRUE(*automaton.contains(list, tree));
  EXPECT_TRUE(*automaton.contains(tree, list));
  EXPECT_FALSE(*automaton.contains(list, pool().unite({tree, pool().literal("aaaaaaaaaaaa")})));
  for (const std::string& word : words) {
    EXPECT_TRUE(*automaton.matches(list, word));
    EXPECT_EQ(*automaton.matches(list, word + "a"), words.contains(word + "a"));
    EXPECT_EQ(*automaton.matches(list, word + "\xC3"), false);
  }
  EXPECT_EQ(*automaton.shortest(list), *automaton.shortest(tree));
  const auto found = automaton.shortest_strings(list, words.size() + 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::set<std::string>(found->begin(), found->end()), words);
}

TEST_F(RegexWords, AListStandsWithinOtherExpressions) {
  const ExprId b = pool().literal("b");
  for (const bool is_small : {false, true}) {
    const ExprId its = is_small ? pool().words_within(pool().at(list), 3, 9, 0) : list;
    const ExprId same = is_small ? pool().intersect({its, tree}) : tree;
    const std::pair<ExprId, ExprId> pairs[] = {
        {pool().concat(its, b), pool().concat(same, b)},
        {pool().complement(its), pool().complement(same)},
        {pool().non_empty(its), pool().non_empty(same)},
        {pool().unite({its, b}), pool().unite({same, b})}};
    for (const auto& [x, y] : pairs) {
      EXPECT_TRUE(*automaton.contains(x, y));
      EXPECT_TRUE(*automaton.contains(y, x));
    }
  }
}

TEST_F(RegexWords, ListsAreCopiedAndInheritedAsOne) {
  Automaton other;
  const ExprId copy = other.pool().copy_of(pool(), list);
  EXPECT_EQ(other.pool().copy_of(pool(), list), copy);
  const std::vector<std::string_view> all(words.begin(), words.end());
  EXPECT_EQ(other.pool().literals(all), copy);
  EXPECT_EQ(pool().literals(all), list);
  for (const std::string& word : words) {
    EXPECT_TRUE(*other.matches(copy, word));
    EXPECT_EQ(*other.matches(copy, word + "a"), words.contains(word + "a"));
  }
  auto base = std::make_shared<ExprPool>();
  const ExprId inherited = base->literals(all);
  Automaton heir{ExprPool(std::shared_ptr<const ExprPool>(base))};
  EXPECT_EQ(heir.pool().literals(all), inherited);
  EXPECT_TRUE(*heir.matches(inherited, *words.rbegin()));
}

TEST_F(RegexExpr, NonEmptyTakesOnlyTheEmptyString) {
  Automaton automaton;
  ExprPool& p = automaton.pool();
  const ExprId x = p.bytes(ByteSet::range('x', 'x')), y = p.bytes(ByteSet::range('y', 'y'));
  const ExprId optional = p.concat(p.repeat(x, 0, 2), p.unite({kEpsilon, p.concat(y, x)}));
  const ExprId rest = p.non_empty(optional);
  EXPECT_FALSE(*automaton.matches(rest, ""));
  for (const char* text : {"x", "xx", "yx", "xyx", "xxyx"}) {
    EXPECT_TRUE(*automaton.matches(rest, text)) << text;
  }
  EXPECT_TRUE(*automaton.contains(optional, rest));
  EXPECT_TRUE(*automaton.contains(p.unite({rest, kEpsilon}), optional));
}

TEST_F(RegexExpr, AnyCharacterIsUtf8) {
  Automaton automaton;
  const ExprId one = automaton.pool().any_character();
  for (const char* text : {"a", "\x7F", "\xC2\x80", "\xEF\xBF\xBF", "\xED\x9F\xBF",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(*automaton.matches(one, text));
  }
  for (const char* text : {"", "ab", "\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(*automaton.matches(one, text));
  }
}

TEST_F(RegexExpr, NoExprSpreadsAndFailureSaysWhy) {
  ExprPool small({.max_bytes = 64U << 10U, .fuel = kDefaultFuel});
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += static_cast<char>('a' + i % 7);
  }
  const ExprId big = small.literal(text);
  EXPECT_EQ(big, kNoExpr);
  EXPECT_EQ(small.failure().id, "regex_memory");
  EXPECT_EQ(small.unite({kEpsilon, big}), kNoExpr);
  EXPECT_EQ(small.intersect({kEpsilon, big}), kNoExpr);
  EXPECT_EQ(small.concat(kEpsilon, big), kNoExpr);
  EXPECT_EQ(small.repeat(big, 0, 1), kNoExpr);
  EXPECT_EQ(small.complement(big), kNoExpr);
  EXPECT_LE(small.used_bytes(), 64U << 10U);
  ExprPool tired({.fuel = 100});
  EXPECT_EQ(tired.literal(text), kNoExpr);
  EXPECT_EQ(tired.failure().id, "regex_fuel");
}

TEST(ExprPool, GoesOnBehindAnotherPool) {
  ExprPool first;
  const ExprId word = first.unite({first.literal("word"), first.literal("name")});
  const std::size_t n = first.size();
  const auto base = std::make_shared<const ExprPool>(std::move(first));
  ExprPool pool(base);
  EXPECT_EQ(pool.unite({pool.literal("name"), pool.literal("word")}), word);
  EXPECT_EQ(pool.size(), n);
  EXPECT_LT(pool.used_bytes(), base->used_bytes());
  const ExprId more = pool.unite({word, pool.repeat(pool.literal("x"), 1, 3)});
  EXPECT_GE(more, n);
  EXPECT_EQ(pool.unite({pool.repeat(pool.literal("x"), 1, 3), word}), more);
  for (int i = 0; i < 200; ++i)  // the table grows
    EXPECT_GE(pool.literal(std::to_string(i * 7919) + "!"), n);
  Automaton automaton(std::move(pool));
  for (const char* const text : {"word", "name", "xx"})
    EXPECT_TRUE(*automaton.matches(more, text)) << text;
  EXPECT_FALSE(*automaton.matches(more, "words"));
  EXPECT_EQ(base->size(), n);
}

}  // namespace
}  // namespace wick::regex
