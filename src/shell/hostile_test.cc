// Commands that try to hang the analysis, to take its memory or to be taken for another one: each
// gets the verdict of tests/data/shell/hostile.tsv, within a bound of the bytes that operator new
// gave out, at a time and in all. What is visited or copied again and again shows there, and no
// clock is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "shell/limits.h"
#include "shell/verdict.h"
#include "support/hot_counters.h"
#include "support/instrumented.h"
#include "support/shell_attacks.h"
#include "support/test_data.h"

namespace wick::shell {
namespace {

// What one verdict may take of operator new: at a time, and in all.
constexpr long kPeakBytes = 16L << 20;
constexpr long kGivenBytes = 96L << 20;

bool is_refused(const Verdict& verdict) {
  return std::any_of(verdict.effects.begin(), verdict.effects.end(), [](const Effect& effect) {
    return effect.why.find("too complex") != std::string::npos;
  });
}

std::string outcome(const Verdict& verdict) {
  if (verdict.level == Level::kHigh && is_refused(verdict)) return "too complex";
  return verdict.error ? "cannot analyze" : std::string(name(verdict.level));
}

// The name of each attack and its verdict.
std::map<std::string, std::string> wanted_outcomes() {
  std::map<std::string, std::string> out;
  std::ifstream file(test::test_data("shell/hostile.tsv"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (!line.starts_with('#') && tab != std::string::npos)
      out[line.substr(tab + 1)] = line.substr(0, tab);
  }
  return out;
}

TEST(HostileShell, EachAttackGetsItsVerdictWithinItsMemoryAndWork) {
  const std::vector<test::ShellAttack> attacks = test::shell_attacks();
  std::map<std::string, std::string> wanted = wanted_outcomes();
  EXPECT_GE(attacks.size(), 200U);
  EXPECT_EQ(attacks.size(), wanted.size());
  long highest = 0;
  for (const test::ShellAttack& attack : attacks) {
    const Profile profile{.cwd = "/home/u/p", .home = "/home/u"};
    const long before = test::live_bytes();
    test::reset_peak_bytes();
    const long start = test::given_bytes();

    const Verdict verdict = judge(attack.text, attack.dialect, Mode::kScript, profile);
    const long given = test::given_bytes() - start;
    const long peak = test::peak_bytes() - before;
    EXPECT_EQ(outcome(verdict), wanted[attack.name]) << attack.name;
    EXPECT_LE(verdict.effects.size(), kMaxEffects + 4) << attack.name;
    EXPECT_LE(verdict.calls.size(), kMaxCalls + 2) << attack.name;
    if (test::kIsInstrumented) continue;  // blocks have other sizes
    EXPECT_LE(peak, kPeakBytes) << attack.name;
    EXPECT_LE(given, kGivenBytes) << attack.name;
    highest = std::max(highest, peak);
  }
  std::cout << attacks.size() << " attacks, at most " << (highest >> 10) << " KiB at a time\n";
}

}  // namespace
}  // namespace wick::shell
