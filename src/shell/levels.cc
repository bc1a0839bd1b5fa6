// Effect and scope to level (docs/shell.md, Levels); names for JSON and people.
#include <array>

#include "shell/verdict.h"

namespace wick::shell {

namespace {

constexpr Level S = Level::kSafe;
constexpr Level M = Level::kModerate;
constexpr Level H = Level::kHigh;
constexpr Level C = Level::kCritical;

struct KindRow {
  EffectKind kind;
  std::string_view name;
  // By scope: none, named, pattern, all of cwd, outside, unknown, system, tree, device.
  std::array<Level, 9> level;
};

constexpr std::array<Level, 9> always(Level x) {
  return {x, x, x, x, x, x, x, x, x};
}

constexpr KindRow kKinds[] = {
    {EffectKind::kReadsNames, "reads_names", always(S)},
    {EffectKind::kReadsContent, "reads_content", {S, S, S, S, S, M, S, M, M}},
    {EffectKind::kReadsCredentials, "reads_credentials", always(H)},
    {EffectKind::kCreates, "creates", {M, M, M, M, H, H, H, H, C}},
    {EffectKind::kOverwrites, "overwrites", {M, M, M, H, H, H, H, C, C}},
    {EffectKind::kDeletes, "deletes", {M, M, M, H, H, H, H, C, C}},
    {EffectKind::kDestroys, "destroys", {H, H, H, H, H, H, C, C, C}},
    {EffectKind::kChangesMode, "changes_mode", {M, M, M, H, H, H, H, C, H}},
    {EffectKind::kNetwork, "network", always(M)},
    {EffectKind::kSends, "sends", always(M)},
    {EffectKind::kSendsUnknown, "sends_unknown", always(H)},
    {EffectKind::kSendsCredentials, "sends_credentials", always(C)},
    {EffectKind::kListens, "listens", always(H)},
    {EffectKind::kSocketShell, "socket_shell", always(C)},
    {EffectKind::kPrivilege, "privilege", always(M)},
    {EffectKind::kGrantsPrivilege, "grants_privilege", always(H)},
    {EffectKind::kTrustRoot, "trust_root", always(C)},
    {EffectKind::kPersistence, "persistence", always(H)},
    {EffectKind::kProjectCode, "project_code", always(M)},
    {EffectKind::kFetchedCode, "fetched_code", always(H)},
    {EffectKind::kDecodedCode, "decoded_code", always(H)},
    {EffectKind::kProcess, "process", always(M)},
    {EffectKind::kProcessByName, "process_by_name", always(H)},
    {EffectKind::kProcessAll, "process_all", always(C)},
    {EffectKind::kPower, "power", always(H)},
    {EffectKind::kKernelTrigger, "kernel_trigger", always(C)},
    {EffectKind::kForkBomb, "fork_bomb", always(C)},
    {EffectKind::kFloods, "floods", always(H)},
    {EffectKind::kGitLocal, "git_local", always(M)},
    {EffectKind::kGitLost, "git_lost", always(H)},
    {EffectKind::kGitPublish, "git_publish", always(M)},
    {EffectKind::kGitPublished, "git_published_history", always(H)},
    {EffectKind::kPackagesProject, "packages_project", always(M)},
    {EffectKind::kPackagesSystem, "packages_system", always(H)},
    {EffectKind::kServiceUser, "service_user", always(M)},
    {EffectKind::kServiceSystem, "service_system", always(H)},
    {EffectKind::kFirewall, "firewall", always(H)},
    {EffectKind::kDataStore, "data_store", always(H)},
    {EffectKind::kTampering, "tampering", always(H)},
    {EffectKind::kShellState, "shell_state", always(S)},
    {EffectKind::kShellHooks, "shell_hooks", always(M)},
    {EffectKind::kUnknown, "unknown", always(H)},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    if (static_cast<std::size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}

static_assert(is_in_order(), "kKinds has a row for each kind, in order");

}  // namespace

Level level_of(const Effect& effect) noexcept {
  const auto kind = static_cast<std::size_t>(effect.kind);
  const Level level = kKinds[kind].level[static_cast<std::size_t>(effect.scope)];
  if (!effect.is_lifted) return level;
  if (effect.kind == EffectKind::kFetchedCode || effect.kind == EffectKind::kDecodedCode) return C;
  if (effect.kind == EffectKind::kShellState) return level;
  return level < H ? static_cast<Level>(static_cast<int>(level) + 1) : level;
}

std::string_view name(Level level) noexcept {
  static constexpr std::string_view kNames[] = {"safe", "moderate", "high", "critical"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view name(EffectKind kind) noexcept {
  return kKinds[static_cast<std::size_t>(kind)].name;
}

std::string_view name(Scope scope) noexcept {
  static constexpr std::string_view kNames[] = {
      "none", "named", "pattern", "cwd_all", "outside", "unknown", "system", "tree", "device"};
  return kNames[static_cast<std::size_t>(scope)];
}

std::string_view name(Dialect dialect) noexcept {
  static constexpr std::string_view kNames[] = {"sh", "bash", "zsh", "fish", "pwsh"};
  return kNames[static_cast<std::size_t>(dialect)];
}

std::optional<Dialect> dialect_named(std::string_view name) noexcept {
  if (name == "bash") return Dialect::kBash;
  if (name == "sh" || name == "dash" || name == "posix") return Dialect::kPosix;
  if (name == "zsh") return Dialect::kZsh;
  if (name == "fish") return Dialect::kFish;
  if (name == "pwsh" || name == "powershell" || name == "cmd" || name == "nu" || name == "nushell")
    return Dialect::kPowershell;
  return std::nullopt;
}

}  // namespace wick::shell
