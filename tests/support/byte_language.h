// Languages of byte strings by their definitions alone, to judge the engine in regex/ by: a random
// expression as a tree, a matcher that tries everything, and the same expression for the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "regex/expr.h"

namespace wick::test {

using regex::ExprId;
using regex::ExprPool;
using regex::kUnbounded;

// An expression, and which prefixes of a text it matches: bit j of ends(text, i) says
// that it matches text[i, j). Texts have at most 62 bytes.
struct Tree {
  enum class Kind : std::uint8_t { kSet, kConcat, kRepeat, kUnion, kIntersection, kComplement };
  Kind kind = Kind::kSet;
  std::string set = {};
  unsigned min = 0, max = 0;
  std::vector<Tree> parts = {};

  std::uint64_t ends(std::string_view text, unsigned i) const {
    const auto n = static_cast<unsigned>(text.size());
    const std::uint64_t all = ((2ULL << n) - 1U) & ~((1ULL << i) - 1U);
    const auto step = [&](std::uint64_t from, const Tree& by) {
      std::uint64_t to = 0;
      for (unsigned j = 0; j <= n; ++j) {
        if ((from >> j) & 1U) to |= by.ends(text, j);
      }
      return to;
    };
    std::uint64_t out = 0;
    switch (kind) {
      case Kind::kSet:
        return i < n && set.find(text[i]) != std::string::npos ? 2ULL << i : 0U;
      case Kind::kConcat:
        return step(parts[0].ends(text, i), parts[1]);
      case Kind::kRepeat: {
        std::uint64_t now = 1ULL << i;
        // More rounds than text has bytes find nothing new but what rounds without a byte find.
        const unsigned last = std::min(max, std::max(min, n + 1));
        for (unsigned k = 0; k <= last; ++k) {
          if (k >= min) out |= now;
          now = step(now, parts[0]);
        }
        return out;
      }
      case Kind::kUnion:
        return parts[0].ends(text, i) | parts[1].ends(text, i);
      case Kind::kIntersection:
        return parts[0].ends(text, i) & parts[1].ends(text, i);
      case Kind::kComplement:
        return all & ~parts[0].ends(text, i);
    }
    return out;
  }

  bool matches(std::string_view text) const { return (ends(text, 0) >> text.size()) & 1U; }
};

inline Tree random_tree(std::mt19937& random, int depth) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Tree tree;
  if (depth == 0 || below(6) == 0) {
    static const char* const kSets[] = {"a", "b", "c", "ab", "bc", "abc", ""};
    tree.set = kSets[below(7)];
    return tree;
  }
  tree.kind = static_cast<Tree::Kind>(1 + below(5));
  tree.parts.push_back(random_tree(random, depth - 1));
  if (tree.kind == Tree::Kind::kRepeat) {
    tree.min = below(4);
    tree.max = below(3) == 0 ? kUnbounded : std::max(1U, tree.min + below(4));
  } else if (tree.kind != Tree::Kind::kComplement) {
    tree.parts.push_back(random_tree(random, depth - 1));
  }
  return tree;
}

inline ExprId build(ExprPool& pool, const Tree& tree) {
  std::vector<ExprId> parts;
  for (const Tree& part : tree.parts) {
    parts.push_back(build(pool, part));
  }
  switch (tree.kind) {
    case Tree::Kind::kSet: {
      regex::ByteSet set;
      for (const char c : tree.set) {
        set.add(static_cast<unsigned char>(c));
      }
      return pool.bytes(set);
    }
    case Tree::Kind::kConcat:
      return pool.concat(parts[0], parts[1]);
    case Tree::Kind::kRepeat:
      return pool.repeat(parts[0], tree.min, tree.max);
    case Tree::Kind::kUnion:
      return pool.unite(parts);
    case Tree::Kind::kIntersection:
      return pool.intersect(parts);
    case Tree::Kind::kComplement:
      break;
  }
  return pool.complement(parts[0]);
}

// All texts over a, b, c, the shortest first.
inline std::vector<std::string> all_texts(std::size_t longest) {
  std::vector<std::string> out = {""};
  for (std::size_t i = 0; i < out.size() && out[i].size() < longest; ++i) {
    for (const char c : {'a', 'b', 'c'}) {
      out.push_back(out[i] + c);
    }
  }
  return out;
}

}  // namespace wick::test
