#include "chat/run.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "chat/limits.h"
#include "chat/operators.h"
#include "chat/unicode.h"

namespace wick::jinja {
namespace {

constexpr std::size_t kScanEntries = 8;  // as many keys are found faster by looking at each
constexpr std::size_t kBlock = std::size_t{16} << 10;  // of the arena

// Enters the last entry into the dict's index.
void note(Dict& dict, std::size_t hash) {
  std::size_t at = hash & dict.mask;
  while (dict.index[at] != 0)
    at = (at + 1) & dict.mask;
  dict.index[at] = static_cast<std::uint32_t>(dict.size);
}

}  // namespace

const Val* Namespace::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : items) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Namespace::set(std::string_view name, const Val& value) {
  for (auto& [key, old] : items) {
    if (key == name) {
      old = value;
      return;
    }
  }
  items.emplace_back(name, value);
}

Run::Run(Limits limits, std::int64_t now_seconds)
    : limits_(limits), now_seconds_(now_seconds), arena_(kBlock) {}

Val Run::fail(std::string_view what, std::string_view id) {
  if (!error_) error_ = Error{ErrorCode::kInvalid, std::string(id), std::string(what)};
  return Val::failure();
}

Val Run::fail_undefined(const Val& value) {
  const Undefined& what = *value.undefined;
  if (!what.why.empty()) return fail(what.why);
  if (what.owner.empty()) return fail(cat("'", what.name, "' is undefined"));
  if (what.is_element) return fail(cat("a value of type ", what.owner, " has no such element"));
  return fail(
      cat("a value of type ", what.owner, " has no attribute '", printable(what.name, 60), "'"));
}

Val Run::fail_type(std::string_view doing, const Val& value) {
  if (value.is_undefined()) return fail_undefined(value);
  return fail(cat("a value of type ", type_name(value), " cannot be ", doing));
}

bool Run::fail_steps() {
  fail(cat("the template takes more than ", limits_.steps, " steps"), "template_limit");
  return false;
}

void* Run::allocate_more(std::size_t bytes) {
  if (bytes > limits_.bytes - bytes_ || failed()) {
    fail(cat("the template needs more than ", limits_.bytes, " bytes of memory"), "template_limit");
    return nullptr;
  }
  bytes_ += bytes;
  if (bytes > kBlock / 4) return arena_.allocate(bytes, alignof(std::max_align_t));
  char* const block = static_cast<char*>(arena_.allocate(kBlock, alignof(std::max_align_t)));
  free_ = block + bytes;
  n_free_ = kBlock - bytes;
  return block;
}

std::string_view Run::copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* room = array<char>(bytes.size());
  if (room == nullptr || !spend_bytes(bytes.size())) return {};
  std::memcpy(room, bytes.data(), bytes.size());
  return {room, bytes.size()};
}

Val Run::text(std::string_view bytes, Trust trust, bool is_markup) {
  if (bytes.size() > kMaxTextBytes) {
    return fail(cat("a text has ", bytes.size(), " bytes, the limit is ", kMaxTextBytes),
                "template_limit");
  }
  const Text* made = make<Text>(bytes, trust, is_markup);
  return made == nullptr ? Val::failure() : Val::of(made);
}

Val Run::text(MarkedText&& built, bool is_markup) {
  const std::string_view bytes = copy(built.text);
  const auto& spans = built.trusted;
  if (spans.empty()) return text(bytes, Trust::kNone, is_markup);
  if (spans[0].begin == 0 && spans[0].end == bytes.size())
    return text(bytes, Trust::kAll, is_markup);
  Span* room = array<Span>(spans.size());
  if (room == nullptr) return Val::failure();
  std::copy(spans.begin(), spans.end(), room);
  const Text* made = make<Text>(bytes, Trust::kMixed, is_markup, std::int64_t{-1},
                                std::span<const Span>(room, spans.size()));
  return made == nullptr ? Val::failure() : Val::of(made);
}

Val Run::cut(const Text& from, std::size_t begin, std::size_t end) {
  const std::string_view bytes = from.bytes.substr(begin, end - begin);
  if (from.trust != Trust::kMixed) return text(bytes, from.trust, from.is_markup);
  const auto first = std::upper_bound(from.trusted.begin(), from.trusted.end(), begin,
                                      [](std::size_t x, const Span& span) { return x < span.end; });
  auto last = first;
  while (last != from.trusted.end() && last->begin < end)
    ++last;
  const auto n = static_cast<std::size_t>(last - first);
  if (n == 0) return text(bytes, Trust::kNone, from.is_markup);
  if (first->begin <= begin && first->end >= end) return text(bytes, Trust::kAll, from.is_markup);
  Span* room = array<Span>(n);
  if (room == nullptr || !spend(n)) return Val::failure();
  std::transform(first, last, room, [&](const Span& span) {
    return Span{std::max(span.begin, begin) - begin, std::min(span.end, end) - begin};
  });
  const Text* made = make<Text>(bytes, Trust::kMixed, from.is_markup, std::int64_t{-1},
                                std::span<const Span>(room, n));
  return made == nullptr ? Val::failure() : Val::of(made);
}

