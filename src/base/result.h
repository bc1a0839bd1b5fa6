// The public Result and Error (include/wick/result.h), for everything that can fail from outside:
// files, users, networks, devices, memory at load, and the macros that propagate errors. Bugs in
// wick itself are for base/check.h.
//
//   Result<ModelFile> open(path);
//   WICK_TRY(const ModelFile file, ModelFile::open(path));   // returns the error to our caller, or
//                                                            // binds the value
//   WICK_DO(backend.sync());                                 // the same for Result<void>
#pragma once

#include <string>
#include <utility>

#include "base/check.h"
#include "wick/result.h"

namespace wick {

// A new error with `error` as its cause; its message names the operation: "load m.gguf".
Error wrap(Error error, std::string doing);

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
