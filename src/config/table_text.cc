#include "config/table_text.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/strings.h"
#include "config/options.h"

namespace wick {

namespace {

constexpr std::string_view kHidden = "***";

// That before the last '@' and behind "password=" of a URI. A password may have any other bytes:
// Redis takes one with '/'.
std::string without_password(std::string text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const std::size_t begin = scheme + 3;
  const std::size_t at = text.rfind('@');
  const std::size_t colon = text.find(':', begin);
  if (at != std::string::npos && at > begin && colon < at)
    text.replace(colon + 1, at - colon - 1, kHidden);
  constexpr std::string_view kName = "password=";
  for (std::size_t from = text.find(kName); from != std::string::npos;
       from = text.find(kName, from)) {
    from += kName.size();
    text.replace(from, std::min(text.find('&', from), text.size()) - from, kHidden);
  }
  return text;
}

std::string quoted(const std::string& text) {
  return to_toml(OptionValue(text));
}

std::string toml_key(const std::string& key) {
  constexpr std::string_view kBare =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const bool is_bare = !key.empty() && key.find_first_not_of(kBare) == std::string::npos;
  return is_bare ? key : quoted(key);
}

std::string toml_value(const JsonValue& value);

struct Writer {
  std::string operator()(std::nullptr_t) const { return "\"\""; }  // a date, which no key takes

  std::string operator()(bool b) const { return cat(b); }

  std::string operator()(std::int64_t i) const { return cat(i); }

  std::string operator()(double d) const { return cat(d); }

  std::string operator()(const std::string& text) const { return quoted(text); }

  std::string operator()(const Array& list) const {
    std::string out;
    for (const JsonValue& item : list)
      out += cat(out.empty() ? "" : ", ", toml_value(item));
    return cat("[", out, "]");
  }

  std::string operator()(const Object& object) const {
    std::string out;
    for (const auto& [key, item] : object)
      out += cat(out.empty() ? "" : ", ", toml_key(key), " = ", toml_value(item));
    return cat("{ ", out, " }");
  }
};

std::string toml_value(const JsonValue& value) {
  return std::visit(Writer{}, value.data());
}

void add_table(std::vector<TableLine>& lines, const std::string& header, const std::string& path,
               const JsonValue& table, const TomlPlaces& places) {
  if (table.object() == nullptr) return;
  lines.push_back({});
  lines.push_back({header, place_of(places, path)});
  for (const auto& [key, value] : *table.object())
    lines.push_back(
        {cat(toml_key(key), " = ", toml_value(value)), place_of(places, cat(path, "/", key))});
}

}  // namespace

JsonValue without_passwords(const JsonValue& value) {
  if (value.string() != nullptr) return without_password(*value.string());
  if (const Array* const list = value.array()) {
    Array out;
    for (const JsonValue& item : *list)
      out.push_back(without_passwords(item));
    return out;
  }
  if (value.object() == nullptr) return value;
  Object out;
  for (const auto& [key, item] : *value.object())
    out[key] = without_passwords(item);
  return out;
}

std::vector<TableLine> table_lines(const TomlTables& tables) {
  std::vector<TableLine> lines;
  for (const auto& [name, value] : tables.values) {
    const JsonValue shown = without_passwords(value);
    if (shown.array() == nullptr) {
      add_table(lines, cat("[", name, "]"), name, shown, tables.places);
      continue;
    }
    for (std::size_t i = 0; i < shown.array()->size(); ++i)
      add_table(lines, cat("[[", name, "]]"), cat(name, "/", i), (*shown.array())[i],
                tables.places);
  }
  return lines;
}

}  // namespace wick
