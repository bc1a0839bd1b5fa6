// A shared library that is loaded when it is first needed (dlopen), so that a program runs where it
// is not installed. It is never closed: it may have threads. One thread at a time.
//
//   SharedLibrary library("libpq.so.5");
//   library.find("PQexec", functions.exec);
//   WICK_DO(library.check("no_libpq", "install libpq (Debian: libpq5)"));
#pragma once

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "base/strings.h"

namespace wick {

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name)
      : name_(name), handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    const char* const why = ::dlerror();
    failure_ = why == nullptr ? name : why;
  }

  // `function`: a pointer; null if the library lacks it.
  template <class Function>
  void find(const char* name, Function& function) {
    static_assert(std::is_pointer_v<Function>);
    if (handle_ == nullptr) return;
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (function == nullptr && failure_.empty()) failure_ = cat(name_, " has no ", name);
  }

  // kUnavailable if it cannot be loaded or lacks a function. `id`: no_ and the library's name.
  Result<void> check(std::string_view id, std::string_view hint) const {
    if (failure_.empty()) return {};
    return Error{.code = ErrorCode::kUnavailable,
                 .id = std::string(id),
                 .message = cat(id.substr(3), " cannot be loaded: ", printable(failure_)),
                 .hint = std::string(hint)};
  }

 private:
  const char* name_;
  void* handle_;
  std::string failure_;  // why it cannot be loaded, or the first function that it lacks
};

// Finds a library's functions once; after an error the next call tries again. Any thread.
class LoadedOnce {
 public:
  template <class Load>
  Result<void> operator()(const Load& load) {
    const std::lock_guard lock(mutex_);
    if (is_loaded_) return {};
    WICK_DO(load());
    is_loaded_ = true;
    return {};
  }

 private:
  std::mutex mutex_ = {};
  bool is_loaded_ = false;
};

}  // namespace wick
