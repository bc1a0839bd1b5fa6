// What closes a document. From each place the text up to the end of the value or container there is
// the shortest that the search finds; the container around it goes on from the place behind.
//
// The search says which members come. Their order is the machine's, which may depend on the values
// before: a branch of a oneOf declares its own order, and a value decides between branches.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/recognizer.h"

namespace wick::grammar {

// The end of a document, as it is written: the recognizer reads each byte.
class SchemaRecognizer::Ending {
 public:
  Ending(SchemaRecognizer& recognizer, StateId id) : its_(recognizer), id_(id) {}

  Result<std::string> write() {
    for (int n_pieces = 0; !its_.accepts(id_); ++n_pieces) {
      if (n_pieces == kMaxShortestPieces || !piece()) {
        if (id_ == kFailedState) return its_.failure();
        return its_.Recognizer::shortest(id_);
      }
    }
    return std::move(out_);
  }

 private:
  using NodeId = ShortestSearch::NodeId;
  using Part = ShortestSearch::Part;

  // An object or array whose parts are being written.
  struct Open {
    std::vector<Part> parts;
    bool is_array;
    bool has_comma = false;  // before the next part
    bool has_begun = false;  // a value has come
    std::size_t next = 0;
    std::uint32_t n_done = 0;                  // copies of the next part
    std::size_t n_branches = ~std::size_t{0};  // of the goal when the parts were put in order
  };

  bool piece();
  bool rest_of_container(const State& state);
  bool rest_of_string(const State& state);
  bool one_byte(std::string_view order);
  bool put(std::string_view text);
  bool put_name(std::string_view name, std::string_view behind);
  bool put_value(NodeId value);
  bool put_parts();
  std::optional<NodeId> differing(NodeId value);
  bool plan_anew();
  void put_in_order(Open& object);

