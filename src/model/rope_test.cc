#include "model/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/strings.h"
#include "support/gguf_writer.h"
#include "support/temp_dir.h"
#include "support/test_data.h"

namespace wick {
namespace {

TEST(SameBitsRopeFactors, OfPublishedLlama3AreThoseOfConvertedFiles) {
  std::vector<float> want(64 + 32);
  std::ifstream in(test::test_data("model/rope_llama3.bin"), std::ios::binary);
  ASSERT_TRUE(in.read(reinterpret_cast<char*>(want.data()),
                      static_cast<std::streamsize>(want.size() * sizeof(float))));
  std::vector<float> got = llama3_rope_factors({.theta = 500000, .factor = 8}, 128);
  const std::vector<float> small = llama3_rope_factors({.theta = 500000, .factor = 32}, 64);
  got.insert(got.end(), small.begin(), small.end());
  EXPECT_EQ(got, want);  // no NaN, no zero: equal floats are equal bits
  EXPECT_EQ(want.front(), 1);
  EXPECT_EQ(want.back(), 32);
}

// The rotation that a file with these keys asks for.
template <class Add>
Result<RopeSpec> rope_of(Add&& add) {
  const test::TempDir dir;
  test::GgufWriter gguf;
  gguf.add_string("general.architecture", "llama").add_integer("llama.context_length", 4096);
  add(gguf);
  gguf.add_tensor("t", DType::kF32, {1}, test::bytes_of<float>({1}));
  gguf.write(dir.path() / "m.gguf");
  WICK_TRY(const ModelFile file, open_model(dir.path() / "m.gguf"));
  return rope_spec(Hparams(file), RopeParams::kPairs, 64);
}

TEST(Rope, TurnsWholeHeadsByDefault) {
  const auto spec = rope_of([](auto&) {});
  ASSERT_TRUE(spec) << to_string(spec.error());
  EXPECT_EQ(spec->params.dim, 64);
  EXPECT_EQ(spec->params.theta, 1e4F);
  EXPECT_EQ(spec->params.freq_scale, 1);
  EXPECT_EQ(spec->params.ext_factor, 0);
  EXPECT_EQ(spec->factors, RopeFactors::kNone);
}

TEST(Rope, ReadsLinearScalingInBothSpellings) {
  for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    const auto spec = rope_of([&](auto& gguf) { gguf.add_number(key, 4); });
    ASSERT_TRUE(spec) << to_string(spec.error());
    EXPECT_EQ(spec->params.freq_scale, 0.25F) << key;
  }
  const auto none = rope_of([](auto& gguf) { gguf.add_number("llama.rope.scaling.factor", 0); });
  ASSERT_TRUE(none);
  EXPECT_EQ(none->params.freq_scale, 1);
}

TEST(Rope, GivesYarnItsUsualGrowthAndTheTrainedContext) {
  const auto spec = rope_of([](auto& gguf) {
    gguf.add_string("llama.rope.scaling.type", "yarn").add_number("llama.rope.scaling.factor", 4);
  });
  ASSERT_TRUE(spec) << to_string(spec.error());
  EXPECT_EQ(spec->params.ext_factor, 1);
  EXPECT_FLOAT_EQ(spec->params.attn_factor, 1.1386294F);  // 0.1 ln 4 + 1
  EXPECT_EQ(spec->params.ctx_orig, 4096);
  EXPECT_EQ(spec->params.beta_fast, 32);
}

TEST(Rope, DynamicScalingFollowsTheContext) {
  const auto rope = rope_of([](auto& gguf) {
    gguf.add_string("llama.rope.scaling.type", "dynamic")
        .add_number("llama.rope.scaling.factor", 2);
  });
  ASSERT_TRUE(rope) << to_string(rope.error());
  EXPECT_EQ(rope->dynamic_factor, 2);
  const GqaSpec attention{.rope = rope->params, .dynamic_factor = rope->dynamic_factor};
  const auto theta_at = [&](int context) {
    DecoderSpec spec{.ctx_train = 4096};
    spec.blocks.push_back({.mixer = attention});
    fit_to_context(spec, context);
    return attention_of(spec, 0)->rope.theta;
  };
  EXPECT_EQ(theta_at(100), 1e4F);
  EXPECT_EQ(theta_at(4096), 1e4F);
  EXPECT_FLOAT_EQ(theta_at(8192), static_cast<float>(1e4 * std::pow(3.0, 64.0 / 62.0)));
}

TEST(Rope, RefusesValuesThatMakeNoRotation) {
  const auto odd = rope_of([](auto& g) { g.add_integer("llama.rope.dimension_count", 7); });
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("rotates 7 features"), std::string::npos);
  const auto wide = rope_of([](auto& g) { g.add_integer("llama.rope.dimension_count", 66); });
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message.find("llama.rope.dimension_count"), std::string::npos);
  EXPECT_FALSE(rope_of([](auto& g) { g.add_number("llama.rope.freq_base", -1); }));
}

}  // namespace
}  // namespace wick
