// A context-free grammar as a Recognizer, by Earley's algorithm over bytes. A state is a set of
// items. When the production of an item is complete, parsing continues at its Caller: a nonterminal
// in a Block; a Block is the set of items that wait for nonterminals at one position. Equal blocks
// share one id. A production that ends in a nonterminal passes its own caller on (a tail call), so
// lists and right recursion need few states, and equal states share a mask.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/productions.h"
#include "grammar/recognizer.h"
#include "grammar/special_tokens.h"

namespace wick::grammar {

class EarleyRecognizer final : public Recognizer {
 public:
  static Result<std::unique_ptr<EarleyRecognizer>> parse(
      std::string_view text, const TokenNames& names = {},
      GrammarSyntax syntax = GrammarSyntax::kDetect);

  explicit EarleyRecognizer(Productions productions);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override;

  bool accepts(StateId state) const noexcept override {
    return state != kFailedState && states_[state].accepts;
  }

  Result<std::string> shortest(StateId state) override;
  StateId near_form(StateId state, std::size_t max_bytes) override;
  void begin(std::uint64_t fuel) override;
  bool is_worn() const noexcept override;
  Error failure() const override;

  const Productions& productions() const noexcept { return productions_; }

 private:
  using CallerId = std::uint32_t;
  using BlockId = std::uint32_t;
  static constexpr CallerId kRoot = 0;

  struct Item {
    std::uint32_t production = 0;
    std::uint32_t dot = 0;
    std::uint32_t rest = 0;  // of the terminal at the dot: its state
    CallerId caller = kRoot;
    bool is_begun = false;  // of a lexeme: it has a byte
    friend auto operator<=>(const Item&, const Item&) = default;
  };

  using Items = std::vector<Item>;

  struct Caller {
    BlockId block = 0;
    std::uint32_t nonterminal = 0;
    friend auto operator<=>(const Caller&, const Caller&) = default;
  };

  // The items at terminals in `items` and in the block; both sorted.
  struct State {
    Items items = {};
    BlockId block = 0;
    bool accepts = false;
    friend auto operator<=>(const State&, const State&) = default;
  };

  struct Block {
    Items terminals = {};
    std::map<std::uint32_t, Items> waiting = {};  // by nonterminal
  };

  // Who waits for a nonterminal while a block is made.
  struct Waits {
    std::size_t n = 0;
    Item one = {};        // the last of them
    bool is_own = false;  // it was predicted in this block
  };

  const Production& of(const Item& item) const noexcept {
    return productions_.all[item.production];
  }

  bool is_complete(const Item& item) const noexcept { return item.dot == of(item).right.size(); }

  const Symbol& symbol(const Item& item) const noexcept { return of(item).right[item.dot]; }

  Item at(Item item, std::uint32_t dot) const noexcept;
  bool passes(const Item& item) const noexcept;  // the symbol at the dot may be empty
  const Items& waiting(CallerId caller) const;
  StateId closed(Items kernel);
  BlockId block_of(const Items& waiting);
  void predict(const Items& waiting, Block& block, BlockId id);
  CallerId caller_of(std::uint32_t nonterminal, BlockId block,
                     std::map<std::uint32_t, Waits>& waits, int depth);
  StateId state_of(State state);
  bool fits(std::size_t n_items);

  // The shortest text from behind the item to the end of the document.
  const ShortText* tail_of(const Item& item);
  const ShortText* return_of(CallerId caller);
  // The text as a lexer reads it: with ignored text before a lexeme that one in progress would take
  // for its own. `goes_on`: the text begins with the rest of one. Empty: it is no end.
  std::optional<std::string> lexed(StateId state, const ShortText& text, bool goes_on);
  const std::string* between(StateId state, char next);  // null: nothing helps
  bool takes(StateId state, char byte);  // a lexeme in progress goes on with the byte

  Productions productions_;
  std::vector<State> states_ = {State{}};  // the first is kDeadState
  std::map<State, StateId> state_ids_ = {};
  std::vector<Block> blocks_ = {Block{}};
  std::map<Items, BlockId> block_ids_ = {};
  std::vector<Caller> callers_ = {Caller{}};  // the first is kRoot
  std::map<Caller, CallerId> caller_ids_ = {};
  std::unordered_map<std::uint64_t, StateId> steps_ = {};
  std::map<Item, ShortText> tails_ = {};
  std::map<CallerId, ShortText> returns_ = {};
  std::map<CallerId, bool> open_returns_ = {};
  std::size_t n_items_ = 0;
  std::uint64_t fuel_ = 0;
  StateId start_ = kDeadState;
  std::uint32_t failed_document_ = 0;
  bool is_full_ = false, is_spent_ = false;
};

}  // namespace wick::grammar
