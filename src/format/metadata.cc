#include "format/metadata.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>

#include "base/byte_reader.h"
#include "base/strings.h"

namespace wick {

namespace {

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::optional<std::int64_t> load_integer(MetaType type, const std::byte* at) noexcept {
  switch (type) {
    case MetaType::kU8:
      return load<std::uint8_t>(at);
    case MetaType::kI8:
      return load<std::int8_t>(at);
    case MetaType::kU16:
      return load<std::uint16_t>(at);
    case MetaType::kI16:
      return load<std::int16_t>(at);
    case MetaType::kU32:
      return load<std::uint32_t>(at);
    case MetaType::kI32:
      return load<std::int32_t>(at);
    case MetaType::kI64:
      return load<std::int64_t>(at);
    case MetaType::kU64: {
      const auto value = load<std::uint64_t>(at);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
      }
      return static_cast<std::int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> load_number(MetaType type, const std::byte* at) noexcept {
  if (type == MetaType::kF32) return static_cast<double>(load<float>(at));
  if (type == MetaType::kF64) return load<double>(at);
  if (type == MetaType::kU64) return static_cast<double>(load<std::uint64_t>(at));
  const auto integer = load_integer(type, at);
  if (!integer) return std::nullopt;
  return static_cast<double>(*integer);
}

bool load_bool(const std::byte* at) noexcept {
  return *at != std::byte{0};
}

// A scalar of `type` whose bytes are all there.
bool is_scalar(const MetaValue& value) noexcept {
  const std::size_t size = element_bytes(value.type);
  return size != 0 && value.bytes.size() == size;
}

// An array of numbers whose bytes are all there.
bool is_number_array(const MetaValue& value) noexcept {
  const std::size_t size = element_bytes(value.element);
  return value.type == MetaType::kArray && size != 0 && value.bytes.size() % size == 0 &&
         value.bytes.size() / size == value.count;
}

template <class T>
std::span<const std::byte> as_bytes_of(const T* values, std::size_t count) noexcept {
  return std::as_bytes(std::span(values, count));
}

// "'abc'", "17", "an array of 3 u32": a value as messages show it.
std::string text_of(const MetaValue& value) {
  if (value.type == MetaType::kString) {
    return cat("'",
               printable({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()}),
               "'");
  }
  if (value.type == MetaType::kArray) {
    return cat("an array of ", value.count, " ", name(value.element));
  }
  if (!is_scalar(value)) return "damaged";
  if (value.type == MetaType::kBool) return load_bool(value.bytes.data()) ? "true" : "false";
  if (const auto integer = load_integer(value.type, value.bytes.data())) return cat(*integer);
  if (const auto number = load_number(value.type, value.bytes.data())) return cat(*number);
  return "not a number";
}

Error key_error(std::string_view key, const MetaValue* value, const std::string& wanted) {
  if (value == nullptr) {
    return {.code = ErrorCode::kCorrupt,
            .id = "missing_key",
            .message = cat("key '", printable(key), "' is missing, wanted ", wanted)};
  }
  return {.code = ErrorCode::kCorrupt,
          .id = "bad_key",
          .message = cat("key '", printable(key), "' is ", text_of(*value), ", wanted ", wanted)};
}

}  // namespace

const char* name(MetaType type) noexcept {
  static constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t element_bytes(MetaType type) noexcept {
  static constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

struct Metadata::State {
  std::vector<MetaEntry> entries = {};
  std::vector<std::uint32_t> by_key = {};  // indices of entries, ascending by key
  std::deque<std::string> owned = {};      // keys and values of the set_ forms; never moves

  // Where `key` is, or would have to be, in by_key. Sorted rather than hashed: no set of chosen
  // keys makes it slow.
  std::size_t place(std::string_view key) const noexcept {
    const auto at = std::lower_bound(by_key.begin(), by_key.end(), key,
                                     [this](std::uint32_t index, std::string_view wanted) {
                                       return entries[index].key < wanted;
                                     });
    return static_cast<std::size_t>(at - by_key.begin());
  }

  bool is_at(std::size_t place_of_key, std::string_view key) const noexcept {
    return place_of_key < by_key.size() && entries[by_key[place_of_key]].key == key;
  }

  bool add(std::string_view key, const MetaValue& value) {
    const std::size_t at = place(key);
    if (is_at(at, key)) return false;
    by_key.insert(by_key.begin() + static_cast<std::ptrdiff_t>(at),
                  static_cast<std::uint32_t>(entries.size()));
    entries.push_back({key, value});
    return true;
  }

  void set(std::string_view key, MetaType type, MetaType element, std::uint64_t count,
           std::span<const std::byte> bytes) {
    const std::string& copy =
        owned.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const MetaValue value{type, element, count, std::as_bytes(std::span(copy))};
    const std::size_t at = place(key);
    if (is_at(at, key)) {
      entries[by_key[at]].value = value;
    } else {
      add(owned.emplace_back(key), value);
    }
  }
};

Metadata::Metadata() : state_(std::make_unique<State>()) {}

Metadata::~Metadata() = default;
Metadata::Metadata(Metadata&&) noexcept = default;
Metadata& Metadata::operator=(Metadata&&) noexcept = default;

std::span<const MetaEntry> Metadata::entries() const noexcept {
  return state_->entries;
}

const MetaValue* Metadata::find(std::string_view key) const noexcept {
  const std::size_t at = state_->place(key);
  return state_->is_at(at, key) ? &state_->entries[state_->by_key[at]].value : nullptr;
}

std::optional<std::int64_t> Metadata::integer(std::string_view key) const noexcept {
  const MetaValue* value = find(key);
  if (value == nullptr || !is_scalar(*value)) return std::nullopt;
  return load_integer(value->type, value->bytes.data());
}

std::optional<double> Metadata::number(std::string_view key) const noexcept {
  const MetaValue* value = find(key);
  if (value == nullptr || !is_scalar(*value)) return std::nullopt;
  return load_number(value->type, value->bytes.data());
}

std::optional<bool> Metadata::boolean(std::string_view key) const noexcept {
  const MetaValue* value = find(key);
  if (value == nullptr || value->type != MetaType::kBool || !is_scalar(*value)) return std::nullopt;
  return load_bool(value->bytes.data());
}

std::optional<std::string_view> Metadata::string(std::string_view key) const noexcept {
  const MetaValue* value = find(key);
  if (value == nullptr || value->type != MetaType::kString) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()), value->bytes.size());
}

std::optional<std::vector<std::string_view>> Metadata::strings(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr || value->type != MetaType::kArray || value->element != MetaType::kString ||
      value->count > value->bytes.size() / kStringHead) {
    return std::nullopt;
  }
  std::vector<std::string_view> out;
  out.reserve(static_cast<std::size_t>(value->count));
  ByteReader reader(value->bytes);
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const auto length = reader.read<std::uint64_t>();
    if (!length) return std::nullopt;
    const auto text = reader.take_text(*length);
    if (!text) return std::nullopt;
    out.push_back(*text);
  }
  return out;
}

std::optional<std::vector<std::int64_t>> Metadata::integers(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr || !is_number_array(*value)) return std::nullopt;
  const std::size_t size = element_bytes(value->element);
  std::vector<std::int64_t> out(static_cast<std::size_t>(value->count));
  const std::byte* at = value->bytes.data();
  for (std::int64_t& item : out) {
    if (value->element == MetaType::kBool) {
      item = load_bool(at) ? 1 : 0;
    } else if (const auto integer = load_integer(value->element, at)) {
      item = *integer;
    } else {
      return std::nullopt;
    }
    at += size;
  }
  return out;
}

