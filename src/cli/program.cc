#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/strings.h"
#include "cli/aliases.h"
#include "cli/cli.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/signals.h"

namespace wick {

std::span<const Command> commands() noexcept {
  static constexpr std::array kCommands = {
      Command{"chat", "talk with a model", setup_chat},
      Command{"run", "complete a text (--prompt), or answer a question (PROMPT)", setup_run},
      Command{"serve", "run the HTTP server: OpenAI, Anthropic and Ollama APIs", setup_serve},
      Command{"ps", "list the models that a running wick serve has loaded", setup_ps},
      Command{"stop", "unload a model of a running wick serve", setup_stop},
      Command{"model", "list, pull, inspect, verify and remove models", setup_model},
      Command{"tokenize", "convert text to token ids", setup_tokenize},
      Command{"embed", "convert texts to vectors (embeddings)", setup_embed},
      Command{"template", "render a model's chat template", setup_template},
      Command{"logits", "write the logits of given tokens as .npy", setup_logits},
      Command{"estimate", "estimate the memory of a model", setup_estimate},
      Command{"bench", "measure tokens per second", setup_bench},
      Command{"ask", "propose a shell command for a sentence; run it when confirmed", setup_ask},
      Command{"check",
              "rate a shell command: exit status 0 safe, 10 moderate, 11 high, 12 critical",
              setup_check},
      Command{"explain", "list the effects of a shell command", setup_explain},
      Command{"init", "print the script of a shell widget", setup_init},
      Command{"history", "list commands that wick ask proposed and ran", setup_history},
      Command{"trash", "move files to the trash, list it, restore", setup_trash},
      Command{"grammar", "test texts against a JSON schema, regex or grammar", setup_grammar},
      Command{"key", "create, list and revoke API keys of wick serve", setup_key},
      Command{"route", "show which provider would answer a request, and why", setup_route},
      Command{"usage", "show the cost of requests to providers", setup_usage},
      Command{"config", "show settings and the origin of each value", setup_config},
      Command{"doctor", "show devices, ISA, memory and paths; exit status 2 if something fails",
              setup_doctor},
  };
  return kCommands;
}

namespace {

bool wants_json(int argc, const char* const* argv) {
  bool is_ask = false;  // whose --output is a format
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json" || (is_ask && word == "--output=json")) return true;
    if (is_ask && word == "--output" && i + 1 < argc && std::string_view(argv[i + 1]) == "json")
      return true;
    if (word == "--") return false;
    is_ask = is_ask || word == "ask";
  }
  return false;
}

// Help without CLI11's marks: of a negated flag (--kv-reuse,--no-kv-reuse{false}), the type of a
// positional argument (MODEL TEXT), `=default`, `REQUIRED` and `Excludes: --flag`.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    shows_all_ = mode == CLI::AppFormatMode::All;
    return cat(make_description(app), make_usage(app, std::move(name)), make_positionals(app),
               groups(app), make_subcommands(app, CLI::AppFormatMode::Normal), "\n",
               make_footer(app));
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    constexpr std::string_view kMark = "{false}";
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    for (std::size_t at = 0; (at = name.find(kMark)) != std::string::npos;)
      name.erase(at, kMark.size());
    return shows_all_ ? name : without_aliases(name);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    is_positional_ = is_positional;
    return CLI::Formatter::make_option(option, is_positional);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const bool has_value = !is_positional_ && option->get_type_size() != 0;
    return has_value ? cat(" ", option->get_type_name()) : "";
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string out = option->get_description();
    if (!shows_all_) out = without_range(out);
    const std::string value = option->get_default_str();
    if (!value.empty()) out += cat(" (default ", value, ")");
    if (option->get_required() && !is_positional_) out += " (required)";
    for (const CLI::Option* const other : option->get_excludes())
      out += cat("; not with ", other->get_name());
    return out;
  }

  // Without those that have no help: MODEL is also -m.
  std::string make_positionals(const CLI::App* app) const override {
    const auto options = app->get_options([](const CLI::Option* option) {
      return option->get_positional() && !option->get_description().empty();
    });
    return options.empty() ? "" : make_group("Arguments", true, options);
  }

 private:
  // Groups in a fixed order; rare flags in --help-all only.
  std::string groups(const CLI::App* app) const {
    std::string out;
    for (const char* const title : {"Options", "Model", "Sampling", "Structured output", "Output",
                                    "Memory", "Speed", "Shell", "Server"}) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        std::string group = option->get_group();
        const bool is_rare = !group.empty() && group.back() == kRareMark;
        if (is_rare) group.pop_back();
        return group == title && option->nonpositional() && (!is_rare || shows_all_);
      });
      if (!options.empty()) out += make_group(title, false, options);
    }
    return out;
  }

  // "top-k (0 to 100; default 40)" as "top-k (default 40)": --help-all has the ranges.
  static std::string without_range(const std::string& text) {
    const std::size_t open = text.rfind(" ("), to = text.find(" to ", open);
    const std::size_t fallback = text.find("default ", open);
    if (open == std::string::npos || to == std::string::npos || text.back() != ')') return text;
    return fallback == std::string::npos ? text.substr(0, open)
                                         : cat(text.substr(0, open), " (", text.substr(fallback));
  }

  // Of several long names the first is shown, and its negation.
  static std::string without_aliases(std::string_view names) {
    std::string shown;
    bool has_long = false;
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find(','));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      const bool is_long = name.starts_with("--");
      if (is_long && has_long && !name.substr(2).starts_with("no-")) continue;
      has_long = has_long || is_long;
      shown += cat(shown.empty() ? "" : ",", name);
    }
    return shown;
  }

  // Arguments of make_help() and make_option(), which CLI11 does not pass on.
  mutable bool shows_all_ = false, is_positional_ = false;
};

