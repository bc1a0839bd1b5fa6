// What a shell command would do, and how risky that is. The command is parsed and interpreted
// abstractly: the value of a word is a set of possible strings, and each simple command yields a
// set of effects. The level is the maximum over the effects, so adding a part never lowers it.
// kSafe is a proof under the assumptions of docs/shell.md; anything unknown is at least kHigh.
// Pure: reads no file, clock or environment. Any thread.
//
//   const Verdict v =
//       judge("cd / && rm -rf *", Dialect::kBash, Mode::kScript, {.cwd = "/home/u/p"});
//   v.level;            // kCritical
//   v.effects[0].span;  // bytes 8 to 16: `rm -rf *`
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/parse.h"

namespace wick::shell {

enum class Level : std::uint8_t { kSafe, kModerate, kHigh, kCritical };

enum class EffectKind : std::uint8_t {
  kReadsNames,  // file system: the level depends on the scope
  kReadsContent,
  kReadsCredentials,
  kCreates,
  kOverwrites,
  kDeletes,
  kDestroys,
  kChangesMode,
  kNetwork,       // fetches or asks
  kSends,         // a named file or plain data
  kSendsUnknown,  // unknown data or a whole tree
  kSendsCredentials,
  kListens,
  kSocketShell,
  kPrivilege,  // sudo and the like
  kGrantsPrivilege,
  kTrustRoot,
  kPersistence,
  kProjectCode,  // make, npm run, cargo
  kFetchedCode,
  kDecodedCode,
  kProcess,  // one
  kProcessByName,
  kProcessAll,
  kPower,  // power, clock, kernel
  kKernelTrigger,
  kForkBomb,
  kFloods,
  kGitLocal,
  kGitLost,
  kGitPublish,
  kGitPublished,
  kPackagesProject,
  kPackagesSystem,
  kServiceUser,
  kServiceSystem,
  kFirewall,
  kDataStore,
  kTampering,
  kShellState,  // variables, cwd
  kShellHooks,  // PATH, aliases, functions, options
  kUnknown,     // command, option, word or code that is not known
};

enum class Scope : std::uint8_t {
  kNone,
  kNamed,
  kPattern,
  kCwdAll,
  kOutside,
  kUnknown,
  kSystem,
  kTree,
  kDevice
};

struct Effect {
  EffectKind kind = EffectKind::kUnknown;
  Scope scope = Scope::kNone;
  bool is_lifted = false;  // done with root's or another user's rights
  std::string target = {};
  Span span = {};
  std::string why = {};  // one sentence
};

enum class Platform : std::uint8_t { kGnuLinux, kMacOs, kBusyBox, kUnknown };

// What the verdict may take for granted. An empty cwd or home is not known.
struct Profile {
  std::string cwd = {};
  std::string home = {};
  Platform platform = Platform::kGnuLinux;
  bool is_root = false;
};

// A simple command as it is run, behind expansions, wrappers and functions. A word that is not
// exactly known is empty, and may stand for several.
struct Call {
  List<std::optional<std::string>> argv = {};  // the name without a system directory
  Span span = {};

  bool operator==(const Call& other) const { return argv == other.argv; }
};

struct Verdict {
  Level level = Level::kSafe;
  std::vector<Effect> effects = {};  // in the order of discovery, equal ones once
  std::string suggestion = {};       // a safer form, empty if none is known
  std::optional<SyntaxError> error = {};
  std::vector<Call> calls =
      {};  // all, for rules on argv; a command that runs twice may stand twice
};

Verdict check(const Script& script, const Profile& profile);

// parse() and check(); a text that does not parse is kHigh with its error.
Verdict judge(std::string_view text, Dialect dialect, Mode mode, const Profile& profile);

Level level_of(const Effect& effect) noexcept;
std::string_view name(Level level) noexcept;      // "safe"
std::string_view name(EffectKind kind) noexcept;  // "reads_names"
std::string_view name(Scope scope) noexcept;      // "cwd_all"
std::string_view name(Dialect dialect) noexcept;  // "sh", "bash" …

// "bash" → kBash, "sh" and "dash" → kPosix, "zsh", "fish", "pwsh"; nullopt for what is not known.
std::optional<Dialect> dialect_named(std::string_view name) noexcept;

}  // namespace wick::shell
