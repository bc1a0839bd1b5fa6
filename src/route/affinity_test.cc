#include "route/affinity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/mix.h"
#include "base/strings.h"
#include "route/rules.h"

namespace wick::route {

namespace {

Request chat(const std::string& system, const std::string& question) {
  return {.prompt = std::vector<Message>{{.role = "system", .content = system},
                                         {.role = "user", .content = question}}};
}

std::vector<Member> replicas(int n) {
  std::vector<Member> members;
  for (int i = 0; i < n; ++i)
    members.push_back({.name = cat("replica", i), .models = {{.name = "m", .price = Price{}}}});
  return members;
}

std::vector<Rule> rules_of(const std::vector<Member>& members) {
  Rule rule{.name = "replicas", .strategy = Strategy::kAffinity, .alias = "m"};
  for (const Member& member : members)
    rule.to.push_back(cat(member.name, "/m"));
  return {rule};
}

std::string first_of(const std::vector<Member>& members, const Request& request,
                     const Measured& measured = {}) {
  Facts facts = facts_of(request);
  facts.model = "m";
  const Decision decision = decide(rules_of(members), members, facts, measured);
  return members[decision.candidates.front().member].name;
}

TEST(Affinity, PromptsThatBeginAlikeGoToOneReplica) {
  const auto members = replicas(5);
  const std::string system(kAffinityBytes, 'x');
  std::set<std::string> same, others;
  for (int i = 0; i < 100; ++i) {
    same.insert(first_of(members, chat(system, cat("question ", i))));
    others.insert(first_of(members, chat(cat("prompt ", i), "question")));
  }
  EXPECT_EQ(same.size(), 1U);
  EXPECT_EQ(others.size(), 5U);
  EXPECT_NE(prefix_hash(chat("ab", "c")), prefix_hash(chat("a", "bc")));
}

TEST(Affinity, AReplicaThatGoesMovesItsOwnPrefixesAlone) {
  const auto five = replicas(5), four = replicas(4);
  std::map<std::string, int> shares;
  for (int i = 0; i < 5000; ++i) {
    const Request request = chat(cat("prompt ", i), "");
    const std::string before = first_of(five, request), after = first_of(four, request);
    ++shares[before];
    if (before != "replica4") {
      ASSERT_EQ(before, after);
    }
  }
  for (const auto& [name, n] : shares)
    EXPECT_NEAR(n, 1000, 140) << name;  // 5 standard deviations
}

TEST(Affinity, WeightsAreShares) {
  auto members = replicas(2);
  members[0].weight = 3;
  int n_first = 0;
  for (int i = 0; i < 4000; ++i)
    n_first += first_of(members, chat(cat("prompt ", i), "")) == "replica0";
  EXPECT_NEAR(n_first, 3000, 150);
}

TEST(Affinity, NoReplicaRunsMoreThanItsBoundedLoad) {
  const auto members = replicas(4);
  std::vector<int> running(members.size());
  const Measured measured{.running = [&](const Candidate& one) { return running[one.member]; }};
  const Request same = chat(std::string(2000, 'x'), "all ask alike");
  int all = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint64_t chance = splitmix64(3, i);
    if (all > 40 && chance % 2 == 0) {  // one ends
      int& one = running[(chance >> 8U) % running.size()];
      if (one > 0) --all;
      one = std::max(one - 1, 0);
      continue;
    }
    const std::string to = first_of(members, same, measured);
    int& one = running[static_cast<std::size_t>(to.back() - '0')];
    const int most = bounded_load(running);
    ++one;
    ++all;
    ASSERT_LE(one, most);
    ASSERT_LE(one, 1 + 1.25 * all / 4);
  }
  EXPECT_GT(all, 40);
}

TEST(Affinity, SomeReplicaIsAlwaysBelowTheBound) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    std::vector<int> running(1 + splitmix64(1, i) % 9);
    for (std::size_t k = 0; k < running.size(); ++k)
      running[k] = static_cast<int>(splitmix64(i, k) % 20);
    EXPECT_LT(*std::min_element(running.begin(), running.end()), bounded_load(running));
  }
}

}  // namespace

}  // namespace wick::route
