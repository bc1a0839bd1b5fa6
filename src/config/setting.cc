// One value of a switch: from text, checked, and as text again.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/strings.h"
#include "config/limits.h"
#include "config/options.h"

namespace wick {

namespace {

using enum OptionKind;

Error refused(const Option& row, std::string_view seen) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_setting",
          .message = cat(row.key, " is ", seen, ", allowed are ", allowed(row))};
}

std::string in_quotes(std::string_view text) {
  return cat("'", printable(text), "'");
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value = {};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

// "2GiB" → 2147483648; decimal units by the letter alone, as human_bytes prints them.
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };

  static constexpr std::array kUnits = {
      Unit{"", 1},         Unit{"b", 1},       Unit{"kb", 1e3},     Unit{"mb", 1e6},
      Unit{"gb", 1e9},     Unit{"tb", 1e12},   Unit{"kib", 0x1p10}, Unit{"mib", 0x1p20},
      Unit{"gib", 0x1p30}, Unit{"tib", 0x1p40}};
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto amount = number<double>(text.substr(0, end));
  std::string unit = ascii_lower(text.substr(end));
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  for (const Unit& known : kUnits) {
    if (!amount || unit != known.name || *amount * known.bytes > 0x1p62) continue;
    return static_cast<std::int64_t>(*amount * known.bytes);
  }
  return std::nullopt;
}

std::optional<bool> parse_boolean(std::string_view text) {
  const std::string word = ascii_lower(text);
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

Result<OptionValue> parse_integers(const Option& row, std::string_view text) {
  std::vector<std::int64_t> list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto value = number<std::int64_t>(text.substr(at, comma - at));
    if (!value) return refused(row, in_quotes(text));
    list.push_back(*value);
    at = comma + 1;
  }
  return check_option(row, std::move(list));
}

bool is_choice(const Option& row, std::string_view text) {
  int words = 0;
  for (std::size_t at = 0; at <= text.size(); ++words) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view word = text.substr(at, comma - at);
    if (std::find(row.choices.begin(), row.choices.end(), word) == row.choices.end()) return false;
    at = comma + 1;
  }
  return words <= row.max;
}

// What a value of another type is called in the message about it.
std::string_view type_of(const OptionValue& value) {
  static constexpr std::string_view kNames[] = {
      "nothing",  "a boolean",         "a whole number",          "a number",
      "a string", "a list of strings", "a list of whole numbers", "a whole number"};
  return kNames[value.index()];
}

Result<void> check_text(const Option& row, const std::string& text) {
  if (text.size() > row.max_text) return refused(row, cat("a string of ", text.size(), " bytes"));
  return {};
}

Result<void> check_number(const Option& row, double value) {
  if (value >= row.min && value <= row.max) return {};
  return refused(row, cat(value));
}

}  // namespace

