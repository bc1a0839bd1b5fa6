#include "server/admission.h"

#include <gtest/gtest.h>

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
  (*f.admission.enter("m", 1, kRules))->end(usage(4000));
  EXPECT_EQ(f.fill("m", 500), 4 + 1);
  f.places.front()->end(usage(4000));
  EXPECT_EQ(f.fill("m", 1), 1);
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
    (*f.admission.enter("m", 1, kRules))->end(usage(i < 50 ? 100 : 2000));
  EXPECT_EQ(f.fill("m", 500), 4 + 2);
  f.places.clear();
  EXPECT_EQ(f.fill("m", 500, {.slots = 4}), 500) << "without a limit all may wait";
}

}  // namespace
}  // namespace wick::server
