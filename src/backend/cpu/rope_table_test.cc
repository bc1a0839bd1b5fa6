#include "backend/cpu/rope_table.h"
#include "support/test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

namespace wick {
namespace {

TEST(CosSin, AgreesWithTheLibraryToTheLastDigits) {
  for (double x = 0; x < 100; x += 0.0137) {
    const CosSin at = cos_sin(x);
    EXPECT_NEAR(at.cosine, std::cos(x), 1e-14) << x;
    EXPECT_NEAR(at.sine, std::sin(x), 1e-14) << x;
  }
  for (double x = 1; x < 2e6; x = x * 1.01 + 0.5) {  // as far as contexts go
    const CosSin at = cos_sin(x);
    EXPECT_NEAR(at.cosine, std::cos(x), 1e-14) << x;
    EXPECT_NEAR(at.sine, std::sin(x), 1e-14) << x;
  }
}

// tests/data/backend/rope.txt is made by tools/goldens/backend_rope.py from transformers.
TEST(ParityRope, AnglesAreThoseOfTransformers) {
  std::ifstream file(test::test_data("backend/rope.txt"));
  int n_lines = 0;
  for (std::string line; std::getline(file, line); ++n_lines) {
    std::istringstream in(line);
    std::string name;
    RopeParams rope;
    float factor = 1;
    Pos pos = 0;
    in >> name >> rope.dim >> rope.theta >> factor >> rope.ext_factor >> rope.attn_factor >>
        rope.beta_fast >> rope.beta_slow >> rope.ctx_orig >> pos;
    rope.freq_scale = 1 / factor;
    const auto frequencies = rope_frequencies(rope);
    auto table = RopeTable::create(rope, 4096);
    ASSERT_TRUE(table) << to_string(table.error());
    table->prepare(pos);
    float want = 0;
    for (const float frequency : frequencies) {  // two last places: torch's pow errs by one
      ASSERT_TRUE(in >> want);
      EXPECT_NEAR(frequency, want, 2.5e-7 * want) << name;
    }
    for (const bool is_cosine : {true, false}) {
      for (std::size_t i = 0; i < frequencies.size(); ++i) {
        ASSERT_TRUE(in >> want);
        const float got = (is_cosine ? table->cosines(pos) : table->sines(pos))[i];
        EXPECT_NEAR(got, want, 3e-7 + 2.5e-7 * pos * frequencies[i]) << name << ", " << pos;
      }
    }
  }
  EXPECT_EQ(n_lines, 36);
}

TEST(RopeTable, MakesABlockOnceAndOnlyThatBlock) {
  auto table = RopeTable::create({.dim = 8}, 256);
  ASSERT_TRUE(table);
  table->prepare(70);
  EXPECT_EQ(table->cosines(64)[0], static_cast<float>(std::cos(64.0)));
  EXPECT_EQ(table->cosines(127)[0], static_cast<float>(std::cos(127.0)));
  EXPECT_EQ(table->cosines(63)[0], 0) << "its block was not asked for";
  EXPECT_EQ(table->cosines(128)[0], 0) << "its block was not asked for";
}

TEST(RopeTable, TellsRotationsApart) {
  RopeParams rope{.dim = 64, .theta = 1e6F};
  const auto table = RopeTable::create(rope, 64);
  EXPECT_TRUE(table->is_for(rope));
  rope.theta = 1e4F;
  EXPECT_FALSE(table->is_for(rope));
}

TEST(RopeTable, RefusesWhatCannotBeRotated) {
  EXPECT_EQ(RopeTable::create({.dim = 7}, 64).error().id, "rope_unfit");
  EXPECT_EQ(RopeTable::create({.dim = 8, .theta = 0}, 64).error().id, "rope_unfit");
  EXPECT_EQ(RopeTable::create({.dim = 8, .ext_factor = 1}, 64).error().id, "rope_unfit");
}

}  // namespace
}  // namespace wick
