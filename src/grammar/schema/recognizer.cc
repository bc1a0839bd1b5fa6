// The machine says what is asked of each open value; here stands whether it can still be had. A
// frame's goal is what its value must be for the whole document to live: the condition of the frame
// below, with the questions about this value replaced by what is left of them. So the innermost
// goal alone decides, and a string or number is one expression.
#include "grammar/schema/recognizer.h"

#include <algorithm>

#include "base/mix.h"
#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {

std::uint32_t SchemaRecognizer::hash_of(const State& s) noexcept {
  std::uint64_t h = mix_hash(1, static_cast<std::uint64_t>(s.place.where) << 8U | s.place.n_done);
  const std::uint64_t parts[] = {
      s.place.frame,
      s.place.content,
      s.place.text,
      static_cast<std::uint64_t>(s.place.spelling.where) << 8U | s.place.spelling.n_digits,
      s.place.spelling.value,
      s.rest,
      s.has_space ? 1U : 0U};
  for (const std::uint64_t part : parts)
    h = mix_hash(h, part);
  return static_cast<std::uint32_t>(h ^ (h >> 32U));
}

Result<std::unique_ptr<SchemaRecognizer>> SchemaRecognizer::make(JsonDocument schema,
                                                                 SchemaOptions options,
                                                                 const JsonStyle& style) {
  options.for_masks = true;
  WICK_TRY(auto compiled, compile_schema(std::move(schema), options));
  std::unique_ptr<SchemaRecognizer> out(new SchemaRecognizer(std::move(compiled), style));
  out->begin(kMaskFuel);
  const StateId start = out->if_live(out->machine_.start(), out->life_.of_value(out->wanted(0)));
  if (start == kFailedState) return out->failure();
  out->start_ = start;
  out->begin(kMaskFuel);
  out->life_.prepare_choices();
  out->compiled_bytes_ = out->used_bytes();
  return out;
}

Result<std::unique_ptr<SchemaRecognizer>> SchemaRecognizer::parse(std::string_view schema,
                                                                  const JsonStyle& style) {
  WICK_TRY(JsonDocument document, read_document(schema));
  return make(std::move(document), {}, style);
}

void SchemaRecognizer::begin(std::uint64_t fuel) {
  machine_.pool().exprs().refuel(fuel);
  machine_.pool().refuel(fuel);
  life_.refuel(fuel);
  is_lost_ = false;
}

// Between the characters of a string. The machine takes any plain byte there; what its requirements
// leave is `rest`.
std::optional<Recognizer::PlainText> SchemaRecognizer::plain_text(StateId id) {
  if (id == kFailedState || id == kDeadState) return std::nullopt;
  const State& state = states_[id];
  const bool is_string =
      state.place.where == Where::kString || state.place.where == Where::kNameString;
  if (machine_.frame(state.place.frame).pending != 0) return std::nullopt;  // see settled()
  if (!is_string || state.place.spelling != Spelling{}) return std::nullopt;
  using Alone = PlainText::Alone;
  const bool is_alone =
      state.place.where == Where::kString && state.place.frame == JsonMachine::kAnyRoot;
  const bool has_space = style_.space == JsonStyle::Space::kAny;
  return PlainText{.automaton = &machine_.pool().automaton(),
                   .rest = state.rest,
                   .is_json_string = true,
                   .alone = !is_alone   ? Alone::kNo
                            : has_space ? Alone::kBeforeSpace
                                        : Alone::kAlone};
}

// A walk at an open object's name makes a state for each token.
void SchemaRecognizer::begin_walk() {
  n_kept_states_ = states_.size();
  n_kept_texts_ = machine_.n_texts();
  n_kept_frames_ = machine_.n_frames();
  kept_ = machine_.sizes();
  walked_.clear();
}

