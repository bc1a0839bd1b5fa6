// Regular expressions over bytes as hash-consed nodes. Two expressions with the same normal form
// have the same id, so they are compared by id. Operations: union, concatenation, repetition with
// counters, intersection, complement. Constructors normalize; regex/automaton.h computes
// derivatives.
//
// An ExprPool owns its expressions and frees them together. One thread at a time. Memory and work
// are bounded: a constructor that would exceed the budget returns kNoExpr. With a kNoExpr argument
// every constructor returns kNoExpr, so callers check the result once, at the end; failure() has
// the error.
//
//   ExprPool pool;
//   const ExprId a = pool.bytes(ByteSet::range('a', 'z'));
//   const ExprId word = pool.repeat(a, 1, 64);
//   const ExprId not_if = pool.intersect({word, pool.complement(pool.literal("if"))});
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "regex/byte_set.h"
#include "regex/limits.h"
#include "regex/words.h"

namespace wick::regex {

using ExprId = std::uint32_t;

inline constexpr ExprId kEmptySet = 0;    // no string at all
inline constexpr ExprId kEpsilon = 1;     // the empty string
inline constexpr ExprId kAnyByte = 2;     // one byte
inline constexpr ExprId kEverything = 3;  // any bytes
inline constexpr ExprId kNoExpr = ~ExprId{0};
inline constexpr std::uint32_t kUnbounded = ~std::uint32_t{0};  // of counts and lengths

enum class ExprKind : std::uint8_t {
  kNothing,       // no string
  kEmptyText,     // the empty string
  kBytes,         // a: index of the set
  kConcat,        // a, then b; a is not itself a kConcat
  kRepeat,        // a, from min to max times
  kUnion,         // b children from index a on, ascending ids
  kIntersection,  // the same
  kComplement,    // all strings of bytes that are not in a
  // What is behind the first max bytes, which are alike, of the words of list a from b to before
  // min.
  kWords,
};

struct Expr {
  ExprKind kind = ExprKind::kNothing;
  bool is_nullable = false;  // holds the empty string
  bool is_positive = true;   // neither ∩ nor ¬ within: then non-empty unless it is kEmptySet
  bool is_text = false;      // every string in it is known to be valid UTF-8
  std::uint32_t a = 0, b = 0;
  std::uint32_t min = 0, max = 0;          // kRepeat, kWords
  std::uint32_t min_len = 0, max_len = 0;  // bytes: bounds; min_len is exact where is_positive
};

// A list that goes on behind another one, which does not change.
template <class T>
class Continued {
 public:
  const T* from(std::size_t i) const noexcept {
    return i < base_.size() ? base_.data() + i : own_.data() + (i - base_.size());
  }

  const T& operator[](std::size_t i) const noexcept { return *from(i); }

  std::size_t size() const noexcept { return base_.size() + own_.size(); }

  std::size_t n_base() const noexcept { return base_.size(); }

  std::vector<T>& own() noexcept { return own_; }

  const std::vector<T>& own() const noexcept { return own_; }

  void set_base(const Continued& base) noexcept { base_ = base.own_; }

 private:
  std::span<const T> base_ = {};
  std::vector<T> own_ = {};
};

struct PoolLimits {
  std::size_t max_bytes = kMaxAutomatonBytes;
  std::uint64_t fuel = kDefaultFuel;
};

class ExprPool {
 public:
  explicit ExprPool(PoolLimits limits = {});

  // Begins with the expressions of `base`, which is no such pool itself. They do not count as used
  // bytes: many pools share them.
  explicit ExprPool(std::shared_ptr<const ExprPool> base);

  ExprId bytes(const ByteSet& set);
  ExprId literal(std::string_view text);
  // Any of `texts`: a tree over their common prefixes, or kWords where they are many.
  ExprId literals(std::span<const std::string_view> texts);
  ExprId concat(ExprId first, ExprId then);
  ExprId concat(std::initializer_list<ExprId> parts);
  ExprId unite(std::span<const ExprId> parts);
  ExprId intersect(std::span<const ExprId> parts);
  ExprId complement(ExprId of);
  // `max` may be kUnbounded.
  ExprId repeat(ExprId of, std::uint32_t min, std::uint32_t max);

  ExprId unite(std::initializer_list<ExprId> parts) { return unite(as_span(parts)); }

  ExprId intersect(std::initializer_list<ExprId> parts) { return intersect(as_span(parts)); }

  // The expression `id` of another pool. `copies`: of the expressions of `other` that were copied
  // before, by id; the call adds its own.
  ExprId copy_of(const ExprPool& other, ExprId id);
  ExprId copy_of(const ExprPool& other, ExprId id, std::vector<ExprId>& copies);

  // `of` without the empty string.
  ExprId non_empty(ExprId of);

  // a ∩ ¬b
  ExprId minus(ExprId a, ExprId b) { return intersect({a, complement(b)}); }

  // Any one character, any text: valid UTF-8.
  ExprId any_character() const noexcept { return any_character_; }

  ExprId any_text() const noexcept { return any_text_; }

