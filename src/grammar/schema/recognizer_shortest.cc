// What closes a document: from each place the text up to the end of the value or container there.
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/recognizer.h"

namespace wick::grammar {

Result<std::string> SchemaRecognizer::shortest(StateId id) {
  begin(kShortestFuel);
  shortest_.refuel();
  std::string out;
  for (int n_pieces = 0; !accepts(id); ++n_pieces) {
    const auto piece = n_pieces < kMaxShortestPieces ? next_piece(id) : std::nullopt;
    if (!piece || out.size() + piece->size() > kMaxSteppedBytes) return Recognizer::shortest(id);
    for (const char c : *piece) {
      id = step(id, static_cast<unsigned char>(c));
      if (id == kFailedState) return failure();
      if (id == kDeadState) return Recognizer::shortest(id);
    }
    out += *piece;
  }
  return out;
}

std::optional<std::string> SchemaRecognizer::next_piece(StateId id) {
  if (id == kDeadState || id == kFailedState) return std::nullopt;
  const State state = states_[id];
  switch (state.place.where) {
    case Where::kValue:
      return shortest_.of_value(wanted(state.place.frame));
    case Where::kFirstItem:
    case Where::kFirstName:
    case Where::kName:
    case Where::kBehindValue:
      return rest_of_container(state);
    case Where::kString:
    case Where::kNameString:
      return rest_of_string(id);
    case Where::kColon:
      return ":";
    case Where::kNumber: {
      if (machine_.pool().exprs().is_nullable(state.rest)) {
        const Place behind = machine_.end_number(state.place);
        return next_piece(state_of({.place = behind}));
      }
      const auto text = machine_.pool().automaton().shortest(state.rest);
      return text ? *text : std::nullopt;
    }
    default:
      return one_byte(id, "aelnrsu");  // of a word
  }
}

std::optional<std::string> SchemaRecognizer::rest_of_container(const State& state) {
  const Where where = state.place.where;
  const std::uint32_t frame = state.place.frame;
  const bool is_array = machine_.frame(frame).is_array;
  const bool must_come = where == Where::kName;  // a member, behind a comma
  const FormulaId of = goal(frame);
  if (of == kNoFormula) return std::nullopt;
  const std::string end = is_array ? "]" : "}";
  if (machine_.pool().may_end(of)) {
    if (!must_come) return end;
    const regex::ExprId next = life_.next_names(of, names(frame));
    if (next == regex::kNoExpr) return std::nullopt;
    const auto name = shortest_.text_of(next);
    if (!name) return std::nullopt;
    std::string out = "\"";
    append_spelled(*name, out);
    return out + "\"";
  }
  auto more = is_array ? shortest_.items(of) : shortest_.members(of, names(frame));
  if (!more || more->empty()) return std::nullopt;
  return (where == Where::kBehindValue ? "," : "") + *std::move(more) + end;
}

std::optional<std::string> SchemaRecognizer::rest_of_string(StateId id) {
  const State& state = states_[id];
  if (state.place.spelling.where != Spelling::Where::kInside)
    return one_byte(id, "\\u\"/bfnrt0123456789abcdef");
  const auto text = shortest_.text_of(state.rest);
  if (!text) return std::nullopt;
  std::string out;
  append_spelled(*text, out);
  return out + "\"";
}

std::optional<std::string> SchemaRecognizer::one_byte(StateId id, std::string_view order) {
  for (const char c : order) {
    const StateId next = step(id, static_cast<unsigned char>(c));
    if (next != kDeadState && next != kFailedState) return std::string(1, c);
  }
  return std::nullopt;
}

}  // namespace wick::grammar