// Few states without a text are worth keeping: the end of a string leads to them, too.
void SchemaRecognizer::end_walk() {
  constexpr std::size_t kFewStates = 32;
  const auto is_text = [&](const State& state) {
    return state.place.text != 0 || machine_.has_text(state.place.frame);
  };
  const auto first = states_.begin() + static_cast<std::ptrdiff_t>(n_kept_states_);
  const bool keeps =
      states_.size() - n_kept_states_ <= kFewStates && std::none_of(first, states_.end(), is_text);
  if (!keeps) {
    forget_new_states();
    machine_.drop_frames(n_kept_frames_, 0);
    machine_.drop(kept_);
    facts_.resize(std::min(facts_.size(), n_kept_frames_));
  }
  walked_.clear();
  machine_.drop_texts(n_kept_texts_);
}

void SchemaRecognizer::forget_new_states() {
  for (; states_.size() > n_kept_states_; states_.pop_back())
    ids_.remove(hash_of(states_.back()), static_cast<StateId>(states_.size() - 1));
  for (const std::uint32_t key : walked_) {
    const StateId to = steps_.find(key);
    if (std::max<StateId>(key >> 8U, to) >= states_.size()) steps_.remove(key, to);
  }
}

// Of the states within a token only the last is kept: a state for each byte of the names and
// strings of all documents would take most of the memory.
StateId SchemaRecognizer::step_all(StateId state, std::string_view bytes) {
  begin_walk();
  StateId out = settled(Recognizer::step_all(state, bytes));
  if (states_.size() - n_kept_states_ > 1) {
    const bool is_new = out != kFailedState && out >= n_kept_states_;
    State last = is_new ? states_[out] : State{};
    forget_new_states();
    last.place.frame = machine_.drop_frames(n_kept_frames_, last.place.frame);
    facts_.resize(std::min(facts_.size(), n_kept_frames_));
    if (is_new) out = state_of(last);
  }
  walked_.clear();
  return out;
}

std::size_t SchemaRecognizer::used_bytes() const noexcept {
  return machine_.used_bytes() + life_.used_bytes() + facts_.size() * sizeof(FrameFacts) +
         own_names_.size() * (sizeof(OwnNames) + kHashEntryBytes) + n_own_names_ * sizeof(TextId) +
         states_.size() * (sizeof(State) + 2 * kHashEntryBytes);  // with that of its mask
}

// A new recognizer is compiled in a fraction of the time in which one grows so far.
bool SchemaRecognizer::is_worn() const noexcept {
  return states_.size() > kMaxSchemaStates / 8 || machine_.is_worn() ||
         used_bytes() > compiled_bytes_ + kMaxSchemaGrowth;
}

Error SchemaRecognizer::failure() const {
  if (is_full_) {
    return {ErrorCode::kUnsupported,
            "grammar_memory",
            cat("the schema's documents need more than ", kMaxSchemaStates, " states"),
            {}};
  }
  if (is_lost_) {
    return {ErrorCode::kUnsupported, "schema_fuel",
            "whether any document of the schema goes on from here takes too many steps to say",
            "Use fewer oneOf, anyOf and not, and smaller minProperties."};
  }
  return machine_.failure();
}

StateId SchemaRecognizer::state_of(const State& state) {
  const std::uint32_t hash = hash_of(state);
  const StateId known = ids_.find(hash, [&](StateId id) { return states_[id] == state; });
  if (known != FlatHashMap::kNone) return known;
  if (states_.size() >= kMaxSchemaStates) {
    is_full_ = true;
    return kFailedState;
  }
  const auto id = static_cast<StateId>(states_.size());
  ids_.add(hash, id);
  states_.push_back(state);
  return id;
}

StateId SchemaRecognizer::if_live(const Place& to, Life life) {
  if (life == Life::kUnknown) {
    is_lost_ = true;
    return kFailedState;
  }
  return life == Life::kLive ? state_of({.place = to}) : kDeadState;
}

FreeNames SchemaRecognizer::names(std::uint32_t frame) const noexcept {
  return {.came = machine_.frame(frame).names, .last = machine_.frame(frame).last};
}