  const Expr& at(ExprId id) const noexcept { return exprs_[id]; }

  std::span<const ExprId> children(const Expr& e) const noexcept {
    return {children_.from(e.a), e.b};
  }

  const ByteSet& set_of(const Expr& e) const noexcept { return sets_[e.a]; }

  const WordList& words_of(const Expr& e) const noexcept { return *words_[e.a]; }

  // What follows `byte` in a kWords.
  ExprId words_behind(const Expr& e, unsigned char byte);
  // A kWords of the same list.
  ExprId words_within(const Expr& e, std::uint32_t from, std::uint32_t to, std::uint32_t skip);
  // The first of the shortest strings of a kWords.
  std::string_view shortest_word(const Expr& e) const noexcept;

  bool is_nullable(ExprId id) const noexcept { return id != kNoExpr && exprs_[id].is_nullable; }

  // Marks the language of `id` as valid UTF-8. For expressions for which the constructors cannot
  // derive this.
  void mark_text(ExprId id) noexcept {
    if (id != kNoExpr && id >= exprs_.n_base()) exprs_.own()[id - exprs_.n_base()].is_text = true;
  }

  std::size_t size() const noexcept { return exprs_.size(); }

  // Sets of bytes in the order in which they appeared; automata refine their classes by new ones.
  std::span<const ByteSet> sets() const noexcept { return sets_; }

  std::uint32_t set_id(const ByteSet& set);  // kUnbounded: out of memory

  // Whether `extra_bytes` more fit the budget. Tables that a user of the pool keeps count, too;
  // their size is given to set_bytes_beside().
  bool reserve(std::size_t extra_bytes);

  void set_bytes_beside(std::size_t bytes) noexcept { bytes_beside_ = bytes; }

  std::size_t used_bytes() const noexcept;

  // A new operation begins: it has `fuel` steps (0: as many as the pool's limit says).
  void refuel(std::uint64_t fuel = 0) noexcept { fuel_ = fuel == 0 ? limits_.fuel : fuel; }

  // False when the operation's steps are used up.
  bool spend(std::uint64_t steps) noexcept {
    if (fuel_ < steps) {
      fuel_ = 0;
      return false;
    }
    fuel_ -= steps;
    return true;
  }

  std::uint64_t full_fuel() const noexcept { return limits_.fuel; }

  std::uint64_t fuel() const noexcept { return fuel_; }

  // Why the last operation gave kNoExpr.
  Error failure() const;

 private:
  struct Counted {  // base{min,max} and then tail
    ExprId base, tail;
    std::uint32_t min, max;
  };

  static std::span<const ExprId> as_span(std::initializer_list<ExprId> parts) noexcept {
    return {parts.begin(), parts.size()};
  }

  ExprId add(Expr e, std::span<const ExprId> children = {});
  ExprId copy_node(const ExprPool& other, ExprId id, std::span<const ExprId> copies,
                   std::vector<ExprId>& scratch);
  ExprId add_many(ExprKind kind, std::span<const ExprId> children);
  void measure(Expr& e, std::span<const ExprId> children) const;
  void measure_many(Expr& e, std::span<const ExprId> children) const;
  void measure_words(Expr& e) const;
  std::uint32_t words_id(std::shared_ptr<const WordList> words);
  std::uint64_t hash_of(const Expr& e, std::span<const ExprId> children) const noexcept;
  bool equals(const Expr& a, std::span<const ExprId> a_children, const Expr& b) const noexcept;
  bool is_of_base(const Expr& e, std::span<const ExprId> children) const noexcept;
  void grow_table();
  bool flatten(ExprKind kind, std::span<const ExprId> parts, std::vector<ExprId>& out);
  Counted counted(ExprId id) const noexcept;
  ExprId from(const Counted& c);
  bool join_counted(std::vector<ExprId>& parts);
  bool unite_sets(std::vector<ExprId>& parts);
  bool are_apart(std::span<const ExprId> parts) const noexcept;
  ExprId any_character_of_utf8();
  ExprId single(unsigned char byte);
  std::size_t slot_of(const Expr& e, std::span<const ExprId> children,
                      std::uint64_t hash) const noexcept;

  PoolLimits limits_ = {};
  std::uint64_t fuel_ = 0;
  std::shared_ptr<const ExprPool> base_ = {};
  Continued<Expr> exprs_ = {};
  Continued<ExprId> children_ = {};
  std::vector<ByteSet> sets_ = {};
  std::vector<std::uint32_t> table_ = {};      // open addressing over the own exprs_, id + 1
  std::vector<std::uint32_t> set_table_ = {};  // the same over sets_
  std::vector<std::shared_ptr<const WordList>> words_ = {};  // each once; first those of the base
  std::size_t words_bytes_ = 0;                              // of the own ones
  std::size_t bytes_beside_ = 0;
  ExprId any_character_ = kNoExpr, any_text_ = kNoExpr;
  std::array<ExprId, 256> single_ = {};  // the expression of each byte; 0: none yet
};

}  // namespace wick::regex
