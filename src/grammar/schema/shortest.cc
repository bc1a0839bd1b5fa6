#include "grammar/schema/shortest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/mix.h"

namespace wick::grammar {

void append_spelled(std::string_view text, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef", kShort[] = "btn\0fr";  // from \b on
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= '\b' && byte <= '\r' && byte != '\v') {
      out += '\\';
      out += kShort[byte - '\b'];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
}

// The nodes stay for the next operation, while they are few.
void ShortestSearch::refuel() {
  fuel_ = kMaxShortestNodes;
  if (nodes_.size() <= kMaxShortestNodes / 8) return;
  nodes_.clear();
  ids_.clear();
}

ShortestSearch::NodeId ShortestSearch::node_of(const Goal& goal) {
  std::uint64_t h =
      mix_hash(static_cast<std::uint64_t>(goal.kind), std::uint64_t{goal.of} << 32U | goal.n_first);
  h = mix_hash(h, std::uint64_t{goal.names.came} << 32U | goal.names.last);
  h = mix_hash(h, goal.names.within);
  const auto hash = static_cast<std::uint32_t>(h ^ (h >> 32U));
  const NodeId known = ids_.find(hash, [&](NodeId id) { return nodes_[id].goal == goal; });
  if (known != FlatHashMap::kNone) return known;
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.goal = goal, .lower = least_of(goal)});
  ids_.add(hash, id);
  return id;
}

ShortestSearch::Cost ShortestSearch::cost_of(const Node& node,
                                             const Choice& choice) const noexcept {
  if (choice.n_open > 0) return kNoCost;
  const bool has_brackets = node.goal.kind == Kind::kValue && !choice.parts.empty();
  if (!has_brackets) return choice.sum;
  return choice.sum == 0 ? 2 : choice.sum + 1;  // the last comma is none
}

ShortestSearch::Cost ShortestSearch::lower_bound(NodeId id) const noexcept {
  const Node& node = nodes_[id];
  return node.is_final ? node.cost : node.lower;
}

ShortestSearch::Cost ShortestSearch::lower_bound(const Node& node,
                                                 const Choice& choice) const noexcept {
  Cost sum = choice.bytes;
  for (const Part& part : choice.parts)
    sum += times(lower_bound(part.node), part.n);
  const bool has_brackets = node.goal.kind == Kind::kValue && !choice.parts.empty();
  return has_brackets ? std::max(sum + 1, Cost{2}) : sum;
}

bool ShortestSearch::may_improve(NodeId id, std::uint32_t choice) const noexcept {
  const Node& node = nodes_[id];
  const Cost least = lower_bound(node, node.choices[choice]);
  return least < node.cost && least <= kMaxSteppedBytes;
}

void ShortestSearch::add(NodeId id, Choice choice) {
  Node& node = nodes_[id];
  const auto at = static_cast<std::uint32_t>(node.choices.size());
  choice.sum = choice.bytes;
  for (const Part& part : choice.parts) {
    Node& its = nodes_[part.node];
    its.uses.push_back({.node = id, .choice = at, .n = part.n});
    if (its.cost == kNoCost) {
      ++choice.n_open;
    } else {
      choice.sum += times(its.cost, part.n);
    }
  }
  node.choices.push_back(std::move(choice));
  improve(id, at);
}

// The choice has become cheaper, and with it what uses its node. First come, first served: each
// node is seen a few times at most, where the last first could take exponential time.
void ShortestSearch::improve(NodeId id, std::uint32_t choice) {
  std::vector<std::pair<NodeId, std::uint32_t>> open = {{id, choice}};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto [at, which] = open[i];
    Node& node = nodes_[at];
    const Cost cost = cost_of(node, node.choices[which]), old = node.cost;
    if (cost >= old || cost > kMaxSteppedBytes) continue;
    node.cost = cost;
    node.best = which;
    for (const Use& use : node.uses) {
      Choice& its = nodes_[use.node].choices[use.choice];
      its.sum += times(cost, use.n);
      if (old == kNoCost) {
        --its.n_open;
      } else {
        its.sum -= times(old, use.n);
      }
      if (its.n_open == 0) open.emplace_back(use.node, use.choice);
    }
  }
}

