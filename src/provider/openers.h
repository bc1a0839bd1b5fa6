// Who opens a model by its name: the opener of its scheme ("NAME" of "NAME:…"), else the local one.
// Providers of other kinds add their scheme; tests add one whose answers are scripted.
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
  const Opener* open = nullptr;  // null: the name has no scheme that anyone opens
  std::string_view name = {};    // behind the scheme
};

FoundOpener find_opener(std::string_view name);

}  // namespace wick
