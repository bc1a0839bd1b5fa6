#include "grammar/schema/machine.h"

#include <algorithm>
#include <unordered_map>

#include "base/mix.h"
#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

constexpr std::string_view kWords[] = {"null", "false", "true"};
constexpr ValueType kWordTypes[] = {kNullType, kFalseType, kTrueType};

bool keeps_rule(const NumberRule& rule, const Decimal& value, std::string_view text) {
  switch (rule.kind) {
    case NumberRule::Kind::kInteger:
      return value.is_integer() && (rule.may_end_in_zeros || text.find('.') == text.npos);
    case NumberRule::Kind::kAtLeast:
      return compare(value, rule.values[0]) >= 0;
    case NumberRule::Kind::kAbove:
      return compare(value, rule.values[0]) > 0;
    case NumberRule::Kind::kMultiple:
      return is_multiple(value, rule.divisor);
    case NumberRule::Kind::kOneOf:
      break;
  }
  return std::binary_search(rule.values.begin(), rule.values.end(), value,
                            [](const Decimal& a, const Decimal& b) { return compare(a, b) < 0; });
}

// Replaces each formula by what it becomes. Many questions may have come to one formula, which is
// asked once.
template <class Step>
void replace_each(std::vector<std::uint32_t>& formulas, const Step& step) {
  constexpr std::size_t kFew = 3;
  if (formulas.size() <= kFew) {
    for (std::uint32_t& formula : formulas)
      formula = step(formula);
    return;
  }
  std::unordered_map<std::uint32_t, std::uint32_t> known;
  for (std::uint32_t& formula : formulas) {
    const auto [at, is_new] = known.try_emplace(formula);
    if (is_new) at->second = step(formula);
    formula = at->second;
  }
}

}  // namespace

std::uint32_t JsonMachine::hash_of(const Frame& f) noexcept {
  const unsigned bits = (f.is_array ? 1U : 0U) | (f.keeps_value ? 2U : 0U) |
                        (f.keeps_items ? 4U : 0U) | (f.is_root ? 8U : 0U);
  std::uint64_t h = mix_hash(0, std::uint64_t{f.below} << 4U | bits);
  for (const std::uint32_t part :
       {f.formulas, f.questions, f.name, f.names, f.last, f.values, f.pending})
    h = mix_hash(h, part);
  return static_cast<std::uint32_t>(h ^ (h >> 32U));
}

bool JsonMachine::is_of_number(unsigned char byte) noexcept {
  return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || byte == 'e' ||
         byte == 'E';
}

JsonMachine::JsonMachine(CompiledSchema schema, bool has_order)
    : pool_(std::move(schema.pool)),
      has_order_(has_order),
      leaves_out_values_(schema.for_masks),
      root_(schema.root) {
  lists_.of({});
  value_texts_.of("");
  frames_.push_back({.is_root = true, .questions = list_of({kAlways, root_})});
  frames_.push_back({.is_root = true, .questions = list_of({kAlways, kAlways})});
}

Error JsonMachine::failure() const {
  if (!is_full_) return pool_->failure();
  return {ErrorCode::kUnsupported,
          "grammar_memory",
          cat("the document needs more than ", kMaxMachineCells, " cells of memory, or ",
              kMaxValueBytes >> 20U, " MiB for items that are compared"),
          {}};
}

std::size_t JsonMachine::used_cells() const noexcept {
  const std::size_t n_sorted = (cells_.n_sorted() + value_cells_.n_sorted()) / kNumbersForCell;
  return cells_.size() + value_cells_.size() + n_sorted + frames_.size() * 4 + lists_.n_words();
}

bool JsonMachine::is_worn() const noexcept {
  return std::max(used_cells(), texts_.size()) > kMaxMachineCells / 2 ||
         value_texts_.used_bytes() > kMaxValueBytes / 2 ||
         pool_->used_bytes() > kMaxFormulaBytes / 2 ||
         pool_->exprs().used_bytes() > regex::kMaxAutomatonBytes / 2;
}

std::size_t JsonMachine::used_bytes() const noexcept {
  return pool_->used_bytes() + pool_->exprs().used_bytes() + lists_.used_bytes() +
         cells_.used_bytes() + value_cells_.used_bytes() + value_texts_.used_bytes() +
         values_.size() * 4 * kHashEntryBytes + frames_.size() * (sizeof(Frame) + kHashEntryBytes);
}

void JsonMachine::drop(const Sizes& kept) {
  lists_.drop(kept.lists);
  value_cells_.drop(kept.values);
  value_texts_.drop(kept.value_texts);
  values_.erase(values_.lower_bound(static_cast<TextId>(kept.value_texts)), values_.end());
}

