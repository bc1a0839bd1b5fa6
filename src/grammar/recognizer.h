// What a constraint is to the mask engine: a language of byte strings as a deterministic automaton
// whose states are small numbers. States are immutable, so going back is keeping an old number, and
// equal states have equal numbers, so masks are cached by them.
//
// A recognizer may build its states as they are reached: one thread at a time. Its memory and the
// work of an operation are bounded; beyond the bound step() gives kFailedState and failure() says
// why.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace wick::grammar {

using StateId = std::uint32_t;

inline constexpr StateId kDeadState = 0;  // no document goes on from here
inline constexpr StateId kFailedState = ~StateId{0};

class Recognizer {
 public:
  virtual ~Recognizer() = default;

  // The state before the first byte; kDeadState where the language is empty.
  virtual StateId start() const noexcept = 0;

  // The state behind `byte`: kDeadState exactly where no document starts so.
  virtual StateId step(StateId state, unsigned char byte) = 0;

  // Whether what was read is a whole document.
  virtual bool accepts(StateId state) const noexcept = 0;

  // The bytes, at most `max_bytes`, that every document goes on with; `state` moves behind them.
  virtual Result<std::string> forced(StateId& state, std::size_t max_bytes);

  // A state that goes on, for the next `max_bytes` bytes, exactly as `state` does: step by step
  // dead or not, accepting or not. Many states of a counter far from its bounds have one.
  virtual StateId near_form(StateId state, std::size_t max_bytes) {
    static_cast<void>(max_bytes);
    return state;
  }

  // Begins an operation of many steps.
  virtual void begin(std::uint64_t fuel) = 0;

  // Between these, states are tried that nobody will come back to: end_walk() may forget those that
  // are new since begin_walk().
  virtual void begin_walk() {}

  virtual void end_walk() {}

  virtual Error failure() const = 0;
};

}  // namespace wick::grammar
