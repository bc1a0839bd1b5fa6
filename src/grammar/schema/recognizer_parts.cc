// Places of different documents share masks (Recognizer::Parts): the value in progress, or the
// object or array around it, is a document of its own. Its requirement is `wanted` or `goal`, which
// says all that the outer document asks of it. Behind it the outer document goes on.
//
// That holds if one state comes behind the value, whatever the value is: if its frame asks
// questions that must all be answered by yes. Where a document may live although some answer is no
// (anyOf, oneOf, not, contains), there are no parts.
//
// Names that no formula of an object speaks of, and that have not come, can be exchanged in a
// document without changing whether it is one. So the same may come behind each of them
// (Recognizer::OpenName).
//
// Behind an item of an array with uniqueItems the value counts from the next item on
// (JsonMachine::settled), if there is room for one more in any case.
#include <algorithm>
#include <span>

#include "base/strings.h"
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

std::optional<Recognizer::AnyItem> SchemaRecognizer::any_item(StateId id) {
  if (id == kDeadState || id == kFailedState) return std::nullopt;
  State state = states_[id];
  const Place place = state.place;
  if (place.where != Where::kString || place.spelling != Spelling{} ||
      machine_.frame(place.frame).is_root || machine_.frame(place.frame).pending != 0)
    return std::nullopt;
  StateId out = facts(place.frame).behind_string;
  if (out == kFailedState) {
    out = behind_string(place.frame);
    facts(place.frame).behind_string = out;
  }
  if (out == kDeadState || out == kFailedState) return std::nullopt;
  regex::Automaton& automaton = machine_.pool().automaton();
  const regex::ExprId rest = state.rest;
  state.rest = exclusions_.without(automaton, rest);
  const StateId within = state_of(*within_value(state));
  const regex::ExprId excluded = Exclusions::added(automaton, rest, state.rest);
  if (within == kFailedState || excluded == regex::kNoExpr) return std::nullopt;
  return AnyItem{.behind = out,
                 .within_value = machine_.frame(place.frame).keeps_value,
                 .within = within,
                 .excluded = excluded};
}

// kFailedState where the fuel was used up.
StateId SchemaRecognizer::behind_string(std::uint32_t id) {
  const JsonMachine::Frame frame = machine_.frame(id);
  if (!frame.keeps_items || frame.pending != 0 || !asks_all(id)) return kDeadState;
  // No string is equal to this one, which is no UTF-8.
  const Place place = machine_.behind_value(id, machine_.value_text("\"\xFF"));
  if (place.where == Where::kFailed) return kFailedState;
  if (place.where == Where::kDead) return kDeadState;
  const FormulaId of = goal(place.frame);
  if (of == kNoFormula) return kFailedState;
  return !frame.is_array || life_.has_room(of) ? state_of({.place = place}) : kDeadState;
}

std::optional<Recognizer::OpenName> SchemaRecognizer::open_name(StateId id) {
  if (id == kDeadState || id == kFailedState) return std::nullopt;
  const Place place = states_[id].place;
  if (place.where != Where::kNameString || place.spelling != Spelling{}) return std::nullopt;
  const JsonMachine::Frame frame = machine_.frame(place.frame);
  if (frame.keeps_items || frame.keeps_value || goal(place.frame) == kNoFormula)
    return std::nullopt;
  const OwnNames& its = own_names(place.frame);
  OpenName out{.behind = kDeadState, .own = {}};
  if (its.sets.empty()) {
    out.behind = behind_other_name(place.frame);
    if (out.behind == kDeadState || out.behind == kFailedState) return std::nullopt;
  }
  const std::string begin = machine_.spelled_text(place.text);
  if (repair_utf8(begin) != begin) return std::nullopt;  // within a character
  if (!its.sets.empty() && !find_name_sets(its.sets, begin)) return std::nullopt;
  const auto add = [&](TextId id_of_name) {
    const std::string& name = machine_.pool().text_of(id_of_name);
    if (name.starts_with(begin)) out.own.push_back(name.substr(begin.size()));
  };
  for (const TextId name : its.names)
    add(name);
  const Cells& cells = machine_.cells();
  for (CellId at = frame.names; at != 0; at = cells.before(at))
    add(cells.item(at));
  return out;
}

