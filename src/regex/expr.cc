// Nodes, their measures and the table that makes equal ones the same. Normalization of unions and
// intersections is in expr_sets.cc.
#include "regex/expr.h"

#include <algorithm>
#include <string>
#include <utility>

namespace wick::regex {
namespace {

constexpr std::uint32_t kLongest = kUnbounded - 1;  // of finite lengths; longer ones saturate

std::uint32_t plus(std::uint32_t a, std::uint32_t b) noexcept {
  if (a == kUnbounded || b == kUnbounded) return kUnbounded;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} + b, kLongest));
}

std::uint32_t times(std::uint32_t a, std::uint32_t b) noexcept {
  if (a == 0 || b == 0) return 0;
  if (a == kUnbounded || b == kUnbounded) return kUnbounded;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} * b, kLongest));
}

std::uint64_t mix(std::uint64_t h, std::uint64_t value) noexcept {
  h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29U);
}

constexpr bool is_many(ExprKind kind) noexcept {
  return kind == ExprKind::kUnion || kind == ExprKind::kIntersection;
}

// Expr::a is an expression.
constexpr bool has_part(ExprKind kind) noexcept {
  return kind == ExprKind::kConcat || kind == ExprKind::kRepeat || kind == ExprKind::kComplement;
}

constexpr ByteSet kAscii = ByteSet::range(0, 0x7F);

// Room for `n` more elements, growing by half; false where `pool` has no memory for it.
template <class T>
bool make_room(ExprPool& pool, std::vector<T>& in, std::size_t n) {
  if (n <= in.capacity() - in.size()) return true;
  const std::size_t wanted =
      std::max({in.size() + n, in.capacity() + in.capacity() / 2, std::size_t{64}});
  if (!pool.reserve(wanted * sizeof(T))) return false;
  in.reserve(wanted);
  return true;
}

}  // namespace

ExprPool::ExprPool(PoolLimits limits) : limits_(limits), fuel_(limits.fuel) {
  table_.resize(256);
  set_table_.resize(64);
  add({.kind = ExprKind::kNothing});
  add({.kind = ExprKind::kEmptyText});
  bytes(ByteSet::all());
  add({.kind = ExprKind::kRepeat, .a = kAnyByte, .min = 0, .max = kUnbounded});
  any_character_ = any_character_of_utf8();
  mark_text(any_character_);
  any_text_ = repeat(any_character_, 0, kUnbounded);
  refuel();
}

ExprPool::ExprPool(std::shared_ptr<const ExprPool> base)
    : limits_(base->limits_),
      fuel_(limits_.fuel),
      base_(std::move(base)),
      sets_(base_->sets_),
      table_(256),
      set_table_(base_->set_table_),
      words_(base_->words_),
      any_character_(base_->any_character_),
      any_text_(base_->any_text_),
      single_(base_->single_) {
  exprs_.set_base(base_->exprs_);
  children_.set_base(base_->children_);
}

ExprId ExprPool::any_character_of_utf8() {
  const auto range = [&](unsigned first, unsigned last) {
    return bytes(ByteSet::range(first, last));
  };
  const ExprId next = range(0x80, 0xBF);
  const ExprId two = concat(next, next);
  const ExprId three = concat(next, two);
  return unite(
      {range(0, 0x7F), concat(range(0xC2, 0xDF), next),
       concat({range(0xE0, 0xE0), range(0xA0, 0xBF), next}), concat(range(0xE1, 0xEC), two),
       concat({range(0xED, 0xED), range(0x80, 0x9F), next}), concat(range(0xEE, 0xEF), two),
       concat({range(0xF0, 0xF0), range(0x90, 0xBF), two}), concat(range(0xF1, 0xF3), three),
       concat({range(0xF4, 0xF4), range(0x80, 0x8F), two})});
}

std::size_t ExprPool::used_bytes() const noexcept {
  return exprs_.own().capacity() * sizeof(Expr) + children_.own().capacity() * sizeof(ExprId) +
         sets_.capacity() * sizeof(ByteSet) +
         (table_.capacity() + set_table_.capacity()) * sizeof(std::uint32_t) + words_bytes_ +
         bytes_beside_;
}

bool ExprPool::reserve(std::size_t extra_bytes) {
  const std::size_t used = used_bytes();
  return used <= limits_.max_bytes && extra_bytes <= limits_.max_bytes - used;
}

