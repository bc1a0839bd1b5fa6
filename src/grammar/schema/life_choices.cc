// The next names of an object that may be one of many, as the resources of CloudFormation are, of
// which there are 900 kinds with 5,000 names. To ask each name of each choice would take too many
// steps. A choice that forbids all names but its own has to do with these alone, so a name is asked
// of the few choices that may have it. In most cases one of them says at once that it may come.
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/limits.h"
#include "grammar/schema/life.h"

namespace wick::grammar {

class LifeSearch::NamesOfChoices {
 public:
  NamesOfChoices(LifeSearch& life, FormulaId of, FreeNames names) : life_(life), names_(names) {
    const auto its = life_.pool_.children(life_.pool_.at(of));
    for (const FormulaId choice : Leaves(its.begin(), its.end()))
      add(choice);
    for (CellId at = names.came; at != 0; at = life_.cells_.before(at))
      known_.push_back(life_.cells_.item(at));
    sort_once(known_);
    sort_once(orders_);
    sort_once(owners_);
  }

  regex::ExprId all() {
    regex::ExprPool& exprs = life_.pool_.exprs();
    std::vector<std::string_view> good;
    for (const TextId name : known_) {
      const std::uint32_t order = order_of(name);
      if (!life_.is_free(names_, name, order)) continue;
      const Life life = life_.spend() ? life_behind(name, order) : Life::kUnknown;
      if (life == Life::kUnknown) return regex::kNoExpr;
      if (life == Life::kLive) good.push_back(life_.pool_.text_of(name));
    }
    std::vector<regex::ExprId> parts = {exprs.literals(good)}, languages;
    if (!open_.empty() && !life_.other_kinds(sets(), known_, kAnyName, languages))
      return regex::kNoExpr;
    for (const regex::ExprId language : languages) {
      const auto name = life_.pool_.automaton().shortest(language);
      if (!name) return regex::kNoExpr;
      if (!*name) continue;
      const Life life = life_behind(life_.pool_.text(**name), 0);
      if (life == Life::kUnknown) return regex::kNoExpr;
      if (life == Life::kLive) parts.push_back(language);
    }
    return exprs.unite(parts);
  }

 private:
  struct Choice {
    FormulaId of = kNever;
    bool is_simple = false;  // its leaves speak of the values of names and demand single ones
    bool is_asked = false;   // whether its demands can be met, which is `demands`
    Life demands = Life::kUnknown;
    std::vector<Asked> asked = {};
    std::vector<TextId> wanted = {};  // of these the demanded ones
    Leaves others = {};
  };

  using Kind = NameSet::Kind;
  using Pairs = std::vector<std::pair<TextId, std::uint32_t>>;
  using Places = Pairs;  // of order_among()

