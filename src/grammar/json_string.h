// A JSON string whose decoded content matches an expression, with every spelling of a character
// that JSON allows: the character itself, short escapes (\n), \u00e9, surrogate pairs. Lengths and
// patterns count characters, so `any_character(){0,5}` accepts five characters in any spelling. A
// lone surrogate is never allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "grammar/json_spelling.h"
#include "grammar/recognizer.h"
#include "regex/automaton.h"

namespace wick::grammar {

// Remembers the expressions of the characters that an escape which has begun may become.
class EscapeStarts {
 public:
  // Whether a string of `content` begins with a character that continues the escape `started`.
  // Always with the same automaton.
  regex::Liveness may_start(regex::Automaton& automaton, regex::ExprId content,
                            const Spelled& started);

 private:
  // Whether `content` is known to have a string that begins with `character`.
  static bool surely_starts(regex::Automaton& automaton, regex::ExprId content, char32_t character);

  std::unordered_map<std::uint64_t, regex::ExprId> known_ = {};  // by the range of `started`
};

class JsonString final : public Recognizer {
 public:
  // `content` is an expression of `automaton`'s pool; its strings that are not UTF-8 are ignored.
  static Result<std::unique_ptr<JsonString>> make(std::unique_ptr<regex::Automaton> automaton,
                                                  regex::ExprId content);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override;

  bool accepts(StateId state) const noexcept override {
    return state != kFailedState && places_[state].where == Where::kBehind;
  }

  StateId near_form(StateId state, std::size_t max_bytes) override;

  void begin(std::uint64_t fuel) override { automaton_->pool().refuel(fuel); }

  Error failure() const override;

 private:
  enum class Where : std::uint8_t {
    kDead,
    kBefore,  // the opening quote
    kWithin,
    kBehind,  // the closing quote
  };

  struct Place {
    Where where = Where::kDead;
    Spelling spelling = {};
    regex::ExprId content = regex::kEmptySet;
    friend bool operator==(const Place&, const Place&) = default;
  };

  struct Hash {
    std::size_t operator()(const Place& p) const noexcept;
  };

  explicit JsonString(std::unique_ptr<regex::Automaton> automaton)
      : automaton_(std::move(automaton)) {}

  StateId state_of(const Place& place);
  // The state of `place` if the escape that has begun can still become an allowed character, else
  // kDeadState.
  StateId if_any(const Place& place, const Spelled& started);

  std::unique_ptr<regex::Automaton> automaton_;
  EscapeStarts escapes_ = {};
  std::vector<Place> places_ = {Place{}};  // by state; the first is kDeadState
  std::unordered_map<Place, StateId, Hash> states_ = {};
  StateId start_ = kDeadState;
  bool is_full_ = false;
};

}  // namespace wick::grammar
