// A regular language as a Recognizer: its states are the expressions of regex/automaton.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "grammar/recognizer.h"
#include "regex/automaton.h"

namespace wick::grammar {

class RegexRecognizer final : public Recognizer {
 public:
  // Texts that `pattern` (ECMA-262) matches from end to end.
  static Result<std::unique_ptr<RegexRecognizer>> parse(std::string_view pattern);

  // Just these texts.
  static Result<std::unique_ptr<RegexRecognizer>> choice(std::span<const std::string_view> texts);

  // `language` is of `automaton`'s pool.
  RegexRecognizer(std::unique_ptr<regex::Automaton> automaton, regex::ExprId language);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override { return automaton_->step(state, byte); }

  bool accepts(StateId state) const noexcept override {
    return automaton_->pool().is_nullable(state);
  }

  Result<std::string> forced(StateId& state, std::size_t max_bytes) override {
    return automaton_->forced(state, max_bytes);
  }

  Result<std::string> shortest(StateId state) override;

  StateId near_form(StateId state, std::size_t max_bytes) override;

  std::optional<PlainText> plain_text(StateId state) override {
    return PlainText{automaton_.get(), state};
  }

  void begin(std::uint64_t fuel) override { automaton_->pool().refuel(fuel); }

  Error failure() const override { return automaton_->pool().failure(); }

  regex::Automaton& automaton() noexcept { return *automaton_; }

 private:
  std::unique_ptr<regex::Automaton> automaton_;
  regex::ExprId start_ = regex::kEmptySet;
};

}  // namespace wick::grammar