  template <class T>
  static void sort_once(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  // The first pair of `name` in `pairs`.
  static Pairs::const_iterator first_of(const Pairs& pairs, TextId name) {
    return std::lower_bound(pairs.begin(), pairs.end(), std::pair(name, std::uint32_t{0}));
  }

  void add(FormulaId of) {
    FormulaPool& pool = life_.pool_;
    Choice choice{.of = of};
    choice.asked = life_.asked_of(life_.parts_of(of), choice.others);
    const auto number = static_cast<std::uint32_t>(choices_.size());
    const std::vector<TextId>* own = nullptr;
    choice.is_simple = true;
    for (const FormulaId leaf : choice.others) {
      const Formula& f = pool.at(leaf);
      if (f.kind != FormulaKind::kNameAll) {
        choice.is_simple = false;
        add_names_of(leaf);
      } else if (f.b == kNever && (f.a == kAnyName || pool.names(f.a).kind == Kind::kAllBut)) {
        own = &pool.names(f.a).but;  // of kAnyName none
      }
    }
    for (const Asked& one : choice.asked) {
      add_name(one.name, one.order);
      if (one.is_wanted) choice.wanted.push_back(one.name);
    }
    if (own == nullptr) {
      open_.push_back(number);
    } else {
      for (const TextId name : *own) {
        known_.push_back(name);
        owners_.emplace_back(name, number);
      }
    }
    choices_.push_back(std::move(choice));
  }

  void add_name(TextId name, std::uint32_t order) {
    known_.push_back(name);
    if (order != 0) orders_.emplace_back(name, order);
  }

  void add_names_of(FormulaId leaf) {
    std::vector<NameId> sets;
    life_.leaf_names(leaf, sets);
    for (const NameId set : sets) {
      if (!life_.pool_.names(set).is_one()) continue;
      const TextId name = life_.pool_.names(set).text;
      add_name(name, life_.pool_.order_of(leaf, name));
    }
  }

  // The sets of names that the choices for any name speak of.
  std::vector<NameId> sets() {
    std::vector<NameId> out, its;
    for (const std::uint32_t number : open_) {
      its.clear();
      life_.leaf_names(choices_[number].of, its);
      out.insert(out.end(), its.begin(), its.end());
    }
    sort_once(out);
    return out;
  }

  // The first place of `name` in any choice.
  std::uint32_t order_of(TextId name) const {
    const auto at = first_of(orders_, name);
    return at == orders_.end() || at->first != name ? 0 : at->second;
  }

  Life life_behind(TextId name, std::uint32_t order) {
    FreeNames behind{.came = 0, .last = 0};
    if (life_.has_order_) behind.last = order == 0 ? kNoEnd : std::max(order, names_.last);
    std::vector<std::uint32_t> numbers = open_;
    for (auto at = first_of(owners_, name); at != owners_.end() && at->first == name; ++at)
      numbers.push_back(at->second);
    Places places;
    const auto is_sure = [&](std::uint32_t number) {
      return allows(choices_[number], name, behind.last, numbers, places);
    };
    const auto is_over = [&](std::uint32_t number) {
      return forbids(choices_[number], name, behind.last);
    };
    if (std::all_of(numbers.begin(), numbers.end(), is_over)) return Life::kDead;
    if (std::any_of(numbers.begin(), numbers.end(), is_sure)) return Life::kLive;
    if (!life_.spend(numbers.size())) return Life::kUnknown;
    Leaves all;
    for (const std::uint32_t number : numbers)
      all.push_back(life_.pool_.behind_name(choices_[number].of, name));
    behind.came = life_.cells_.add(names_.came, name);
    return life_.of_object(life_.pool_.any_of(all), behind);
  }

  // Whether it is plain to see that `name` may not come in this choice: then something that is
  // demanded cannot come. Other choices can only make its place earlier.
  bool forbids(const Choice& choice, TextId name, std::uint32_t last) {
    const FreeNames behind{.came = names_.came, .last = last};
    return std::any_of(choice.wanted.begin(), choice.wanted.end(), [&](TextId wanted) {
      return wanted != name && !life_.is_free(behind, wanted, asked_in(choice, wanted)->order);
    });
  }

  // Whether it is plain to see that `name` may come in this choice. The order of the other choices
  // that are still open behind it may bind its demands, so the first place of each counts: in any
  // choice, which is found at once, else in those of `numbers`, which alone may have `name`.
  bool allows(Choice& choice, TextId name, std::uint32_t last,
              std::span<const std::uint32_t> numbers, Places& places) {
    if (!choice.is_simple) return false;
    const FreeNames behind{.came = names_.came, .last = last};
    const auto may_come = [&](TextId wanted) {
      return wanted == name || life_.is_free(behind, wanted, order_of(wanted)) ||
             life_.is_free(behind, wanted, order_among(numbers, wanted, places));
    };
    return std::all_of(choice.wanted.begin(), choice.wanted.end(), may_come) &&
           demands_of(choice) == Life::kLive && life_of(choice, name) == Life::kLive;
  }

  // The first place of `name` in these choices; order_of(), which may be earlier, where one of them
  // is not simple.
  std::uint32_t order_among(std::span<const std::uint32_t> numbers, TextId name, Places& places) {
    for (const auto& [known, order] : places) {
      if (known == name) return order;
    }
    std::uint32_t out = 0;
    for (const std::uint32_t number : numbers) {
      const Choice& choice = choices_[number];
      const Asked* const its = asked_in(choice, name);
      if (!choice.is_simple || !life_.spend()) return order_of(name);
      if (its == nullptr || its->order == 0) continue;
      out = out == 0 ? its->order : std::min(out, its->order);
    }
    places.emplace_back(name, out);
    return out;
  }

  static const Asked* asked_in(const Choice& choice, TextId name) {
    const auto its = std::lower_bound(choice.asked.begin(), choice.asked.end(), name,
                                      [](const Asked& one, TextId x) { return one.name < x; });
    return its == choice.asked.end() || its->name != name ? nullptr : &*its;
  }

  // Of a value of the member `name`.
  Life life_of(const Choice& choice, TextId name) {
    const Asked* const its = asked_in(choice, name);
    Leaves values;
    if (its != nullptr) values.push_back(its->value);
    return life_.of_value(life_.value_of(choice.others, name, std::move(values)));
  }

  Life demands_of(Choice& choice) {
    if (std::exchange(choice.is_asked, true)) return choice.demands;
    choice.demands = Life::kLive;
    for (const TextId wanted : choice.wanted) {
      if (choice.demands == Life::kLive) choice.demands = life_of(choice, wanted);
    }
    return choice.demands;
  }

  LifeSearch& life_;
  FreeNames names_;
  std::vector<Choice> choices_ = {};
  std::vector<std::uint32_t> open_ = {};  // the choices that may have any name
  std::vector<TextId> known_ = {};        // that are named alone
  Pairs owners_ = {};                     // by name: the others that may have it
  Pairs orders_ = {};                     // by name: its declared places
};

void LifeSearch::prepare_choices() {
  if (pool_.used_bytes() > kMaxFormulaBytes / 2) return;
  const auto n_formulas = static_cast<FormulaId>(pool_.size());
  for (FormulaId id = 0; id < n_formulas && fuel_ != 0; ++id) {
    if (!has_many_choices(id)) continue;
    const FormulaId typed = pool_.of_type(id, kObjectType);
    if (typed == kNoFormula || !has_many_choices(typed)) continue;
    next_names(typed, {});
    for (const TextId name : prepare_values(typed)) {
      const FreeNames names = behind(typed, {}, name);
      const FormulaId value = condition(pool_.behind_name(typed, name), false, names);
      if (value == kNoFormula) continue;
      const FormulaId wanted = pool_.resolve(value, [](FormulaId question) { return question; });
      of_value(wanted);
      const FormulaId within = pool_.of_type(wanted, kObjectType);
      if (within != kNoFormula && has_many_choices(within)) next_names(within, {});
    }
  }
}

// The names of the ∨ `of` whose values are objects of many kinds, too.
std::vector<TextId> LifeSearch::prepare_values(FormulaId of) {
  std::vector<std::pair<TextId, FormulaId>> found;
  const auto its = pool_.children(pool_.at(of));
  for (const FormulaId choice : Leaves(its.begin(), its.end())) {
    for (const FormulaId leaf : parts_of(choice)) {
      const Formula f = pool_.at(leaf);
      if (f.kind != FormulaKind::kNameAll) continue;
      for (const ValueType type : kValueTypes)
        pool_.of_type(f.b, type);
      const FormulaId object = pool_.of_type(f.b, kObjectType);
      if (pool_.names(f.a).is_one() && object != kNever)
        found.emplace_back(pool_.names(f.a).text, object);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<TextId> out;
  for (std::size_t i = 0; i + kManyChoices <= found.size(); ++i) {
    const TextId name = found[i].first;
    if (found[i + kManyChoices - 1].first == name && (out.empty() || out.back() != name))
      out.push_back(name);
  }
  return out;
}

std::optional<regex::ExprId> LifeSearch::choice_next_names(FormulaId of, FreeNames names) {
  const Formula& f = pool_.at(of);
  if (f.kind != FormulaKind::kOr || names.within != kNoFormula) return std::nullopt;
  return spend(f.n) ? NamesOfChoices(*this, of, names).all() : regex::kNoExpr;
}

}  // namespace wick::grammar
