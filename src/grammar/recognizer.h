// The interface of the mask engine to a grammar: a deterministic automaton over bytes whose states
// are small integers. States are immutable, so a rollback is a return to an earlier state. Equal
// states have equal ids, so masks are cached by id.
//
// A recognizer may build its states lazily: one thread at a time. Memory and work per operation are
// limited; beyond a limit step() returns kFailedState and failure() has the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "regex/automaton.h"

namespace wick::grammar {

using StateId = std::uint32_t;

inline constexpr StateId kDeadState = 0;  // no document goes on from here
inline constexpr StateId kFailedState = ~StateId{0};

class Recognizer {
 public:
  virtual ~Recognizer() = default;

  // The state before the first byte; kDeadState where the language is empty.
  virtual StateId start() const noexcept = 0;

  // The state after `byte`: kDeadState if and only if no document begins with the bytes so far.
  virtual StateId step(StateId state, unsigned char byte) = 0;

  // The state after `bytes`, the text of one token. A recognizer may forget the states between.
  virtual StateId step_all(StateId state, std::string_view bytes);

  // Whether what was read is a whole document.
  virtual bool accepts(StateId state) const noexcept = 0;

  // The bytes, at most `max_bytes`, with which every document continues; `state` becomes the state
  // after them.
  virtual Result<std::string> forced(StateId& state, std::size_t max_bytes);

  // Bytes that end the document from `state`: few, for most grammars the fewest. An error where
  // none were found.
  virtual Result<std::string> shortest(StateId state);

  // A state that is equivalent to `state` for the next `max_bytes` bytes: after each of them both
  // are dead or neither is, and both accept or neither does. States of a counter far from its
  // bounds share one near form, and so one mask.
  virtual StateId near_form(StateId state, std::size_t max_bytes) {
    static_cast<void>(max_bytes);
    return state;
  }

  // Where an expression alone says which plain text (plain_text.h) may come next: for any bytes
  // that are plain, step() from here gives kDeadState if and only if the automaton's step from
  // `rest` gives kEmptySet.
  struct PlainText {
    regex::Automaton* automaton;
    regex::ExprId rest;
    // Within a JSON string: what is no UTF-8 is dead, so are control characters, and a quote unless
    // `rest` contains the empty string.
    bool is_json_string = false;
    // The state is a document that is one JSON string, and nothing but `rest` decides what may
    // come. kBeforeSpace: white space may come behind it.
    enum class Alone : std::uint8_t { kNo, kAlone, kBeforeSpace } alone = Alone::kNo;
  };

  virtual std::optional<PlainText> plain_text(StateId state) {
    static_cast<void>(state);
    return std::nullopt;
  }

  // Where a value lies between other text, the state in two parts: a text goes on from `state` if
  // and only if it goes on from `within`, or it is a document from `within` and then one that goes
  // on from `behind`, whose first byte could not come within. The first part depends on the value
  // alone, so different places share it.
  struct Parts {
    StateId within, behind;
  };

  virtual std::optional<Parts> parts(StateId state) {
    static_cast<void>(state);
    return std::nullopt;
  }

  // Within a name of an object. `own`: what is missing of each name that is not like others; one of
  // them may not come, or another value behind it. `behind` is the state behind any other name, all
  // of which may come: a text goes on alike behind each of them until it has a byte of the object's
  // next name. kDeadState: other names differ, too, see behind_name(); not all of them may come.
  struct OpenName {
    StateId behind;
    std::vector<std::string> own;
  };

  virtual std::optional<OpenName> open_name(StateId state) {
    static_cast<void>(state);
    return std::nullopt;
  }

  // Within a name at `state`: the state behind one that is like the name that ends after `rest`,
  // which may come and is none of OpenName's `own`. kFailedState where it was not found.
  virtual StateId behind_name(StateId state, std::string_view rest) {
    static_cast<void>(state), static_cast<void>(rest);
    return kFailedState;
  }

  // Within a string whose value is compared with others later: the state behind one that is equal
  // to none. A text goes on alike behind each string until it has a byte of the next item, besides
  // the quote that begins it; or, where `within_value`, one behind the object or array of the
  // string. Farther on it goes on at least behind the one that is equal to none.
  // `within`: in a string that is a document of its own, which may also be one of those that may
  // not come; `excluded` is what is missing of these (an expression of plain_text()'s automaton).
  struct AnyItem {
    StateId behind;
    bool within_value;
    StateId within;
    regex::ExprId excluded;
  };

  virtual std::optional<AnyItem> any_item(StateId state) {
    static_cast<void>(state);
    return std::nullopt;
  }

  // Begins an operation of many steps.
  virtual void begin(std::uint64_t fuel) = 0;

  // They bracket a walk over the token trie, whose states are temporary: end_walk() may forget all
  // states that are new since begin_walk().
  virtual void begin_walk() {}

  virtual void end_walk() {}

  // About the bytes of its states and of what they use; 0 where it does not count them.
  virtual std::size_t used_bytes() const noexcept { return 0; }

  // Its memory is filling up: new texts should begin with a new recognizer.
  virtual bool is_worn() const noexcept { return false; }

  virtual Error failure() const = 0;
};

}  // namespace wick::grammar