std::uint32_t JsonMachine::frame_of(const Frame& frame) {
  const std::uint32_t hash = hash_of(frame);
  const std::uint32_t known =
      frame_ids_.find(hash, [&](std::uint32_t id) { return frames_[id] == frame; });
  if (known != FlatHashMap::kNone) return known;
  const auto id = static_cast<std::uint32_t>(frames_.size());
  frame_ids_.add(hash, id);
  frames_.push_back(frame);
  if (used_cells() > kMaxMachineCells || value_texts_.used_bytes() > kMaxValueBytes)
    is_full_ = true;
  return id;
}

std::uint32_t JsonMachine::root_of(FormulaId formula) {
  if (formula == kAlways) return kAnyRoot;
  return frame_of({.is_root = true, .questions = list_of({kAlways, formula})});
}

std::optional<std::uint32_t> JsonMachine::as_document(std::uint32_t id) {
  Frame frame = frames_[id];
  const auto formulas = lists_.at(frame.formulas);
  if (frame.keeps_items || frame.keeps_value || formulas.size() > 2 || formulas[0] != kAlways)
    return std::nullopt;
  if (formulas.size() == 1) frame.formulas = list_of({kAlways, kAlways});
  frame.below = 0;
  return frame_of(frame);
}

JsonMachine::Place JsonMachine::behind_value(std::uint32_t frame, TextId value) {
  const std::size_t n = lists_.at(frames_[frame].questions).size();
  return or_failed(end_value(frame, std::vector<bool>(n, true), value));
}

JsonMachine::Place JsonMachine::start() {
  return {.where = Where::kValue};
}

JsonMachine::Place JsonMachine::or_failed(const Place& place) noexcept {
  return is_full_ || pool_->has_failed() ? fail() : place;
}

// A place that was made without an answer to each question is none.
JsonMachine::Place JsonMachine::step(const Place& place, unsigned char byte) {
  return is_full_ || pool_->has_failed() ? fail() : or_failed(stepped(place, byte));
}

JsonMachine::Place JsonMachine::stepped(const Place& place, unsigned char byte) {
  switch (place.where) {
    case Where::kString:
      return in_string(place, byte);
    case Where::kNameString:
      return in_name(place, byte);
    case Where::kWord:
      return in_word(place, byte);
    case Where::kNumber:
      return in_number(place, byte);
    case Where::kDead:
    case Where::kFailed:
      return place;
    default:
      break;
  }
  if (is_space(byte)) return place;
  switch (place.where) {
    case Where::kValue:
      return begin_value(place, byte);
    case Where::kFirstItem:
      return byte == ']' ? end_nested(place) : begin_value(before_item(place), byte);
    case Where::kFirstName:
      if (byte == '}') return end_nested(place);
      [[fallthrough]];
    case Where::kName:
      return byte == '"' ? Place{.where = Where::kNameString, .frame = place.frame} : Place{};
    case Where::kColon:
      return byte == ':' ? Place{.where = Where::kValue, .frame = place.frame} : Place{};
    case Where::kBehindValue: {
      const bool is_array = frames_[place.frame].is_array;
      if (byte == (is_array ? ']' : '}')) return end_nested(place);
      if (byte != ',') return {};
      if (!is_array) return {.where = Where::kName, .frame = place.frame};
      return before_item(place);
    }
    default:
      return {};
  }
}

bool JsonMachine::keeps(std::uint32_t frame) const noexcept {
  return frame != 0 && frames_[frame].keeps_items;
}

// The frame's formulas as they are behind one more member or item; what they ask of its value
// becomes the questions, the first of which is always yes.
void JsonMachine::ask(Frame& frame) {
  std::vector<std::uint32_t> formulas = lists_.copy(frame.formulas);
  if (frame.is_array) {
    pool_->behind_item(formulas);
  } else {
    pool_->behind_name(formulas, frame.name);
  }
  std::vector<FormulaId> asked;
  pool_->children_asked(formulas, asked);
  frame.formulas = lists_.of(formulas);
  frame.questions = questions_of(lists_, std::move(asked));
}

ListId JsonMachine::questions_of(Lists& lists, std::vector<FormulaId> asked) {
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  asked.insert(asked.begin(), kAlways);
  return lists.of(asked);
}

