#include "chat/run.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "chat/operators.h"
#include "chat/text_builder.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::size_t kScanEntries = 8;  // as many keys are found faster by looking at each
constexpr std::size_t kMaxMessage = 400;
constexpr std::size_t kMaxRaised = 4000;  // of a template's own message

}  // namespace

void Run::fail(std::string_view what, std::string_view id) {
  error_ = Error{ErrorCode::kInvalid, std::string(id), printable(what, kMaxMessage)};
  throw Failed();
}

// As it is: who shows it escapes it (base/printable.h), and programs compare it.
void Run::raise(std::string_view message) {
  message = message.substr(0, kMaxRaised);
  message = message.substr(0, complete_utf8(message));
  error_ = Error{ErrorCode::kInvalid, "template_raised", std::string(message)};
  throw Failed();
}

void Run::fail_undefined(const Value& value) {
  const Undefined& what = *value.undefined;
  if (!what.why.empty()) fail(what.why);
  if (what.owner.empty()) fail(cat("'", what.name, "' is undefined"));
  if (what.is_element) fail(cat("a value of type ", what.owner, " has no such element"));
  fail(cat("a value of type ", what.owner, " has no attribute '", printable(what.name, 60), "'"));
}

void Run::fail_type(std::string_view doing, const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  fail(cat("a value of type ", type_name(value), " cannot be ", doing));
}

void Run::look() {
  if (work_ > limits_.work) {
    fail_limit(cat("the template takes more than ", limits_.work, " units of work"));
  }
  if (stop_.stop_requested()) {
    error_ = Error{ErrorCode::kCancelled, "cancelled", "the render was cancelled"};
    throw Failed();
  }
  look_at_ = std::min(limits_.work, work_ + kWorkBetweenLooks);
}

void Run::admit(std::size_t text_bytes) {
  const std::size_t bytes = text_bytes + kValueBytes;
  limits_.work += static_cast<std::int64_t>(bytes) * kWorkPerInputByte;
  memory_.allow(bytes * kBytesPerInputByte);
}

void Run::need_room(std::size_t n, std::size_t size) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(n, size, &bytes) && memory_.has_room(bytes)) return;
  note_full_memory();
  throw Failed();
}

void Run::note_full_memory() {
  error_ = Error{ErrorCode::kInvalid,
                 "template_limit",
                 cat("the template needs more than ", memory_.limit(), " bytes of memory"),
                 {}};
}

std::string_view Run::copy(std::string_view bytes) {
  const auto kept = keep(std::span<const char>(bytes));
  return {kept.data(), kept.size()};
}

Value Run::text(std::string_view bytes, Trust trust, bool is_markup) {
  return Value::of(make<Text>(bytes, trust, is_markup));
}

Value Run::text(TextBuilder&& built, bool is_markup) {
  const std::string_view bytes = copy(built.text());
  const auto spans = built.trusted();
  if (spans.empty()) return text(bytes, Trust::kNone, is_markup);
  if (is_trusted(built)) return text(bytes, Trust::kAll, is_markup);
  return Value::of(make<Text>(bytes, Trust::kMixed, is_markup, std::int64_t{-1}, keep(spans)));
}

Value Run::cut(const Text& from, std::size_t begin, std::size_t end) {
  const std::string_view bytes = from.bytes.substr(begin, end - begin);
  if (from.trust != Trust::kMixed) return text(bytes, from.trust, from.is_markup);
  const auto first = first_span_behind(from.trusted, begin);
  auto last = first;
  while (last != from.trusted.end() && last->begin < end)
    ++last;
  const auto n = static_cast<std::size_t>(last - first);
  charge(4 + n);
  if (n == 0) return text(bytes, Trust::kNone, from.is_markup);
  if (first->begin <= begin && first->end >= end) return text(bytes, Trust::kAll, from.is_markup);
  Span* const room = array<Span>(n);
  std::transform(first, last, room, [&](const Span& span) {
    return Span{std::max(span.begin, begin) - begin, std::min(span.end, end) - begin};
  });
  return Value::of(make<Text>(bytes, Trust::kMixed, from.is_markup, std::int64_t{-1},
                              std::span<const Span>(room, n)));
}

Value Run::joined(const Text& a, const Text& b, bool is_markup) {
  Text made = {.is_markup = is_markup};
  if (a.bytes.size() >= GrowingTexts::kLeast) {
    growing_.join(*this, a, b, made);
    return Value::of(make<Text>(made));
  }
  const std::size_t size = a.bytes.size() + b.bytes.size();
  if (a.trust == b.trust && a.trust != Trust::kMixed) {
    charge(size, Rate::kCopy);
    char* const room = array<char>(size);
    std::copy(b.bytes.begin(), b.bytes.end(), std::copy(a.bytes.begin(), a.bytes.end(), room));
    return text({room, size}, a.trust, is_markup);
  }
  TextBuilder out(*this);
  out.reserve(size);
  out.append(a);
  out.append(b);
  return text(std::move(out), is_markup);
}

std::size_t Run::count_chars(std::string_view text) {
  std::size_t n = 0;
  in_slices(*this, text, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
    n += count_code_points(text.substr(begin, end - begin));
  });
  return n;
}

std::size_t Run::n_chars(const Value& string) {
  std::int64_t& n = string.text->n_chars;
  if (n < 0) n = static_cast<std::int64_t>(count_chars(string.bytes()));
  return static_cast<std::size_t>(n);
}