  SchemaRecognizer& its_;
  StateId id_;
  std::string out_ = {};
  std::vector<Open> open_ = {};
};

Result<std::string> SchemaRecognizer::shortest(StateId id) {
  begin(kShortestFuel);
  life_.refuel(kShortestLifeFuel);
  shortest_.refuel();
  if (id == kDeadState || id == kFailedState) return Recognizer::shortest(id);
  return Ending(*this, id).write();
}

// Brings the document nearer to its end. False: no way was found.
bool SchemaRecognizer::Ending::piece() {
  id_ = its_.settled(id_);
  if (id_ == kDeadState || id_ == kFailedState) return false;
  const State state = its_.states_[id_];
  switch (state.place.where) {
    case Where::kValue: {
      const auto found = its_.shortest_.value(its_.wanted(state.place.frame));
      return found && put_value(*found) && put_parts();
    }
    case Where::kFirstItem:
    case Where::kFirstName:
    case Where::kName:
    case Where::kBehindValue:
      return rest_of_container(state);
    case Where::kString:
    case Where::kNameString:
      return rest_of_string(state);
    case Where::kColon:
      return put(":");
    case Where::kNumber: {
      if (its_.machine_.pool().exprs().is_nullable(state.rest)) {
        id_ = its_.state_of({.place = its_.machine_.end_number(state.place)});
        return id_ != kFailedState;
      }
      const auto text = its_.machine_.pool().automaton().shortest(state.rest);
      return text && *text && put(**text);
    }
    default:
      return one_byte("aelnrsu");  // of a word
  }
}

bool SchemaRecognizer::Ending::rest_of_container(const State& state) {
  const Where where = state.place.where;
  const std::uint32_t frame = state.place.frame;
  const bool is_array = its_.machine_.frame(frame).is_array;
  const FormulaId of = its_.goal(frame);
  if (of == kNoFormula) return false;
  if (its_.machine_.pool().may_end(of)) {
    if (where != Where::kName) return put(is_array ? "]" : "}");
    const regex::ExprId next = its_.life_.next_names(of, its_.names(frame));  // behind a comma
    if (next == regex::kNoExpr) return false;
    const auto name = its_.shortest_.text_of(next);
    return name && put_name(*name, "");
  }
  const auto rest = its_.shortest_.rest(of, is_array, its_.names(frame));
  if (!rest) return false;
  open_.push_back({.parts = its_.shortest_.parts(*rest),
                   .is_array = is_array,
                   .has_comma = where == Where::kBehindValue});
  return put_parts();
}

bool SchemaRecognizer::Ending::rest_of_string(const State& state) {
  if (state.place.spelling.where != Spelling::Where::kInside)
    return one_byte("\"\\/bfnrtu0123456789abcdef");
  const auto text = its_.shortest_.text_of(state.rest);
  if (!text) return false;
  std::string spelled;
  append_spelled(*text, spelled);
  return put(spelled + "\"");
}

bool SchemaRecognizer::Ending::one_byte(std::string_view order) {
  const StateId from = id_;
  for (const char c : order) {
    if (put(std::string_view(&c, 1))) return true;
    id_ = from;
  }
  return false;
}

bool SchemaRecognizer::Ending::put(std::string_view text) {
  if (out_.size() + text.size() > kMaxSteppedBytes) return false;
  for (const char c : text) {
    id_ = its_.step(id_, static_cast<unsigned char>(c));
    if (id_ == kDeadState || id_ == kFailedState) return false;
  }
  out_ += text;
  return true;
}

bool SchemaRecognizer::Ending::put_name(std::string_view name, std::string_view behind) {
  std::string text = "\"";
  append_spelled(name, text);
  text += '"';
  return put(text += behind);
}

// Of an object or array its beginning; the parts go to open_.
bool SchemaRecognizer::Ending::put_value(NodeId value) {
  const ShortestSearch& found = its_.shortest_;
  if (const std::string* const text = found.text(value)) return put(*text);
  const bool is_array = found.is_array(value);
  open_.push_back({.parts = found.parts(value), .is_array = is_array});
  return put(is_array ? "[" : "{");
}

// All of open_.
bool SchemaRecognizer::Ending::put_parts() {
  while (!open_.empty()) {
    Open& last = open_.back();
    const StateId before = id_;
    const std::size_t n_before = out_.size();
    if (last.next == last.parts.size()) {
      if (!put(last.is_array ? "]" : "}")) return false;
      open_.pop_back();
      continue;
    }
    if (last.has_comma && !put(",")) return false;
    last.has_comma = true;
    if (!last.is_array) put_in_order(last);
    const Part part = last.parts[last.next];
    if (++last.n_done == part.n) {
      ++last.next;
      last.n_done = 0;
    }
    if (!last.is_array && !put_name(its_.machine_.pool().text_of(part.name), ":")) return false;
    const auto value = last.is_array ? differing(part.node) : std::optional(part.node);
    if (!value && last.has_begun) {
      id_ = before;
      out_.resize(n_before);
      if (!plan_anew()) return false;
      continue;
    }
    last.has_begun = true;
    if (!value || !put_value(*value)) return false;
  }
  return true;
}

// An item of the array took the value that a later one was to have: other items come behind it.
bool SchemaRecognizer::Ending::plan_anew() {
  Place place = its_.states_[id_].place;
  if (place.where == Where::kNumber) place = its_.machine_.end_number(place);
  const FormulaId of = its_.goal(place.frame);
  if (of == kNoFormula) return false;
  std::vector<Part> parts;
  if (!its_.machine_.pool().may_end(of)) {
    const auto rest = its_.shortest_.rest(of, true, its_.names(place.frame));
    if (!rest) return false;
    parts = its_.shortest_.parts(*rest);
  }
  open_.back() = {.parts = std::move(parts), .is_array = true, .has_comma = true};
  return true;
}

// `value`, or another of its formula where the items must differ from those that have come.
std::optional<ShortestSearch::NodeId> SchemaRecognizer::Ending::differing(NodeId value) {
  Place place = its_.states_[id_].place;
  const FormulaId of = its_.goal(place.frame);
  if (of == kNoFormula || !its_.machine_.pool().has_unique(of)) return value;
  if (place.where == Where::kFirstItem) place = its_.machine_.before_item(place);
  place.frame = its_.machine_.settled(place.frame, true);
  return its_.shortest_.value(
      its_.machine_.pool().both(its_.shortest_.formula(value), its_.wanted(place.frame)));
}

// Those that have not come, by the declared order that holds here; those without one come last.
void SchemaRecognizer::Ending::put_in_order(Open& object) {
  const auto from = object.parts.begin() + static_cast<std::ptrdiff_t>(object.next);
  if (!its_.style_.has_order || object.parts.end() - from < 2) return;
  FormulaPool& pool = its_.machine_.pool();
  const FormulaId of = its_.goal(its_.states_[id_].place.frame);
  if (of == kNoFormula) return;
  const std::size_t n_branches = pool.n_branches(of);
  if (n_branches == object.n_branches) return;
  object.n_branches = n_branches;
  std::vector<std::pair<std::uint32_t, Part>> ordered;
  for (auto part = from; part != object.parts.end(); ++part)
    ordered.emplace_back(pool.order_of(of, part->name) - 1U, *part);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(ordered.begin(), ordered.end(), from, [](const auto& one) { return one.second; });
}

}  // namespace wick::grammar