// That values come to the formulas late, when the next item begins, spares the walks over the
// vocabulary a formula for each value that a token can end.
std::uint32_t JsonMachine::settled(std::uint32_t id, bool is_asked) {
  Frame frame = frames_[id];
  if (frame.pending == 0) return id;
  const std::uint32_t pending = std::exchange(frame.pending, 0);
  const FormulaId its = one_value(
      pending % 2 == 0 ? pending / 2 : value_texts_.of(cat("\"", spelled_text(pending / 2))));
  std::vector<std::uint32_t> formulas = lists_.copy(frame.formulas);
  std::vector<FormulaId> asked;
  replace_each(formulas, [&](FormulaId formula) {
    const FormulaId without = pool_->without_value(formula, its, is_asked);
    if (is_asked) pool_->children_asked(without, asked);
    return without;
  });
  frame.formulas = lists_.of(formulas);
  if (is_asked) frame.questions = questions_of(lists_, std::move(asked));
  return frame_of(frame);
}

std::uint32_t JsonMachine::drop_frames(std::size_t n, std::uint32_t kept) {
  std::vector<Frame> chain;
  for (; kept >= n; kept = frames_[kept].below)
    chain.push_back(frames_[kept]);
  for (; frames_.size() > n; frames_.pop_back())
    frame_ids_.remove(hash_of(frames_.back()), static_cast<std::uint32_t>(frames_.size() - 1));
  for (; !chain.empty(); chain.pop_back()) {
    chain.back().below = kept;
    kept = frame_of(chain.back());
  }
  return kept;
}

JsonMachine::Place JsonMachine::before_item(const Place& place) {
  Frame frame = frames_[place.frame];
  ask(frame);
  return {.where = Where::kValue, .frame = frame_of(frame)};
}

JsonMachine::Place JsonMachine::begin_value(const Place& place, unsigned char byte) {
  if (byte == '{' || byte == '[') return begin_nested(place, byte == '[');
  Place next{.frame = place.frame};
  if (byte == '"') {
    pool_->exprs().refuel(kMaskFuel);
    std::vector<std::uint32_t> content = lists_.copy(frames_[place.frame].questions);
    for (std::uint32_t& question : content)
      question = pool_->string_language(pool_->of_type(question, kStringType));
    content[0] = pool_->exprs().intersect({content[0], pool_->exprs().any_text()});
    if (std::find(content.begin(), content.end(), regex::kNoExpr) != content.end()) return fail();
    next.where = Where::kString;
    next.content = lists_.of(content);
    return next;
  }
  if (byte == '-' || (byte >= '0' && byte <= '9')) {
    next.where = Where::kNumber;
    if (place.frame != kAnyRoot) next.text = texts_.add(0, byte);
    return next;
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (static_cast<unsigned char>(kWords[i][0]) != byte) continue;
    next.where = Where::kWord;
    next.text = i;
    next.n_done = 1;
  }
  return next;
}

JsonMachine::Place JsonMachine::begin_nested(const Place& place, bool is_array) {
  Frame frame{.below = place.frame, .is_array = is_array, .keeps_value = keeps(place.frame)};
  std::vector<std::uint32_t> formulas = lists_.copy(frames_[place.frame].questions);
  frame.keeps_items = frame.keeps_value;
  for (std::uint32_t& formula : formulas) {
    formula = pool_->of_type(formula, is_array ? kArrayType : kObjectType);
    if (is_array && pool_->has_unique(formula)) frame.keeps_items = true;
  }
  frame.formulas = lists_.of(formulas);
  return {.where = is_array ? Where::kFirstItem : Where::kFirstName, .frame = frame_of(frame)};
}

JsonMachine::Place JsonMachine::in_word(Place place, unsigned char byte) {
  const std::string_view word = kWords[place.text];
  if (static_cast<unsigned char>(word[place.n_done]) != byte) return {};
  if (++place.n_done < word.size()) return place;
  std::vector<bool> answers;
  for (const FormulaId question : lists_.at(frames_[place.frame].questions))
    answers.push_back(pool_->of_type(question, kWordTypes[place.text]) == kAlways);
  return end_value(place.frame, answers, keeps(place.frame) ? value_texts_.of(word) : 0);
}

JsonMachine::Place JsonMachine::in_string(Place place, unsigned char byte) {
  const Spelled spelled = feed(place.spelling, byte);
  if (spelled.kind == Spelled::Kind::kWrong) return {};
  if (spelled.kind == Spelled::Kind::kEnd) return end_string(place);
  const std::string bytes = bytes_of(spelled, byte);
  if (bytes.empty()) return place;  // within an escape
  std::vector<std::uint32_t> content = lists_.copy(place.content);
  if (!pool_->spend(content.size() / kPartsForStep * bytes.size() + 1)) return fail();
  for (const char c : bytes) {
    for (regex::ExprId& part : content) {
      pool_->exprs().refuel(kMaskFuel);
      part = pool_->automaton().step(part, static_cast<unsigned char>(c));
      if (part == regex::kNoExpr) return fail();
    }
    if (keeps(place.frame)) keep(place, static_cast<unsigned char>(c));
  }
  if (content[0] == regex::kEmptySet) return {};
  place.content = lists_.of(content);
  return place;
}