// The cheapest choice is looked into first.
void ShortestSearch::visit(NodeId id) {
  Node& node = nodes_[id];
  if (node.is_final || node.run == run_) return;
  node.run = run_;
  visited_.push_back(id);
  std::vector<std::pair<Cost, std::uint32_t>> order;
  for (std::uint32_t i = 0; i < node.choices.size(); ++i) {
    if (!node.choices[i].parts.empty()) order.emplace_back(lower_bound(node, node.choices[i]), i);
  }
  std::sort(order.rbegin(), order.rend());
  for (const auto& [least, i] : order)
    todo_.emplace_back(id, i);
}

// False: nothing was found. Each node that is visited has the least cost at the end, because each
// of its choices was looked into, or costs more than another; see `lower_bound`.
bool ShortestSearch::search(NodeId root) {
  is_cut_ = false;
  ++run_;
  todo_.clear();
  visited_.clear();
  if (expand(root)) visit(root);
  while (!todo_.empty() && fuel_ != 0) {
    const auto [id, which] = todo_.back();
    todo_.pop_back();
    if (!may_improve(id, which)) continue;
    const std::vector<Part> parts = nodes_[id].choices[which].parts;
    bool is_whole = true;
    for (const Part& part : parts)
      is_whole = is_whole && expand(part.node);
    if (!is_whole || !may_improve(id, which)) continue;
    for (const Part& part : parts)
      visit(part.node);
  }
  if (!is_cut_ && fuel_ != 0) {
    for (const NodeId id : visited_)
      nodes_[id].is_final = true;
  }
  return nodes_[root].cost != kNoCost;
}

ShortestSearch::NodeId ShortestSearch::rest_of(NodeId value_or_rest) const noexcept {
  const Node& node = nodes_[value_or_rest];
  return node.goal.kind == Kind::kValue ? node.choices[node.best].parts[0].node : value_or_rest;
}

std::optional<ShortestSearch::NodeId> ShortestSearch::value(FormulaId of) {
  const NodeId root = node_of({.of = of});
  return search(root) ? std::optional(root) : std::nullopt;
}

std::optional<ShortestSearch::NodeId> ShortestSearch::rest(FormulaId of, bool is_array,
                                                           FreeNames names) {
  Goal goal{.of = of, .kind = is_array ? Kind::kArray : Kind::kObject};
  if (!is_array) goal.names = life_.ordered(of, names);
  const NodeId root = node_of(goal);
  return search(root) ? std::optional(root) : std::nullopt;
}

const std::string* ShortestSearch::text(NodeId value) const noexcept {
  const Node& node = nodes_[value];
  const Choice& best = node.choices[node.best];
  return best.parts.empty() ? &best.text : nullptr;
}

bool ShortestSearch::is_array(NodeId value_or_rest) const noexcept {
  return nodes_[rest_of(value_or_rest)].goal.kind == Kind::kArray;
}

// Those of its best choice and of the rests behind.
std::vector<ShortestSearch::Part> ShortestSearch::parts(NodeId value_or_rest) const {
  std::vector<Part> out;
  TextId first = kNoName;  // of the value that the rest begins with
  for (std::optional<NodeId> rest = rest_of(value_or_rest); rest;) {
    const Node& node = nodes_[*rest];
    rest = std::nullopt;
    for (Part part : node.choices[node.best].parts) {
      if (part.name == kNoName) part.name = first;
      if (nodes_[part.node].goal.kind == Kind::kValue) {
        out.push_back(part);
      } else {
        rest = part.node;
        first = part.name;
      }
    }
  }
  return out;
}

}  // namespace wick::grammar
