// wick config: settings and where each value comes from, the config files, and the table of
// settings as JSON schema and Markdown.
#include <memory>

#include "base/strings.h"
#include "cli/option_flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "config/routing.h"
#include "config/schema.h"
#include "config/table_text.h"

namespace wick {

namespace {

constexpr std::size_t kMaxShown = 4096;  // bytes of a path

struct ConfigFlags {
  OptionFlags settings = {};
  bool shows_origin = false, is_json = false;
  Result<int> (*run)(const ConfigFlags&) = nullptr;
};

// "config.toml:2" of "config.toml:2:1".
std::string origin_of(const std::string& place) {
  return place.substr(0, place.rfind(':'));
}

void show_line(const ConfigFlags& o, const Printable& line, const std::string& origin) {
  if (o.shows_origin && !origin.empty()) {
    print({padded(line, 40), "# ", printable(origin, kMaxShown), "\n"});
  } else {
    print({line, "\n"});
  }
}

void show_tables(const ConfigFlags& o, const TomlTables& tables) {
  for (const TableLine& line : table_lines(tables))
    show_line(o, printable_lines(line.text), origin_of(line.place));
}

// As TOML, so that the output can be used as a file.
Result<int> show(const ConfigFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_DO(routing_settings(config.tables()));
  Object all;
  for (const Option& row : options()) {
    const OptionValue& value = config.value(row.key);
    const std::string& origin = config.origin(row.key);
    if (o.is_json) {
      all[row.key] = o.shows_origin
                         ? json_object({{"value", to_json_value(value)}, {"origin", origin}})
                         : to_json_value(value);
      continue;
    }
    const std::string text = to_toml(value);
    const Printable key = printable(row.key);
    const Printable line = text.empty() ? joined({"# ", key, " is not set"})
                                        : joined({key, " = ", printable_lines(text)});
    show_line(o, line, origin);
  }
  if (!o.is_json) {
    show_tables(o, config.tables());
    return kExitOk;
  }
  for (const auto& [name, table] : config.tables().values) {
    JsonValue shown = without_passwords(table);
    const std::string origin = origin_of(place_of(config.tables().places, name));
    all[name] = o.shows_origin
                    ? JsonValue(json_object({{"value", std::move(shown)}, {"origin", origin}}))
                    : std::move(shown);
  }
  print_json(std::move(all));
  return kExitOk;
}

Result<int> path(const ConfigFlags& o) {
  Array files;
  for (const std::filesystem::path& file : o.settings.files()) {
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

Result<int> schema(const ConfigFlags& /*o*/) {
  print_json(config_schema());
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
  o->settings.add_file(where);
  add("schema", "print a JSON schema of the config file", schema);
  add("table", "print the table of settings in Markdown", table);
  return [o] { return o->run(*o); };
}

}  // namespace wick