std::string_view name(OptionKind kind) noexcept {
  static constexpr std::string_view kNames[] = {"boolean", "integer", "number",   "bytes",   "text",
                                                "choice",  "texts",   "integers", "unsigned"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string allowed(const Option& row) {
  switch (row.kind) {
    case kBoolean:
      return "true and false";
    case kInteger:
      return cat("whole numbers from ", row.min, " to ", row.max);
    case kReal:
      return cat("numbers from ", row.min, " to ", row.max);
    case kBytes:
      return cat(human_bytes(static_cast<std::uint64_t>(row.min)), " to ",
                 human_bytes(static_cast<std::uint64_t>(row.max)), ", as bytes or 500MB or 2GiB");
    case kText:
      return cat("strings of up to ", row.max_text, " bytes");
    case kTexts:
      return cat("up to ", row.max_items, " strings of up to ", row.max_text, " bytes");
    case kIntegers:
      return cat("up to ", row.max_items, " whole numbers from ", row.min, " to ", row.max);
    case kUnsigned:
      return "whole numbers from 0 to 18446744073709551615";
    case kChoice:
      break;
  }
  std::string out;
  for (const std::string& choice : row.choices)
    out += cat(out.empty() ? "" : ", ", choice);
  return row.max > 1 ? cat(out, "; or two with a comma") : out;
}

Result<OptionValue> parse_option(const Option& row, std::string_view text) {
  switch (row.kind) {
    case kBoolean:
      if (const auto value = parse_boolean(text)) return OptionValue(*value);
      return refused(row, in_quotes(text));
    case kInteger:
      if (const auto value = number<std::int64_t>(text)) return check_option(row, *value);
      return refused(row, in_quotes(text));
    case kReal:
      if (const auto value = number<double>(text)) return check_option(row, *value);
      return refused(row, in_quotes(text));
    case kIntegers:
      return parse_integers(row, text);
    case kUnsigned:
      if (const auto value = number<std::uint64_t>(text)) return OptionValue(*value);
      if (const auto value = number<std::int64_t>(text)) return check_option(row, *value);
      return refused(row, in_quotes(text));
    case kTexts:
      return check_option(row, std::vector<std::string>{std::string(text)});
    case kBytes:
    case kText:
    case kChoice:
      break;
  }
  return check_option(row, std::string(text));
}

namespace {

// Which of OptionValue's types a switch of each kind has.
std::size_t type_index(OptionKind kind) {
  static constexpr std::size_t kTypes[] = {1, 2, 3, 2, 4, 4, 5, 6, 7};
  return kTypes[static_cast<std::size_t>(kind)];
}

struct RangeCheck {
  const Option& row;

  Result<void> operator()(std::monostate) const { return {}; }

  Result<void> operator()(bool) const { return {}; }

  Result<void> operator()(std::uint64_t) const { return {}; }

  Result<void> operator()(std::int64_t i) const {
    return check_number(row, static_cast<double>(i));
  }

  Result<void> operator()(double d) const { return check_number(row, d); }

  Result<void> operator()(const std::string& text) const {
    if (row.kind == kChoice && !is_choice(row, text)) return refused(row, in_quotes(text));
    return check_text(row, text);
  }

  Result<void> operator()(const std::vector<std::string>& list) const { return each(list); }

  Result<void> operator()(const std::vector<std::int64_t>& list) const { return each(list); }

  template <class List>
  Result<void> each(const List& list) const {
    if (list.size() > row.max_items) return refused(row, cat(list.size(), " items"));
    for (const auto& item : list)
      WICK_DO((*this)(item));
    return {};
  }
};

}  // namespace

Result<OptionValue> check_option(const Option& row, OptionValue value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value); whole && row.kind == kReal) {
    value = static_cast<double>(*whole);
  }
  if (const auto* const none = std::get_if<std::vector<std::string>>(&value);
      none && none->empty() && row.kind == kIntegers) {
    value = std::vector<std::int64_t>{};  // [] has no type of its own
  }
  if (const auto* const whole = std::get_if<std::int64_t>(&value); whole && row.kind == kUnsigned) {
    if (*whole < 0) return refused(row, cat(*whole));
    value = static_cast<std::uint64_t>(*whole);
  }
  if (const auto* const text = std::get_if<std::string>(&value); text && row.kind == kUnsigned) {
    return parse_option(row, *text);
  }
  if (const auto* const text = std::get_if<std::string>(&value); text && row.kind == kBytes) {
    const auto bytes = parse_bytes(*text);
    if (!bytes) return refused(row, in_quotes(*text));
    value = *bytes;
  }
  if (value.index() != type_index(row.kind)) return refused(row, type_of(value));
  WICK_DO(std::visit(RangeCheck{row}, value));
  return value;
}

double to_number(const OptionValue& value) {
  if (const auto* const b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  if (const auto* const i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

namespace {

std::string toml_text(std::string_view text) {
  return cat("\"", printable_toml(text), "\"");
}

template <class List, class Write>
std::string toml_list(const List& list, const Write& write) {
  std::string out = "[";
  for (const auto& item : list)
    out += cat(out.size() > 1 ? ", " : "", write(item));
  return out + "]";
}

}  // namespace

std::string to_toml(const OptionValue& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return ""; }

    std::string operator()(bool b) const { return cat(b); }

    std::string operator()(std::int64_t i) const { return cat(i); }

    std::string operator()(std::uint64_t u) const {
      return u >> 63 == 0 ? cat(u) : toml_text(cat(u));
    }

    std::string operator()(double d) const { return cat(d); }

    std::string operator()(const std::string& text) const { return toml_text(text); }

    std::string operator()(const std::vector<std::string>& list) const {
      return toml_list(list, toml_text);
    }

    std::string operator()(const std::vector<std::int64_t>& list) const {
      return toml_list(list, [](std::int64_t i) { return cat(i); });
    }
  };

  return std::visit(Writer{}, value);
}

}  // namespace wick
