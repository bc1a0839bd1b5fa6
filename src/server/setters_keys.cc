// Fields of the routes that make, change and revoke API keys, by LiteLLM's names.
#include <algorithm>
#include <charconv>

#include "base/decimal.h"
#include "server/errors.h"
#include "server/setters.h"

namespace wick::server {

namespace {

SetResult read_texts(const JsonValue& value, const Field& field, std::vector<std::string>& out) {
  for (const JsonValue& item : *value.array()) {
    if (item.string() == nullptr)
      return bad_field(field.name, "has ", seen(item), ", wanted are strings");
    out.push_back(*item.string());
  }
  return {};
}

}  // namespace

SetResult set_key_alias(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.rules.name = *value.string();
  return {};
}

SetResult set_key_scope(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const std::string& scope = *value.string();
  if (scope != "infer" && scope != "admin") return bad_field(field.name, "is not infer or admin");
  parsed.keys.rules.may_admin = scope == "admin";
  return {};
}

SetResult set_key_models(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  WICK_DO(read_texts(value, field, parsed.keys.rules.models));
  for (const std::string& name : parsed.keys.rules.models) {
    const auto is_bad = [](char c) { return c <= ' ' || c == ',' || c == '\x7f'; };
    if (name.empty() || std::any_of(name.begin(), name.end(), is_bad))
      return bad_field(field.name, "has '", printable(name, 40),
                       "', wanted are names without spaces and commas");
  }
  return {};
}

// As it was written, to the nano-dollar: 0.1 is ten cents, not the nearest double.
SetResult set_key_budget(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.max_budget = decimal(*real(value), 9);
  return {};
}

SetResult set_key_budget_duration(const JsonValue& value, const Field& /*field*/,
                                  ParsedRequest& parsed) {
  parsed.keys.duration = *value.string();
  return {};
}

SetResult set_key_rpm(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.rules.per_minute = static_cast<int>(*whole(value));
  return {};
}

SetResult set_key_tpm(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.rules.tokens_per_minute = *whole(value);
  return {};
}

SetResult set_key_parallel(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.rules.parallel = static_cast<int>(*whole(value));
  return {};
}

SetResult set_key_duration(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const std::string& text = *value.string();
  int days = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), days);
  const bool is_span = read.ec == std::errc() && days > 0 && std::string_view(read.ptr) == "d";
  const bool is_day = text.size() == 10 && text[4] == '-' && text[7] == '-';
  if (!is_span && !is_day)
    return bad_field(field.name, "is '", printable(text, 40),
                     "', wanted is a day (2027-01-31) or a number of days (30d)");
  parsed.keys.rules.expires = text;
  return {};
}

SetResult set_key_blocked(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.rules.is_blocked = *value.boolean();
  return {};
}

SetResult set_key(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.keys.key = *value.string();
  return {};
}

SetResult set_keys(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  return read_texts(value, field, parsed.keys.keys);
}

}  // namespace wick::server
