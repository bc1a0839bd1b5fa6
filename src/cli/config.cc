// wick config: settings and where each value comes from, the config files, and the table of
// settings as JSON schema and Markdown.
#include <memory>

#include "base/strings.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/option_flags.h"

namespace wick {

namespace {

constexpr std::size_t kMaxShown = 4096;  // bytes of a path

struct ConfigFlags {
  OptionFlags settings = {};
  bool shows_origin = false, is_json = false;
  Result<int> (*run)(const ConfigFlags&) = nullptr;
};

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

JsonValue to_value(const OptionValue& value) {
  return std::visit(ValueMaker{}, value);
}

// As TOML, so that the output can be used as a file.
Result<int> show(const ConfigFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  Object all;
  for (const Option& row : options()) {
    const OptionValue& value = config.value(row.key);
    const std::string& origin = config.origin(row.key);
    if (o.is_json) {
      all[row.key] = o.shows_origin ? json_object({{"value", to_value(value)}, {"origin", origin}})
                                    : to_value(value);
      continue;
    }
    const std::string text = to_toml(value);
    const Printable key = printable(row.key);
    const Printable line = text.empty() ? joined({"# ", key, " is not set"})
                                        : joined({key, " = ", printable_lines(text)});
    if (o.shows_origin) {
      print({padded(line, 40), "# ", printable(origin, kMaxShown), "\n"});
    } else {
      print({line, "\n"});
    }
  }
  if (o.is_json) print_json(std::move(all));
  return kExitOk;
}

Result<int> path(const ConfigFlags& o) {
  Array files;
  for (const std::filesystem::path& file : config_files()) {
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(file, ignored);
    if (o.is_json) {
      files.push_back(json_object({{"path", file.string()}, {"is_there", is_there}}));
    } else {
      print({printable(file.string(), kMaxShown), is_there ? Shown("") : Shown("\t(not there)"),
             "\n"});
    }
  }
  if (o.is_json) print_json(json_object({{"files", std::move(files)}}));
  return kExitOk;
}

// JSON Schema 2020-12 of one setting.
JsonValue schema_of(const Option& row) {
  const auto list_of = [&](JsonValue item) {
    return json_object({{"type", "array"}, {"items", std::move(item)}});
  };
  const auto number = [&](const char* type) {
    return json_object({{"type", type}, {"minimum", row.min}, {"maximum", row.max}});
  };
  Object schema;
  switch (row.kind) {
    case OptionKind::kBoolean:
      schema = json_object({{"type", "boolean"}});
      break;
    case OptionKind::kInteger:
      schema = number("integer");
      break;
    case OptionKind::kReal:
      schema = number("number");
      break;
    case OptionKind::kBytes:
      schema = json_object({{"type", Array{JsonValue("integer"), JsonValue("string")}},
                            {"minimum", row.min},
                            {"maximum", row.max},
                            {"pattern", "^[0-9.]+ *([kKmMgGtT][iI]?)?[bB]?$"}});
      break;
    case OptionKind::kUnsigned:  // a text where a reader of JSON or TOML would lose digits
      schema = json_object({{"type", Array{JsonValue("integer"), JsonValue("string")}},
                            {"minimum", 0},
                            {"pattern", "^[0-9]+$"}});
      break;
    case OptionKind::kText:
      schema = json_object({{"type", "string"}});
      break;
    case OptionKind::kChoice: {
      std::string words;
      for (const std::string& choice : row.choices)
        words += cat(words.empty() ? "" : "|", choice);
      const std::string more = row.max > 1 ? cat("(,(", words, "))?") : "";
      schema = json_object({{"type", "string"}, {"pattern", cat("^(", words, ")", more, "$")}});
      break;
    }
    case OptionKind::kTexts:
      schema = list_of(json_object({{"type", "string"}}));
      break;
    case OptionKind::kIntegers:
      schema = list_of(number("integer"));
      break;
  }
  schema["description"] = row.help;
  if (row.fallback.index() != 0) schema["default"] = to_value(row.fallback);
  return schema;
}

Result<int> schema(const ConfigFlags& /*o*/) {
  Object tables;
  for (const Option& row : options()) {
    const std::size_t dot = row.key.find('.');
    const std::string table = row.key.substr(0, dot);
    if (tables.find(table) == nullptr) {
      tables[table] = json_object(
          {{"type", "object"}, {"additionalProperties", false}, {"properties", Object()}});
    }
    Object& properties = *(*tables[table].object())["properties"].object();
    properties[row.key.substr(dot + 1)] = schema_of(row);
  }
  print_json(json_object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                          {"title", "wick's config.toml"},
                          {"type", "object"},
                          {"additionalProperties", false},
                          {"properties", std::move(tables)}}));
  return kExitOk;
}

// The rows of docs/config.md.
Result<int> table(const ConfigFlags& /*o*/) {
  print(
      {"| key | default | allowed | flag | environment | what it does |\n"
       "|---|---|---|---|---|---|\n"});
  for (const Option& row : options()) {
    std::string variables, flags;
    for (const std::string& name : row.environment)
      variables += cat(variables.empty() ? "`" : " `", name, "`");
    for (const char c : row.flags) {
      if (c != '!') flags += c == ',' ? ' ' : c;
    }
    const std::string fallback = to_toml(row.fallback);
    print({printable_lines(cat("| `", row.key, "` | ",
                               fallback.empty() ? "" : cat("`", fallback, "`"), " | ", allowed(row),
                               " | `", flags, "` | ", variables, " | ", row.help, " |")),
           "\n"});
  }
  return kExitOk;
}

}  // namespace

Action setup_config(Flags flags) {
  const auto o = std::make_shared<ConfigFlags>();
  flags.require_command();
  const auto add = [&](const char* name, const char* help, Result<int> (*run)(const ConfigFlags&)) {
    return flags.command(name, help, [o, run] { o->run = run; });
  };
  Flags shown = add("show", "print all settings as TOML", show);
  shown.toggle("--origin", o->shows_origin, "also show the origin of each value");
  shown.toggle("--json", o->is_json, "one JSON object");
  o->settings.add_all(shown);
  Flags where = add("path", "print the paths of the config files, lowest precedence first", path);
  where.toggle("--json", o->is_json, "one JSON object");
  add("schema", "print a JSON schema of the config file", schema);
  add("table", "print the table of settings in Markdown", table);
  return [o] { return o->run(*o); };
}

}  // namespace wick
