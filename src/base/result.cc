#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace wick {

const char* name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNoMemory:
      return "no_memory";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kDevice:
      return "device";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kUnavailable:
      return "unavailable";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  std::string text = error.message;
  for (const Error* cause = error.cause.get(); cause != nullptr; cause = cause->cause.get()) {
    text += ": " + cause->message;
  }
  return text;
}

Error wrap(Error error, std::string doing) {
  Error outer{.code = error.code, .id = error.id, .message = std::move(doing), .hint = error.hint};
  outer.cause = std::make_shared<const Error>(std::move(error));
  return outer;
}

void internal::wrong_side_of_result(const char* what) noexcept {
  std::fprintf(stderr, "wick: %s\n", what);
  std::abort();
}

void check_failed(const char* file, int line, const char* condition, const char* what) noexcept {
  std::fprintf(stderr, "%s:%d: %s (%s)\n", file, line, what, condition);
  std::abort();
}

}  // namespace wick
