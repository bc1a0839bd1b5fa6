#include "base/strings.h"
#include "engine/limits.h"
#include "local/local.h"

namespace wick {

Result<void> set_speculation(const Speculation& wanted, EngineOptions& options) {
  const auto [kind, draft_model, draft_max] = wanted;
  const auto bad = [](std::string message) {
    return Error{
        .code = ErrorCode::kInvalid, .id = "bad_speculation", .message = std::move(message)};
  };
  if (kind != "none" && kind != "ngram" && kind != "draft") {
    return bad(cat("speculation is '", printable(kind), "', allowed are none, ngram and draft"));
  }
  if ((kind == "draft") == draft_model.empty()) {
    return bad(cat("speculation is '", kind, "' and draft_model '", printable(draft_model),
                   "': 'draft' and a draft_model belong together"));
  }
  if (draft_max < 0 || draft_max > kMaxDraft)
    return bad(cat("draft_max is ", draft_max, ", allowed are 0 to ", kMaxDraft));
  if (kind != "none") options.draft_max = draft_max > 0 ? draft_max : kind == "draft" ? 3 : 16;
  return {};
}

}  // namespace wick