Error ExprPool::failure() const {
  const bool is_time = fuel_ == 0;
  return {ErrorCode::kUnsupported, is_time ? "regex_fuel" : "regex_memory",
          is_time
              ? std::string("the regular expression needs more steps than one operation may take")
              : std::string("the regular expression needs more memory than it may take"),
          "Use smaller counts, fewer alternatives, or fewer nested repetitions."};
}

// ---- The table.

std::uint64_t ExprPool::hash_of(const Expr& e, std::span<const ExprId> children) const noexcept {
  std::uint64_t h = mix(static_cast<std::uint64_t>(e.kind), e.min);
  h = mix(h, e.max);
  if (e.kind != ExprKind::kUnion && e.kind != ExprKind::kIntersection) {
    return mix(mix(h, e.a), e.b);
  }
  for (const ExprId c : children) {
    h = mix(h, c);
  }
  return h;
}

bool ExprPool::equals(const Expr& a, std::span<const ExprId> a_children,
                      const Expr& b) const noexcept {
  if (a.kind != b.kind || a.min != b.min || a.max != b.max) return false;
  if (a.kind != ExprKind::kUnion && a.kind != ExprKind::kIntersection) {
    return a.a == b.a && a.b == b.b;
  }
  const auto b_children = children(b);
  return std::equal(a_children.begin(), a_children.end(), b_children.begin(), b_children.end());
}

void ExprPool::grow_table() {
  std::vector<std::uint32_t> bigger(table_.size() * 2);
  for (auto id = static_cast<ExprId>(exprs_.n_base()); id < exprs_.size(); ++id) {
    const Expr& e = exprs_[id];
    const bool has_children = e.kind == ExprKind::kUnion || e.kind == ExprKind::kIntersection;
    std::size_t at = hash_of(e, has_children ? children(e) : std::span<const ExprId>());
    at &= bigger.size() - 1;
    while (bigger[at] != 0) {
      at = (at + 1) & (bigger.size() - 1);
    }
    bigger[at] = id + 1;
  }
  table_ = std::move(bigger);
}

// Where the table has it or would have it.
std::size_t ExprPool::slot_of(const Expr& e, std::span<const ExprId> its_children,
                              std::uint64_t hash) const noexcept {
  std::size_t at = hash & (table_.size() - 1);
  while (table_[at] != 0 && !equals(e, its_children, exprs_[table_[at] - 1]))
    at = (at + 1) & (table_.size() - 1);
  return at;
}

// Whether the base may have it: all of its parts are there.
bool ExprPool::is_of_base(const Expr& e, std::span<const ExprId> its_children) const noexcept {
  const std::size_t n = exprs_.n_base();
  if (is_many(e.kind)) return its_children.back() < n;  // ascending
  if (e.kind == ExprKind::kBytes) return e.a < base_->sets_.size();
  if (e.kind == ExprKind::kWords) return e.a < base_->words_.size();
  return !has_part(e.kind) || (e.a < n && (e.kind != ExprKind::kConcat || e.b < n));
}

ExprId ExprPool::add(Expr e, std::span<const ExprId> its_children) {
  if (!spend(1 + its_children.size() / 8)) return kNoExpr;
  const std::uint64_t hash = hash_of(e, its_children);
  if (base_ != nullptr && is_of_base(e, its_children)) {
    const std::uint32_t its = base_->table_[base_->slot_of(e, its_children, hash)];
    if (its != 0) return its - 1;
  }
  const std::size_t at = slot_of(e, its_children, hash);
  if (table_[at] != 0) return table_[at] - 1;
  if (!make_room(*this, exprs_.own(), 1) ||
      !make_room(*this, children_.own(), its_children.size()))
    return kNoExpr;
  const bool is_full = (exprs_.own().size() + 1) * 3 > table_.size() * 2;
  if (is_full && !reserve(table_.size() * 2 * sizeof(table_[0]))) return kNoExpr;
  measure(e, its_children);
  if (e.kind == ExprKind::kUnion || e.kind == ExprKind::kIntersection) {
    e.a = static_cast<std::uint32_t>(children_.size());
    e.b = static_cast<std::uint32_t>(its_children.size());
    auto& own = children_.own();
    own.insert(own.end(), its_children.begin(), its_children.end());
  }
  exprs_.own().push_back(e);
  table_[at] = static_cast<std::uint32_t>(exprs_.size());
  if (is_full) grow_table();
  return static_cast<ExprId>(exprs_.size() - 1);
}

