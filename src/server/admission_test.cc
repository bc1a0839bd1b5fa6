#include "server/admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace wick::server {
namespace {

constexpr AdmissionRules kRules = {.slots = 4, .max_wait_ms = 1000};

Usage usage(double ms) {
  return {.generated_tokens = 10, .prompt_ms = ms / 4, .generate_ms = ms - ms / 4};
}

struct Fixture {
  Admission admission;
  std::vector<std::unique_ptr<Admission::Place>> places;

  // How many of `most` are let in.
  int fill(const std::string& model, int most, const AdmissionRules& rules = kRules) {
    for (int i = 0; i < most; ++i) {
      auto place = admission.enter(model, 1, rules);
      if (!place) {
        EXPECT_EQ(place.error().id, "overloaded");
        return i;
      }
      places.push_back(*std::move(place));
    }
    return most;
  }
};

TEST(ServerAdmission, LetsInWhatWaitsNoLongerThanItMay) {
  Fixture f;
  EXPECT_EQ(f.fill("m", 500), 500) << "nothing is known of the time that one takes";
  f.places.clear();
  (*f.admission.enter("m", 1, kRules))->end(usage(500));
  EXPECT_EQ(f.fill("m", 500), 4 + 8) << "4 slots, and 8 that wait 8 / 4 * 500 ms";
  f.places.pop_back();
  EXPECT_EQ(f.fill("m", 5), 1);
  EXPECT_EQ(f.fill("other", 500), 500) << "each model has its own queue";
}

TEST(ServerAdmission, AnswersThatEndMakeRoomAtOnce) {
  Fixture f;
  (*f.admission.enter("m", 1, kRules))->end(usage(900));
  EXPECT_EQ(f.fill("m", 500), 4 + 4);
  f.places.front()->end(usage(900));
  EXPECT_EQ(f.fill("m", 2), 1);
  f.places.erase(f.places.begin());  // it has given its place back already
  EXPECT_EQ(f.fill("m", 1), 0);
}

TEST(ServerAdmission, SeveralAnswersOfARequestCountAsSuch) {
  Fixture f;
  (*f.admission.enter("m", 1, kRules))->end(usage(1000));
  EXPECT_FALSE(f.admission.enter("m", 9, kRules));
  const auto eight = f.admission.enter("m", 8, kRules);
  ASSERT_TRUE(eight);
  EXPECT_EQ(f.fill("m", 1), 0);
}

TEST(ServerAdmission, FollowsTheTimeThatAnswersTake) {
  Fixture f;
  for (int i = 0; i < 100; ++i)
    (*f.admission.enter("m", 1, kRules))->end(usage(i < 50 ? 100 : 490));
  EXPECT_EQ(f.fill("m", 500), 4 + 8);
  f.places.clear();
  EXPECT_EQ(f.fill("m", 500, {.slots = 4}), 500) << "without a limit all may wait";
}

struct AdmissionClock final : Clock {
  double ms = 1;

  std::int64_t now_ns() const noexcept override { return static_cast<std::int64_t>(ms * 1e6); }
};

// An engine of four slots that takes answers in the order of their arrival, and clients that come
// whenever they like.
struct SimulatedLoad {
  struct Answer {
    std::unique_ptr<Admission::Place> place;
    double came_ms, begun_ms, took_ms;
  };

  // What an answer takes that begins beside so many others.
  std::function<double(std::size_t)> compute_ms;
  Admission admission = {};
  AdmissionClock clock = {};
  std::vector<Answer> computed = {}, waiting = {};
  std::vector<double> waits = {};  // of the admitted ones, in ms
  int n_refused = 0;

  void begin_waiting() {
    while (!waiting.empty() && computed.size() < 4) {
      computed.push_back(std::move(waiting.front()));
      waiting.erase(waiting.begin());
      Answer& begun = computed.back();
      begun.begun_ms = clock.ms;
      begun.took_ms = compute_ms(computed.size());
      waits.push_back(clock.ms - begun.came_ms);
    }
  }

  void arrive() {
    auto place = admission.enter("m", 1, kRules, clock);
    if (!place) {
      ++n_refused;
      return;
    }
    waiting.push_back({*std::move(place), clock.ms, 0, 0});
    begin_waiting();
  }

