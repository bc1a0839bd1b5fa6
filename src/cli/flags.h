// The flags of a command. CLI11 does the work in flags.cc; its header is heavy, so commands see
// only this.
//
//   flags.text("-m,--model", model, "path or name");
//   flags.integer("-n,--max-tokens", max_tokens, {0, 1 << 24}, "0 = to the context's end");
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wick {

template <class T>
struct Range {
  T min, max;
};

// Names as CLI11 writes them: "-p,--prompt", a bare word for a positional argument. Bound variables
// must outlive parsing.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(&app) {}

  // The flags that are added next are listed under this title of the help; --help shows them only
  // if they are common, --help-all always.
  Flags group(std::string_view title, bool is_common = true) const;

  void toggle(const std::string& names, bool& value, const std::string& help);
  void toggle(const std::string& names, const std::string& help, std::function<void(bool)> set);
  void text(const std::string& names, std::string& value, const std::string& help);
  void required_text(const std::string& names, std::string& value, const std::string& help);
  void texts(const std::string& names, std::vector<std::string>& values, const std::string& help);
  void integer(const std::string& names, int& value, Range<int> range, const std::string& help);
  void integers(const std::string& names, std::vector<int>& values, Range<int> range,
                const std::string& help);  // 1,2,3

  // A value that is checked elsewhere; help shows `type` after the names. A list may be repeated.
  void setting(const std::string& names, const std::string& type, bool is_list,
               const std::string& help, std::function<void(const std::string&)> set);

  void remark(const std::string& text);                      // the end of --help
  void exclude(const std::string& a, const std::string& b);  // not both
  bool is_given(const std::string& name) const;              // after the parsing: "--prompt"
  bool has(const std::string& name) const;                   // whether it was added

  // A command below this one; `run` is what this command's action then does.
  Flags command(const std::string& name, const std::string& help, std::function<void()> chosen);
  void require_command();

 private:
  CLI::Option& added(CLI::Option* option) const;

  CLI::App* app_;
  std::string group_ = {};  // empty = CLI11's own, "Options"
};

// Appended to the title of a group of flags that are not common.
inline constexpr char kRareMark = '*';

// Marks words in brackets, `words` being the program's arguments, so that texts() as a positional
// argument gets them whole. To be called before `app` parses them.
void mark_brackets(const CLI::App& app, std::vector<std::string>& words);

}  // namespace wick
