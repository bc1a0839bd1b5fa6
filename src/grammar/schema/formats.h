// The values of `format` that are regular languages.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "regex/automaton.h"

namespace wick::grammar {

// Unknown formats are annotations: regex, idn-hostname and any other name.
bool is_known_format(std::string_view name);

// The strings of a format; nothing if the format is not known, kNoExpr if the pool is full. Any
// thread.
std::optional<regex::ExprId> format_language(regex::ExprPool& pool, std::string_view name);

// A pool with the languages of some formats.
struct FormatPool {
  regex::ExprPool pool = regex::ExprPool();
  std::map<std::string, regex::ExprId, std::less<>> languages = {};
  // Of the pool's expressions: to find that out for each schema took a large part of the time of
  // compiling it.
  std::vector<regex::Liveness> lives = {};
};

// A copy of a whole pool takes a tenth of the time of copying its formats. Any thread.
std::shared_ptr<const FormatPool> format_pool(const std::set<std::string, std::less<>>& known);

}  // namespace wick::grammar