std::size_t Run::byte_of(std::string_view text, std::size_t index) {
  std::size_t at = text.size();
  in_slices(*this, text, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
    const std::string_view slice = text.substr(begin, end - begin);
    const std::size_t n = count_code_points(slice);
    if (n <= index) {
      index -= n;
      return true;
    }
    at = begin + wick::byte_of(slice, index);
    return false;
  });
  return at;
}

std::size_t Run::byte_of(const Value& string, std::size_t index) {
  const bool is_ascii = n_chars(string) == string.bytes().size();
  return is_ascii ? index : byte_of(string.bytes(), index);
}

Value Run::list(std::span<const Value> items, Kind kind) {
  if (items.size() > kMaxItems) fail_too_many_items();
  charge(2);
  const std::span<const Value> kept = keep(items);
  return Value::of(make<List>(kept.data(), kept.size()), kind);
}

void Run::fail_too_many_items() {
  fail_limit(cat("a list grows beyond ", kMaxItems, " items"));
}

Value Run::undefined(std::string_view why) {
  return undefined(Undefined{.why = copy(why)});
}

Value Run::no_attribute(const Value& object, const Value& name) {
  if (!name.is_string()) {
    return undefined(Undefined{.owner = type_name(object), .is_element = true});
  }
  // A loop over messages asks each for the same names: one object is enough for all.
  const std::string_view asked = name.bytes(), owner = type_name(object);
  const auto place = reinterpret_cast<std::uintptr_t>(asked.data()) / 16 % std::size(missing_);
  const Undefined*& known = missing_[place];
  const bool is_known = known != nullptr && known->name.data() == asked.data() &&
                        known->name.size() == asked.size() && known->owner.data() == owner.data();
  if (!is_known) known = make<Undefined>(Undefined{.name = asked, .owner = owner});
  return Value::of(known);
}

// An empty index for a dict that will have `n_entries`, if it is worth one.
void Run::add_index(Dict& dict, std::size_t n_entries) {
  if (n_entries <= kScanEntries) return;
  std::size_t slots = 32;
  while (slots < n_entries * 2)
    slots *= 2;
  charge(slots * sizeof(std::uint32_t), Rate::kCopy);
  dict.index = array<std::uint32_t>(slots);
  std::fill_n(dict.index, slots, 0U);
  dict.mask = slots - 1;
}

// Enters the last entry into the dict's index.
void Run::note(Dict& dict, std::size_t hash) {
  std::size_t at = hash & dict.mask;
  for (; dict.index[at] != 0; at = (at + 1) & dict.mask)
    charge(1);
  dict.index[at] = static_cast<std::uint32_t>(dict.size);
  charge(1);
}

Value Run::dict(std::span<const Entry> entries) {
  GrowingDict made;
  made.room = entries.size();
  made.dict.entries = made.entries = array<Entry>(entries.size());
  add_index(made.dict, entries.size());
  for (const Entry& entry : entries)
    insert(made, entry.key, entry.value);
  return Value::of(make<Dict>(made.dict));
}

void Run::insert(GrowingDict& to, const Value& key, const Value& value) {
  Dict& dict = to.dict;
  if (const Entry* const same = find(*this, dict, key)) {
    to.entries[same - dict.entries].value = value;
    return;
  }
  if (dict.size == kMaxItems) fail_too_many_items();
  if (dict.size == to.room) grow(to);
  const std::size_t hash = dict.index != nullptr ? hash_of(*this, key) : 0;
  ::new (to.entries + dict.size) Entry{key, value};
  ++dict.size;
  if (dict.index != nullptr) note(dict, hash);
}

void Run::grow(GrowingDict& to) {
  Dict& dict = to.dict;
  to.room = std::max<std::size_t>(4, to.room * 2);
  Entry* const entries = array<Entry>(to.room);
  charge(dict.size * sizeof(Entry), Rate::kCopy);
  std::uninitialized_copy(dict.begin(), dict.end(), entries);
  dict.entries = to.entries = entries;
  add_index(dict, to.room);
  if (dict.index != nullptr) note_all(dict);
}

// Enters all entries into an index that is empty.
void Run::note_all(Dict& dict) {
  const std::size_t n = dict.size;
  for (dict.size = 0; dict.size < n;) {
    const std::size_t hash = hash_of(*this, dict.entries[dict.size].key);
    ++dict.size;
    note(dict, hash);
  }
}

Value Run::dict_of(std::span<const Entry> entries) {
  Dict* const made = make<Dict>(entries.data(), entries.size());
  add_index(*made, entries.size());
  charge(1);
  if (made->index != nullptr) note_all(*made);
  return Value::of(made);
}

void DataLevel::fail() {
  run_.fail_limit(cat("data is nested deeper than ", kMaxDataDepth, " levels"));
}

std::int64_t Run::length(const Value& value) {
  switch (value.kind) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return static_cast<std::int64_t>(n_chars(value));
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<std::int64_t>(value.list->size);
    case Kind::kDict:
      return static_cast<std::int64_t>(value.dict->size);
    case Kind::kView:
      return static_cast<std::int64_t>(value.view->dict->size);
    case Kind::kRange:
      return value.range->size;
    default:
      return -1;
  }
}

}  // namespace wick::jinja
