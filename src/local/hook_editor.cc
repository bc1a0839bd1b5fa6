#include "local/hook_editor.h"

#include <exception>

#include "base/strings.h"

namespace wick {

bool HookEditor::edit(std::span<float> logits, std::span<const TokenId> history) noexcept {
  const auto fail = [this](std::string_view what) {
    failure_ = Error{.code = ErrorCode::kInvalid,
                     .id = "callback_failed",
                     .message = cat("the logits hook failed: ", printable(what))};
    return false;
  };
  // The hook is the caller's code, which may throw; the engine's thread must not end by it.
  try {
    hook_(logits, history);
    return true;
  } catch (const std::exception& e) {
    return fail(e.what());
  } catch (...) {
    return fail("it threw something that is no std::exception");
  }
}

}  // namespace wick