ExprId ExprPool::copy_of(const ExprPool& other, ExprId id) {
  std::vector<ExprId> copies;
  return copy_of(other, id, copies);
}

// Parts before their node.
ExprId ExprPool::copy_of(const ExprPool& other, ExprId id, std::vector<ExprId>& copies) {
  if (id == kNoExpr) return kNoExpr;
  if (id >= copies.size()) copies.resize(id + std::size_t{1}, kNoExpr);
  std::vector<ExprId> open = {id}, scratch;
  const auto wants = [&](ExprId part) {
    if (copies[part] == kNoExpr) open.push_back(part);
  };
  while (!open.empty()) {
    const ExprId at = open.back();
    const std::size_t n_open = open.size();
    if (copies[at] == kNoExpr) {
      const Expr& its = other.exprs_[at];
      if (is_many(its.kind)) {
        for (const ExprId part : other.children(its))
          wants(part);
      } else if (has_part(its.kind)) {
        wants(its.a);
        if (its.kind == ExprKind::kConcat) wants(its.b);
      }
      if (open.size() > n_open) continue;
      copies[at] = copy_node(other, at, copies, scratch);
      if (copies[at] == kNoExpr) return kNoExpr;
    }
    open.pop_back();
  }
  return copies[id];
}

// The copies of its parts are known. `scratch` is overwritten.
ExprId ExprPool::copy_node(const ExprPool& other, ExprId id, std::span<const ExprId> copies,
                           std::vector<ExprId>& scratch) {
  const Expr& its = other.exprs_[id];
  Expr e{.kind = its.kind, .min = its.min, .max = its.max};
  ExprId out = kNoExpr;
  if (is_many(its.kind)) {
    scratch.clear();
    for (const ExprId part : other.children(its))
      scratch.push_back(copies[part]);
    std::sort(scratch.begin(), scratch.end());
    out = add_many(its.kind, scratch);
  } else {
    if (its.kind == ExprKind::kBytes) {
      e.a = set_id(other.set_of(its));
      if (e.a == kUnbounded) return kNoExpr;
    }
    if (its.kind == ExprKind::kWords) {
      e.a = words_id(other.words_[its.a]);
      e.b = its.b;
      if (e.a == kUnbounded) return kNoExpr;
    }
    if (has_part(its.kind)) e.a = copies[its.a];
    if (its.kind == ExprKind::kConcat) e.b = copies[its.b];
    out = add(e);
  }
  if (its.is_text) mark_text(out);
  return out;
}

ExprId ExprPool::add_many(ExprKind kind, std::span<const ExprId> its_children) {
  return add({.kind = kind}, its_children);
}

void ExprPool::measure(Expr& e, std::span<const ExprId> its_children) const {
  switch (e.kind) {
    case ExprKind::kNothing:
      e.is_text = true;
      return;
    case ExprKind::kEmptyText:
      e.is_nullable = e.is_text = true;
      return;
    case ExprKind::kBytes:
      e.min_len = e.max_len = 1;
      e.is_text = (sets_[e.a] & kAscii) == sets_[e.a];
      return;
    case ExprKind::kConcat: {
      const Expr &x = exprs_[e.a], &y = exprs_[e.b];
      e.is_nullable = x.is_nullable && y.is_nullable;
      e.is_positive = x.is_positive && y.is_positive;
      e.is_text = x.is_text && y.is_text;
      e.min_len = plus(x.min_len, y.min_len);
      e.max_len = plus(x.max_len, y.max_len);
      return;
    }
    case ExprKind::kRepeat: {
      const Expr& x = exprs_[e.a];
      e.is_nullable = e.min == 0 || x.is_nullable;
      e.is_positive = x.is_positive;
      e.is_text = x.is_text;
      e.min_len = times(x.min_len, e.min);
      e.max_len = times(x.max_len, e.max);
      return;
    }
    case ExprKind::kComplement:
      e.is_nullable = !exprs_[e.a].is_nullable;
      e.is_positive = false;
      e.min_len = e.is_nullable ? 0 : 1;
      e.max_len = kUnbounded;
      return;
    case ExprKind::kUnion:
    case ExprKind::kIntersection:
      measure_many(e, its_children);
      return;
    case ExprKind::kWords:
      measure_words(e);
      return;
  }
}

