// Maps model names to providers: by scheme ("NAME" of "NAME:…"), else the local provider. Other
// kinds of providers register their scheme; tests register a scripted one.
//
//   if (const FoundOpener found = find_opener(name); found.open) return (*found.open)(found.name);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "provider/provider.h"

namespace wick {

using Opener = std::function<Result<std::shared_ptr<Provider>>(std::string_view name)>;

// Before the first model is opened, one thread. True, so that a global of a program may be set by
// it.
bool add_opener(std::string scheme, Opener opener);

struct FoundOpener {
  const Opener* open = nullptr;  // null: the name has no registered scheme
  std::string_view name = {};    // behind the scheme
};

FoundOpener find_opener(std::string_view name);

}  // namespace wick
