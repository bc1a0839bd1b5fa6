// The shortest values that fulfill a formula, as JSON text: what closes a document when few tokens
// are left.
//
// A grammar whose nonterminals (nodes) are the values of a formula and the rests of an object or
// array. Each node has choices: a number, string or word; an object or array with its rest; a rest
// with the members or items that must come. The cost of a choice is the sum of the costs of its
// parts, so that members that have nothing to do with each other are searched one by one. The least
// costs are found as in Knuth's generalization of Dijkstra's algorithm, but from the root: a choice
// whose lower bound is not below the cost of its node is not looked into.
//
// Costs are bytes. Of a string the text with the fewest bytes before escapes is taken. One thread.
// The work between two calls of refuel() is bounded; beyond it the best text so far is returned,
// which may not be the shortest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/flat_map.h"
#include "grammar/limits.h"
#include "grammar/schema/life.h"

namespace wick::grammar {

// Appends `text` as a JSON string without its quotes.
void append_spelled(std::string_view text, std::string& out);

class ShortestSearch {
 public:
  ShortestSearch(FormulaPool& pool, Cells& cells, LifeSearch& life)
      : pool_(pool), cells_(cells), life_(life) {}

  // Begins an operation of many calls.
  void refuel();

  // What was found; until refuel().
  using NodeId = std::uint32_t;
  static constexpr TextId kNoName = ~TextId{0};

  // A value, `n` times: an item, or a member of this name. Within a choice also one rest, which
  // comes last and begins with the value of this name.
  struct Part {
    NodeId node = 0;
    std::uint32_t n = 1;
    TextId name = kNoName;
  };

  // Nothing where there is none, it has more than kMaxSteppedBytes, or the search takes too many
  // steps.
  std::optional<NodeId> value(FormulaId of);
  // What must still come in an object or array; a formula of of_type().
  std::optional<NodeId> rest(FormulaId of, bool is_array, FreeNames names);

  FormulaId formula(NodeId value) const noexcept { return nodes_[value].goal.of; }

  // The text of a value that is no object or array.
  const std::string* text(NodeId value) const noexcept;
  bool is_array(NodeId value_or_rest) const noexcept;
  // The members, in no order, or the items of a value or a rest.
  std::vector<Part> parts(NodeId value_or_rest) const;

  // A text of `language` that is short as a JSON string: of letters and digits if that costs
  // nothing.
  std::optional<std::string> text_of(regex::ExprId language);

 private:
  using Leaves = std::vector<FormulaId>;
  using Cost = std::uint64_t;

  static constexpr Cost kNoCost = Cost{1} << 40U;

  enum class Kind : std::uint8_t { kValue, kObject, kArray };  // an object's or array's rest

  // A rest begins with the value in progress, `n_first` times.
  struct Goal {
    FormulaId of = kNever;
    Kind kind = Kind::kValue;
    std::uint32_t n_first = 0;
    FreeNames names = {};
    friend bool operator==(const Goal&, const Goal&) = default;
  };

  struct Choice {
    Cost bytes = 0;         // besides those of the parts; each member and item with a comma
    std::string text = {};  // of a value without parts
    std::vector<Part> parts = {};
    std::size_t n_open = 0;  // parts without a cost
    Cost sum = 0;            // of the others and `bytes`
  };

  struct Use {
    NodeId node;
    std::uint32_t choice, n;
  };

  struct Node {
    Goal goal = {};
    Cost cost = kNoCost;  // of the best choice
    Cost lower = 0;       // no choice costs less
    std::uint32_t best = 0;
    std::uint32_t run = 0;  // that came here last
    bool is_expanded = false;
    bool is_final = false;  // the cost is the least
    std::vector<Choice> choices = {};
    std::vector<Use> uses = {};
  };

  // The search (shortest.cc).
  static constexpr Cost times(Cost cost, Cost n) noexcept {
    return cost == kNoCost ? kNoCost : std::min(n * cost, kNoCost);
  }

  bool spend(std::uint64_t n = 1) noexcept {
    fuel_ -= std::min(fuel_, n);
    return fuel_ != 0;
  }

  NodeId node_of(const Goal& goal);
  bool search(NodeId root);
  void visit(NodeId id);
  void add(NodeId id, Choice choice);
  void improve(NodeId id, std::uint32_t choice);
  Cost cost_of(const Node& node, const Choice& choice) const noexcept;
  Cost lower_bound(NodeId id) const noexcept;
  Cost lower_bound(const Node& node, const Choice& choice) const noexcept;
  bool may_improve(NodeId id, std::uint32_t choice) const noexcept;
  NodeId rest_of(NodeId value_or_rest) const noexcept;

  // The choices of a node (shortest_choices.cc).
  Cost least_of(const Goal& goal) const;
  bool expand(NodeId id);
  void expand_value(NodeId id);
  std::optional<std::string> scalar(FormulaId typed, ValueType type);
  bool contradicts_itself(FormulaId of, const Goal& goal);
  void expand_rest(NodeId id);
  void add_part(Choice& choice, const Part& part);
  void object_choices(NodeId id, const Choice& begun, const Leaves& leaves, FreeNames names);
  bool members_alone(NodeId id, const Choice& begun, const Leaves& leaves, FreeNames names);
  void array_choices(NodeId id, Choice begun, const Leaves& leaves);

  FormulaPool& pool_;
  Cells& cells_;
  LifeSearch& life_;
  bool is_cut_ = false;  // something was not looked into
  std::uint64_t fuel_ = 0;
  std::uint32_t run_ = 0;
  FlatHashMap ids_ = {};
  std::deque<Node> nodes_ = {};
  std::vector<std::pair<NodeId, std::uint32_t>> todo_ = {};  // choices; the last one is next
  std::vector<NodeId> visited_ = {};                         // in this run
};

}  // namespace wick::grammar
