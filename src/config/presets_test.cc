#include "config/presets.h"

#include <gtest/gtest.h>

#include <fstream>

#include "config/config.h"
#include "config/routing.h"
#include "support/temp_dir.h"

namespace wick {

namespace {

constexpr const char* kTables = R"([local]
model_path = "tiny.gguf"
gpu_enabled = false
gpu_memory_limit = "10GB"
max_concurrent_requests = 4
[remote]
provider = "huggingface"
api_endpoint = "https://router.huggingface.co/v1"
api_key_env = "MY_TOKEN"
rate_limit = 100
[fallback]
strategy = "local_first"
cost_threshold = 0.01
monthly_budget = 100.0
[performance]
response_timeout = "30s"
stream_chunk_size = 512
cache_enabled = true
cache_ttl = "1h"
)";

class Presets : public testing::Test {
 protected:
  Result<Config> load(const std::string& text) {
    const auto path = dir_.path() / "config.toml";
    std::ofstream(path) << text;
    return Config::load({.file = path, .variable = [](const char*) { return nullptr; }});
  }

  // The error of the tables.
  std::string refusal(const std::string& text) {
    const auto config = load(text);
    if (!config) return to_string(config.error());
    const auto settings = routing_settings(config->tables());
    return settings ? "accepted" : settings.error().message;
  }

  const test::TempDir dir_;
};

TEST_F(Presets, AreShortFormsOfTheOtherTables) {
  const auto config = load(kTables);
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->text("local.device"), "cpu");
  EXPECT_EQ(config->integer("local.memory_limit"), 10'000'000'000);
  EXPECT_EQ(config->integer("server.parallel"), 4);
  const auto settings = routing_settings(config->tables());
  ASSERT_TRUE(settings) << to_string(settings.error());
  ASSERT_EQ(settings->providers.size(), 1U);
  const ProviderSetting& provider = settings->providers[0];
  EXPECT_EQ(provider.endpoint.name, "huggingface");
  EXPECT_EQ(provider.endpoint.total_ms, 30'000);
  EXPECT_EQ(provider.key.variable, "MY_TOKEN");
  EXPECT_EQ(provider.limits.requests_per_minute, 100);
  ASSERT_EQ(settings->rules.size(), 1U);
  EXPECT_EQ(settings->rules[0].to, (std::vector<std::string>{"local", "huggingface"}));
  EXPECT_EQ(settings->rules[0].strategy, route::Strategy::kLocalFirst);
  ASSERT_EQ(settings->budgets.size(), 2U);
  EXPECT_EQ(settings->budgets[0].window, route::BudgetWindow::kRequest);
  EXPECT_EQ(settings->budgets[0].cap, route::kNanosPerDollar / 100);
  EXPECT_EQ(settings->budgets[1].window, route::BudgetWindow::kMonth);
  EXPECT_EQ(settings->budgets[1].cap, 100 * route::kNanosPerDollar);
  EXPECT_EQ(settings->cache.ttl_ms, 3'600'000);
  EXPECT_GT(settings->cache.max_bytes, 0U);
}

TEST_F(Presets, StandBesideTheOthersAndBehindThem) {
  const auto config = load(
      "[[provider]]\nname = \"openai\"\n[[route]]\nto = \"openai\"\n[budget]\ndaily = \"1 USD\"\n"
      "[remote]\nprovider = \"groq\"\n[fallback]\nstrategy = \"cost_optimized\"\n"
      "monthly_budget = 5\n[performance]\ncache_enabled = false\n[local]\ngpu_enabled = true\n");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->text("local.device"), "auto");
  const auto settings = routing_settings(config->tables());
  ASSERT_TRUE(settings) << to_string(settings.error());
  EXPECT_EQ(settings->providers[1].endpoint.name, "groq");
  EXPECT_EQ(settings->rules[1].strategy, route::Strategy::kCost);
  EXPECT_EQ(settings->budgets.size(), 2U);
  EXPECT_EQ(settings->cache.max_bytes, 0U);
}

TEST_F(Presets, WrongOnesAreNamed) {
  EXPECT_EQ(refusal("[remote]\napi_endpoint = \"https://x\"\n"), "[remote]: provider is missing");
  EXPECT_EQ(refusal("[remote]\nprovder = \"openai\"\n"), "[remote] has no setting 'provder'");
  EXPECT_EQ(refusal("[fallback]\nstrategy = \"fastest\"\n"),
            "[fallback]: strategy must be local_first, cost_optimized or performance_first");
  EXPECT_EQ(refusal("[fallback]\nmonthly_budget = -1\n"),
            "[fallback]: monthly_budget must be a number of dollars");
  EXPECT_EQ(refusal("[performance]\nresponse_timeout = \"30 days\"\n"),
            "[performance]: response_timeout must be a duration, such as \"30s\" or \"1h\"");
  EXPECT_NE(refusal("[local]\ngpu_enabled = 1\n").find("local.device"), std::string::npos);
}

}  // namespace

}  // namespace wick
