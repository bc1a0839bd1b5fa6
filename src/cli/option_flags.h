// The flags of a command that are rows of the table of settings (config/options.h), resolved
// together with environment and files. A command registers the keys it reads and asks for all of
// them at once when it runs; a bad value anywhere ends it there.
//
//   o->settings.add(flags, {"local.threads", "cache.kv_type"});
//   WICK_TRY(const Config config, o->settings.resolve());
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "config/config.h"

namespace wick {

class OptionFlags {
 public:
  OptionFlags() = default;
  OptionFlags(const OptionFlags&) = delete;  // what is parsed is written here
  OptionFlags& operator=(const OptionFlags&) = delete;

  void add(Flags& flags, std::initializer_list<std::string_view> keys);
  void add_port(Flags& flags);                       // of a server that runs already
  // -m/--model and --offline; `is_positional`: MODEL is an argument, too.
  void add_model(Flags& flags, bool is_positional);
  // All rows of these tables ("generation.") but the model, which add_model() has.
  void add_tables(Flags& flags, std::initializer_list<std::string_view> tables);
  void add_all(Flags& flags);
  void add_file(Flags& flags);  // --config alone, which all of these bring

  // After the parsing.
  Result<Config> resolve() const;
  std::vector<std::filesystem::path> files() const;  // that resolve() looks for
  // After the parsing: MODEL, if --model names the model. Then it is another argument: of
  // `wick run PROMPT -m MODEL` the prompt. It is taken once.
  std::optional<std::string> take_argument();
  // The error of a model that is not there. MODEL may have been meant as a prompt.
  Error with_prompt_hint(Error error, std::string_view command) const;

 private:
  void add(Flags& flags, const Option& row, const std::string& names, const std::string& help);

  bool is_model_named() const;  // by --model

  std::vector<std::pair<const Option*, std::string>> given_;
  std::optional<std::string> model_;  // MODEL
  std::string file_;
};

// The error of an argument behind the ones that a command takes, where --model names the model.
Error argument_too_many(std::string_view text, std::string hint);

}  // namespace wick