// What is missing behind `begin` of the names in each set.
bool SchemaRecognizer::find_name_sets(std::span<const NameId> sets, std::string_view begin) {
  constexpr std::size_t kMaxSets = 64;
  FormulaPool& pool = machine_.pool();
  name_sets_.clear();
  for (const NameId set : sets) {
    regex::ExprId rest = pool.name_expr(set);
    for (std::size_t i = 0; i < begin.size() && rest != regex::kNoExpr; ++i)
      rest = pool.automaton().step(rest, static_cast<unsigned char>(begin[i]));
    if (rest == regex::kNoExpr) return false;
    name_sets_.push_back(rest);
  }
  return sets.size() <= kMaxSets;
}

// Names in the same sets can be exchanged as those in none.
StateId SchemaRecognizer::behind_name(StateId id, std::string_view rest) {
  regex::Automaton& automaton = machine_.pool().automaton();
  std::uint64_t key = 0;
  for (const regex::ExprId set : name_sets_) {
    regex::ExprId at = set;
    for (std::size_t i = 0; i < rest.size() && at != regex::kNoExpr; ++i)
      at = automaton.step(at, static_cast<unsigned char>(rest[i]));
    if (at == regex::kNoExpr) return kFailedState;
    key = key << 1U | (automaton.pool().is_nullable(at) ? 1U : 0U);
  }
  const State state = states_[id];
  for (const auto& [its, known] : facts(state.place.frame).behind_names) {
    if (its == key) return known;
  }
  const StateId out = behind_new_name(state.place, rest);
  if (out != kFailedState) facts(state.place.frame).behind_names.emplace_back(key, out);
  return out;
}

// kFailedState where the fuel was used up.
StateId SchemaRecognizer::behind_new_name(Place at, std::string_view rest) {
  for (const char c : rest) {
    const auto byte = static_cast<unsigned char>(c);
    std::string spelled(1, c);
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      constexpr std::string_view kDigits = "0123456789abcdef";
      spelled = cat("\\u00", kDigits.substr(byte >> 4U, 1), kDigits.substr(byte & 15U, 1));
    }
    for (const char its : spelled)
      at = machine_.step(at, static_cast<unsigned char>(its));
  }
  const Place to = machine_.step(at, '"');
  if (to.where == Where::kFailed) return kFailedState;
  return to.where == Where::kDead ? kDeadState : if_live(to, life_.of_value(wanted(to.frame)));
}

StateId SchemaRecognizer::behind_other_name(std::uint32_t frame) {
  StateId out = facts(frame).behind_other_name;
  if (out == kFailedState) {
    out = new_behind_other_name(frame);
    facts(frame).behind_other_name = out;
  }
  return out;
}

// kFailedState where the fuel was used up.
StateId SchemaRecognizer::new_behind_other_name(std::uint32_t id) {
  const OwnNames& own = own_names(id);
  const CellId came = machine_.frame(id).names;
  FormulaPool& pool = machine_.pool();
  regex::ExprId rest = life_.next_names(goal(id), names(id));
  std::string name;
  do {
    name += '_';
    if (rest != regex::kNoExpr) rest = pool.automaton().step(rest, '_');
  } while (rest != regex::kNoExpr &&
           (std::any_of(own.names.begin(), own.names.end(),
                        [&](TextId its) { return pool.text_of(its) == name; }) ||
            machine_.cells().has(came, pool.text(name))));
  if (rest == regex::kNoExpr) return kFailedState;
  if (!pool.exprs().is_nullable(rest)) return kDeadState;
  return behind_new_name({.where = Where::kNameString, .frame = id}, name);
}

const SchemaRecognizer::OwnNames& SchemaRecognizer::own_names(std::uint32_t id) {
  const ListId list = machine_.frame(id).formulas;
  const FormulaId of = goal(id);
  const auto [at, is_new] = own_names_.try_emplace(std::uint64_t{list} << 32U | of);
  if (!is_new) return at->second;
  const auto its = machine_.list(list);
  std::vector<FormulaId> formulas(its.begin(), its.end());
  formulas.push_back(of);
  life_.names_told_apart(formulas, at->second.names, at->second.sets);
  n_own_names_ += at->second.names.size() + at->second.sets.size();
  return at->second;
}

}  // namespace wick::grammar
