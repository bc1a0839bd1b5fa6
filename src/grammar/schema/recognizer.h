// A JSON Schema as a Recognizer: documents with members in the declared order or in any order, and
// with the white space that JsonStyle allows. A state is dead if and only if no document continues
// from it.
//
// Numbers are spelled without exponents, with at most kMaxNumberDigits digits before and behind the
// point. Strings may be spelled in every way; names in a declared order have no unneeded escapes.
// Errors, in addition to those of compile_schema(): multipleOf a number that is no power of ten.
// step() fails ("schema_fuel") if the search for dead ends takes too many steps.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/flat_map.h"
#include "grammar/json_string.h"
#include "grammar/plain_text.h"
#include "grammar/recognizer.h"
#include "grammar/schema/life.h"
#include "grammar/schema/machine.h"
#include "grammar/schema/shortest.h"

namespace wick::grammar {

struct JsonStyle {
  enum class Space : std::uint8_t {
    kNone,
    kOne,  // at most one blank behind a comma or colon
    kAny,
  } space = Space::kOne;
  bool has_order = true;  // declared members first, in their order; then others
};

class SchemaRecognizer final : public Recognizer {
 public:
  static Result<std::unique_ptr<SchemaRecognizer>> make(JsonDocument schema, SchemaOptions options,
                                                        const JsonStyle& style);
  static Result<std::unique_ptr<SchemaRecognizer>> parse(std::string_view schema,
                                                         const JsonStyle& style);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override;
  StateId step_all(StateId state, std::string_view bytes) override;
  bool accepts(StateId state) const noexcept override;
  Result<std::string> shortest(StateId state) override;
  std::optional<PlainText> plain_text(StateId state) override;
  std::optional<Parts> parts(StateId state) override;
  std::optional<OpenName> open_name(StateId state) override;
  StateId behind_name(StateId state, std::string_view rest) override;
  std::optional<AnyItem> any_item(StateId state) override;
  void begin(std::uint64_t fuel) override;
  void begin_walk() override;
  void end_walk() override;
  std::size_t used_bytes() const noexcept override;
  bool is_worn() const noexcept override;
  Error failure() const override;

 private:
  using Where = JsonMachine::Where;
  using Place = JsonMachine::Place;

  struct State {
    Place place = {};
    regex::ExprId rest = regex::kEmptySet;  // of a string, name or number: what may follow
    bool has_space = false;
    friend bool operator==(const State&, const State&) = default;
  };

  // What was found out about a frame: kNoFormula and kFailedState where it was not asked yet.
  struct FrameFacts {
    FormulaId goal = kNoFormula, condition = kNoFormula;
    StateId behind = kFailedState;  // kDeadState where it depends on the value
    StateId behind_other_name = kFailedState;  // kDeadState where names differ by more
    std::vector<std::pair<std::uint64_t, StateId>> behind_names = {};  // by the sets they are in
    StateId behind_string = kFailedState;      // kDeadState where it depends on the string
  };

  // The single names that formulas of an object speak of, and other sets of names.
  struct OwnNames {
    std::vector<TextId> names = {};
    std::vector<NameId> sets = {};
  };

  static std::uint32_t hash_of(const State& s) noexcept;

  SchemaRecognizer(CompiledSchema schema, const JsonStyle& style)
      : machine_(std::move(schema), style.has_order),
        life_(machine_.pool(), machine_.cells(), style.has_order),
        shortest_(machine_.pool(), machine_.cells(), life_),
        style_(style) {}

  StateId first_step(StateId id, unsigned char byte);
  StateId settled(StateId id);
  void forget_new_states();  // since begin_walk()
  StateId state_of(const State& state);
  StateId space(State state, unsigned char byte);
  // The state behind a byte that the machine took from `from` to `to`.
  StateId moved(const State& from, const Place& to, unsigned char byte);
  StateId begun(const Place& to, unsigned char byte);
  StateId within(const State& from, const Place& to, unsigned char byte);
  regex::ExprId escaped(regex::ExprId names);
  StateId if_live(const Place& to, Life life);
  Life may_leave(const State& from, unsigned char byte);

  class Ending;  // recognizer_shortest.cc

  // goal: the remaining requirement on the object or array of a frame. condition: the requirement
  // on the value in progress, as kChild leaves. wanted: the same as a formula at the value's start.
  // The place of `state` in a document that is the value in progress, or the object or array around
  // it (recognizer_parts.cc).
  std::optional<State> within_value(const State& state);
  std::optional<State> within_frame(const State& state);
  // The state behind the value in progress in `frame`; nothing if it depends on the value.
  std::optional<StateId> behind(std::uint32_t frame);
  bool asks_all(std::uint32_t frame);
  StateId behind_string(std::uint32_t frame);
  // The state behind a name that no formula speaks of and that has not come.
  StateId behind_other_name(std::uint32_t frame);
  StateId new_behind_other_name(std::uint32_t frame);
  StateId behind_new_name(Place at, std::string_view rest);
  bool find_name_sets(std::span<const NameId> sets, std::string_view begin);
  const OwnNames& own_names(std::uint32_t frame);

  FrameFacts& facts(std::uint32_t frame);
  FormulaId goal(std::uint32_t frame);
  FormulaId condition(std::uint32_t frame);
  FormulaId wanted(std::uint32_t frame);
  FreeNames names(std::uint32_t frame) const noexcept;

  JsonMachine machine_;
  LifeSearch life_;
  ShortestSearch shortest_;
  JsonStyle style_;
  EscapeStarts escapes_ = {};
  Exclusions exclusions_ = {};
  std::deque<State> states_ = {State{}};    // the first is kDeadState
  FlatHashMap ids_ = {};                    // of states
  FlatHashMap steps_ = {};                  // by state and byte; not within names
  std::vector<std::uint32_t> walked_ = {};  // keys in steps_ since begin_walk()
  std::deque<FrameFacts> facts_ = {};       // by frame
  std::unordered_map<std::uint64_t, OwnNames> own_names_ = {};  // by the formulas and the goal
  std::size_t n_own_names_ = 0;             // all together
  std::vector<regex::ExprId> name_sets_ = {};  // of open_name()'s state: what is missing
  std::size_t compiled_bytes_ = 0;          // used_bytes() before the first document
  std::size_t n_kept_states_ = 0, n_kept_texts_ = 0, n_kept_frames_ = 0;  // when the walk began
  JsonMachine::Sizes kept_ = {};
  StateId start_ = kDeadState;
  bool is_lost_ = false, is_full_ = false;
};

}  // namespace wick::grammar
