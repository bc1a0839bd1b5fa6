// What becomes of a formula as its value is read. Each step is a recursion over the formula, which
// may share parts a thousand times over, so the results of a step are remembered by part.
#include <algorithm>

#include "base/check.h"
#include "grammar/limits.h"
#include "grammar/schema/formula.h"

namespace wick::grammar {

// One step, over all parts of a formula that it concerns; others stay as they are. `Leaf` says what
// becomes of a part that is neither ∧ nor ∨; it may call back.
class Steps {
 public:
  using Leaf = std::function<FormulaId(Steps&, FormulaId, const Formula&)>;

  // A step concerns formulas that have one of `parts` or speak of one of `names`.
  struct Concern {
    unsigned parts = 0;
    std::uint64_t names = 0;
    bool is_all = false;
  };

  Steps(FormulaPool& pool, const Concern& concern, Leaf leaf)
      : pool_(pool), concern_(concern), leaf_(std::move(leaf)) {}

  FormulaId operator()(FormulaId id) {
    if (id <= kAlways || id == kNoFormula || !concerns(id)) return id;
    constexpr FormulaId kFailed = kNoFormula - 1;  // the map has no entry for kNoFormula itself
    if (const FormulaId known = done_.find(id); known != FlatHashMap::kNone)
      return known == kFailed ? kNoFormula : known;
    const Formula f = pool_.at(id);
    if (!pool_.spend(1 + f.n / kPartsForStep)) return kNoFormula;
    const bool is_list = f.kind == FormulaKind::kAnd || f.kind == FormulaKind::kOr;
    const FormulaId out = is_list ? list(id, f) : leaf_(*this, id, f);
    done_.add(id, out == kNoFormula ? kFailed : out);
    return out;
  }

  // The children of kRestNames or kRestItems with their conditions behind the step.
  std::vector<std::uint32_t> rest_behind(const Formula& f) {
    std::vector<std::uint32_t> its = copy(f);
    const std::size_t n = f.kind == FormulaKind::kRestNames ? 2 : 4;
    for (std::size_t i = n; i < its.size(); i += n)
      its[i] = (*this)(its[i]);
    return its;
  }

  std::vector<std::uint32_t> copy(const Formula& f) const {
    const auto its = pool_.children(f);
    return {its.begin(), its.end()};
  }

  FormulaPool& pool() noexcept { return pool_; }

 private:
  bool concerns(FormulaId id) const noexcept {
    const Formula& f = pool_.at(id);
    return concern_.is_all || (f.parts & concern_.parts) != 0 || (f.names & concern_.names) != 0;
  }

  FormulaId list(FormulaId id, const Formula& f) {
    const FormulaId decides = f.kind == FormulaKind::kAnd ? kNever : kAlways;
    std::vector<FormulaId> parts = copy(f);
    bool is_same = true;
    for (FormulaId& part : parts) {
      const FormulaId became = (*this)(part);
      if (became == decides) return decides;
      is_same = is_same && became == part;
      part = became;
    }
    return is_same ? id : pool_.many(f.kind, parts);
  }