SchemaRecognizer::FrameFacts& SchemaRecognizer::facts(std::uint32_t frame) {
  if (frame >= facts_.size()) facts_.resize(frame + std::size_t{1});
  return facts_[frame];
}

FormulaId SchemaRecognizer::goal(std::uint32_t id) {
  if (const FormulaId known = facts(id).goal; known != kNoFormula) return known;
  const JsonMachine::Frame frame = machine_.frame(id);
  const FormulaId of = condition(frame.below);
  if (of == kNoFormula) return kNoFormula;
  FormulaPool& pool = machine_.pool();
  const auto questions = machine_.list(machine_.frame(frame.below).questions);
  const auto formulas = machine_.list(frame.formulas);
  const ValueType type = frame.is_array ? kArrayType : kObjectType;
  const auto left = [&](FormulaId question) {
    const auto found = std::lower_bound(questions.begin() + 1, questions.end(), question);
    if (found != questions.end() && *found == question)
      return formulas[static_cast<std::size_t>(found - questions.begin())];
    const FormulaId typed = pool.of_type(question, type);
    return typed <= kAlways ? typed : kNoFormula;  // about other types
  };
  // The search may ask for the opposite of what the machine asks.
  const FormulaId out = pool.resolve(of, [&](FormulaId question) {
    const FormulaId its = left(question);
    if (its != kNoFormula) return its;
    return pool.of_type(pool.negate(left(pool.negate(question))), type);
  });
  return facts(id).goal = out;
}

FormulaId SchemaRecognizer::condition(std::uint32_t id) {
  if (const FormulaId known = facts(id).condition; known != kNoFormula) return known;
  FormulaId out = kNoFormula;
  if (machine_.frame(id).is_root) {
    out = machine_.pool().child(machine_.list(machine_.frame(id).questions)[1]);
  } else if (const FormulaId its = goal(id); its != kNoFormula) {
    out = life_.condition(its, machine_.frame(id).is_array, names(id));
  }
  return facts(id).condition = out;
}

FormulaId SchemaRecognizer::wanted(std::uint32_t id) {
  const FormulaId of = condition(id);
  if (of == kNoFormula) return kNoFormula;
  return machine_.pool().resolve(of, [](FormulaId question) { return question; });
}

// What a name consists of is different each time, so those steps are not remembered.
StateId SchemaRecognizer::step(StateId id, unsigned char byte) {
  if (id == kFailedState || id == kDeadState) return id;
  if (states_[id].place.where == Where::kNameString) return first_step(id, byte);
  static_assert(kMaxSchemaStates <= 1U << 24U);
  const std::uint32_t key = id << 8U | byte;
  if (const StateId known = steps_.find(key); known != FlatHashMap::kNone) return known;
  const StateId out = first_step(id, byte);
  if (out == kFailedState) return out;
  if (steps_.size() >= kMaxSchemaSteps) {
    steps_.clear();
    walked_.clear();
  }
  if (steps_.find(key) == FlatHashMap::kNone) steps_.add(key, out);
  walked_.push_back(key);
  return out;
}

// The state in a frame without a pending value, where the next item may have been asked for but has
// no byte yet, except a quote.
StateId SchemaRecognizer::settled(StateId id) {
  if (id == kFailedState || id == kDeadState) return id;
  const State state = states_[id];
  const Place& place = state.place;
  const bool begins_string =
      place.where == Where::kString && place.text == 0 && place.spelling == Spelling{};
  if (machine_.frame(place.frame).pending == 0 || (!begins_string && place.where != Where::kValue))
    return id;
  const Place before{.where = Where::kValue, .frame = machine_.settled(place.frame, true)};
  if (!begins_string) return state_of({.place = before, .has_space = state.has_space});
  const Place in = machine_.step(before, '"');
  return in.where == Where::kFailed ? kFailedState : begun(in, '"');
}

