#include "cli/option_flags.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace wick {

namespace {

// The type that help shows after the flag.
std::string type_of(const Option& row) {
  switch (row.kind) {
    case OptionKind::kInteger:
    case OptionKind::kUnsigned:
      return "N";
    case OptionKind::kReal:
      return "X";
    case OptionKind::kBytes:
      return "BYTES";
    case OptionKind::kIntegers:
      return "N,N,...";
    default:
      return "TEXT";
  }
}

// "threads; 0 = what this process may use (0 to 1024; 0)".
std::string help_of(const Option& row) {
  const auto* const text = std::get_if<std::string>(&row.fallback);
  const std::string fallback = text != nullptr ? *text : to_toml(row.fallback);
  std::string range;
  if (row.kind == OptionKind::kInteger || row.kind == OptionKind::kReal) {
    range = cat(row.min, " to ", row.max);
  } else if (row.kind == OptionKind::kChoice) {
    range = allowed(row);
  }
  if ((fallback.empty() && range.empty()) || fallback == "false") return row.help;
  const char* const between = fallback.empty() || range.empty() ? "" : "; default ";
  return cat(row.help, " (", range, range.empty() ? "default " : between, fallback, ")");
}

}  // namespace

void OptionFlags::add_file(Flags& flags) {
  if (flags.has("--config")) return;
  flags.group("Model", false)
      .text("--config", file_, "config file, instead of those of wick config path");
}

void OptionFlags::add(Flags& flags, const Option& row, const std::string& names,
                      const std::string& help) {
  add_file(flags);
  Flags group = flags.group(row.group, row.is_common);
  const auto set = [this, &row](const std::string& text) { given_.emplace_back(&row, text); };
  if (row.kind == OptionKind::kBoolean) {
    group.toggle(names, help, [set](bool is_on) { set(is_on ? "true" : "false"); });
    return;
  }
  group.setting(names, type_of(row), row.kind == OptionKind::kTexts, help, set);
}

void OptionFlags::add(Flags& flags, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const Option* const row = find_option(key);
    WICK_CHECK(row != nullptr, "the key is in the table of settings");
    add(flags, *row, row->flags, help_of(*row));
  }
}

void OptionFlags::add_port(Flags& flags) {
  const Option& row = *find_option("server.port");
  add(flags, row, row.flags, cat("port of the server (default ", to_toml(row.fallback), ")"));
}

void OptionFlags::add_model(Flags& flags, bool is_positional) {
  const Option& row = *find_option("local.model_path");
  if (is_positional) {
    flags.setting("MODEL", "TEXT", false, "",
                  [this](const std::string& text) { model_ = text; });
  }
  add(flags, row, row.flags, help_of(row));
  add(flags, {"hub.offline"});
}

void OptionFlags::add_tables(Flags& flags, std::initializer_list<std::string_view> tables) {
  for (const Option& row : options()) {
    const auto is_in = [&](std::string_view table) { return row.key.starts_with(table); };
    if (row.key != "local.model_path" && std::any_of(tables.begin(), tables.end(), is_in))
      add(flags, row, row.flags, help_of(row));
  }
}

void OptionFlags::add_all(Flags& flags) {
  for (const Option& row : options())
    add(flags, row, row.flags, help_of(row));
}

bool OptionFlags::is_model_named() const {
  return std::any_of(given_.begin(), given_.end(),
                     [](const auto& one) { return one.first->key == "local.model_path"; });
}

std::optional<std::string> OptionFlags::take_argument() {
  return is_model_named() ? std::exchange(model_, std::nullopt) : std::nullopt;
}

Error argument_too_many(std::string_view text, std::string hint) {
  return {.code = ErrorCode::kInvalid,
          .id = "usage",
          .message = cat("--model names the model, so '", printable(text, 80),
                         "' is an argument too many"),
          .hint = std::move(hint)};
}

Error OptionFlags::with_prompt_hint(Error error, std::string_view command) const {
  if (!model_ || error.code != ErrorCode::kNotFound) return error;
  if (model_->find(' ') == std::string::npos) {
    error.hint += cat(error.hint.empty() ? "" : "; ", "a prompt is the value of -p");
  } else {
    error.hint = cat("a prompt is the value of -p: wick ", command, " -p \"Why is the sky blue?\"");
  }
  return error;
}

std::vector<std::filesystem::path> OptionFlags::files() const {
  return file_.empty() ? config_files() : std::vector<std::filesystem::path>{file_};
}

Result<Config> OptionFlags::resolve() const {
  WICK_TRY(Config config, Config::load({.file = file_}));
  if (model_ && is_model_named()) return argument_too_many(*model_, "leave one of them out");
  if (model_) WICK_DO(config.set_flag(*find_option("local.model_path"), *model_));
  for (const auto& [row, text] : given_)
    WICK_DO(config.set_flag(*row, text));
  return config;
}

}  // namespace wick
