// Whether a pattern of file names chooses files that hold keys. A pattern cannot be compared with
// the names of all files, so it is compared with those of a list: names that hold credentials, and
// ordinary ones. `id_?sa` matches some of the former and none of the latter: it is meant for keys.
// `*a*` matches both: it may choose keys among others. Pure.
#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "shell/value.h"

namespace wick::shell {

// A set of names of the list; bit i is the i-th.
using NameSet = std::bitset<96>;

struct NamePattern {
  enum Kind { kName, kPath, kRegex } kind = kName;

  std::string text = {};
  bool is_any_case = false;
};

// The names for which a test may be true, and those for which it may be false.
struct Chosen {
  NameSet may = NameSet().set(), may_not = NameSet().set();
};

// The list, and names that the patterns themselves spell out: `-name server_id_rsa`. `starts` are
// the folders below which the names lie, "" for one that is not known.
class KeyNames {
 public:
  KeyNames(const std::vector<NamePattern>& patterns, std::vector<std::string> starts);

  Chosen chosen_by(const NamePattern& pattern) const;
  Chosen chosen_by_sample(std::string_view path) const;  // -samefile
  Keys keys_of(const NameSet& names) const noexcept;

 private:
  bool matches_below(const std::vector<std::string>& globs, std::string_view path) const;

  std::vector<std::string> starts_;
  std::vector<std::string> spelled_ = {};
};

// One glob for all: rg -g, grep --include.
bool is_meant_for_keys(std::string_view glob);

// A word of a command that prints names: `locate id_rsa`, `grep '\.ssh'`.
bool mentions_keys(std::string_view word);

// Whether well-known files with credentials lie below the folder, or are it; "" may be any folder.
bool may_hold_keys(std::string_view folder, std::string_view home);

}  // namespace wick::shell