StateId SchemaRecognizer::first_step(StateId id, unsigned char byte) {
  State state = states_[id];
  const Where where = state.place.where;
  const bool is_space = byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
  if (machine_.frame(state.place.frame).pending != 0) {
    const bool begins =
        where == Where::kString || (where == Where::kValue && byte != '"' && !is_space);
    if (const StateId its = begins ? settled(id) : id; its != id) return step(its, byte);
    if (where == Where::kBehindValue && byte == ',') {
      const FormulaId of = goal(state.place.frame);
      if (of == kNoFormula) return if_live({}, Life::kUnknown);
      if (!life_.has_room(of)) state.place.frame = machine_.settled(state.place.frame, false);
    }
  }
  const bool is_between = where != Where::kString && where != Where::kNameString &&
                          where != Where::kNumber && where != Where::kWord;
  if (is_space && is_between) return space(state, byte);
  if (where == Where::kNumber && !JsonMachine::is_of_number(byte)) {
    if (!machine_.pool().exprs().is_nullable(state.rest)) return kDeadState;
    const Place behind = machine_.end_number(state.place);
    if (behind.where == Where::kFailed) return kFailedState;
    return behind.where == Where::kDead ? kDeadState : step(state_of({.place = behind}), byte);
  }
  const Life end = may_leave(state, byte);
  if (end != Life::kLive) return if_live({}, end);
  const Place to = machine_.step(state.place, byte);
  if (to.where == Where::kFailed) return kFailedState;
  if (to.where == Where::kDead) return kDeadState;
  return moved(state, to, byte);
}

StateId SchemaRecognizer::space(State state, unsigned char byte) {
  if (style_.space == JsonStyle::Space::kAny) return state_of(state);
  const Where where = state.place.where;
  const bool is_behind_mark =
      where == Where::kName || (where == Where::kValue && state.place.frame != 0);
  if (style_.space == JsonStyle::Space::kNone || byte != ' ' || !is_behind_mark || state.has_space)
    return kDeadState;
  state.has_space = true;
  return state_of(state);
}

// Whether `byte` may end what it ends: the machine knows answers, not whether they will do.
Life SchemaRecognizer::may_leave(const State& from, unsigned char byte) {
  const auto life = [](bool may) { return may ? Life::kLive : Life::kDead; };
  switch (from.place.where) {
    case Where::kFirstItem:
    case Where::kFirstName:
    case Where::kBehindValue: {
      if (byte != ']' && byte != '}') return Life::kLive;
      const FormulaId of = goal(from.place.frame);
      return of == kNoFormula ? Life::kUnknown : life(machine_.pool().may_end(of));
    }
    case Where::kString:
    case Where::kNameString: {
      Spelling place = from.place.spelling;
      return life(feed(place, byte).kind != Spelled::Kind::kEnd ||
                  machine_.pool().exprs().is_nullable(from.rest));
    }
    default:
      return Life::kLive;
  }
}

StateId SchemaRecognizer::moved(const State& from, const Place& to, unsigned char byte) {
  if (from.place.where == to.where &&
      (to.where == Where::kString || to.where == Where::kNameString || to.where == Where::kNumber))
    return within(from, to, byte);
  switch (to.where) {
    case Where::kString:
    case Where::kNumber:
    case Where::kNameString:
      return begun(to, byte);
    case Where::kWord: {
      if (from.place.where == Where::kWord) return state_of({.place = to});
      const ValueType type = byte == 'n' ? kNullType : byte == 'f' ? kFalseType : kTrueType;
      const FormulaId of = wanted(to.frame);
      const FormulaId typed = machine_.pool().of_type(of, type);
      if (typed == kNoFormula) return if_live(to, Life::kUnknown);
      return if_live(to, typed == kAlways ? Life::kLive : Life::kDead);
    }
    case Where::kValue:
    case Where::kColon:
      return if_live(to, life_.of_value(wanted(to.frame)));
    case Where::kFirstItem:
      return if_live(to, life_.of_array(goal(to.frame)));
    case Where::kFirstName:
      return if_live(to, life_.of_object(goal(to.frame), names(to.frame)));
    case Where::kName: {
      const State name{.place = {.where = Where::kNameString, .frame = to.frame}};
      const StateId begins = begun(name.place, '"');
      return begins == kDeadState || begins == kFailedState ? begins : state_of({.place = to});
    }
    default:
      return state_of({.place = to});
  }
}

