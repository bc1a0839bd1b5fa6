// What an adversary may write is answered or refused with a name: in release at most 250 ms and
// 32 MiB to parse a pattern or answer a question about it, by design (limits.h). The test allows
// four times the time, since the machine may be busy, and more where sanitizers count every access.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "regex/automaton.h"
#include "regex/ecma.h"
#include "support/instrumented.h"

namespace wick::regex {
namespace {

constexpr double kMaxMs = test::kIsInstrumented ? 10'000 : 1'000;
constexpr std::size_t kTextBytes = test::kIsInstrumented ? 10'000 : 100'000;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) {
    out += part;
  }
  return out;
}

struct Attack {
  std::string name, pattern, text;
};

std::vector<Attack> attacks() {
  const std::string as(kTextBytes, 'a');
  std::string words = "^(", sparse = "^[";
  for (int i = 0; i < 40'000; ++i) {
    words += std::to_string(i * 7919) + "|";
  }
  for (int i = 0; i < 60'000; ++i) {
    sparse +=
        "\\u{" + std::string(1, "123456789abcdef"[i % 15]) + "00" + std::to_string(i % 10) + "}";
  }
  return {
      {"counter", "^a{0,100000}$", as},
      {"long counter", "^a{100000}b$", as + "b"},
      {"huge counter", "^a{0,1000000000}$", as},
      {"nested counters", "^((a{0,1000}){0,1000}){0,1000}$", as},
      {"nested counters with gaps", "^((a{3,5}b?){100,1000}c?){100,1000}$", as},
      {"deep counters", "^(((((a{2,9}b?){2,9}){2,9}c?){2,9}){2,9}d?){2,9}$", as},
      {"exponential subset", "a.{500}$", as},
      {"exponential subset, larger", "^(a|b)*a(a|b){5000}$", as},
      {"two counters", "^(a{0,1000}b?a{0,1000}){0,50}$", as},
      {"optional chain", "^" + repeated("a?", 5000) + repeated("a", 5000) + "$", as},
      {"optional chain of two", "^" + repeated("(a|b)?a?", 2000) + "$", as},
      {"catastrophic backtracking", "^(a+)+$", as + "b"},
      {"stars in stars", "^(((a*)*)*b*)*$", as},
      {"1 MB literal", repeated("abcdefgh", 131'072), as},
      {"1 MB of classes", repeated("[a-z]", 209'715), as},
      {"1 MB of \\p{L}", repeated("\\p{L}", 174'000), as},
      {"1 MB of \\P{L} in a class", "[" + repeated("\\P{L}", 174'000) + "]", as},
      {"300 KB of \\p{L}*", repeated("\\p{L}*\\d", 37'000), as},
      {"parentheses", repeated("(", 500'000) + repeated(")", 500'000), as},
      {"balanced below the limit", repeated("(", 240) + "a" + repeated(")*", 240), as},
      {"alternatives", words + "x)$", "316752081"},
      {"many ranges", sparse + "]$", as},
      {"lookaheads", "^" + repeated("(?!.*x.*y.{30}z)", 200) + ".*$", as},
      {"nested lookaheads", repeated("(?!a", 200) + repeated(")", 200) + "b", as},
      {"borders", repeated("\\b(a|)", 2000), as},
      {"intersection of counters", "^(?=(aa){0,5000}$)(?=(aaa){0,5000}$)(?=(aaaaa){0,5000}$)a*$",
       as},
      {"coprime cycles", "^(?=(a{101})*$)(?=(a{103})*$)(?=(a{107})*$)(?=(a{109})*$)a+$", as},
  };
}

TEST(HostileRegex, AnswersOrRefusesInBoundedTimeAndMemory) {
  std::map<std::string, std::pair<double, std::string>> slowest;
  for (const Attack& attack : attacks()) {
    const auto run = [&](const char* what, const auto& operation) {
      const double began = cpu_ms();
      operation();
      const double took = cpu_ms() - began;
      slowest[what] = std::max(slowest[what], {took, attack.name});
      EXPECT_LT(took, kMaxMs) << attack.name << ", " << what;
    };
    Automaton automaton;
    ExprId language = kNoExpr;
    const auto check = [&](const auto& result) {
      if (result) return;
      const std::string& id = result.error().id;
      EXPECT_TRUE(id == "regex_fuel" || id == "regex_memory" || id == "regex_length" ||
                  id == "regex_unsupported")
          << attack.name << ": " << result.error().message;
    };
    run("parse", [&] {
      const auto parsed = parse_ecma(automaton.pool(), attack.pattern);
      check(parsed);
      if (parsed) language = *parsed;
    });
    if (language != kNoExpr) {
      run("match", [&] { check(automaton.matches(language, attack.text)); });
      run("is_empty", [&] { check(automaton.is_empty(language)); });
      run("shortest", [&] { check(automaton.shortest(language)); });
      run("contains", [&] { check(automaton.contains(automaton.pool().any_text(), language)); });
    }
    EXPECT_LE(automaton.pool().used_bytes(), kMaxAutomatonBytes) << attack.name;
  }
  for (const auto& [what, most] : slowest) {
    printf("slowest %s: %.0f ms (%s)\n", what.c_str(), most.first, most.second.c_str());
  }
}

// These may not be refused.
TEST(HostileRegex, AnswersWhatIsOnlyLarge) {
  const std::string as(100'000, 'a');
  const auto answer = [](std::string_view pattern, std::string_view text) {
    Automaton automaton;
    const auto language = parse_ecma(automaton.pool(), pattern);
    EXPECT_TRUE(language) << language.error().message;
    const auto found = automaton.matches(*language, text);
    EXPECT_TRUE(found) << pattern.substr(0, 50) << ": " << found.error().message;
    return found && *found;
  };
  EXPECT_TRUE(answer("^a{0,100000}$", as));
  EXPECT_FALSE(answer("^a{0,100000}$", as + "a"));
  EXPECT_TRUE(answer("^((a{0,1000}){0,1000}){0,1000}$", as));
  EXPECT_FALSE(answer("^(a+)+$", as + "b"));
  EXPECT_TRUE(answer("^(((a*)*)*b*)*$", as));
  EXPECT_TRUE(answer("^[\\p{L}\\d]{1,50000}$", repeated("é", 50'000)));
  EXPECT_TRUE(answer("^(?!.*bad).{0,10000}$", repeated("good", 2'500)));
  EXPECT_TRUE(answer("^" + repeated("abcdefgh", 4'000), repeated("abcdefgh", 4'001)));
}

// Compiled only where memory is the program's own: sanitizers keep what is freed and add to it.
#if !WICK_TEST_IS_INSTRUMENTED
TEST(HostileRegex, MemoryOfTheProcessStaysInBounds) {
  // The kernel's high-water mark, which is set back first: earlier tests have raised it.
  const auto peak_kb = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    }
    return -1L;
  };
  const auto reset_peak = [] { std::ofstream("/proc/self/clear_refs") << "5"; };
  { Automaton warm; }
  std::vector<Attack> all = attacks();
  reset_peak();
  const long before = peak_kb();
  ASSERT_GT(before, 0);
  for (const Attack& attack : all) {
    Automaton automaton;
    const auto language = parse_ecma(automaton.pool(), attack.pattern);
    if (!language) continue;
    static_cast<void>(automaton.matches(*language, attack.text));
    static_cast<void>(automaton.shortest(*language));
  }
  printf("peak growth: %ld KiB\n", peak_kb() - before);
  EXPECT_LE(peak_kb() - before, 32 * 1024);
}
#endif

}  // namespace
}  // namespace wick::regex
