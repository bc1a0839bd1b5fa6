#include "config/table_reader.h"

#include <algorithm>

#include "base/check.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace wick {

namespace {

double number_of(const JsonValue& value) {
  if (value.integer() != nullptr) return static_cast<double>(*value.integer());
  return value.number() == nullptr ? -1 : *value.number();
}

bool is_number(const JsonValue& value) {
  return value.integer() != nullptr || value.number() != nullptr;
}

bool is_texts(const JsonValue& value) {
  if (value.string() != nullptr) return true;
  const Array* const list = value.array();
  return list != nullptr && std::all_of(list->begin(), list->end(), [](const JsonValue& item) {
           return item.string() != nullptr;
         });
}

bool is_allowed(const Field& field, const JsonValue& value) {
  using enum FieldKind;
  switch (field.kind) {
    case kText:
    case kPrice:
    case kAmount:
      return value.string() != nullptr;
    case kTexts:
      return is_texts(value);
    case kChoice:
      return value.string() != nullptr && std::find(field.choices.begin(), field.choices.end(),
                                                    *value.string()) != field.choices.end();
    case kBoolean:
      return value.boolean() != nullptr;
    case kWhole:
      return value.integer() != nullptr && number_of(value) >= field.min &&
             number_of(value) <= field.max;
    case kReal:
      return is_number(value) && number_of(value) >= field.min && number_of(value) <= field.max;
    case kPositive:
      return is_number(value) && number_of(value) > 0 && number_of(value) <= field.max;
    case kDuration:
      return value.string() != nullptr || value.integer() != nullptr;
    case kModels:
      return value.array() != nullptr;
    case kWhen:
      return value.object() != nullptr;
    case kAny:
      return true;
  }
  return false;
}

// 1e9 as 1000000000.
std::string digits(double bound) {
  const auto whole = static_cast<std::int64_t>(bound);
  return static_cast<double>(whole) == bound ? cat(whole) : cat(bound);
}

std::string allowed(const Field& field) {
  using enum FieldKind;
  switch (field.kind) {
    case kText:
      return "a text";
    case kPrice:
      return "a price such as \"0.15 USD/M\"";
    case kAmount:
      return "an amount such as \"5 USD\"";
    case kTexts:
      return "a text or a list of texts";
    case kChoice: {
      std::string words;
      for (std::size_t i = 0; i < field.choices.size(); ++i) {
        const bool is_last = i + 1 == field.choices.size();
        words += cat(i == 0 ? "" : is_last ? " or " : ", ", field.choices[i]);
      }
      return words;
    }
    case kBoolean:
      return "true or false";
    case kWhole:
      return cat("a whole number from ", digits(field.min), " to ", digits(field.max));
    case kReal:
      return cat("a number from ", digits(field.min), " to ", digits(field.max));
    case kPositive:
      return cat("a number above 0, at most ", digits(field.max));
    case kDuration:
      return "a duration such as \"30s\" or \"1h\", or whole seconds";
    case kModels:
      return "a list of names and tables";
    case kWhen:
      return "a table";
    case kAny:
      return "";
  }
  return "";
}

// ", not 'x'". Of a text that may be secret nothing.
std::string instead_of(const Field& field, const JsonValue& value) {
  constexpr std::size_t kShown = 60;
  if (field.kind == FieldKind::kText) return "";
  if (value.string() != nullptr) return cat(", not '", printable(*value.string(), kShown), "'");
  return cat(", not ", printable(to_json(value), kShown));
}

}  // namespace

TableReader::TableReader(const ConfigTable& rows, std::string shown, std::string path,
                         const JsonValue& value, const TomlPlaces& places)
    : rows_(rows),
      shown_(std::move(shown)),
      path_(std::move(path)),
      fields_(value.object()),
      places_(places) {
  if (fields_ == nullptr) {
    fail("", "is no table");
    return;
  }
  std::vector<std::string> names;
  for (const Field& field : rows.fields)
    names.emplace_back(field.key);
  for (const auto& [key, one] : *fields_) {
    const auto at = std::find(names.begin(), names.end(), key);
    if (at != names.end()) {
      check(rows.fields[static_cast<std::size_t>(at - names.begin())], one);
      continue;
    }
    const std::string near = nearest_names(key, names);
    fail(key,
         {.code = ErrorCode::kInvalid,
          .id = "unknown_setting",
          .message = cat(shown_, " has no setting '", printable(key), "'"),
          .hint = near.empty() ? "docs/providers.md lists them" : cat("the nearest are: ", near)});
  }
  for (const Field& field : rows.fields) {
    const JsonValue* const one = fields_->find(field.key);
    const bool is_missing = one == nullptr || (one->string() != nullptr && one->string()->empty());
    if (field.is_required && is_missing) fail(field.key, "is missing");
  }
}

void TableReader::check(const Field& field, const JsonValue& value) {
  if (is_allowed(field, value)) return;
  std::string hint;
  if (field.kind == FieldKind::kChoice && value.string() != nullptr) {
    const std::string near = nearest_names(*value.string(), field.choices);
    if (!near.empty()) hint = cat("the nearest are: ", near);
  }
  fail(field.key, {.code = ErrorCode::kInvalid,
                   .id = "bad_setting",
                   .message = cat(shown_, ": ", field.key, " must be ", allowed(field),
                                  instead_of(field, value)),
                   .hint = std::move(hint)});
}

const JsonValue* TableReader::value(std::string_view key) {
  const bool is_row = std::any_of(rows_.fields.begin(), rows_.fields.end(),
                                  [&](const Field& field) { return field.key == key; });
  WICK_CHECK(is_row, "the key is in the rows of the table");
  return fields_ == nullptr ? nullptr : fields_->find(key);
}

std::string TableReader::text(std::string_view key) {
  const JsonValue* const one = value(key);
  return one == nullptr || one->string() == nullptr ? "" : *one->string();
}

std::int64_t TableReader::whole(std::string_view key, std::int64_t fallback) {
  const JsonValue* const one = value(key);
  return one == nullptr || one->integer() == nullptr ? fallback : *one->integer();
}

double TableReader::number(std::string_view key, double fallback) {
  const JsonValue* const one = value(key);
  return one == nullptr || !is_number(*one) ? fallback : number_of(*one);
}

std::optional<bool> TableReader::truth(std::string_view key) {
  const JsonValue* const one = value(key);
  if (one == nullptr || one->boolean() == nullptr) return std::nullopt;
  return *one->boolean();
}

std::vector<std::string> TableReader::texts(std::string_view key) {
  const JsonValue* const one = value(key);
  if (one == nullptr || !is_texts(*one)) return {};
  if (one->string() != nullptr) return {*one->string()};
  std::vector<std::string> out;
  for (const JsonValue& item : *one->array())
    out.push_back(*item.string());
  return out;
}

void TableReader::fail(std::string_view key, std::string_view what) {
  fail(key, {.code = ErrorCode::kInvalid,
             .id = "bad_setting",
             .message = cat(shown_, key.empty() ? " " : ": ", key, key.empty() ? "" : " ", what)});
}

void TableReader::fail(std::string_view key, Error error) {
  if (error_) return;
  const std::string path = key.empty() ? path_ : cat(path_, "/", key);
  error_ = placed(std::move(error), place_of(places_, path));
}

Result<void> TableReader::end() const {
  if (error_) return *error_;
  return {};
}

}  // namespace wick
