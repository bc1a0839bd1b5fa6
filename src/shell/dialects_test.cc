// zsh and fish: what is accepted and refused, the tree that print and parse keep, and the verdict.
// tools/parity/shell_dialects.py compares the same rows with the shells themselves.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "shell/verdict.h"
#include "support/test_data.h"

namespace wick::shell {
namespace {

struct Construct {
  std::string id, theirs, ours, level, mode, command;

  Mode as_mode() const { return mode == "typed" ? Mode::kInteractive : Mode::kScript; }
};

std::vector<Construct> constructs(const std::string& name) {
  std::ifstream file(test::test_data("shell/" + name));
  std::vector<Construct> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    Construct row;
    for (std::string* cell : {&row.id, &row.theirs, &row.ours, &row.level, &row.mode})
      std::getline(cells, *cell, '\t');
    std::getline(cells, row.command);
    for (std::size_t at = row.command.find("⏎"); at != std::string::npos;
         at = row.command.find("⏎"))
      row.command.replace(at, std::string("⏎").size(), "\n");
    out.push_back(std::move(row));
  }
  return out;
}

void expect_verdicts(const std::string& file, Dialect dialect) {
  const std::vector<Construct> rows = constructs(file);
  EXPECT_GE(rows.size(), 150U);
  for (const Construct& row : rows) {
    const Parsed parsed = parse(row.command, dialect, row.as_mode());
    const auto* error = std::get_if<SyntaxError>(&parsed);
    EXPECT_EQ(error == nullptr ? "ok" : "bad", row.ours)
        << row.id << " " << row.command << "\n"
        << (error == nullptr ? "" : error->message);
    const Verdict v =
        judge(row.command, dialect, row.as_mode(), {.cwd = "/home/u/p", .home = "/home/u"});
    if (row.level != "-") {
      EXPECT_EQ(name(v.level), row.level) << row.id << " " << row.command;
    }
    if (error != nullptr) {
      EXPECT_EQ(v.level, Level::kHigh) << row.id << " " << row.command;
    }
  }
}

TEST(ShellDialects, EachConstructOfZshHasItsVerdict) {
  expect_verdicts("zsh.tsv", Dialect::kZsh);
}

TEST(ShellDialects, EachConstructOfFishHasItsVerdict) {
  expect_verdicts("fish.tsv", Dialect::kFish);
}

TEST(ShellDialects, PowershellIsNeverSafe) {
  for (const char* const command : {"", "ls", "Get-ChildItem", "echo a"}) {
    const Verdict v = judge(command, Dialect::kPowershell, Mode::kScript, {});
    EXPECT_EQ(v.level, Level::kHigh) << command;
    EXPECT_TRUE(v.error.has_value());
  }
}

TEST(HostileShellDialects, TruncationAtEveryByteKeepsTheTreeOrNamesThePlace) {
  for (const auto& [file, dialect] :
       {std::pair{"zsh.tsv", Dialect::kZsh}, std::pair{"fish.tsv", Dialect::kFish}}) {
    for (const Construct& row : constructs(file)) {
      for (std::size_t n = 0; n <= row.command.size(); ++n) {
        const std::string text = row.command.substr(0, n);
        const Parsed parsed = parse(text, dialect, row.as_mode());
        if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
          EXPECT_FALSE(error->message.empty());
          EXPECT_LE(error->span.begin, error->span.end);
          EXPECT_LE(error->span.end, static_cast<int>(n)) << text;
          continue;
        }
        const auto& script = std::get<Script>(parsed);
        const Parsed again = parse(print(script), dialect, row.as_mode());
        const auto* second = std::get_if<Script>(&again);
        ASSERT_NE(second, nullptr) << text << "\n--\n" << print(script);
        EXPECT_TRUE(equal(script, *second)) << text << "\n--\n" << print(script);
      }
    }
  }
}

}  // namespace
}  // namespace wick::shell
