// Refusals by a rule of the operator or user: money, privacy, commands. No repetition helps, so the
// program exits with 13 and the server answers 429 with "insufficient_quota". Pure.
#pragma once

#include "base/result.h"

namespace wick {

inline bool is_rule_refusal(const Error& error) noexcept {
  return error.id == "budget_exceeded" || error.id == "price_unknown" ||
         error.id == "private_request" || error.id == "ledger_unavailable" ||
         error.id == "command_denied" || error.id == "command_refused";
}

}  // namespace wick
