// A shared library that is loaded when it is first needed (dlopen), so that a program runs where it
// is not installed. It is never closed: it may have threads. One thread at a time.
//
//   SharedLibrary library("libpq.so.5");
//   library.find("PQexec", functions.exec);
//   if (const std::string why = library.failure(); !why.empty()) return unusable(why);
#pragma once

#include <dlfcn.h>

#include <string>
#include <type_traits>

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

  // Why it cannot be loaded, or the first function that it lacks; empty if nothing is missing.
  const std::string& failure() const noexcept { return failure_; }

 private:
  const char* name_;
  void* handle_;
  std::string failure_;
};

}  // namespace wick