std::size_t Run::n_chars(const Val& string) {
  if (string.text->n_chars < 0) {
    spend_bytes(string.bytes().size());
    string.text->n_chars = static_cast<std::int64_t>(count_code_points(string.bytes()));
  }
  return static_cast<std::size_t>(string.text->n_chars);
}

Val Run::list(std::span<const Val> items, Kind kind) {
  if (items.size() > kMaxItems) return too_many_items();
  Val* room = array<Val>(items.size());
  if (room == nullptr || !spend(items.size() / 4)) return Val::failure();
  std::uninitialized_copy(items.begin(), items.end(), room);
  const List* made = make<List>(room, items.size());
  return made == nullptr ? Val::failure() : Val::of(made, kind);
}

Val Run::too_many_items() {
  return fail(cat("a list grows beyond ", kMaxItems, " items"), "template_limit");
}

Val Run::undefined(std::string_view why) {
  return undefined(Undefined{.why = copy(why)});
}

Val Run::undefined(const Undefined& what) {
  const Undefined* made = make<Undefined>(what);
  if (made == nullptr) return Val::failure();
  Val out = Val::of(Kind::kUndefined);
  out.undefined = made;
  return out;
}

Val Run::undefined_name(std::string_view name) {
  return undefined(Undefined{.name = name});
}

Val Run::no_attribute(const Val& object, const Val& name) {
  if (!name.is_string()) {
    return undefined(Undefined{.owner = type_name(object), .is_element = true});
  }
  return undefined(Undefined{.name = name.bytes(), .owner = type_name(object)});
}

// Room for the index of a dict that will have as many entries as it has now, if it is worth one.
bool Run::add_index(Dict& dict) {
  if (dict.size <= kScanEntries) return true;
  std::size_t slots = 32;
  while (slots < dict.size * 2)
    slots *= 2;
  auto* const index = array<std::uint32_t>(slots);
  if (index == nullptr) return false;
  std::fill_n(index, slots, 0U);
  dict.index = index;
  dict.mask = slots - 1;
  return true;
}

Val Run::dict(std::span<const Entry> entries) {
  Entry* room = array<Entry>(entries.size());
  Dict* made = make<Dict>(room, entries.size());
  if (made == nullptr || !spend(entries.size()) || !add_index(*made)) return Val::failure();
  made->size = 0;
  for (const Entry& entry : entries) {
    std::size_t hash = 0;
    const bool is_text = entry.key.is_string();
    if ((made->index != nullptr || !is_text) && !hash_of(*this, entry.key, hash)) {
      return Val::failure();
    }
    if (const Entry* same = find(*this, *made, entry.key)) {
      room[same - room].value = entry.value;
    } else {
      ::new (room + made->size) Entry(entry);
      ++made->size;
      if (made->index != nullptr) note(*made, hash);
    }
    if (failed()) return Val::failure();
  }
  return Val::of(made);
}

Val Run::dict_of(std::span<const Entry> entries) {
  Dict* made = make<Dict>(entries.data(), entries.size());
  if (made == nullptr || !spend(entries.size()) || !add_index(*made)) return Val::failure();
  if (made->index == nullptr) return Val::of(made);
  for (made->size = 0; made->size < entries.size();) {
    std::size_t hash = 0;
    if (!hash_of(*this, entries[made->size].key, hash)) return Val::failure();
    ++made->size;
    note(*made, hash);
  }
  return Val::of(made);
}

bool DataLevel::fail() {
  run_.fail(cat("data is nested deeper than ", kMaxDataDepth, " levels"), "template_limit");
  return true;
}

Val Run::view(const Dict* dict, ViewKind kind) {
  const View* made = make<View>(dict, kind);
  if (made == nullptr) return Val::failure();
  Val out = Val::of(Kind::kView);
  out.view = made;
  return out;
}

Val Run::range(const Range& value) {
  const Range* made = make<Range>(value);
  if (made == nullptr) return Val::failure();
  Val out = Val::of(Kind::kRange);
  out.range = made;
  return out;
}

Val Run::name_space() {
  if (!spend(4)) return Val::failure();
  Val out = Val::of(Kind::kNamespace);
  out.space = &keep<Namespace>();
  return out;
}

std::int64_t Run::length(const Val& value) {
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