  FormulaPool& pool_;
  Concern concern_;
  Leaf leaf_;
  FlatHashMap done_ = {};
};

namespace {

// What the leaf has become: still itself, and one more member or item that it speaks of.
FormulaId with_child(FormulaPool& pool, const Formula& f, FormulaId of, FormulaId self,
                     FormulaId one_less) {
  switch (f.kind) {
    case FormulaKind::kNameAll:
    case FormulaKind::kItemAll:
      return pool.both(self, pool.child(of));
    case FormulaKind::kNameSome:
    case FormulaKind::kItemSome:
      if (of == kAlways) return one_less;  // `self` asks for more
      return pool.either(self, pool.both(pool.child(of), one_less));
    default:  // at most n, for "at most n − 1" says more
      return pool.either(one_less, pool.both(self, pool.child(pool.negate(of))));
  }
}

// Whether the member or item that comes is evaluated, or fits the first child: `its` are the
// children, their conditions behind the step.
FormulaId fine_name(FormulaPool& pool, std::span<const std::uint32_t> its, TextId name) {
  std::vector<FormulaId> evaluated = {pool.child(its[0])};
  for (std::size_t i = 1; i < its.size(); i += 2) {
    if (pool.has_name(its[i], name)) evaluated.push_back(its[i + 1]);
  }
  return pool.any_of(evaluated);
}

FormulaId fine_item(FormulaPool& pool, std::span<const std::uint32_t> its) {
  std::vector<FormulaId> evaluated = {pool.child(its[0])};
  for (std::size_t i = 1; i < its.size(); i += 4) {
    if (its[i] == 0 && its[i + 1] > 0)
      evaluated.push_back(pool.both(pool.child(its[i + 2]), its[i + 3]));
  }
  return pool.any_of(evaluated);
}

FormulaId rest_step(FormulaPool& pool, const Formula& f, FormulaId is_fine,
                    std::span<const std::uint32_t> behind) {
  const FormulaId self = pool.rest(f.kind, f.is_negative, behind);
  return f.is_negative ? pool.either(self, pool.negate(is_fine)) : pool.both(self, is_fine);
}

FormulaId name_leaf(Steps& steps, FormulaId id, const Formula& f, TextId name) {
  FormulaPool& pool = steps.pool();
  if (f.kind == FormulaKind::kTypes) return id;
  if (f.kind == FormulaKind::kRestNames) {
    const std::vector<std::uint32_t> its = steps.rest_behind(f);
    return rest_step(pool, f, fine_name(pool, its, name), its);
  }
  WICK_CHECK(f.kind != FormulaKind::kChild, "a step while a value is in progress");
  if (!pool.has_name(f.a, name)) return id;
  if (pool.names(f.a).is_one()) {  // it cannot come again
    if (f.kind == FormulaKind::kNameMost) return kAlways;
    return pool.child(f.b);
  }
  FormulaId one_less = kAlways;
  if (f.kind == FormulaKind::kNameSome && f.c > 1) one_less = pool.some_named(f.a, f.b, f.c - 1);
  if (f.kind == FormulaKind::kNameMost) one_less = pool.most_named(f.a, f.b, f.c - 1);
  return with_child(pool, f, f.b, id, one_less);
}

std::uint32_t before(std::uint32_t index) noexcept {
  return index == 0 || index == kNoEnd ? index : index - 1;
}

FormulaId item_leaf(Steps& steps, FormulaId id, const Formula& f) {
  FormulaPool& pool = steps.pool();
  const std::uint32_t from = before(f.a), to = before(f.b);
  const bool is_in = f.a == 0 && f.b > 0;
  FormulaId self = id, one_less = kAlways;
  switch (f.kind) {
    case FormulaKind::kRestItems: {
      std::vector<std::uint32_t> its = steps.rest_behind(f);
      const FormulaId is_fine = fine_item(pool, its);
      for (std::size_t i = 1; i < its.size(); i += 4) {
        its[i] = before(its[i]);
        its[i + 1] = before(its[i + 1]);
      }
      return rest_step(pool, f, is_fine, its);
    }
    case FormulaKind::kItemAll:
      self = from < to ? pool.all_items(from, to, f.c) : kAlways;
      break;
    case FormulaKind::kItemSome:
      self = pool.some_items(from, to, f.c, f.d);
      one_less = f.d > 1 ? pool.some_items(from, to, f.c, f.d - 1) : kAlways;
      break;
    case FormulaKind::kItemMost:
      self = pool.most_items(from, to, f.c, f.d);
      one_less = pool.most_items(from, to, f.c, f.d - 1);
      break;
    case FormulaKind::kUnique:
      return f.is_negative ? pool.either(id, pool.child(pool.negate(f.c)))
                           : pool.both(id, pool.child(f.c));
    default:
      return id;
  }
  return is_in ? with_child(pool, f, f.c, self, one_less) : self;
}

constexpr Steps::Concern kEverywhere = {.is_all = true};
constexpr Steps::Concern kChildren = {.parts = Formula::kChildPart};
constexpr Steps::Concern kItems = {.parts = Formula::kItemPart};
constexpr Steps::Concern kRests = {.parts = Formula::kRestPart};

// A value in progress is a mistake of the caller's that name_leaf() sees.
constexpr Steps::Concern about(TextId name) noexcept {
  return {.parts = Formula::kChildPart, .names = name_bit(name)};
}

}  // namespace

void FormulaPool::behind_name(std::span<FormulaId> each, TextId name) {
  Steps steps(*this, about(name), [name](Steps& all, FormulaId id, const Formula& f) {
    return name_leaf(all, id, f, name);
  });
  for (FormulaId& of : each)
    of = of_type(steps(of), kObjectType);
}

void FormulaPool::behind_item(std::span<FormulaId> each) {
  Steps steps(*this, kItems, item_leaf);
  for (FormulaId& of : each)
    of = of_type(steps(of), kArrayType);
}

FormulaId FormulaPool::behind_name(FormulaId of, TextId name) {
  behind_name(std::span(&of, 1), name);
  return of;
}

FormulaId FormulaPool::behind_item(FormulaId of) {
  behind_item(std::span(&of, 1));
  return of;
}

FormulaId FormulaPool::broken_by_name(FormulaId of, TextId name) {
  Steps steps(*this, about(name), [name](Steps& all, FormulaId id, const Formula& f) {
    return name_leaf(all, id, f, name);
  });
  const std::vector<std::uint32_t> its = steps.rest_behind(at(of));
  return of_type(negate(fine_name(*this, its, name)), kObjectType);
}

FormulaId FormulaPool::broken_by_item(FormulaId of) {
  Steps steps(*this, kItems, item_leaf);
  const std::vector<std::uint32_t> its = steps.rest_behind(at(of));
  return of_type(negate(fine_item(*this, its)), kArrayType);
}

FormulaId FormulaPool::open_question(FormulaId of) {
  FormulaId found = kNoFormula;
  Steps inner(*this, kChildren, [&](Steps& all, FormulaId id, const Formula& f) {
    if (f.kind == FormulaKind::kChild) found = f.a;
    if (f.kind == FormulaKind::kRestNames || f.kind == FormulaKind::kRestItems) all.rest_behind(f);
    return id;
  });
  Steps outer(*this, kRests, [&](Steps&, FormulaId id, const Formula& f) {
    if (f.kind == FormulaKind::kRestNames || f.kind == FormulaKind::kRestItems)
      inner.rest_behind(f);
    return id;
  });
  outer(of);
  return found;
}

void FormulaPool::resolve(std::span<FormulaId> each,
                          const std::function<FormulaId(FormulaId)>& became) {
  Steps steps(*this, kChildren, [&](Steps& all, FormulaId id, const Formula& f) {
    if (f.kind == FormulaKind::kChild) return became(f.a);
    if (f.kind == FormulaKind::kRestNames || f.kind == FormulaKind::kRestItems)
      return rest(f.kind, f.is_negative, all.rest_behind(f));
    return id;
  });
  for (FormulaId& of : each)
    of = steps(of);
}

FormulaId FormulaPool::resolve(FormulaId of, const std::function<FormulaId(FormulaId)>& became) {
  resolve(std::span(&of, 1), became);
  return of;
}

void FormulaPool::leaves_besides(FormulaId of, std::vector<FormulaId>& out) {
  Steps steps(*this, kEverywhere, [&](Steps&, FormulaId id, const Formula& f) {
    if (f.kind != FormulaKind::kChild) out.push_back(id);
    return id;
  });
  steps(of);
}

FormulaId FormulaPool::children_alone(FormulaId of) {
  Steps steps(*this, kEverywhere, [](Steps&, FormulaId id, const Formula& f) {
    return f.kind == FormulaKind::kChild ? id : kAlways;
  });
  return steps(of);
}

std::uint32_t FormulaPool::order_of(std::span<const FormulaId> each, TextId name) {
  std::uint32_t order = 0;
  Steps steps(*this, {.names = name_bit(name)}, [&](Steps&, FormulaId id, const Formula& f) {
    const bool declares = f.kind == FormulaKind::kNameAll && f.c != 0;
    if (declares && names(f.a).text == name && (order == 0 || f.c < order)) order = f.c;
    return id;
  });
  for (const FormulaId of : each)
    steps(of);
  return order;
}

std::size_t FormulaPool::n_branches(FormulaId of) const noexcept {
  const Formula& f = at(of);
  if (f.kind == FormulaKind::kOr) return f.n;
  std::size_t n = 0;
  if (f.kind == FormulaKind::kAnd) {
    for (const FormulaId part : children(f))
      n += n_branches(part);
  }
  return n;
}

FormulaId FormulaPool::with_duplicate(FormulaId of) {
  Steps steps(*this, {.parts = Formula::kUniquePart},
              [&](Steps& all, FormulaId id, const Formula& f) {
                if (f.kind == FormulaKind::kUnique) return f.is_negative ? kAlways : kNever;
                if (f.kind == FormulaKind::kRestItems)
                  return rest(f.kind, f.is_negative, all.rest_behind(f));
                return id;
              });
  return steps(of);
}

FormulaId FormulaPool::without_value(FormulaId of, FormulaId item, bool is_asked) {
  const FormulaId other = negate(item);
  Steps steps(*this, {.parts = Formula::kUniquePart},
              [&](Steps& all, FormulaId id, const Formula& f) {
                if (f.kind == FormulaKind::kUnique) {
                  const FormulaId self = unique(f.is_negative, both(f.c, other));
                  if (!is_asked) return self;
                  return f.is_negative ? either(self, child(item)) : both(self, child(other));
                }
                if (f.kind == FormulaKind::kRestItems)
                  return rest(f.kind, f.is_negative, all.rest_behind(f));
                return id;
              });
  return steps(of);
}

void FormulaPool::children_asked(std::span<const FormulaId> each,
                                 std::vector<FormulaId>& out) {
  Steps steps(*this, kChildren, [&](Steps& all, FormulaId id, const Formula& f) {
    if (f.kind == FormulaKind::kChild) out.push_back(f.a);
    if (f.kind == FormulaKind::kRestNames || f.kind == FormulaKind::kRestItems) all.rest_behind(f);
    return id;
  });
  for (const FormulaId of : each)
    steps(of);
}

bool FormulaPool::has_unique(FormulaId of) const noexcept {
  return of != kNoFormula && (at(of).parts & Formula::kUniquePart) != 0;
}

bool FormulaPool::holds(FormulaId of, const std::function<bool(const Formula&)>& leaf) {
  Steps steps(*this, kEverywhere,
              [&](Steps&, FormulaId, const Formula& f) { return leaf(f) ? kAlways : kNever; });
  return steps(of) == kAlways;
}

FormulaId FormulaPool::typed(FormulaId of, ValueType type, int depth) {
  if (of <= kAlways || of == kNoFormula) return of;
  if (depth > kMaxFormulaDepth) failure_ = Failure::kDepth;
  if (has_failed()) return kNoFormula;
  if ((formulas_[of].typed & type) != 0) return of;
  if ((formulas_[of].types & type) == 0) return kNever;
  static_assert(kMaxFormulaBytes / sizeof(Formula) < 1U << 25U);  // ids
  const std::uint32_t key = of * 128U + type;
  if (const FormulaId known = typed_.find(key); known != FlatHashMap::kNone) return known;
  const Formula f = formulas_[of];
  if (!spend(1 + f.n / kPartsForStep)) return kNoFormula;
  const FormulaId out = typed_anew(f, type, depth);
  if (out != kNoFormula) typed_.add(key, out);
  return out;
}

// Of a formula that has to do with other types, too.
FormulaId FormulaPool::typed_anew(const Formula& f, ValueType type, int depth) {
  const auto its = children(f);
  switch (f.kind) {
    case FormulaKind::kAnd:
    case FormulaKind::kOr: {
      const FormulaId decides = f.kind == FormulaKind::kAnd ? kNever : kAlways;
      const std::size_t base = parts_.size(), end = base + f.n;
      parts_.insert(parts_.end(), its.begin(), its.end());
      FormulaId part = kNoFormula;
      for (std::size_t i = base; i < end && part != decides; ++i) {
        part = typed(parts_[i], type, depth + 1);
        parts_[i] = part;
      }
      const FormulaId out =
          part == decides ? decides : many(f.kind, std::span(parts_).subspan(base, f.n));
      parts_.resize(base);
      return out;
    }
    case FormulaKind::kSchema: {
      const FormulaId out =
          f.a < schemas_.size() ? typed(schemas_[f.a], type, depth + 1) : kNoFormula;
      return f.is_negative ? of_type(negate(out), type) : out;
    }
    case FormulaKind::kTypes:
      return (f.a & type) != 0 ? kAlways : kNever;
    case FormulaKind::kRestNames:
    case FormulaKind::kRestItems: {
      if (type_of_leaf(f.kind) != type) return kNever;
      const std::size_t n = f.kind == FormulaKind::kRestNames ? 2 : 4;
      std::vector<std::uint32_t> parts(its.begin(), its.end());
      for (std::size_t i = n; i < parts.size(); i += n)
        parts[i] = typed(parts[i], type, depth + 1);
      return rest(f.kind, f.is_negative, parts);
    }
    default:
      return kNever;
  }
}

FormulaId FormulaPool::of_type(FormulaId of, ValueType type) {
  return typed(of, type, 0);
}

unsigned FormulaPool::types_of(FormulaId of) const noexcept {
  constexpr int kMaxReferences = 16;
  for (int n = 0; n < kMaxReferences && of != kNoFormula; ++n) {
    const Formula& f = at(of);
    const bool leads_on = f.kind == FormulaKind::kSchema && !f.is_negative;
    if (!leads_on || f.a >= schemas_.size()) return f.types;
    of = schemas_[f.a];
  }
  return kAllTypes;
}

regex::ExprId FormulaPool::string_language(FormulaId of) {
  if (of <= kAlways) return of == kAlways ? regex::kEverything : regex::kEmptySet;
  if (of == kNoFormula) return regex::kNoExpr;
  const Formula f = formulas_[of];
  if (f.kind != FormulaKind::kAnd && f.kind != FormulaKind::kOr) return f.a;
  if (const auto known = languages_.find(of); known != languages_.end()) return known->second;
  if (!spend(1 + f.n / kPartsForStep)) return regex::kNoExpr;
  const auto its = children(f);
  std::vector<std::uint32_t> parts(its.begin(), its.end());
  for (std::uint32_t& part : parts)
    part = string_language(part);
  const regex::ExprId out =
      f.kind == FormulaKind::kAnd ? exprs().intersect(parts) : exprs().unite(parts);
  if (out != regex::kNoExpr) languages_[of] = out;
  return out;
}

}  // namespace wick::grammar
