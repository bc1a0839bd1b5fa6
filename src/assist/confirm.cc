#include "assist/confirm.h"

#include <utility>

namespace wick::assist {

using shell::EffectKind;
using shell::Level;

const shell::Effect* worst_effect(const shell::Verdict& verdict) noexcept {
  const shell::Effect* worst = nullptr;
  for (const shell::Effect& effect : verdict.effects) {
    if (worst == nullptr || level_of(effect) > level_of(*worst)) worst = &effect;
  }
  return worst;
}

namespace {

// Other kinds are "unknown".
constexpr std::pair<EffectKind, std::string_view> kWords[] = {
    {EffectKind::kReadsNames, "read"},
    {EffectKind::kReadsContent, "read"},
    {EffectKind::kReadsCredentials, "secret"},
    {EffectKind::kCreates, "create"},
    {EffectKind::kOverwrites, "overwrite"},
    {EffectKind::kDeletes, "delete"},
    {EffectKind::kDestroys, "destroy"},
    {EffectKind::kChangesMode, "mode"},
    {EffectKind::kNetwork, "network"},
    {EffectKind::kSends, "send"},
    {EffectKind::kSendsUnknown, "send"},
    {EffectKind::kSendsCredentials, "send"},
    {EffectKind::kListens, "listen"},
    {EffectKind::kSocketShell, "listen"},
    {EffectKind::kPrivilege, "root"},
    {EffectKind::kGrantsPrivilege, "root"},
    {EffectKind::kTrustRoot, "root"},
    {EffectKind::kPersistence, "persist"},
    {EffectKind::kProjectCode, "code"},
    {EffectKind::kFetchedCode, "code"},
    {EffectKind::kDecodedCode, "code"},
    {EffectKind::kProcess, "kill"},
    {EffectKind::kProcessByName, "kill"},
    {EffectKind::kProcessAll, "kill"},
    {EffectKind::kPower, "system"},
    {EffectKind::kKernelTrigger, "system"},
    {EffectKind::kForkBomb, "flood"},
    {EffectKind::kFloods, "flood"},
    {EffectKind::kGitLocal, "lose"},
    {EffectKind::kGitLost, "lose"},
    {EffectKind::kGitPublish, "publish"},
    {EffectKind::kGitPublished, "history"},
    {EffectKind::kPackagesProject, "packages"},
    {EffectKind::kPackagesSystem, "packages"},
    {EffectKind::kServiceUser, "service"},
    {EffectKind::kServiceSystem, "service"},
    {EffectKind::kFirewall, "firewall"},
    {EffectKind::kDataStore, "data"},
    {EffectKind::kTampering, "tamper"},
    {EffectKind::kShellState, "shell"},
    {EffectKind::kShellHooks, "shell"},
};

}  // namespace

std::string_view danger_word(EffectKind kind) noexcept {
  for (const auto& [known, word] : kWords) {
    if (known == kind) return word;
  }
  return "unknown";
}

Confirmation confirmation_of(Level level, const shell::Verdict& verdict,
                             const ConfirmOptions& options) {
  using Kind = Confirmation::Kind;
  const shell::Effect* const worst = worst_effect(verdict);
  const std::string word(worst == nullptr ? "unknown" : danger_word(worst->kind));
  const bool is_strict = options.safety == SafetyLevel::kStrict;
  switch (level) {
    case Level::kSafe:
      return {.kind = options.is_yes ? Kind::kNone : Kind::kKey};
    case Level::kModerate:
      if (options.is_yes) return {.kind = Kind::kNone};
      if (is_strict) return {.kind = Kind::kWord, .text = word};
      return {.kind = Kind::kKey};
    case Level::kHigh:
      if (is_strict) return {.kind = Kind::kRefused};
      if (options.safety == SafetyLevel::kPermissive) return {.kind = Kind::kKey};
      return {.kind = Kind::kWord, .text = word};
    case Level::kCritical:
      break;
  }
  if (is_strict || !options.allows_critical) return {.kind = Kind::kRefused};
  const bool has_target = worst != nullptr && !worst->target.empty();
  return {.kind = Kind::kTarget, .text = has_target ? worst->target : word};
}

}  // namespace wick::assist
