#include "config/price_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "support/temp_dir.h"

namespace wick {

namespace {

// Rows as LiteLLM writes them.
constexpr const char* kRows = R"({
  "sample_spec": {"input_cost_per_token": 0.0, "mode": "one of: chat, embedding, …"},
  "gpt-4o-mini": {"litellm_provider": "openai", "max_input_tokens": 128000, "mode": "chat",
    "max_output_tokens": 16384, "input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07,
    "cache_read_input_token_cost": 7.5e-08, "supports_function_calling": true},
  "gemini/gemini-2.5-pro": {"litellm_provider": "gemini", "input_cost_per_token": 1.25e-06,
    "input_cost_per_token_above_200k_tokens": 2.5e-06, "output_cost_per_token": 1e-05,
    "output_cost_per_token_above_200k_tokens": 1.5e-05, "max_input_tokens": 1048576},
  "thinker": {"litellm_provider": "openai", "input_cost_per_token": 0,
    "output_cost_per_token": 1e-06, "output_cost_per_reasoning_token": 3e-06},
  "searcher": {"litellm_provider": "openai", "input_cost_per_token": 1e-06,
    "output_cost_per_token": 1e-06, "input_cost_per_request": 0.005},
  "half": {"litellm_provider": "openai", "input_cost_per_token": 1e-06},
  "odd": {"litellm_provider": "openai", "input_cost_per_token": "1e-06",
    "output_cost_per_token": -1},
  "text": "no row"
})";

class Prices : public testing::Test {
 protected:
  Result<PriceFile> read(const std::string& text) {
    const std::string path = (dir_.path() / "prices.json").string();
    std::ofstream(path) << text;
    return PriceFile::read(path);
  }

  // What the file knows of the model, in picos, or "unknown".
  std::string told(std::string_view kind, const std::string& name) {
    const auto file = read(kRows);
    if (!file) return to_string(file.error());
    route::MemberModel model{.name = name};
    file->complete(kind, model);
    if (!model.price) return "unknown";
    return cat(model.price->input, " ", model.price->output, " ", model.price->cached, " ",
               model.context);
  }

  const wick::test::TempDir dir_;
};

TEST_F(Prices, AreExactAndTheHighestOfTheirTiers) {
  EXPECT_EQ(told("openai", "gpt-4o-mini"), "150000 600000 75000 128000");
  EXPECT_EQ(told("gemini", "gemini-2.5-pro"), "2500000 15000000 -1 1048576");
  EXPECT_EQ(told("openai", "thinker"), "0 3000000 -1 0");
}

TEST_F(Prices, AreToldWithTheFileAndItsDate) {
  ASSERT_TRUE(read(kRows));
  const std::chrono::sys_seconds day = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);
  std::filesystem::last_write_time(dir_.path() / "prices.json",
                                   std::chrono::file_clock::from_sys(day));
  route::MemberModel model{.name = "gpt-4o-mini"};
  PriceFile::read((dir_.path() / "prices.json").string())->complete("openai", model);
  EXPECT_EQ(model.price_version,
            "input 0.15 cached 0.075 output 0.6 USD/M (prices.json of 2026-11-20)");
}

TEST_F(Prices, OfAnotherProviderOrOfOtherUnitsAreNotKnown) {
  EXPECT_EQ(told("azure", "gpt-4o-mini"), "unknown");
  EXPECT_EQ(told("openai", "gemini/gemini-2.5-pro"), "unknown");
  for (const char* const name : {"searcher", "half", "odd", "text", "nothing", "sample_spec"})
    EXPECT_EQ(told("openai", name), "unknown") << name;
}

TEST_F(Prices, WhatTheConfigSaysIsStronger) {
  const auto file = read(kRows);
  route::MemberModel model{
      .name = "gpt-4o-mini", .context = 8000, .price = route::Price{.input = 1, .output = 2}};
  file->complete("openai", model);
  EXPECT_EQ(model.price->input, 1);
  EXPECT_EQ(model.price_version, "");
  EXPECT_EQ(model.context, 8000);
}

TEST_F(Prices, AFileThatIsNoneIsNamed) {
  for (const char* const text : {"", "[]", "{", "\"x\""}) {
    const auto file = read(text);
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().id, "bad_prices");
    EXPECT_NE(file.error().message.find("prices.json is no JSON object"), std::string::npos);
  }
  EXPECT_FALSE(PriceFile::read((dir_.path() / "none").string()));
  EXPECT_FALSE(read(std::string(17 << 20, ' ')));
}

}  // namespace

}  // namespace wick
