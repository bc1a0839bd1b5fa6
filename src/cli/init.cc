// wick init: the script of a widget for bash, zsh or fish. It starts no process until the key is
// pressed, and never runs the command that it puts into the line.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "assist/history.h"
#include "assist/quote.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "cli/init_scripts.h"
#include "cli/option_flags.h"
#include "cli/out.h"

namespace wick {

namespace {

struct InitOptions {
  OptionFlags settings = {};
  std::string shell = {};
};

Error bad_key(std::string_view key) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_key",
          .message = cat("shell.key is '", printable(key), "'"),
          .hint = "alt-LETTER or ctrl-LETTER, such as alt-w"};
}

struct Key {
  bool is_alt = true;
  char letter = 'w';
};

// Ctrl-C, D, J, M and Z have a meaning that no widget may take.
Result<Key> read_key(const std::string& text) {
  Key key;
  std::string_view rest = text;
  if (rest.starts_with("ctrl-")) {
    key.is_alt = false;
    rest.remove_prefix(5);
  } else if (rest.starts_with("alt-")) {
    rest.remove_prefix(4);
  } else {
    return bad_key(text);
  }
  if (rest.size() != 1 || rest[0] < 'a' || rest[0] > 'z') return bad_key(text);
  key.letter = rest[0];
  if (!key.is_alt && std::string_view("cdijmqsz").find(key.letter) != std::string_view::npos)
    return bad_key(text);
  return key;
}

std::string spelled(Key key, std::string_view shell) {
  if (shell == "bash") return cat(key.is_alt ? "\\e" : "\\C-", key.letter);
  if (shell == "zsh") return cat(key.is_alt ? "^[" : "^", key.letter);
  return cat(key.is_alt ? "\\e" : "\\c", key.letter);
}

// Nobody else can put a file or a link there.
bool is_private(const std::filesystem::path& folder) {
  struct stat status = {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Where the script writes the list of bound keys and reads it back; "" if there is no such folder.
std::string file_of_keys() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && is_private(runtime))
    return cat(runtime, "/wick-keys");
  const std::filesystem::path folder = assist::history_path().parent_path();
  if (folder.empty()) return "";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  return !failed && is_private(folder) ? (folder / "keys").string() : "";
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

Result<int> run_init(const InitOptions& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const Key key, read_key(config.text("shell.key")));
  const char* const script = o.shell == "bash"   ? kBashWidget
                             : o.shell == "zsh"  ? kZshWidget
                             : o.shell == "fish" ? kFishWidget
                                                 : nullptr;
  if (script == nullptr) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "unknown_shell",
                 .message = cat("there is no widget for the shell '", printable(o.shell), "'"),
                 .hint = "wick init bash, zsh or fish"};
  }
  std::string text = script;
  replace_all(text, "@KEY@", spelled(key, o.shell));
  if (text.find("@FILE@") != std::string::npos)
    replace_all(text, "@FILE@", assist::quote_word(file_of_keys(), shell::Dialect::kBash));
  print_text(text);
  return kExitOk;
}

}  // namespace

Action setup_init(Flags flags) {
  const auto o = std::make_shared<InitOptions>();
  flags.required_text("SHELL", o->shell, "bash, zsh or fish");
  o->settings.add(flags, {"shell.key"});
  flags.remark(
      "bash: wick init bash >~/.wick.bash && echo '. ~/.wick.bash' >>~/.bashrc; zsh: wick init zsh "
      ">~/.wick.zsh && echo '. ~/.wick.zsh' >>~/.zshrc; fish: wick init fish "
      ">~/.config/fish/conf.d/wick.fish");
  return [o] { return run_init(*o); };
}

}  // namespace wick
