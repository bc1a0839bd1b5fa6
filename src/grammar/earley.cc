// Earley's algorithm with shared sets. The classic algorithm keeps a set of items for each position
// of the text, and items point back to the position where they began, so no two states are equal
// and no mask can be shared. Here an item points to a Caller instead: to the set of items that wait
// for its nonterminal. Sets with the same waiting items are one Block, wherever they arose. So
// after each element of a list the state is the same, and the number of states depends on the
// grammar, not on the length of the text.
//
// A terminal is a regular expression; an item inside one stores the derivative that is left of it.
#include "grammar/earley.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"
#include "grammar/ebnf.h"
#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/limits.h"
#include "grammar/near_form.h"

namespace wick::grammar {

namespace {

Result<GrammarRules> rules_of(std::string_view text, const TokenNames& names,
                              GrammarSyntax syntax) {
  const bool is_free = syntax == GrammarSyntax::kDetect;
  if (is_free) syntax = detected_syntax(text);
  if (syntax == GrammarSyntax::kLark) return parse_lark(text, names);
  if (syntax == GrammarSyntax::kEbnf) return parse_ebnf(text, names);
  auto rules = parse_gbnf(text, names);
  if (rules || !is_free || rules.error().id != "bad_grammar") return rules;
  auto others = parse_ebnf(text, names);  // W3C's rules begin as GBNF's
  return others ? std::move(others) : std::move(rules);
}

}  // namespace

Result<std::unique_ptr<EarleyRecognizer>> EarleyRecognizer::parse(std::string_view text,
                                                                  const TokenNames& names,
                                                                  GrammarSyntax syntax) {
  WICK_TRY(const GrammarRules rules, rules_of(text, names, syntax));
  WICK_TRY(Productions productions, make_productions(rules));
  auto out = std::make_unique<EarleyRecognizer>(std::move(productions));
  if (out->start() == kFailedState) return out->failure();
  return out;
}

EarleyRecognizer::EarleyRecognizer(Productions productions) : productions_(std::move(productions)) {
  begin(kMaskFuel);
  Items kernel;
  for (const std::uint32_t one : productions_.of[productions_.start])
    kernel.push_back(at({.production = one}, 0));
  start_ = closed(std::move(kernel));
}

void EarleyRecognizer::begin(std::uint64_t fuel) {
  fuel_ = fuel;
  is_spent_ = false;
  productions_.automaton->pool().refuel(fuel);
  for (const auto& one : productions_.documents)
    one->begin(fuel);
}

bool EarleyRecognizer::is_worn() const noexcept {
  return n_items_ > kMaxEarleyItems / 2 ||
         productions_.automaton->pool().used_bytes() > regex::kMaxAutomatonBytes / 2 ||
         std::any_of(productions_.documents.begin(), productions_.documents.end(),
                     [](const auto& one) { return one->is_worn(); });
}

Error EarleyRecognizer::failure() const {
  if (is_full_) {
    return {ErrorCode::kUnsupported,
            "grammar_memory",
            cat("the grammar needs more than ", kMaxEarleyItems, " items, or more than ",
                kMaxEarleyStateItems, " at one place"),
            {}};
  }
  if (is_spent_) {
    return {ErrorCode::kUnsupported, "grammar_fuel",
            "the grammar takes too many steps at one place", "Make it less ambiguous."};
  }
  if (failed_document_ != 0) return productions_.documents[failed_document_ - 1]->failure();
  return productions_.automaton->pool().failure();
}

bool EarleyRecognizer::fits(std::size_t n_items) {
  n_items_ += n_items;
  is_full_ = is_full_ || n_items_ > kMaxEarleyItems;
  return !is_full_;
}

EarleyRecognizer::Item EarleyRecognizer::at(Item item, std::uint32_t dot) const noexcept {
  item.dot = dot;
  const bool is_terminal = !is_complete(item) && symbol(item).is_terminal;
  item.rest = is_terminal ? productions_.begun(symbol(item)) : 0;
  item.is_begun = false;
  return item;
}

bool EarleyRecognizer::passes(const Item& item) const noexcept {
  const Symbol& next = symbol(item);
  return next.is_terminal ? productions_.accepts(next, item.rest)
                          : productions_.is_nullable[next.id];
}

const EarleyRecognizer::Items& EarleyRecognizer::waiting(CallerId caller) const {
  const Caller& to = callers_[caller];
  return blocks_[to.block].waiting.at(to.nonterminal);
}

StateId EarleyRecognizer::state_of(State state) {
  const auto known = state_ids_.find(state);
  if (known != state_ids_.end()) return known->second;
  if (!fits(state.items.size() + 4)) return kFailedState;
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back(state);
  state_ids_.emplace(std::move(state), id);
  return id;
}

// The state of the items that a byte has moved, with those they return to and those they begin.
StateId EarleyRecognizer::closed(Items kernel) {
  std::set<Item> seen(kernel.begin(), kernel.end());
  State state;
  Items calls;
  const auto add = [&](const Item& item) {
    if (seen.insert(item).second) kernel.push_back(item);
  };
  while (!kernel.empty()) {
    if (seen.size() > kMaxEarleyStateItems) is_full_ = true;
    if (fuel_ < seen.size()) is_spent_ = true;
    if (is_full_ || is_spent_) return kFailedState;
    --fuel_;
    const Item item = kernel.back();
    kernel.pop_back();
    if (is_complete(item)) {
      if (item.caller == kRoot) {
        state.accepts = true;
      } else {
        for (const Item& one : waiting(item.caller))
          add(at(one, one.dot + 1));
      }
      continue;
    }
    (symbol(item).is_terminal ? state.items : calls).push_back(item);
    if (passes(item)) add(at(item, item.dot + 1));
  }
  if (state.items.empty() && calls.empty() && !state.accepts) return kDeadState;
  std::sort(state.items.begin(), state.items.end());
  std::sort(calls.begin(), calls.end());
  state.block = block_of(calls);
  return is_full_ || is_spent_ ? kFailedState : state_of(std::move(state));
}

EarleyRecognizer::BlockId EarleyRecognizer::block_of(const Items& calls) {
  if (calls.empty()) return 0;
  const auto known = block_ids_.find(calls);
  if (known != block_ids_.end()) return known->second;
  const auto id = static_cast<BlockId>(blocks_.size());
  Block block;
  predict(calls, block, id);
  std::size_t n = calls.size() + block.terminals.size();
  for (const auto& [nonterminal, items] : block.waiting)
    n += items.size() + 2;
  if (is_spent_ || !fits(n)) return 0;
  blocks_.push_back(std::move(block));
  block_ids_.emplace(calls, id);
  return id;
}

// First who waits for each nonterminal, then which caller its productions get, then their items.
void EarleyRecognizer::predict(const Items& calls, Block& block, BlockId id) {
  std::map<std::uint32_t, Waits> waits;
  std::vector<std::uint32_t> todo;
  const auto wait = [&](const Item& item, bool is_own) {
    Waits& its = waits[symbol(item).id];
    if (its.n++ == 0) todo.push_back(symbol(item).id);
    its.one = item;
    its.is_own = is_own;
  };
  const auto each = [&](std::uint32_t nonterminal, const auto& visit) {
    for (const std::uint32_t one : productions_.of[nonterminal]) {
      Item item = at({.production = one}, 0);
      for (; !is_complete(item); item = at(item, item.dot + 1)) {
        if (fuel_ == 0) is_spent_ = true;
        if (is_spent_) return;
        --fuel_;
        visit(item);
        if (!passes(item)) break;
      }
    }
  };
  for (const Item& item : calls)
    wait(item, false);
  for (std::size_t i = 0; i < todo.size(); ++i) {
    each(todo[i], [&](const Item& item) {
      if (!symbol(item).is_terminal) wait(item, true);
    });
  }
  for (const Item& item : calls)
    block.waiting[symbol(item).id].push_back(item);
  for (const std::uint32_t nonterminal : todo) {
    const CallerId caller = caller_of(nonterminal, id, waits, 0);
    each(nonterminal, [&](Item item) {
      item.caller = caller;
      if (symbol(item).is_terminal) {
        block.terminals.push_back(item);
      } else {
        block.waiting[symbol(item).id].push_back(item);
      }
    });
  }
  std::sort(block.terminals.begin(), block.terminals.end());
}

// Where one item waits, and its production ends there, its own caller will do.
EarleyRecognizer::CallerId EarleyRecognizer::caller_of(std::uint32_t nonterminal, BlockId block,
                                                       std::map<std::uint32_t, Waits>& waits,
                                                       int depth) {
  constexpr int kMaxHandedOn = 200;
  const Waits& its = waits[nonterminal];
  if (its.n == 1 && its.one.dot + 1 == of(its.one).right.size() && depth < kMaxHandedOn) {
    return its.is_own ? caller_of(of(its.one).left, block, waits, depth + 1) : its.one.caller;
  }
  const Caller caller{block, nonterminal};
  const auto [known, is_new] =
      caller_ids_.try_emplace(caller, static_cast<CallerId>(callers_.size()));
  if (is_new) callers_.push_back(caller);
  return known->second;
}

StateId EarleyRecognizer::step(StateId id, unsigned char byte) {
  if (id == kFailedState || id == kDeadState) return id;
  const std::uint64_t key = std::uint64_t{id} << 8U | byte;
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
  Items kernel;
  bool has_begun = false;  // some lexeme in progress goes on
  for (const bool is_begun : {true, false}) {
    if (has_begun) break;
    for (const Items* const items : {&states_[id].items, &blocks_[states_[id].block].terminals}) {
      for (Item item : *items) {
        if (item.is_begun != is_begun) continue;
        const Symbol& terminal = symbol(item);
        item.rest = productions_.step(terminal, item.rest, byte);
        if (item.rest == kFailedState) failed_document_ = terminal.document;
        if (item.rest == kFailedState) return kFailedState;
        if (item.rest == kDeadState) continue;
        has_begun = is_begun;
        item.is_begun = productions_.is_lexed && terminal.document == 0;
        kernel.push_back(item);
      }
    }
  }
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  const StateId next = kernel.empty() ? kDeadState : closed(std::move(kernel));
  if (next != kFailedState && fits(1)) steps_.emplace(key, next);
  return next;
}

// Only the terminals in progress have counters that change.
StateId EarleyRecognizer::near_form(StateId id, std::size_t max_bytes) {
  if (id == kFailedState || id == kDeadState) return id;
  State state = states_[id];
  for (Item& item : state.items) {
    if (symbol(item).document == 0)
      item.rest = grammar::near_form(productions_.automaton->pool(), item.rest, max_bytes);
  }
  std::sort(state.items.begin(), state.items.end());
  state.items.erase(std::unique(state.items.begin(), state.items.end()), state.items.end());
  const StateId near = state_of(std::move(state));
  return near == kFailedState ? id : near;
}

Result<std::string> EarleyRecognizer::shortest(StateId id) {
  begin(kMaskFuel);
  if (id == kDeadState || id == kFailedState) return Recognizer::shortest(id);
  if (accepts(id)) return std::string();
  std::optional<ShortText> best;
  bool goes_on = false;
  for (const Items* const items : {&states_[id].items, &blocks_[states_[id].block].terminals}) {
    for (const Item& item : *items) {
      WICK_TRY(auto text, productions_.shortest_of(symbol(item), item.rest));
      const ShortText* const tail = text ? tail_of(item) : nullptr;
      if (tail == nullptr) continue;
      if (best && text->bytes.size() + tail->bytes.size() >= best->bytes.size()) continue;
      goes_on = item.is_begun && !text->bytes.empty();
      text->add(*tail);
      best = std::move(text);
    }
  }
  if (best && !productions_.is_lexed) return std::move(best->bytes);
  auto end = best ? lexed(id, *best, goes_on) : std::nullopt;
  return end ? Result<std::string>(*std::move(end)) : Recognizer::shortest(id);
}

std::optional<std::string> EarleyRecognizer::lexed(StateId state, const ShortText& text,
                                                   bool goes_on) {
  std::string out;
  std::size_t begin = 0;
  const auto add = [&](std::string_view part) {
    state = step_all(state, part);
    out += part;
  };
  for (std::size_t i = 0; i <= text.cuts.size(); ++i) {
    const std::size_t end = i < text.cuts.size() ? text.cuts[i] : text.bytes.size();
    const std::string* const before = goes_on ? nullptr : between(state, text.bytes[begin]);
    if (before == nullptr && !goes_on) return std::nullopt;
    if (before != nullptr) add(*before);
    add(std::string_view(text.bytes).substr(begin, end - begin));
    goes_on = false;
    begin = end;
  }
  return accepts(state) ? std::optional(std::move(out)) : std::nullopt;
}

const std::string* EarleyRecognizer::between(StateId state, char next) {
  static const std::string kNothing;
  if (!takes(state, next)) return &kNothing;
  for (const std::string& one : productions_.ignored) {
    if (!takes(state, one.front()) && !takes(step_all(state, one), next)) return &one;
  }
  return nullptr;
}

bool EarleyRecognizer::takes(StateId state, char byte) {
  if (state == kFailedState) return false;
  const Items& items = states_[state].items;
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    return item.is_begun && productions_.step(symbol(item), item.rest,
                                              static_cast<unsigned char>(byte)) != kDeadState;
  });
}

