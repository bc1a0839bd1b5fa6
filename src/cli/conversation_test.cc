#include <gtest/gtest.h>

#include "cli/options.h"

namespace wick {
namespace {

TEST(Conversation, ASettingIsCheckedWhenItIsSet) {
  Generation generation{.seed = 7};

  struct Refused {
    const char *key, *value, *id, *words;
  };

  for (const Refused& r : {Refused{"seed", "-5", "bad_setting", "seed is -5, allowed are"},
                           {"seed", "1.5", "bad_setting", "seed is '1.5', allowed are"},
                           {"top_k", "3.5", "bad_setting", "top_k is '3.5', allowed are"},
                           {"temperature", "-1", "bad_setting", "temperature is -1, allowed are"},
                           {"max_tokens", "-1", "bad_setting", "max_tokens is -1, allowed are"},
                           {"stop", "x", "unknown_parameter", "'stop' cannot be set"},
                           {"", "1", "unknown_parameter", "'' cannot be set"}}) {
    const auto set = set_parameter(generation, r.key, r.value);
    ASSERT_FALSE(set) << r.key << " " << r.value;
    EXPECT_EQ(set.error().id, r.id);
    EXPECT_NE(set.error().message.find(r.words), std::string::npos) << set.error().message;
  }
  EXPECT_EQ(generation.seed, 7U);
  EXPECT_TRUE(generation.more.empty());
}

TEST(Conversation, ASettingReplacesTheOneBefore) {
  Generation generation{.seed = 7, .origins = {{"seed", "flag --seed"}}};
  ASSERT_TRUE(set_parameter(generation, "seed", "9"));
  ASSERT_TRUE(set_parameter(generation, "temperature", "0.5"));
  ASSERT_TRUE(set_parameter(generation, "ignore_eos", "true"));
  ASSERT_TRUE(set_parameter(generation, "max_tokens", "12"));
  const std::vector<std::pair<std::string, double>> wanted = {{"temperature", 0.5},
                                                              {"ignore_eos", 1}};
  EXPECT_EQ(generation.more, wanted);
  EXPECT_EQ(generation.seed, 9U);
  EXPECT_EQ(generation.max_tokens, 12);
  ASSERT_TRUE(set_parameter(generation, "seed", "18446744073709551615"));
  EXPECT_EQ(generation.seed, ~std::uint64_t{0});
  EXPECT_TRUE(generation.origins.empty());
}

}  // namespace
}  // namespace wick
