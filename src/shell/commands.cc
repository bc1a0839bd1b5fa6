#include "shell/commands.h"

#include <algorithm>
#include <iterator>

#include "shell/name_index.h"

namespace wick::shell {

namespace {

constexpr Command kCommands[] = {
    {":", Commands::nothing},
    {"true", Commands::nothing},
    {"false", Commands::nothing},
    {"alias", Commands::alias},
    {"cd", Commands::cd},
    {"chdir", Commands::cd},
    {"pushd", Commands::cd},
    {"popd", Commands::cd},
    {"declare", Commands::declare},
    {"typeset", Commands::declare},
    {"local", Commands::declare},
    {"export", Commands::declare},
    {"readonly", Commands::declare},
    {"eval", Commands::eval},
    {"let", Commands::let},
    {"read", Commands::read},
    {"readarray", Commands::read},
    {"mapfile", Commands::read},
    {"getopts", Commands::read},
    {"set", Commands::set},
    {"shift", Commands::shift},
    {"source", Commands::source},
    {".", Commands::source},
    {"test", Commands::test},
    {"[", Commands::test},
    {"trap", Commands::trap},
    {"unset", Commands::unset},
    {"unalias", Commands::alias},
    {"command", Commands::command},
    {"builtin", Commands::command},
    {"base64", Commands::base64},
    {"base32", Commands::base64},
    {"cat", Commands::cat},
    {"echo", Commands::echo},
    {"printf", Commands::print_format},
    {"pwd", Commands::pwd},
    {"rev", Commands::rev},
    {"tac", Commands::rev},
    {"tee", Commands::tee},
    {"tr", Commands::tr},
    {"xxd", Commands::xxd},
    {"yes", Commands::yes},
    {"gunzip", Commands::unpack},
    {"gzip", Commands::unpack},
    {"zcat", Commands::unpack},
    {"bunzip2", Commands::unpack},
    {"bzip2", Commands::unpack},
    {"xz", Commands::unpack},
    {"unxz", Commands::unpack},
    {"lzma", Commands::unpack},
    {"unlzma", Commands::unpack},
    {"zstd", Commands::unpack},
    {"unzstd", Commands::unpack},
    {"lz4", Commands::unpack},
    {"pigz", Commands::unpack},
    {"compress", Commands::unpack},
    {"uncompress", Commands::unpack},
    {"openssl", Commands::unpack},
    {"uudecode", Commands::unpack},
    {"sh", Commands::shell},
    {"bash", Commands::shell},
    {"dash", Commands::shell},
    {"zsh", Commands::shell},
    {"ksh", Commands::shell},
    {"ash", Commands::shell},
    {"mksh", Commands::shell},
    {"rbash", Commands::shell},
    {"fish", Commands::shell},
    {"csh", Commands::shell},
    {"tcsh", Commands::shell},
    {"pwsh", Commands::shell},
    {"awk", Commands::awk},
    {"gawk", Commands::awk},
    {"mawk", Commands::awk},
    {"nawk", Commands::awk},
    {"original-awk", Commands::awk},
    {"sed", Commands::sed},
    {"gsed", Commands::sed},
    {"sudo", Commands::sudo},
    {"doas", Commands::sudo},
    {"pkexec", Commands::sudo},
    {"gksudo", Commands::sudo},
    {"run0", Commands::sudo},
    {"dzdo", Commands::sudo},
    {"su", Commands::su},
    {"env", Commands::env},
    {"xargs", Commands::xargs},
    {"ssh", Commands::ssh},
    {"docker", Commands::docker},
    {"podman", Commands::docker},
    {"watch", Commands::watch},
    {"busybox", Commands::command},
    {"toybox", Commands::command},
    {"dd", Commands::dd},
    {"find", Commands::find},
    {"gfind", Commands::find},
    {"git", Commands::git},
    {"tar", Commands::tar},
    {"bsdtar", Commands::tar},
    {"gtar", Commands::tar},
    {"make", Commands::make},
    {"gmake", Commands::make},
    {"bmake", Commands::make},
    {"curl", Commands::curl},
    {"wget", Commands::curl},
    {"nc", Commands::nc},
    {"getent", Commands::resolver},
    {"ss", Commands::resolver},
    {"arp", Commands::resolver},
    {"socat", Commands::socat},
    {"mount", Commands::mount},
    {"ncat", Commands::nc},
    {"netcat", Commands::nc},
    {"crontab", Commands::crontab},
    {"kill", Commands::kill},
    {"rsync", Commands::transfer},
    {"scp", Commands::transfer},
    {"aws", Commands::cloud},
    {"gcloud", Commands::cloud},
    {"az", Commands::cloud},
    {"ffmpeg", Commands::ffmpeg},
    {"cpio", Commands::cpio},
    {"zip", Commands::zip},
    {"ar", Commands::ar},
    {"pdftotext", Commands::pdftotext},
    {"zsh:setopt", Commands::zsh_options},
    {"zsh:unsetopt", Commands::zsh_options},
    {"zsh:integer", Commands::declare},
    {"zsh:float", Commands::declare},
    {"zsh:private", Commands::declare},
    {"zsh:-", Commands::command},
    {"fish:set", Commands::fish_set},
    {"fish:alias", Commands::fish_alias},
    {"fish:source", Commands::fish_source},
    {"fish:string", Commands::fish_string},
    {"fish:read", Commands::fish_read},
    {"fish:.", Commands::fish_source},
    {"fish:true", Commands::nothing},
    {"fish:false", Commands::nothing},
};

constexpr std::string_view kBuiltins[] = {
    "alias",   "bg",       "bind",     "break",   "builtin", "caller", "cd",        "command",
    "compgen", "complete", "continue", "declare", "dirs",    "disown", "echo",      "enable",
    "eval",    "exec",     "exit",     "export",  "false",   "fc",     "fg",        "getopts",
    "hash",    "help",     "history",  "jobs",    "kill",    "let",    "local",     "logout",
    "mapfile", "popd",     "printf",   "pushd",   "pwd",     "read",   "readarray", "readonly",
    "return",  "set",      "shift",    "shopt",   "source",  ".",      ":",         "[",
    "suspend", "test",     "times",    "trap",    "true",    "type",   "typeset",   "ulimit",
    "umask",   "unalias",  "unset",    "wait"};

constexpr auto kBuiltinSlots = [] {
  NameSlots<std::size(kBuiltins)> out{};
  for (std::size_t i = 0; i < std::size(kBuiltins); ++i)
    add_name(out, kBuiltins[i], i);
  return out;
}();

constexpr auto kCommandSlots = [] {
  NameSlots<std::size(kCommands)> out{};
  for (std::size_t i = 0; i < std::size(kCommands); ++i)
    add_name(out, kCommands[i].name, i);
  return out;
}();

}  // namespace

const Command* find_command(std::string_view name, const Row* row) noexcept {
  const std::size_t at = find_name(kCommandSlots, hash_of(name), std::size(kCommands),
                                   [&](std::size_t i) { return kCommands[i].name == name; });
  if (at < std::size(kCommands)) return &kCommands[at];
  if (row == nullptr) return nullptr;
  static constexpr Command kInterpreter{"", Commands::interpreter};
  static constexpr Command kProject{"", Commands::project};
  if (row->has_effect('C')) return &kInterpreter;
  if (row->effects().find("jE") != std::string_view::npos) return &kProject;
  return nullptr;
}

bool is_builtin(std::string_view name) noexcept {
  return find_name(kBuiltinSlots, hash_of(name), std::size(kBuiltins),
                   [&](std::size_t i) { return kBuiltins[i] == name; }) < std::size(kBuiltins);
}

}  // namespace wick::shell
