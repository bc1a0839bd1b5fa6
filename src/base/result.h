// A value or the reason there is none, for everything that can fail from outside: files, users,
// networks, devices, memory at load. Same verbs as std::expected, so that we can switch with C++23.
// Broken invariants of ours are base/check.h's business.
//
//   Result<ModelFile> open(path);
//   WICK_TRY(const ModelFile file, ModelFile::open(path));   // returns the error to our caller, or
//   binds the value WICK_DO(backend.sync());                                 // the same for
//   Result<void>
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace wick {

// The category of an error; it decides the exit status of the program.
enum class ErrorCode : std::uint8_t {
  kInvalid,      // the request is wrong: usage, configuration, a value out of range
  kNotFound,     // no such file, model or name
  kCorrupt,      // bytes that contradict themselves
  kUnsupported,  // understood, but not built
  kNoMemory,
  kIo,
  kDevice,
  kCancelled,
  kUnavailable,  // try again later: a full queue, no network
};

// "invalid", "not_found", …: the name of a category in JSON.
const char* name(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string id = {};  // stable name for programs: "truncated_tensor"
  std::string message =
      {};  // one sentence naming the file, tensor or field at fault, value seen and value wanted
  std::string hint = {};  // the next command to try, may be empty
  std::shared_ptr<const Error> cause = {};
};

// The message of `error` followed by those of its causes: "load model: shard 2: unexpected end at
// byte 17".
std::string to_string(const Error& error);

// `error` as the cause of a new one that says what was being done: "load m.gguf".
Error wrap(Error error, std::string doing);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // NOLINT(google-explicit-constructor): return value or error
      : state_(std::in_place_index<0>, std::move(value)) {}

  Result(Error error)  // NOLINT(google-explicit-constructor): return value or error
      : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }

  T& operator*() & {
    WICK_CHECK(state_.index() == 0, "value of a failed Result");
    return *std::get_if<0>(&state_);
  }

  const T& operator*() const& {
    WICK_CHECK(state_.index() == 0, "value of a failed Result");
    return *std::get_if<0>(&state_);
  }

  T&& operator*() && {
    WICK_CHECK(state_.index() == 0, "value of a failed Result");
    return std::move(*std::get_if<0>(&state_));
  }

  T* operator->() { return &**this; }

  const T* operator->() const { return &**this; }

  Error& error() & {
    WICK_CHECK(state_.index() == 1, "error of a successful Result");
    return *std::get_if<1>(&state_);
  }

  const Error& error() const& {
    WICK_CHECK(state_.index() == 1, "error of a successful Result");
    return *std::get_if<1>(&state_);
  }

  Error&& error() && {
    WICK_CHECK(state_.index() == 1, "error of a successful Result");
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;

  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const noexcept { return !error_.has_value(); }

  Error& error() & {
    WICK_CHECK(error_.has_value(), "error of a successful Result");
    return *error_;
  }

  const Error& error() const& {
    WICK_CHECK(error_.has_value(), "error of a successful Result");
    return *error_;
  }

  Error&& error() && {
    WICK_CHECK(error_.has_value(), "error of a successful Result");
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_ = {};
};

#define WICK_CONCAT_(a, b) a##b
#define WICK_CONCAT(a, b) WICK_CONCAT_(a, b)
#define WICK_TRY(decl, expr)                                                               \
  auto WICK_CONCAT(try_, __LINE__) = (expr);                                               \
  if (!WICK_CONCAT(try_, __LINE__)) return std::move(WICK_CONCAT(try_, __LINE__)).error(); \
  decl = *std::move(WICK_CONCAT(try_, __LINE__))
#define WICK_DO(expr)                                                             \
  do {                                                                            \
    if (auto do_result = (expr); !do_result) return std::move(do_result).error(); \
  } while (false)

}  // namespace wick
