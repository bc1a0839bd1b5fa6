// What a remote provider tells about an answer besides its events: who gave it, and why it failed
// in terms that a retry can decide on (route/retry.h). Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wick {

enum class Failure : std::uint8_t {
  kNone,
  kNetwork,        // no connection, or one that ended too early
  kTimeout,        // 408, or a limit of ours
  kRateLimit,      // 429
  kOverload,       // 425, 5xx, 529
  kConflict,       // 409
  kCredential,     // 401, 402, 403: this key will not do
  kQuota,          // the key's spend limit is reached
  kRequest,        // 400, 413, 422: no repetition will help
  kContextLength,  // the prompt is too long for this model
  kNoModel,        // 404
  kContentPolicy,  // the provider refuses the content
  kBadAnswer,      // bytes that are no answer
};

struct AnswerReport {
  std::string provider = {}, model = {};  // who answered; empty: not told
  Failure failure = Failure::kNone;
  int status = 0;                    // of HTTP; 0 = none came
  std::int64_t retry_after_ms = -1;  // as the provider asks; -1 = it does not
  bool is_usage_estimated = false;   // the provider sent no token counts
  std::size_t answer_bytes = 0;      // of text, reasoning and arguments
  // Settings of the request that the provider does not know; complete once it has accepted the
  // request. Named as in remote/sent_fields.h.
  std::vector<std::string> ignored = {};
};

}  // namespace wick
