// Short values that fulfill a formula, as JSON text: what closes a document when few tokens are
// left. The search follows LifeSearch and compares up to kMaxChoices choices at each place, so the
// text is short, and the shortest in most schemas.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/schema/life.h"

namespace wick::grammar {

// Appends `text` as a JSON string without its quotes.
void append_spelled(std::string_view text, std::string& out);

class ShortestSearch {
 public:
  ShortestSearch(FormulaPool& pool, Cells& cells, LifeSearch& life, bool has_order)
      : pool_(pool), cells_(cells), life_(life), has_order_(has_order) {}

  // Begins an operation of many calls.
  void refuel() noexcept { n_calls_ = 0; }

  // Nothing where there is none, or the search takes too many steps.
  std::optional<std::string> of_value(FormulaId of);
  // A text of `language` that is short as a JSON string: of letters and digits if that costs
  // nothing.
  std::optional<std::string> text_of(regex::ExprId language);
  // The members or items that must still come, with commas between them; formulas of of_type().
  std::optional<std::string> members(FormulaId of, FreeNames names);
  std::optional<std::string> items(FormulaId of);

 private:
  struct Member {
    TextId name = 0;
    std::string value = {};
  };

  // What is left of an object or array: first the value in progress.
  struct Rest {
    std::string value = {};
    std::vector<Member> members = {};
    std::size_t size = 0;
  };

  using Leaves = std::vector<FormulaId>;
  using Found = std::optional<Rest>;
  static constexpr int kMaxChoices = 4, kMaxDepth = 200, kMaxCalls = 20'000;
  static constexpr std::size_t kMaxText = 1U << 20U;

  std::optional<std::string> typed_value(FormulaId typed, ValueType type);
  Found rest_of(FormulaId of, bool is_array, FreeNames names);
  Found object_branch(const Leaves& leaves, FreeNames names);
  Found array_branch(const Leaves& leaves);
  Found array_demand(const Leaves& leaves, std::size_t at, bool has_most);
  std::string join(FormulaId of, std::vector<Member> members);

  bool spend() noexcept { return ++n_calls_ <= kMaxCalls && depth_ < kMaxDepth; }

  FormulaPool& pool_;
  Cells& cells_;
  LifeSearch& life_;
  bool has_order_;
  int n_calls_ = 0, depth_ = 0;
  std::unordered_map<FormulaId, std::string> values_ = {};
  std::unordered_map<FormulaId, bool> open_ = {};
};

}  // namespace wick::grammar
