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

  // The error, without the name of the file.
  std::string refusal(const std::string& text) {
    const auto config = load(text);
    const auto settings =
        config ? routing_settings(config->tables()) : Result<RoutingSettings>(config.error());
    if (settings) return "accepted";
    const std::string place = (dir_.path() / "config.toml:").string();
    const std::string& message = settings.error().message;
    return message.starts_with(place) ? message.substr(place.size()) : message;
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
  EXPECT_EQ(refusal("[remote]\napi_endpoint = \"https://x\"\n"),
            "1:2: [remote]: provider is missing");
  EXPECT_EQ(refusal("[remote]\nprovder = \"openai\"\n"), "2:1: [remote] has no setting 'provder'");
  EXPECT_EQ(refusal("[fallback]\nstrategy = \"fastest\"\n"),
            "2:1: [fallback]: strategy must be local_first, cost_optimized or performance_first, "
            "not 'fastest'");
  EXPECT_EQ(refusal("[fallback]\nmonthly_budget = -1\n"),
            "2:1: [fallback]: monthly_budget must be a number from 0 to 1000000000, not -1");
  EXPECT_EQ(refusal("[performance]\nresponse_timeout = \"30 days\"\n"),
            "2:1: [performance]: response_timeout must be a duration, such as \"30s\" or \"1h\"");
  EXPECT_NE(refusal("[local]\ngpu_enabled = 1\n").find("local.device"), std::string::npos);
  // What is wrong in the long form has the place of the short one.
  EXPECT_EQ(refusal("[budget]\nmonthly = \"5 USD\"\n[remote]\nprovider = \"openai\"\n"
                    "api_endpoint = \"http://example.com\"\n[fallback]\nmonthly_budget = 1\n"),
            "5:1: the provider 'openai' is on another network and not reached by https");
}

// The ledger counts under the name of a budget, in lines: what two of them share would be counted
// twice, what has a line feed not at all.
TEST_F(Presets, BudgetsHaveNamesOfTheirOwn) {
  EXPECT_EQ(refusal("[[budget]]\nmonthly = \"5 USD\"\n[[budget]]\nmonthly = \"6 USD\"\n"),
            "4:1: [budget]: monthly is there twice for the same requests");
  EXPECT_EQ(refusal("[budget]\nmonthly = \"5 USD\"\n[fallback]\nmonthly_budget = 1\n"),
            "4:1: [budget]: monthly is there twice for the same requests");
  EXPECT_EQ(refusal("[budget]\ntag = \"a\\nb\"\nmonthly = \"5 USD\"\n"),
            "2:1: [budget]: tag must have no control characters");
  EXPECT_EQ(refusal("[[provider]]\nname = \"a\\nb\"\nkind = \"groq\"\n"),
            "2:1: [[provider]] 1: name must be a name without '/', '*' and control characters, and "
            "not auto, remote or local");
  EXPECT_EQ(refusal("[[budget]]\nmonthly = \"5 USD\"\ndaily = \"1 USD\"\n"
                    "[[budget]]\nmonthly = \"6 USD\"\ntag = \"a\"\n"
                    "[[budget]]\nrolling = \"6 USD\"\nrolling_hours = 2\n"
                    "[[budget]]\nrolling = \"7 USD\"\nrolling_hours = 3\n"),
            "accepted");
}

TEST_F(Presets, EveryErrorOfTheTablesHasItsPlace) {
  const std::string one = "[[provider]]\nname = \"openai\"\n";
  const auto wrong = [&](const std::string& more) { return refusal(one + more); };
  EXPECT_EQ(wrong("weight = 0\n"),
            "3:1: [[provider]] 1: weight must be a number above 0, at most "
            "1000000, not 0");
  EXPECT_EQ(wrong("kind = \"opnai\"\n").substr(0, 35), "3:1: [[provider]] 1: kind must be o");
  EXPECT_EQ(wrong("endpoint = \"example.com\"\n").substr(0, 32),
            "3:1: 'example.com' is not a usab");
  EXPECT_EQ(wrong("models = [\n  { name = \"m\", input = \"1 EUR\" }]\n"),
            "4:17: '1 EUR' is no price");
  EXPECT_EQ(wrong("models = [\"a\", { context = 1 }]\n"),
            "3:16: [[provider]] openai, models: name is missing");
  EXPECT_EQ(wrong("[[provider]]\nname = \"openai\"\n"), "4:1: two providers are called 'openai'");
  EXPECT_EQ(wrong("[[route]]\nto = \"x/y\"\n"),
            "4:1: [[route]] route 1 names the provider 'x', which there is not");
  EXPECT_EQ(wrong("[[route]]\nto = \"*\"\nwhen = { tokens_ovr = 1 }\n"),
            "5:10: [[route]] 1, when has no setting 'tokens_ovr'");
  EXPECT_EQ(wrong("[route]\nto = \"*\"\n"), "3:2: 'route' must be written as [[route]]");
  EXPECT_EQ(wrong("[alias]\nfast = { strategy = \"cost\" }\n"), "4:1: [alias] fast: to is missing");
  EXPECT_EQ(wrong("[budget]\nweekly = \"5 USD\"\n"), "4:1: [budget] has no setting 'weekly'");
  EXPECT_EQ(wrong("[[budget]]\ndaily = \"5 USD\"\n[[budget]]\ndaily = 5\n"),
            "6:1: [budget]: daily must be an amount such as \"5 USD\", not 5");
  EXPECT_EQ(wrong("[budget]\nprices = \"/no/such.json\"\n").substr(0, 5), "4:1: ");
  EXPECT_EQ(wrong("[budget]\nmonthly = \"\"\n"), "4:1: '' is no amount");
  EXPECT_EQ(wrong("[budget]\nrolling = \"1 USD\"\nrolling_hours = 0\n"),
            "5:1: [budget]: rolling_hours must be a whole number from 1 to 8784, not 0");
  EXPECT_EQ(wrong("[limits]\nstore = \"http://x\"\n").substr(0, 5), "4:1: ");
  EXPECT_EQ(wrong("[response_cache]\nsimilarity = 0.5\n"),
            "4:1: [response_cache]: similarity must be a number from 0.8 to 1, not 0.5");
  EXPECT_EQ(wrong("[bugdet]\nmonthly = \"5 USD\"\n"), "4:1: there is no setting 'bugdet.monthly'");
}

// The last file that has a table holds, with its own places.
TEST(TomlTables, OfALaterFileReplaceThoseOfTheEarlier) {
  auto tables = parse_toml_tables("[[route]]\nto = \"*\"\nstrategy = \"cost\"\n", "a");
  ASSERT_TRUE(tables);
  auto later = parse_toml_tables("\n\n[[route]]\nprivate = true\n", "b");
  ASSERT_TRUE(later);
  tables->merge(*std::move(later));
  EXPECT_EQ(place_of(tables->places, "route/0/strategy"), "b:3:1");
  EXPECT_EQ(place_of(tables->places, "route/0/private"), "b:4:1");
  EXPECT_EQ(place_of(tables->places, "budget"), "");
}

}  // namespace

}  // namespace wick
