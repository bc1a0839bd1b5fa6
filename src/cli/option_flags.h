// The flags of a command that are rows of the table of settings (config/options.h), resolved
// together with environment and files. A command registers the keys it reads and asks for all of
// them at once when it runs; a bad value anywhere ends it there.
//
//   o->settings.add(flags, {"local.threads", "cache.kv_type"});
//   WICK_TRY(const Config config, o->settings.resolve());
#pragma once

#include <initializer_list>
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
  void add_model(Flags& flags, bool is_positional);  // MODEL or -m/--model, and --offline
  // All rows of these tables ("generation.") but the model, which add_model() has.
  void add_tables(Flags& flags, std::initializer_list<std::string_view> tables);
  void add_all(Flags& flags);
  void add_file(Flags& flags);  // --config alone, which all of these bring

  Result<Config> resolve() const;  // after the parsing

 private:
  void add(Flags& flags, const Option& row, const std::string& names, const std::string& help);

  std::vector<std::pair<const Option*, std::string>> given_;
  std::string file_;
  bool has_file_flag_ = false;
};

}  // namespace wick