void ExprPool::measure_many(Expr& e, std::span<const ExprId> its_children) const {
  const bool is_union = e.kind == ExprKind::kUnion;
  e.is_nullable = e.is_text = !is_union;
  bool any_text = false, all_text = true;
  e.min_len = is_union ? kUnbounded : 0;
  e.max_len = is_union ? 0 : kUnbounded;
  e.is_positive = is_union;
  for (const ExprId c : its_children) {
    const Expr& x = exprs_[c];
    any_text |= x.is_text;
    all_text &= x.is_text;
    if (is_union) {
      e.is_nullable |= x.is_nullable;
      e.is_positive &= x.is_positive;
      e.min_len = std::min(e.min_len, x.min_len);
      e.max_len = std::max(e.max_len, x.max_len);
    } else {
      e.is_nullable &= x.is_nullable;
      e.min_len = std::max(e.min_len, x.min_len);
      e.max_len = std::min(e.max_len, x.max_len);
    }
  }
  e.is_text = is_union ? all_text : any_text;
}

// ---- Constructors.

std::uint32_t ExprPool::set_id(const ByteSet& set) {
  const auto slot_of = [&](const std::vector<std::uint32_t>& table, const ByteSet& s) {
    std::uint64_t h = 0;
    for (const std::uint64_t w : s.words) {
      h = mix(h, w);
    }
    std::size_t at = h & (table.size() - 1);
    while (table[at] != 0 && !(sets_[table[at] - 1] == s)) {
      at = (at + 1) & (table.size() - 1);
    }
    return at;
  };
  const std::size_t at = slot_of(set_table_, set);
  if (set_table_[at] != 0) return set_table_[at] - 1;
  if (!make_room(*this, sets_, 1)) return kUnbounded;
  sets_.push_back(set);
  set_table_[at] = static_cast<std::uint32_t>(sets_.size());
  if (sets_.size() * 3 > set_table_.size() * 2) {
    std::vector<std::uint32_t> bigger(set_table_.size() * 2);
    for (std::uint32_t i = 0; i < sets_.size(); ++i) {
      bigger[slot_of(bigger, sets_[i])] = i + 1;
    }
    set_table_ = std::move(bigger);
  }
  return static_cast<std::uint32_t>(sets_.size() - 1);
}

ExprId ExprPool::bytes(const ByteSet& set) {
  if (set.is_empty()) return kEmptySet;
  const std::uint32_t id = set_id(set);
  return id == kUnbounded ? kNoExpr : add({.kind = ExprKind::kBytes, .a = id});
}

ExprId ExprPool::single(unsigned char byte) {
  if (single_[byte] != 0) return single_[byte];
  const ExprId made = bytes(ByteSet::range(byte, byte));
  if (made != kNoExpr) single_[byte] = made;
  return made;
}

ExprId ExprPool::literal(std::string_view text) {
  ExprId out = kEpsilon;
  for (std::size_t i = text.size(); i-- > 0;) {
    out = concat(single(static_cast<unsigned char>(text[i])), out);
  }
  return out;
}

ExprId ExprPool::concat(std::initializer_list<ExprId> parts) {
  ExprId out = kEpsilon;
  for (std::size_t i = parts.size(); i-- > 0;) {
    out = concat(parts.begin()[i], out);
  }
  return out;
}

ExprPool::Counted ExprPool::counted(ExprId id) const noexcept {
  const Expr& e = exprs_[id];
  const ExprId head = e.kind == ExprKind::kConcat ? e.a : id;
  const ExprId tail = e.kind == ExprKind::kConcat ? e.b : kEpsilon;
  const Expr& h = exprs_[head];
  if (h.kind == ExprKind::kRepeat) return {h.a, tail, h.min, h.max};
  return {head, tail, 1, 1};
}

// The inverse of counted(): a concatenation whose head is as it stands.
ExprId ExprPool::from(const Counted& c) {
  const ExprId head = repeat(c.base, c.min, c.max);
  if (head == kNoExpr || c.tail == kEpsilon) return head;
  return concat(head, c.tail);
}

