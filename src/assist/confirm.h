// The text that a user must type before a command runs, by level and safety.level. Pure.
#pragma once

#include <string>
#include <string_view>

#include "shell/verdict.h"

namespace wick::assist {

enum class SafetyLevel : std::uint8_t { kStrict, kModerate, kPermissive };

struct Confirmation {
  enum class Kind : std::uint8_t {
    kNone,     // -y covers it
    kKey,      // a key
    kWord,     // `text` typed, which names the danger
    kTarget,   // `text` typed, which is what would be destroyed
    kRefused,  // never; exit status 13
  };
  Kind kind = Kind::kKey;
  std::string text = {};
};

struct ConfirmOptions {
  SafetyLevel safety = SafetyLevel::kModerate;
  bool is_yes = false;           // -y
  bool allows_critical = false;  // --allow-critical
};

Confirmation confirmation_of(shell::Level level, const shell::Verdict& verdict,
                             const ConfirmOptions& options);

// The worst effect, null if there is none.
const shell::Effect* worst_effect(const shell::Verdict& verdict) noexcept;
// The word for it: "delete", "overwrite", "root", "history", "unknown" …
std::string_view danger_word(shell::EffectKind kind) noexcept;

}  // namespace wick::assist
