// Commands that try to hang an analysis of shell commands, to take its memory or its stack, or to
// be taken for another command: the same ones each time. tests/data/shell/hostile.tsv has the
// verdict of each.
#pragma once

#include <string>
#include <vector>

#include "shell/syntax.h"

namespace wick::test {

struct ShellAttack {
  std::string name;  // unique, without a tab
  std::string text;
  shell::Dialect dialect = shell::Dialect::kBash;
};

std::vector<ShellAttack> shell_attacks();

}  // namespace wick::test