// Concatenations lean to the right, and neighbors that repeat the same expression become one:
// r{a,b}·r{c,d} = r{a+c,b+d}.
ExprId ExprPool::concat(ExprId first, ExprId then) {
  if (first == kNoExpr || then == kNoExpr) return kNoExpr;
  if (first == kEmptySet || then == kEmptySet) return kEmptySet;
  if (first == kEpsilon) return then;
  if (then == kEpsilon) return first;
  for (const ExprId all : {kEverything, any_text_}) {
    const auto adds_nothing = [&](ExprId e) {
      return exprs_[e].is_nullable && (all == kEverything || exprs_[e].is_text);
    };
    if (then == all && adds_nothing(first)) return all;
    if (first == all && adds_nothing(then)) return all;
  }
  if (exprs_[first].kind == ExprKind::kConcat) {
    std::vector<ExprId> spine;
    for (; exprs_[first].kind == ExprKind::kConcat; first = exprs_[first].b) {
      spine.push_back(exprs_[first].a);
    }
    ExprId out = concat(first, then);
    for (std::size_t i = spine.size(); i-- > 0 && out != kNoExpr;) {
      out = concat(spine[i], out);
    }
    return out;
  }
  const Counted x = counted(first), y = counted(then);
  if (x.base == y.base) {
    const std::uint32_t min = plus(x.min, y.min), max = plus(x.max, y.max);
    if (min < kMaxCount && (max == kUnbounded || max < kMaxCount)) {
      const ExprId both = repeat(x.base, min, max);
      if (y.tail == kEpsilon || both == kNoExpr) return both;
      return add({.kind = ExprKind::kConcat, .a = both, .b = y.tail});
    }
  }
  return add({.kind = ExprKind::kConcat, .a = first, .b = then});
}

ExprId ExprPool::complement(ExprId of) {
  if (of == kNoExpr) return kNoExpr;
  if (of == kEmptySet) return kEverything;
  if (of == kEverything) return kEmptySet;
  if (exprs_[of].kind == ExprKind::kComplement) return exprs_[of].a;
  return add({.kind = ExprKind::kComplement, .a = of});
}

ExprId ExprPool::repeat(ExprId of, std::uint32_t min, std::uint32_t max) {
  if (of == kNoExpr) return kNoExpr;
  if (max == 0 || of == kEpsilon) return kEpsilon;
  if (of == kEmptySet) return min == 0 ? kEpsilon : kEmptySet;
  if (exprs_[of].is_nullable) min = 0;
  if (min == 1 && max == 1) return of;
  if (exprs_[of].kind == ExprKind::kUnion && exprs_[of].is_nullable) {
    const auto parts = children(exprs_[of]);
    if (std::find(parts.begin(), parts.end(), kEpsilon) != parts.end()) {
      std::vector<ExprId> rest(parts.begin(), parts.end());
      rest.erase(std::remove(rest.begin(), rest.end(), kEpsilon), rest.end());
      return repeat(unite(rest), 0, max);
    }
  }
  const Expr e = exprs_[of];
  if (max == 1 && min == 0 && e.is_nullable) return of;
  if (e.kind == ExprKind::kRepeat) {
    // (r{a,b}){min,max} repeats r from a·k to b·k times for each k: one range where these touch.
    const bool touches = min == max || std::uint64_t{e.min} * (std::uint64_t{min} + 1) <=
                                           std::uint64_t{times(e.max, min)} + 1;
    const std::uint32_t low = times(e.min, min), high = times(e.max, max);
    if (touches && low < kMaxCount && (high == kUnbounded || high < kMaxCount)) {
      return repeat(e.a, low, high);
    }
  }
  return add({.kind = ExprKind::kRepeat, .a = of, .min = min, .max = max});
}

ExprId ExprPool::non_empty(ExprId of) {
  if (of == kNoExpr || !exprs_[of].is_nullable) return of;
  std::vector<ExprId> parts;
  // x·y without ε is (x without ε)·y, or y without ε.
  for (; of != kNoExpr && exprs_[of].kind == ExprKind::kConcat; of = exprs_[of].b) {
    const ExprId rest = exprs_[of].b;
    parts.push_back(concat(non_empty(exprs_[of].a), rest));
  }
  const Expr e = of == kNoExpr ? Expr{} : exprs_[of];
  if (e.kind == ExprKind::kUnion) {
    const std::vector<ExprId> all(children(e).begin(), children(e).end());
    for (const ExprId c : all) {
      parts.push_back(non_empty(c));
    }
  } else if (e.kind == ExprKind::kRepeat) {
    const std::uint32_t max = e.max == kUnbounded ? kUnbounded : e.max - 1;
    parts.push_back(concat(non_empty(e.a), repeat(e.a, 0, max)));
  } else if (e.kind == ExprKind::kWords) {
    parts.push_back(words_within(e, e.b + 1, e.min, e.max));
  } else if (of != kEpsilon) {
    parts.push_back(intersect({of, repeat(kAnyByte, 1, kUnbounded)}));
  }
  return unite(parts);
}

}  // namespace wick::regex