StateId SchemaRecognizer::begun(const Place& to, unsigned char byte) {
  FormulaPool& pool = machine_.pool();
  regex::ExprPool& exprs = pool.exprs();
  regex::ExprId rest = regex::kNoExpr;
  if (to.where == Where::kNameString) {
    if (const FormulaId of = goal(to.frame); of != kNoFormula)
      rest = life_.next_names(of, names(to.frame));
  } else if (const FormulaId of = wanted(to.frame); of != kNoFormula) {
    if (to.where == Where::kString) {
      rest =
          exprs.intersect({pool.string_language(pool.of_type(of, kStringType)), exprs.any_text()});
    } else {
      rest = life_.numbers(pool.of_type(of, kNumberType));
      if (rest != regex::kNoExpr) rest = pool.automaton().step(rest, byte);
    }
  }
  const Life life = rest == regex::kNoExpr ? Life::kUnknown : pool.automaton().liveness(rest);
  if (life != Life::kLive) return if_live(to, life);
  return state_of({.place = to, .rest = rest});
}

// Those that begin with a character that cannot stand for itself. In names of a declared order no
// other is escaped, so that a name that must come has one spelling.
regex::ExprId SchemaRecognizer::escaped(regex::ExprId names) {
  regex::ExprPool& exprs = machine_.pool().exprs();
  regex::ByteSet marks = regex::ByteSet::range(0, 0x1F);
  marks = marks | regex::ByteSet::range('"', '"') | regex::ByteSet::range('\\', '\\');
  return exprs.intersect({names, exprs.concat(exprs.bytes(marks), regex::kEverything)});
}

StateId SchemaRecognizer::within(const State& from, const Place& to, unsigned char byte) {
  State next{.place = to, .rest = from.rest};
  regex::Automaton& automaton = machine_.pool().automaton();
  std::string bytes(1, static_cast<char>(byte));
  if (to.where != Where::kNumber) {
    Spelling place = from.place.spelling;
    const Spelled spelled = feed(place, byte);
    const bool is_plain = to.where == Where::kNameString && style_.has_order;
    if (spelled.kind == Spelled::Kind::kStarted) {
      const regex::ExprId content = is_plain ? escaped(from.rest) : from.rest;
      Life life = automaton.liveness(content);
      if (life == Life::kLive)
        life = escapes_.may_start(automaton, exclusions_.without(automaton, content), spelled);
      return life == Life::kLive ? state_of(next) : if_live(to, life);
    }
    if (spelled.kind == Spelled::Kind::kMore) return state_of(next);
    if (spelled.kind == Spelled::Kind::kCharacter) {
      const bool needs_escape =
          spelled.first < 0x20 || spelled.first == '"' || spelled.first == '\\';
      if (is_plain && !needs_escape) return kDeadState;
      bytes.clear();
      append_utf8(bytes, spelled.first);
    }
  }
  for (const char c : bytes) {
    next.rest = automaton.step(next.rest, static_cast<unsigned char>(c));
    if (next.rest == regex::kNoExpr) return if_live(to, Life::kUnknown);
    if (next.rest == regex::kEmptySet) return kDeadState;
  }
  return state_of(next);
}

bool SchemaRecognizer::accepts(StateId id) const noexcept {
  if (id == kFailedState) return false;
  const State& state = states_[id];
  if (state.place.where == Where::kDone) return true;
  return state.place.where == Where::kNumber && machine_.frame(state.place.frame).is_root &&
         machine_.pool().exprs().is_nullable(state.rest);
}

}  // namespace wick::grammar