JsonMachine::Place JsonMachine::end_string(const Place& place) {
  std::vector<bool> answers;
  for (const regex::ExprId content : lists_.at(place.content))
    answers.push_back(pool_->exprs().is_nullable(content));
  const Frame& frame = frames_[place.frame];
  const bool is_late = leaves_out_values_ && frame.is_array && !frame.keeps_value;
  const bool needs_value = keeps(place.frame) && (!is_late || place.text == 0);
  const TextId value =
      needs_value ? value_texts_.of(cat("\"", spelled_text(place.text))) : TextId{0};
  return end_value(place.frame, answers, value, place.text);
}

JsonMachine::Place JsonMachine::in_name(Place place, unsigned char byte) {
  const Spelled spelled = feed(place.spelling, byte);
  if (spelled.kind == Spelled::Kind::kWrong) return {};
  if (spelled.kind == Spelled::Kind::kEnd) return end_name(place);
  for (const char c : bytes_of(spelled, byte))
    keep(place, static_cast<unsigned char>(c));
  return place;
}

JsonMachine::Place JsonMachine::end_name(Place place) {
  Frame frame = frames_[place.frame];
  const std::string name = spelled_text(place.text);
  if (repair_utf8(name) != name) return {};
  frame.name = pool_->text(name);
  if (cells_.has(frame.names, frame.name)) return {};
  frame.names = cells_.add(frame.names, frame.name);
  if (has_order_) {
    const std::uint32_t order = pool_->order_of(lists_.at(frame.formulas), frame.name);
    frame.last = order == 0 ? kNoEnd : std::max(order, frame.last);
  }
  ask(frame);
  return {.where = Where::kColon, .frame = frame_of(frame)};
}

void JsonMachine::keep(Place& place, unsigned char byte) {
  place.text = texts_.add(place.text, byte);
  if (texts_.size() > kMaxMachineCells) is_full_ = true;
}

JsonMachine::Place JsonMachine::in_number(Place place, unsigned char byte) {
  if (!is_of_number(byte)) {
    place = end_number(place);
    return place.where == Where::kDead || place.where == Where::kFailed ? place : step(place, byte);
  }
  if (place.frame != kAnyRoot) keep(place, byte);
  return place;
}

JsonMachine::Place JsonMachine::end_number(const Place& place) {
  if (place.frame == kAnyRoot) return {.where = Where::kDone};
  const std::string text = spelled_text(place.text);
  const auto value = parse_decimal(text);
  if (!value) return {};
  const auto keeps_its = [&](const Formula& f) {
    if (!pool_->spend(text.size() / kPartsForStep)) return false;
    return keeps_rule(pool_->rule(f.a), *value, text) != f.is_negative;
  };
  std::vector<bool> answers;
  for (const FormulaId question : lists_.at(frames_[place.frame].questions))
    answers.push_back(pool_->holds(pool_->of_type(question, kNumberType), keeps_its));
  const TextId kept = keeps(place.frame) ? value_texts_.of(spelled(*value)) : TextId{0};
  return or_failed(end_value(place.frame, answers, kept));
}

JsonMachine::Place JsonMachine::end_nested(const Place& place) {
  const Frame frame = frames_[place.frame];
  std::vector<bool> answers;
  for (const FormulaId formula : lists_.at(frame.formulas))
    answers.push_back(pool_->may_end(formula));
  return end_value(frame.below, answers, frame.keeps_value ? nested_value(frame) : 0);
}

