// A JSON string whose content is in a language: the quotes, and between them every spelling of the
// content's characters that JSON has: as they are, \n and its kind, \u00e9, pairs of surrogates.
// Lengths and patterns speak of characters, so `any_character(){0,5}` holds five characters
// however they are written. Half of a pair of surrogates is no character and never allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "grammar/recognizer.h"
#include "regex/automaton.h"

namespace wick::grammar {

class JsonString final : public Recognizer {
 public:
  // `content` is of `automaton`'s pool; what is not UTF-8 in it is left out.
  static Result<std::unique_ptr<JsonString>> make(std::unique_ptr<regex::Automaton> automaton,
                                                  regex::ExprId content);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override;

  bool accepts(StateId state) const noexcept override {
    return state != kFailedState && places_[state].where == Where::kBehind;
  }

  Result<std::string> forced(StateId& state, std::size_t max_bytes) override;

  StateId near_form(StateId state, std::size_t max_bytes) override;

  void begin(std::uint64_t fuel) override { automaton_->pool().refuel(fuel); }

  Error failure() const override;

 private:
  // Where in the spelling a state is.
  enum class Where : std::uint8_t {
    kDead,
    kBefore,   // the opening quote
    kInside,   // between characters, or within the UTF-8 of one
    kEscape,   // behind a backslash
    kHex,      // behind \u and `n_digits` digits, whose value is `value`
    kPair,     // behind the first half of a pair, which is `value`: a backslash must come
    kPairU,    // behind that backslash
    kPairHex,  // behind \uXXXX\u and `n_digits` digits; `value` is both, 16 bits each
    kBehind,   // the closing quote
  };

  struct Place {
    Where where = Where::kDead;
    std::uint8_t n_digits = 0;
    std::uint32_t value = 0;
    regex::ExprId content = regex::kEmptySet;
    friend bool operator==(const Place&, const Place&) = default;
  };

  struct Hash {
    std::size_t operator()(const Place& p) const noexcept;
  };

  explicit JsonString(std::unique_ptr<regex::Automaton> automaton)
      : automaton_(std::move(automaton)) {}

  StateId state_of(const Place& place);
  StateId inside(Place place, unsigned char byte);
  StateId escaped(const Place& place, unsigned char byte);
  StateId hex(Place place, unsigned char byte);
  StateId pair_hex(Place place, unsigned char byte);
  // The state behind one whole character.
  StateId behind(const Place& place, char32_t code);
  // `place` itself where a character from `first` to `last` may come, else kDeadState.
  StateId if_any(const Place& place, std::uint32_t first, std::uint32_t last, bool with_pairs);

  std::unique_ptr<regex::Automaton> automaton_;
  std::vector<Place> places_ = {Place{}};  // by state; the first is kDeadState
  std::unordered_map<Place, StateId, Hash> states_ = {};
  StateId start_ = kDeadState;
  bool is_full_ = false;
};

}  // namespace wick::grammar
