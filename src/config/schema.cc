#include "config/schema.h"

#include "base/strings.h"
#include "config/presets.h"
#include "config/tables.h"

namespace wick {

namespace {

struct ValueMaker {
  JsonValue operator()(std::monostate) const { return JsonValue(nullptr); }

  template <class T>
  JsonValue operator()(const std::vector<T>& list) const {
    return Array(list.begin(), list.end());
  }

  template <class T>
  JsonValue operator()(const T& one) const {
    return JsonValue(one);
  }
};

Object list_of(JsonValue item) {
  return json_object({{"type", "array"}, {"items", std::move(item)}});
}

Object number(const char* type, double min, double max) {
  return json_object({{"type", type}, {"minimum", min}, {"maximum", max}});
}

Object text_like(const char* pattern) {
  return json_object({{"type", "string"}, {"pattern", pattern}});
}

Object number_or_text(const char* pattern, double min) {
  return json_object({{"type", Array{JsonValue("integer"), JsonValue("string")}},
                      {"minimum", min},
                      {"pattern", pattern}});
}

Object type_schema(const Option& row) {
  switch (row.kind) {
    case OptionKind::kBoolean:
      return json_object({{"type", "boolean"}});
    case OptionKind::kInteger:
      return number("integer", row.min, row.max);
    case OptionKind::kReal:
      return number("number", row.min, row.max);
    case OptionKind::kBytes: {
      Object schema = number_or_text("^[0-9.]+ *([kKmMgGtT][iI]?)?[bB]?$", row.min);
      schema["maximum"] = row.max;
      return schema;
    }
    case OptionKind::kUnsigned:  // a text where a reader of JSON or TOML would lose digits
      return number_or_text("^[0-9]+$", 0);
    case OptionKind::kText:
      return json_object({{"type", "string"}});
    case OptionKind::kChoice: {
      std::string words;
      for (const std::string& choice : row.choices)
        words += cat(words.empty() ? "" : "|", choice);
      const std::string more = row.max > 1 ? cat("(,(", words, "))?") : "";
      return text_like(cat("^(", words, ")", more, "$").c_str());
    }
    case OptionKind::kTexts:
      return list_of(json_object({{"type", "string"}}));
    case OptionKind::kIntegers:
      return list_of(number("integer", row.min, row.max));
  }
  return {};
}

Object schema_of(const Option& row) {
  Object schema = type_schema(row);
  schema["description"] = row.help;
  if (row.fallback.index() != 0) schema["default"] = to_json_value(row.fallback);
  return schema;
}

Object schema_of(const std::vector<Field>& fields);

Object type_schema(const Field& field) {
  switch (field.kind) {
    case FieldKind::kText:
      return json_object({{"type", "string"}});
    case FieldKind::kTexts:
      return json_object({{"type", Array{JsonValue("string"), JsonValue("array")}},
                          {"items", json_object({{"type", "string"}})}});
    case FieldKind::kChoice:
      return json_object({{"enum", Array(field.choices.begin(), field.choices.end())}});
    case FieldKind::kBoolean:
      return json_object({{"type", "boolean"}});
    case FieldKind::kWhole:
      return number("integer", field.min, field.max);
    case FieldKind::kReal:
      return number("number", field.min, field.max);
    case FieldKind::kPositive:
      return json_object({{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", field.max}});
    case FieldKind::kPrice:
      return text_like("^[0-9.]+ USD/M$");
    case FieldKind::kAmount:
      return text_like("^[0-9.]+ USD$");
    case FieldKind::kDuration:
      return number_or_text("^[0-9]{1,6}[smh]$", 0);
    case FieldKind::kModels:
      return list_of(json_object(
          {{"anyOf", Array{json_object({{"type", "string"}}), schema_of(model_fields().fields)}}}));
    case FieldKind::kWhen:
      return schema_of(when_fields().fields);
    case FieldKind::kAny:
      return {};
  }
  return {};
}

Object schema_of(const std::vector<Field>& fields) {
  Object properties;
  Array required;
  for (const Field& field : fields) {
    Object schema = type_schema(field);
    schema["description"] = field.help;
    properties[field.key] = std::move(schema);
    if (field.is_required) required.emplace_back(field.key);
  }
  Object schema = json_object(
      {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}});
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

JsonValue schema_of(const ConfigTable& table) {
  const Object one = schema_of(table.fields);
  switch (table.form) {
    case TableForm::kTable:
      return one;
    case TableForm::kList:
      return list_of(one);
    case TableForm::kEither:
      return json_object({{"anyOf", Array{one, list_of(one)}}});
    case TableForm::kNamed: {
      const JsonValue text = json_object({{"type", "string"}});
      return json_object(
          {{"type", "object"},
           {"additionalProperties", json_object({{"anyOf", Array{text, list_of(text), one}}})}});
    }
  }
  return nullptr;
}

void add(Object& tables, std::string_view key, Object schema) {
  const std::size_t dot = key.find('.');
  const std::string_view table = key.substr(0, dot);
  if (tables.find(table) == nullptr) {
    tables[table] = json_object(
        {{"type", "object"}, {"additionalProperties", false}, {"properties", Object()}});
  }
  Object& properties = *(*tables[table].object())["properties"].object();
  properties[key.substr(dot + 1)] = std::move(schema);
}

}  // namespace

JsonValue to_json_value(const OptionValue& value) {
  return std::visit(ValueMaker{}, value);
}

JsonValue config_schema() {
  Object tables;
  for (const Option& row : options())
    add(tables, row.key, schema_of(row));
  for (const auto& [key, meant] : kPresetKeys)
    add(tables, key, schema_of(*find_option(meant)));
  add(tables, kPresetDevice,
      json_object({{"type", "boolean"}, {"description", "false: device = \"cpu\""}}));
  for (const ConfigTable& table : config_tables())
    tables[table.name] = schema_of(table);
  return json_object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "wick's config.toml"},
                      {"type", "object"},
                      {"additionalProperties", false},
                      {"properties", std::move(tables)}});
}

}  // namespace wick
