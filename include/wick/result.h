// A value or an error, like std::expected: the return type of every function that can fail. wick
// itself throws no exceptions; those of a TextSink or of StreamSet::take()'s argument pass through
// to the caller. A Result is a plain value, one thread at a time.
//
//   auto model = wick::Model::open("model.gguf");       // Result<Model>
//   if (!model) return fail(wick::to_string(model.error()));
//   use(*model);
//
// Reading the value of a failed Result, or the error of a successful one, is a bug in the program:
// it prints a message and aborts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#define WICK_API __attribute__((visibility("default")))

namespace wick {

// Error categories.
enum class ErrorCode : std::uint8_t {
  kInvalid,      // a wrong request: usage, configuration, a value out of range
  kNotFound,     // no such file, model or name
  kCorrupt,      // damaged or contradictory data
  kUnsupported,  // understood, but not implemented
  kNoMemory,
  kIo,
  kDevice,
  kCancelled,
  kUnavailable,  // try again later: a full queue, no network
};

// "invalid", "not_found", …
WICK_API const char* name(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string id = {};  // stable name for programs: "truncated_tensor"
  // One sentence that names the file, tensor or field, the actual value and the expected value.
  std::string message = {};
  std::string hint = {};  // what to try next, may be empty
  std::shared_ptr<const Error> cause = {};
  std::string partial_text = {};  // the text of an answer before this error ended it
  int retry_after_s = 0;          // with kUnavailable: seconds to wait; 0 = not known
  // Byte position of the error in a schema, regex or grammar; -1 = none.
  std::int64_t offset = -1;
};

// The message of `error` followed by those of its causes: "load model: shard 2: unexpected end at
// byte 17".
WICK_API std::string to_string(const Error& error);

namespace internal {
[[noreturn]] WICK_API void wrong_side_of_result(const char* what) noexcept;

inline void want(bool condition, const char* what) noexcept {
  if (!condition) wrong_side_of_result(what);
}
}  // namespace internal

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // implicit: return value or error
      : state_(std::in_place_index<0>, std::move(value)) {}

  Result(Error error)  // implicit: return value or error
      : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }

  T& operator*() & { return *value(state_); }

  const T& operator*() const& { return *value(state_); }

  T&& operator*() && { return std::move(*value(state_)); }

  T* operator->() { return value(state_); }

  const T* operator->() const { return value(state_); }

  Error& error() & { return *reason(state_); }

  const Error& error() const& { return *reason(state_); }

  Error&& error() && { return std::move(*reason(state_)); }

 private:
  template <class State>
  static auto value(State& state) noexcept {
    internal::want(state.index() == 0, "value of a failed Result");
    return std::get_if<0>(&state);
  }

  template <class State>
  static auto reason(State& state) noexcept {
    internal::want(state.index() == 1, "error of a successful Result");
    return std::get_if<1>(&state);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;

  Result(Error error) : error_(std::move(error)) {}  // implicit

  explicit operator bool() const noexcept { return !error_.has_value(); }

  Error& error() & {
    check();
    return *error_;
  }

  const Error& error() const& {
    check();
    return *error_;
  }

  Error&& error() && {
    check();
    return *std::move(error_);
  }

 private:
  void check() const noexcept {
    internal::want(error_.has_value(), "error of a successful Result");
  }

  std::optional<Error> error_ = {};
};

}  // namespace wick