JsonMachine::Place JsonMachine::end_value(std::uint32_t id, const std::vector<bool>& answers,
                                          TextId value, CellId text) {
  if (pool_->has_failed()) return fail();  // then the answers are none
  if (!answers[0]) return {};
  Frame frame = frames_[id];
  const auto questions = lists_.at(frame.questions);
  if (frame.is_root) return answers.back() ? Place{.where = Where::kDone} : Place{};
  std::vector<std::uint32_t> formulas = lists_.copy(frame.formulas);
  const auto answered = [&](FormulaId question) {
    const auto found = std::lower_bound(questions.begin() + 1, questions.end(), question);
    const bool is_yes = found != questions.end() && *found == question &&
                        answers[static_cast<std::size_t>(found - questions.begin())];
    return is_yes ? kAlways : kNever;
  };
  const bool leaves_out = frame.keeps_items && leaves_out_values_;
  if (leaves_out && frame.is_array) frame.pending = value != 0 ? value * 2 : text * 2 + 1;
  const bool is_second =
      frame.is_array && frame.keeps_items && !leaves_out && value_cells_.has(frame.values, value);
  pool_->resolve(formulas, answered);
  if (is_second)
    replace_each(formulas, [&](FormulaId formula) { return pool_->with_duplicate(formula); });
  frame.formulas = lists_.of(formulas);
  frame.questions = 0;
  if (frame.keeps_value || (frame.keeps_items && !leaves_out)) {
    if (!frame.is_array) frame.values = value_cells_.add(frame.values, frame.name);
    frame.values = value_cells_.add(frame.values, value);
  }
  frame.name = 0;
  return {.where = Where::kBehindValue, .frame = frame_of(frame)};
}

bool JsonMachine::accepts(const Place& place) {
  if (place.where == Where::kNumber && frames_[place.frame].is_root)
    return end_number(place).where == Where::kDone;
  return place.where == Where::kDone;
}

std::string JsonMachine::spelled_text(CellId list) const {
  std::string out;
  for (; list != 0; list = texts_.before(list))
    out += static_cast<char>(texts_.item(list));
  std::reverse(out.begin(), out.end());
  return out;
}

// One text for each value: members in the order of their names.
TextId JsonMachine::nested_value(const Frame& frame) {
  std::vector<std::uint32_t> parts;
  for (CellId at = frame.values; at != 0; at = value_cells_.before(at))
    parts.push_back(value_cells_.item(at));
  std::reverse(parts.begin(), parts.end());
  std::string out = frame.is_array ? "[" : "{";
  if (frame.is_array) {
    for (const std::uint32_t part : parts)
      out += cat(part, ",");
    return value_texts_.of(out);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
    members.emplace_back(parts[i], parts[i + 1]);
  std::sort(members.begin(), members.end());
  for (const auto& [name, value] : members)
    out += cat(name, ":", value, ",");
  return value_texts_.of(out);
}

// The formula of a value that is kept; those of its parts are known, for they ended before it.
FormulaId JsonMachine::one_value(TextId id) {
  const auto [at, is_new] = values_.try_emplace(id, kNoFormula);
  if (!is_new) return at->second;
  const std::string text = value_texts_.at(id);
  if (text[0] == '"') {
    return at->second = pool_->string_in(pool_->exprs().literal(std::string_view(text).substr(1)));
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (text == kWords[i]) return at->second = pool_->types(kWordTypes[i]);
  if (text[0] != '[' && text[0] != '{') return at->second = pool_->one_number(text);
  std::vector<TextId> ids;
  std::uint32_t number = 0;
  for (const char c : std::string_view(text).substr(1)) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
    } else {
      ids.push_back(std::exchange(number, 0));
    }
  }
  std::vector<TextId> names;
  std::vector<FormulaId> parts;
  const bool is_object = text[0] == '{';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_object) names.push_back(ids[i++]);
    parts.push_back(one_value(ids[i]));
  }
  return values_[id] = is_object ? pool_->one_object(names, parts) : pool_->one_array(parts);
}

// All other places are void then.
JsonMachine::Place JsonMachine::without_past(Place place) {
  std::vector<Frame> open;
  for (std::uint32_t at = place.frame; at != 0; at = frames_[at].below)
    open.push_back(frames_[at]);
  frames_.resize(kAnyRoot + 1);
  frame_ids_.clear();
  texts_.drop(0);
  place.frame = 0;
  for (; !open.empty(); open.pop_back()) {
    open.back().below = place.frame;
    place.frame = frame_of(open.back());
  }
  return place;
}

Result<bool> JsonMachine::accepts(std::string_view text) {
  pool_->refuel(kDocumentFuel + kDocumentFuelForByte * text.size());
  Place place = start();
  std::size_t n_kept = kMaxMachineCells / 16;
  for (const char c : text) {
    place = step(place, static_cast<unsigned char>(c));
    if (place.where == Where::kFailed) return failure();
    if (place.where == Where::kDead) return false;
    if (place.text != 0 || frames_.size() + texts_.size() < n_kept) continue;
    place = without_past(place);
    n_kept = kMaxMachineCells / 16 + frames_.size() * 2;
  }
  const bool is_whole = accepts(place);
  if (is_full_ || pool_->has_failed()) return failure();
  return is_whole;
}

}  // namespace wick::grammar