// Suggestions for an unknown word: the nearest commands or long flags of `app`.
std::string nearest_of(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  if (!word.starts_with("-")) {
    for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(command->get_name());
    return nearest_names(word, names);
  }
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back(name);
  }
  const std::string near = nearest_names(word.substr(std::min<std::size_t>(2, word.size())), names);
  std::string flags;
  for (std::size_t at = 0; at < near.size();) {
    const std::size_t end = std::min(near.find(", ", at), near.size());
    flags += cat(flags.empty() ? "--" : ", --", near.substr(at, end - at));
    at = end + 2;
  }
  return flags;
}

// A flag of one letter may be followed by its value: -n8.
bool is_unknown_flag(const CLI::App& app, const std::string& flag) {
  if (flag.size() < 2 || flag[0] != '-' || flag == "--" || (flag[1] >= '0' && flag[1] <= '9'))
    return false;
  return app.get_option_no_throw(flag[1] == '-' ? flag : flag.substr(0, 2)) == nullptr;
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error,
                  std::span<const std::string> words) {
  const CLI::App* chosen = &app;
  std::string where = "wick", message = error.what(), near;
  if (message == "A subcommand is required") message = "a command is missing";
  if (const std::size_t at = message.find(": At Most 1 required"); at != std::string::npos)
    message = cat(message.substr(0, at), " is given more than once");
  if (words.size() < 2 || words[1].starts_with("-")) {
    message = words.size() < 2 ? "a command is missing"
                               : cat("a command is missing before ", printable(words[1]));
    near = "wick run (an answer), wick chat (a conversation)";
    words = {};
  }
  for (std::size_t i = 1; i < words.size() && near.empty(); ++i) {
    const std::string& word = words[i];
    const std::string flag = word.substr(0, word.find('='));
    const auto found =
        chosen->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (!found.empty()) {
      chosen = found.front();
      where += cat(" ", word);
    } else if (is_unknown_flag(*chosen, flag)) {
      message = cat(where, " has no flag ", printable(flag));
      near = nearest_of(*chosen, flag);
      break;
    } else if (!word.starts_with("-") && chosen->get_require_subcommand_min() > 0) {
      message = cat("there is no command '", printable(word), "'");
      near = nearest_of(*chosen, word);
      break;
    }
  }
  const std::string help = cat(where, " --help");
  if (near.empty() && (where == "wick check" || where == "wick explain")) {
    return {.code = ErrorCode::kInvalid,
            .id = "usage",
            .message = std::move(message),
            .hint = cat("the command is one argument, in quotes: ", where, " 'rm -rf x'")};
  }
  return {.code = ErrorCode::kInvalid,
          .id = "usage",
          .message = std::move(message),
          .hint = near.empty() ? help : cat("did you mean: ", near, "? See ", help)};
}

Result<int> dispatch(int argc, const char* const* argv) {
  CLI::App app("Run language models on your own machine.", "wick");
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(24);
  app.formatter(formatter);
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("-v,--version", "wick " WICK_VERSION, "print the version");
  CLI::Option* const help_all = app.set_help_all_flag("--help-all", "print all flags");
  WICK_TRY(const OwnWords own, own_words(std::vector<std::string>(argv, argv + argc)));
  std::vector<std::string> words = own.words;
  if (words.size() == 2 && (words[1] == "--version" || words[1] == "-v")) {  // without all flags
    print({"wick " WICK_VERSION "\n"});
    return 0;
  }
  const auto is_asked = [&](const Command& c) { return words.size() > 1 && c.name == words[1]; };
  const bool is_known = std::any_of(commands().begin(), commands().end(), is_asked);
  Action action;
  for (const Command& command : commands()) {
    if (is_known && !is_asked(command)) continue;  // it would cost time at each start
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    const Action run = command.setup(Flags(*sub));
    sub->final_callback([&action, run] { action = run; });
  }
  help_all->description("print all flags (after a command)");
  app.footer("Start with: wick chat");  // after the commands, which would inherit it
  for (const std::string& line : own.notes)
    note({"note: ", printable(line), "\n"});
  mark_brackets(app, words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    const int status = app.exit(success, text, text);
    print({printable_lines(text.str())});
    return status;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, own.words);
  }
  return action();
}

// The exit status, after the error has been reported. Failed output is an error if the command had
// none; an error whose JSON cannot be written to stdout goes to stderr.
int end(const Result<int>& status, bool as_json) {
  if (!status) report(status.error(), as_json);
  const auto written = end_output();
  if (status && written) return *status;
  if (!written && (status || as_json)) report(status ? written.error() : status.error(), false);
  return exit_code(status ? written.error() : status.error());
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const bool as_json = wants_json(argc, argv);
  set_up_output();
  set_up_signals(as_json);
  try {  // catches what libraries and bad_alloc throw
    return end(dispatch(argc, argv), as_json);
  } catch (const std::exception& error) {
    return end(Error{.code = ErrorCode::kNoMemory, .id = "internal", .message = error.what()},
               as_json);
  }
}

}  // namespace wick