// Behind the symbol at the dot.
const ShortText* EarleyRecognizer::tail_of(const Item& item) {
  Item key = item;
  key.rest = 0;
  key.is_begun = false;
  if (const auto known = tails_.find(key); known != tails_.end()) return &known->second;
  ShortText text;
  for (std::size_t i = item.dot + 1; i < of(item).right.size(); ++i) {
    const Symbol& next = of(item).right[i];
    if (next.is_terminal) {
      const auto part = productions_.shortest_of(next, productions_.begun(next));
      if (!part || !*part) return nullptr;
      text.add(**part);
    } else {
      if (!productions_.shortest[next.id]) return nullptr;
      text.add(*productions_.shortest[next.id]);
    }
  }
  const ShortText* const behind = return_of(item.caller);
  if (behind == nullptr || text.bytes.size() + behind->bytes.size() > kMaxShortestBytes)
    return nullptr;
  text.add(*behind);
  const std::size_t n_bytes = text.bytes.size() + text.cuts.size() * sizeof text.cuts[0];
  if (!fits(1 + n_bytes / sizeof(Item))) return nullptr;
  return &tails_.emplace(key, std::move(text)).first->second;
}

const ShortText* EarleyRecognizer::return_of(CallerId caller) {
  static const ShortText kNothing;
  if (caller == kRoot) return &kNothing;
  if (const auto known = returns_.find(caller); known != returns_.end()) return &known->second;
  constexpr std::size_t kMaxOpen = 1'000;
  if (open_returns_.size() >= kMaxOpen || !open_returns_.emplace(caller, true).second)
    return nullptr;  // the shortest way out does not come back
  const ShortText* best = nullptr;
  for (const Item& item : waiting(caller)) {
    const ShortText* const tail = tail_of(item);
    if (tail != nullptr && (best == nullptr || tail->bytes.size() < best->bytes.size()))
      best = tail;
  }
  open_returns_.erase(caller);
  if (best == nullptr) return nullptr;
  return &returns_.emplace(caller, *best).first->second;
}

}  // namespace wick::grammar