  void run_until(double end_ms) {
    const auto sooner = [](const Answer& a, const Answer& b) {
      return a.begun_ms + a.took_ms < b.begun_ms + b.took_ms;
    };
    while (!computed.empty()) {
      const auto next = std::min_element(computed.begin(), computed.end(), sooner);
      if (next->begun_ms + next->took_ms > end_ms) break;
      clock.ms = next->begun_ms + next->took_ms;
      Usage told = usage(next->took_ms);
      told.queue_ms = next->begun_ms - next->came_ms;
      next->place->end(told);
      computed.erase(next);
      begin_waiting();
    }
    clock.ms = end_ms;
  }

  void run(double seconds, double arrivals_per_second) {
    const double end_ms = clock.ms + 1000 * seconds;
    while (clock.ms < end_ms) {
      arrive();
      run_until(clock.ms + 1000 / arrivals_per_second);
    }
  }

  double longest_wait() const { return *std::max_element(waits.begin(), waits.end()); }
};

TEST(ServerAdmission, UnderTenfoldLoadNobodyWaitsLongerThanAdmitted) {
  for (const double ms : {30.0, 200.0, 333.0, 999.0}) {
    SimulatedLoad load{.compute_ms = [ms](std::size_t) { return ms; }};
    load.run(1, 2000 / ms);  // half of what the engine can do
    load.waits.clear();
    load.run(60, 40'000 / ms);  // its slots begin together, so they end together
    EXPECT_LE(load.longest_wait(), 1000) << ms;
    EXPECT_GT(load.longest_wait() + ms, 1000) << ms << ": more could have been admitted";
    EXPECT_GT(load.n_refused, static_cast<int>(load.waits.size())) << ms;
    EXPECT_GT(load.waits.size(), 0.98 * 4 * 60'000 / ms) << "a slot was idle";
  }
}

TEST(ServerAdmission, QuietTimesDoNotShortenTheEstimateOfBusyOnes) {
  SimulatedLoad load{
      .compute_ms = [](std::size_t beside) { return 50.0 * static_cast<double>(beside); }};
  load.run(10, 200);               // learns what a full batch takes
  for (int i = 0; i < 200; ++i) {  // then one client after another
    load.arrive();
    load.run_until(load.clock.ms + 60);
  }
  load.waits.clear();
  load.run(10, 200);
  EXPECT_LE(load.longest_wait(), 1000 + 200);
}

// Four clients, each with the next request once it has its answer.
void ask_in_turn(SimulatedLoad& load, double ms, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (int client = 0; client < 4; ++client)
      load.arrive();
    load.run_until(load.clock.ms + ms);
  }
}

TEST(ServerAdmission, TheEstimateFollowsLongerAnswersWithinFortyOfThem) {
  double ms = 15;
  SimulatedLoad load{.compute_ms = [&](std::size_t) { return ms; }};
  ask_in_turn(load, ms, 30);
  ms = 250;
  ask_in_turn(load, ms, 10);
  load.waits.clear();
  load.run(5, 160);
  EXPECT_LE(load.longest_wait(), 1250);
}

TEST(ServerAdmission, NobodyIsAdmittedWhileTheEngineStandsStill) {
  double ms = 100;
  SimulatedLoad load{.compute_ms = [&](std::size_t) { return ms; }};
  load.run(2, 400);
  ms = 5000;  // the answers that begin now hang
  load.run_until(load.clock.ms + 100);
  const std::size_t before = load.waiting.size();
  load.run_until(load.clock.ms + 1100);
  for (int i = 0; i < 50; ++i)
    load.arrive();
  EXPECT_EQ(load.waiting.size(), before);
}

TEST(ServerAdmission, OfAnswersOfManyLengthsOneInAHundredWaitsLonger) {
  std::uint32_t state = 1;
  SimulatedLoad load{.compute_ms = [&](std::size_t) {
    state = state * 1664525 + 1013904223;
    return 20.0 + (state >> 16) % 360;
  }};
  load.run(2, 10);
  load.waits.clear();
  load.run(120, 200);
  std::sort(load.waits.begin(), load.waits.end());
  EXPECT_GE(load.waits[load.waits.size() / 2], 600);
  EXPECT_LE(load.waits[load.waits.size() * 99 / 100], 1150);
}

}  // namespace
}  // namespace wick::server
