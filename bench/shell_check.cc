// How long a verdict takes: of single labeled commands, and of about 1 kB of them; or of each
// attack of tests/support/shell_attacks.h, the fastest of five times, and which ones take longest.
//
//   bench_shell_check tests/data/shell/own.tsv
//   bench_shell_check --attacks
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "shell/verdict.h"
#include "support/shell_attacks.h"

namespace {

using namespace wick::shell;

std::vector<std::string> commands_of(const char* path) {
  std::ifstream file(path);
  std::vector<std::string> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i < 4; ++i)
      std::getline(cells, cell, '\t');
    if (cell.find("⏎") == std::string::npos) out.push_back(cell);
  }
  return out;
}

// Microseconds of each verdict, sorted.
std::vector<double> times_of(const std::vector<std::string>& commands, int rounds) {
  std::vector<double> out;
  const Profile profile{.cwd = "/home/u/p", .home = "/home/u"};
  for (int round = 0; round < rounds; ++round) {
    for (const std::string& command : commands) {
      const auto begin = std::chrono::steady_clock::now();
      const Verdict verdict = judge(command, Dialect::kBash, Mode::kScript, profile);
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - begin;
      if (!verdict.effects.empty() || verdict.level == Level::kSafe) out.push_back(took.count());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

void print(const char* what, const std::vector<double>& times) {
  const std::size_t n = times.size();
  std::printf("%-28s %8zu verdicts  p50 %8.1f us  p95 %8.1f us  p99 %8.1f us  max %8.1f us\n", what,
              n, times[n / 2], times[n * 95 / 100], times[n * 99 / 100], times[n - 1]);
}

int time_attacks() {
  struct Timed {
    double ms;
    std::string name;
  };

  std::vector<Timed> times;
  for (const wick::test::ShellAttack& attack : wick::test::shell_attacks()) {
    const Profile profile{.cwd = "/home/u/p", .home = "/home/u"};
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const Verdict verdict = judge(attack.text, attack.dialect, Mode::kScript, profile);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      best = std::min(best, took.count());
    }
    times.push_back({best, attack.name});
  }
  std::sort(times.begin(), times.end(), [](const Timed& a, const Timed& b) { return a.ms > b.ms; });
  std::printf("%zu attacks  p50 %.2f ms  p95 %.2f ms\n", times.size(), times[times.size() / 2].ms,
              times[times.size() / 20].ms);
  for (std::size_t i = 0; i < std::min<std::size_t>(times.size(), 10); ++i)
    std::printf("%8.2f ms  %s\n", times[i].ms, times[i].name.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_shell_check tests/data/shell/own.tsv | --attacks\n");
    return 2;
  }
  if (std::string(argv[1]) == "--attacks") return time_attacks();
  const std::vector<std::string> commands = commands_of(argv[1]);
  std::vector<std::string> kilobytes;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    std::string text;
    for (std::size_t k = i; text.size() < 1000; k = (k + 1) % commands.size()) {
      if (commands[k].find_first_of("#\\") == std::string::npos) text += commands[k] + "\n";
    }
    kilobytes.push_back(text);
  }
  if (commands.empty()) return 1;
  print("single commands", times_of(commands, 20));
  print("1 kB of commands", times_of(kilobytes, 20));
}
