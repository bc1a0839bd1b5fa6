// Places of different documents share masks (Recognizer::Parts): the value in progress, or the
// object or array around it, is a document of its own. Its requirement is `wanted` or `goal`, which
// says all that the outer document asks of it. Behind it the outer document goes on.
//
// That holds if one state comes behind the value, whatever the value is: if its frame asks
// questions that must all be answered by yes. Where a document may live although some answer is no
// (anyOf, oneOf, not, contains), there are no parts.
#include <algorithm>
#include <span>

#include "grammar/schema/recognizer.h"

namespace wick::grammar {

std::optional<Recognizer::Parts> SchemaRecognizer::parts(StateId id) {
  if (id == kDeadState || id == kFailedState) return std::nullopt;
  const State state = states_[id];
  std::optional<State> within;
  std::optional<StateId> next;
  switch (state.place.where) {
    case Where::kValue:
    case Where::kString:
    case Where::kNumber:
    case Where::kWord:
      if ((next = behind(state.place.frame))) within = within_value(state);
      break;
    case Where::kFirstItem:
    case Where::kFirstName:
    case Where::kName:
    case Where::kNameString:
    case Where::kColon:
    case Where::kBehindValue:
      if ((next = behind(machine_.frame(state.place.frame).below))) within = within_frame(state);
      break;
    default:
      break;
  }
  if (!within) return std::nullopt;
  const StateId its = state_of(*within);
  if (its == kFailedState) return std::nullopt;
  return Parts{.within = its, .behind = *next};
}

std::optional<SchemaRecognizer::State> SchemaRecognizer::within_value(const State& state) {
  State out = state;
  out.place.text = 0;
  out.place.frame = JsonMachine::kAnyRoot;
  if (state.place.where == Where::kWord) out.place.text = state.place.text;
  if (state.place.where == Where::kString)
    out.place.content = machine_.list_of({state.rest, state.rest});
  if (state.place.where == Where::kValue) {
    const FormulaId of = wanted(state.place.frame);
    if (of == kNoFormula) return std::nullopt;
    out.place.frame = machine_.root_of(of);
  }
  return out;
}

std::optional<SchemaRecognizer::State> SchemaRecognizer::within_frame(const State& state) {
  const auto frame = machine_.as_document(state.place.frame);
  if (!frame) return std::nullopt;
  State out = state;
  out.place.frame = *frame;
  return out;
}

std::optional<StateId> SchemaRecognizer::behind(std::uint32_t frame) {
  if (machine_.frame(frame).is_root) return std::nullopt;
  StateId out = facts(frame).behind;
  if (out == kFailedState) {
    out = kDeadState;
    if (!machine_.frame(frame).keeps_items && asks_all(frame)) {
      const Place place = machine_.behind_value(frame);
      if (place.where == Where::kFailed) return std::nullopt;
      if (place.where != Where::kDead) out = state_of({.place = place});
      if (out == kFailedState) return std::nullopt;
    }
    facts(frame).behind = out;
  }
  return out == kDeadState ? std::nullopt : std::optional(out);
}

// The condition on the value in progress is that all questions are answered by yes.
bool SchemaRecognizer::asks_all(std::uint32_t frame) {
  const auto questions = machine_.list(machine_.frame(frame).questions);
  const FormulaId of = condition(frame);
  if (questions.empty() || of == kNoFormula || of == kNever) return false;
  const FormulaPool& pool = machine_.pool();
  const Formula& f = pool.at(of);
  const std::span<const FormulaId> one(&of, 1);
  const auto parts = f.kind == FormulaKind::kAnd ? pool.children(f) : one;
  return std::all_of(questions.begin() + 1, questions.end(), [&](FormulaId question) {
    return std::any_of(parts.begin(), parts.end(), [&](FormulaId part) {
      return pool.at(part).kind == FormulaKind::kChild && pool.at(part).a == question;
    });
  });
}

}  // namespace wick::grammar
