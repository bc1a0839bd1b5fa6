// Rules of the user about commands: deny, ask, allow. They are matched on the words of every
// command that a text runs, behind quotes, wrappers and substitutions; never on text. Pure.
//
//   deny  ["git", "push", "--force"]   also matches `git -C x push origin -f`, and `git $unknown`
//   allow ["git", "push"]              covers `git push origin`, not `git push; rm x`
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/verdict.h"

namespace wick::assist {

enum class RuleKind : std::uint8_t { kAllow, kAsk, kDeny };
std::string_view name(RuleKind kind) noexcept;  // "allow"

struct Rule {
  RuleKind kind = RuleKind::kDeny;
  std::vector<std::string> argv = {};  // at least one word
  // kAllow: the command is asked about as one of this level; kAsk: at least as one of it.
  shell::Level level = shell::Level::kSafe;
  std::string reason = {};
  std::string place = {};  // "rules.toml:3", for messages
};

struct RuleResult {
  shell::Level level = shell::Level::kSafe;  // the verdict's, or as a rule has it
  const Rule* rule = nullptr;                // that decided, if one did
  bool is_denied = false;
  bool is_asked = false;  // -y does not cover it
};

// Deny before ask before allow. `text` is the command that `verdict` is about.
RuleResult apply_rules(std::string_view text, shell::Dialect dialect, const shell::Verdict& verdict,
                       const std::vector<Rule>& rules);

}  // namespace wick::assist
