// An answer that comes from the response cache, or goes into it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "provider/answer.h"
#include "route/clock.h"
#include "route/response_cache.h"

namespace wick::route {

struct CachedStart {
  std::string key = {};
  std::function<Result<std::unique_ptr<Answer>>(std::shared_ptr<Wake>)> start = {};
  // Whether a whole answer with this report may be kept.
  std::function<bool(const AnswerReport&)> may_keep = {};
  std::function<void()> on_kept = {};  // it is in the cache
  // The answer to a similar question, which is given instead; null: none.
  std::shared_ptr<const CachedResponse> similar = {};
  double similarity = 0;
};

// Calls `how.start` if no answer to the key is known or being made, at once or later in poll(). An
// error of the first call is that of this function.
Result<std::unique_ptr<Answer>> start_cached(std::shared_ptr<ResponseCache> cache,
                                             std::shared_ptr<RouteClock> clock, CachedStart how,
                                             std::shared_ptr<Wake> wake);

}  // namespace wick::route
