// Names of the enumerators in the public headers of plain data (tools/modules.txt, `types`).
#include "wick/log.h"
#include "wick/progress.h"
#include "wick/usage.h"

namespace wick {

std::string_view name(LogLevel level) noexcept {
  return level == LogLevel::kInfo ? "info" : "warning";
}

std::string_view name(OpenPhase phase) noexcept {
  switch (phase) {
    case OpenPhase::kDownload:
      return "download";
    case OpenPhase::kCheck:
      return "check";
    case OpenPhase::kLoad:
      return "load";
  }
  return "";
}

std::string_view name(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::kEos:
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kToolCalls:
      return "tool_calls";
    case FinishReason::kContentFilter:
      return "content_filter";
    case FinishReason::kError:
      return "error";
    case FinishReason::kNone:
      return "";
  }
  return "";
}

std::string_view name(MissReason reason) noexcept {
  switch (reason) {
    case MissReason::kNone:
      return "none";
    case MissReason::kNew:
      return "new";
    case MissReason::kEdited:
      return "edited";
    case MissReason::kEvicted:
      return "evicted";
    case MissReason::kOtherTenant:
      return "other tenant";
    case MissReason::kNeverSeen:
      return "never seen";
    case MissReason::kOff:
      return "off";
  }
  return "";
}

}  // namespace wick