std::optional<std::vector<double>> Metadata::numbers(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr || !is_number_array(*value)) return std::nullopt;
  const std::size_t size = element_bytes(value->element);
  std::vector<double> out(static_cast<std::size_t>(value->count));
  const std::byte* at = value->bytes.data();
  for (double& item : out) {
    const auto number = load_number(value->element, at);
    if (!number) return std::nullopt;
    item = *number;
    at += size;
  }
  return out;
}

Result<std::int64_t> Metadata::need_integer(std::string_view key, std::int64_t min,
                                            std::int64_t max) const {
  const auto value = integer(key);
  if (value && *value >= min && *value <= max) return *value;
  return key_error(key, find(key), cat("an integer in [", min, ", ", max, "]"));
}

Result<double> Metadata::need_number(std::string_view key, double min, double max) const {
  const auto value = number(key);
  if (value && *value >= min && *value <= max) return *value;  // NaN is in no range
  return key_error(key, find(key), cat("a number in [", min, ", ", max, "]"));
}

Result<std::string_view> Metadata::need_string(std::string_view key) const {
  const auto value = string(key);
  if (value) return *value;
  return key_error(key, find(key), "a string");
}

Result<std::vector<std::int64_t>> Metadata::need_per_layer(std::string_view key, int count,
                                                           std::int64_t min,
                                                           std::int64_t max) const {
  const auto in_range = [&](std::int64_t value) { return value >= min && value <= max; };
  const auto n = static_cast<std::size_t>(std::max(count, 0));
  if (const auto value = integer(key); value && in_range(*value)) {
    return std::vector<std::int64_t>(n, *value);
  }
  auto values = integers(key);
  if (values && values->size() == n) {
    const auto wrong = std::find_if_not(values->begin(), values->end(), in_range);
    if (wrong == values->end()) return *std::move(values);
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "bad_key",
                 .message = cat("key '", printable(key), "' is ", *wrong, " for layer ",
                                wrong - values->begin(), ", wanted [", min, ", ", max, "]")};
  }
  return key_error(key, find(key),
                   cat("an integer in [", min, ", ", max, "], or an array of ", count, " of them"));
}

bool Metadata::add(std::string_view key, const MetaValue& value) {
  return state_->add(key, value);
}

void Metadata::set_integer(std::string_view key, std::int64_t value) {
  state_->set(key, MetaType::kI64, MetaType::kU8, 1, as_bytes_of(&value, 1));
}

void Metadata::set_number(std::string_view key, double value) {
  state_->set(key, MetaType::kF64, MetaType::kU8, 1, as_bytes_of(&value, 1));
}

void Metadata::set_boolean(std::string_view key, bool value) {
  const std::uint8_t byte = value ? 1 : 0;
  state_->set(key, MetaType::kBool, MetaType::kU8, 1, as_bytes_of(&byte, 1));
}

void Metadata::set_string(std::string_view key, std::string_view value) {
  state_->set(key, MetaType::kString, MetaType::kU8, 1, as_bytes_of(value.data(), value.size()));
}

void Metadata::set_integers(std::string_view key, std::span<const std::int64_t> values) {
  state_->set(key, MetaType::kArray, MetaType::kI64, values.size(), std::as_bytes(values));
}

void Metadata::set_numbers(std::string_view key, std::span<const double> values) {
  state_->set(key, MetaType::kArray, MetaType::kF64, values.size(), std::as_bytes(values));
}

void Metadata::set_strings(std::string_view key, std::span<const std::string> values) {
  std::string packed;
  for (const std::string& value : values) {
    const std::uint64_t length = value.size();
    packed.append(reinterpret_cast<const char*>(&length), sizeof length);
    packed += value;
  }
  state_->set(key, MetaType::kArray, MetaType::kString, values.size(),
              as_bytes_of(packed.data(), packed.size()));
}

}  // namespace wick
