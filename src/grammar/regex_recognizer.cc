#include "grammar/regex_recognizer.h"

#include <utility>

#include "grammar/near_form.h"
#include "regex/ecma.h"

namespace wick::grammar {

static_assert(kDeadState == regex::kEmptySet && kFailedState == regex::kNoExpr);

using regex::ExprId;

Result<std::unique_ptr<RegexRecognizer>> RegexRecognizer::parse(std::string_view pattern) {
  auto automaton = std::make_unique<regex::Automaton>();
  WICK_TRY(const ExprId language,
           regex::parse_ecma(automaton->pool(), pattern, regex::PatternUse::kWhole));
  WICK_TRY(const bool is_empty, automaton->is_empty(language));
  return std::make_unique<RegexRecognizer>(std::move(automaton),
                                           is_empty ? regex::kEmptySet : language);
}

Result<std::unique_ptr<RegexRecognizer>> RegexRecognizer::choice(
    std::span<const std::string_view> texts) {
  auto automaton = std::make_unique<regex::Automaton>();
  const ExprId language = automaton->pool().literals(texts);
  if (language == regex::kNoExpr) return automaton->pool().failure();
  return std::make_unique<RegexRecognizer>(std::move(automaton), language);
}

Result<std::string> RegexRecognizer::shortest(StateId state) {
  WICK_TRY(auto text, automaton_->shortest(state));
  if (text) return *std::move(text);
  return Recognizer::shortest(state);
}

RegexRecognizer::RegexRecognizer(std::unique_ptr<regex::Automaton> automaton, ExprId language)
    : automaton_(std::move(automaton)), start_(language) {}

StateId RegexRecognizer::near_form(StateId state, std::size_t max_bytes) {
  return grammar::near_form(automaton_->pool(), state, max_bytes);
}

}  // namespace wick::grammar
