// What an attempt costs that has ended. Pure functions.
#pragma once

#include <cstddef>

#include "provider/answer_report.h"
#include "route/ledger.h"
#include "route/rules.h"
#include "wick/event.h"

namespace wick::route {

struct Attempt {
  const Candidate& candidate;
  const Facts& facts;
  Nanos reserved = 0;
  std::size_t n_bytes = 0;  // of content that came
};

// Where the provider told no usage of a whole answer, or one that cannot be, it is all that was
// reserved. A request that was refused, or not answered at all, costs nothing.
Settlement bill(const Attempt& attempt, const DoneEvent& done, const AnswerReport& report);

// A prompt has tokens, and neither count is several times what was asked for. Some providers add to
// a prompt, or do not count reasoning in max_tokens (0 = not limited).
bool is_plausible(const Usage& usage, const Facts& facts, int max_tokens) noexcept;

}  // namespace wick::route
