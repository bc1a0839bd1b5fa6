#include "provider/openers.h"

#include <map>

namespace wick {

namespace {

std::map<std::string, Opener, std::less<>>& openers() {
  static std::map<std::string, Opener, std::less<>> all;
  return all;
}

}  // namespace

bool add_opener(std::string scheme, Opener opener) {
  openers()[std::move(scheme)] = std::move(opener);
  return true;
}

FoundOpener find_opener(std::string_view name) {
  const std::size_t colon = name.find(':');
  const auto found = openers().find(name.substr(0, colon));
  if (colon == std::string_view::npos || found == openers().end()) return {};
  return {.open = &found->second, .name = name.substr(colon + 1)};
}

}  // namespace wick
