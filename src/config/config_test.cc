#include "config/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "base/strings.h"
#include "config/limits.h"
#include "engine/limits.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

using Variables = std::map<std::string, std::string>;

ReadVariable reader(const Variables& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

class ConfigFiles : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    const auto path = dir_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  Result<Config> load(const std::string& text, const Variables& variables = {}) {
    return Config::load({.file = write("config.toml", text), .variable = reader(variables)});
  }

  std::string message(const std::string& text, const Variables& variables = {}) {
    const auto config = load(text, variables);
    if (config) return "accepted";
    return config.error().message + "|" + config.error().hint;
  }

  std::string path() const { return (dir_.path() / "config.toml").string(); }

  test::TempDir dir_;
};

TEST_F(ConfigFiles, EachLayerBeatsTheOneBelowAndIsNamed) {
  const std::string file = "# mine\n[local]\nthreads = 3\ncontext = 4096\n";
  auto config = load(file, {{"LLAMA_ARG_CTX_SIZE", "1024"}});
  ASSERT_TRUE(config) << to_string(config.error());
  ASSERT_TRUE(config->set_flag(*find_option("cache.kv_type"), "q8_0,q4_0"));
  EXPECT_EQ(config->integer("local.threads"), 3);
  EXPECT_EQ(config->origin("local.threads"), path() + ":3");
  EXPECT_EQ(config->integer("local.context"), 1024);
  EXPECT_EQ(config->origin("local.context"), "environment LLAMA_ARG_CTX_SIZE");
  EXPECT_EQ(config->text("cache.kv_type"), "q8_0,q4_0");
  EXPECT_EQ(config->origin("cache.kv_type"), "flag --kv-type");
  EXPECT_EQ(config->number("generation.top_p"), 0.95);
  EXPECT_EQ(config->origin("generation.top_p"), "default");
  EXPECT_FALSE(config->is_set("generation.top_p"));
}

TEST_F(ConfigFiles, WhatAFlagReplacesIsStillThere) {
  auto config = load("[local]\nmodel_path = \"mine\"\n", {});
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->text_below_flags("local.model_path"), "mine");
  for (const char* const flag : {"auto", "other"})
    ASSERT_TRUE(config->set_flag(*find_option("local.model_path"), flag));
  EXPECT_EQ(config->text("local.model_path"), "other");
  EXPECT_EQ(config->text_below_flags("local.model_path"), "mine");
}

TEST_F(ConfigFiles, TheUsersFileBeatsTheMachinesAndOneThatIsNamedStandsAlone) {
  const Variables home = {{"HOME", "/home/me"}};
  EXPECT_EQ(config_files(reader(home)),
            (std::vector<std::filesystem::path>{"/etc/wick/config.toml",
                                                "/home/me/.config/wick/config.toml"}));
  const Variables xdg = {{"HOME", "/home/me"}, {"XDG_CONFIG_HOME", "/x"}};
  EXPECT_EQ(config_files(reader(xdg)).back(), "/x/wick/config.toml");
  const Variables relative = {{"HOME", "/home/me"}, {"XDG_CONFIG_HOME", "x"}};
  EXPECT_EQ(config_files(reader(relative)).back(), "/home/me/.config/wick/config.toml");
  const auto named = write("other.toml", "local.threads = 7");
  const Variables only = {{"HOME", "/home/me"}, {"WICK_CONFIG", named.string()}};
  const auto config = Config::load({.variable = reader(only)});
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->origin("local.threads"), named.string() + ":1");
}

TEST_F(ConfigFiles, AFileThatIsNamedMustBeThere) {
  const auto missing = Config::load({.file = "/no/such.toml", .variable = reader({})});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "/no/such.toml: is no file that can be read");
  EXPECT_FALSE(Config::load({.file = dir_.path(), .variable = reader({})}));  // a folder
  const auto pipe = dir_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(Config::load({.file = pipe, .variable = reader({})}));  // waits for no writer
}

TEST_F(ConfigFiles, OurOwnVariableBeatsTheForeignOnesAndAnEmptyOneCountsAsNone) {
  const Variables both = {{"LLAMA_ARG_THREADS", "9"}, {"WICK_LOCAL_THREADS", "2"}};
  EXPECT_EQ(load("", both)->origin("local.threads"), "environment WICK_LOCAL_THREADS");
  const Variables empty = {{"LLAMA_ARG_THREADS", "9"}, {"WICK_LOCAL_THREADS", ""}};
  EXPECT_EQ(load("", empty)->integer("local.threads"), 9);
}

TEST_F(ConfigFiles, EveryVariableTakesGoodValuesAndNamesItselfWithBadOnes) {
  for (const Option& row : options()) {
    for (const std::string& name : row.environment) {
      const bool is_text = row.kind == OptionKind::kText || row.kind == OptionKind::kTexts;
      if (!is_text) {
        const std::string said = message("", {{name, "\x01never"}});
        EXPECT_NE(said.find("environment " + name + ": " + row.key + " is '\\x01never'"),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find(allowed(as_variable(row, name))), std::string::npos) << said;
      }
      const std::string fallback = to_toml(row.fallback);
      if (fallback.empty() || fallback[0] == '"') continue;
      const auto config = load("", {{name, fallback}});
      ASSERT_TRUE(config) << name << ": " << to_string(config.error());
      EXPECT_EQ(config->value(row.key), row.fallback) << name;
      EXPECT_EQ(config->origin(row.key), "environment " + name);
    }
  }
}

// What 0 means there is not what it means to wick's own variable and flag (docs/config.md).
TEST_F(ConfigFiles, VariablesOfOtherProgramsKeepTheirMeaningOfZero) {
  const auto window = load("", {{"CANDLE_REPEAT_PENALTY_WINDOW", "0"}});
  ASSERT_TRUE(window) << to_string(window.error());
  EXPECT_EQ(window->integer("generation.repeat_last_n"), -1);  // all tokens
  EXPECT_EQ(load("", {{"CANDLE_REPEAT_PENALTY_WINDOW", "32"}})->integer("generation.repeat_last_n"),
            32);
  EXPECT_EQ(message("", {{"CANDLE_REPEAT_PENALTY_WINDOW", "-1"}}),
            "environment CANDLE_REPEAT_PENALTY_WINDOW: generation.repeat_last_n is -1, allowed are "
            "whole numbers from 0 to 16777216|");
  EXPECT_EQ(load("", {{"WICK_GENERATION_REPEAT_LAST_N", "0"}})->integer("generation.repeat_last_n"),
            0);  // off
  EXPECT_EQ(load("", {})->integer("generation.repeat_last_n"), 64);

  const auto chunk = load("", {{"CANDLE_PREFILL_CHUNK_SIZE", "0"}});
  ASSERT_TRUE(chunk) << to_string(chunk.error());
  EXPECT_EQ(chunk->integer("optimize.prefill_chunk"), kMaxBatchTokens);  // the largest there is
  EXPECT_EQ(chunk->origin("optimize.prefill_chunk"), "environment CANDLE_PREFILL_CHUNK_SIZE");
  EXPECT_EQ(load("", {{"CANDLE_PREFILL_CHUNK_SIZE", "64"}})->integer("optimize.prefill_chunk"), 64);
  EXPECT_NE(message("", {{"LLAMA_ARG_UBATCH", "0"}}), "accepted");
}

TEST_F(ConfigFiles, ABadValueNamesThePlaceTheKeyTheValueAndTheRange) {
  EXPECT_EQ(message("[local]\n  threads = 5000\n"),
            path() + ":2:3: local.threads is 5000, allowed are whole numbers from 0 to 1024|");
  EXPECT_EQ(message("local.threads = 'two'"),
            path() + ":1:7: local.threads is a string, allowed are whole numbers from 0 to 1024|");
  EXPECT_EQ(message("cache.kv_type = 'q9'"),
            path() +
                ":1:7: cache.kv_type is 'q9', allowed are f32, bf16, f16, q8_0, q4_0; or two "
                "with a comma|");
  EXPECT_EQ(message("cache.kv_limit = '5 stones'"),
            path() +
                ":1:7: cache.kv_limit is '5 stones', allowed are 1.0 MB to 1.0 PB, as "
                "bytes or 500MB or 2GiB|");
  EXPECT_NE(message("generation.top_p = nan").find("generation.top_p is nan, allowed are numbers"),
            std::string::npos);
  EXPECT_NE(message("[\nb = 2").find(path() + ":1:2: "), std::string::npos);
  EXPECT_NE(message("local.threads =\u00e4 2").find(path() + ":1:16: "), std::string::npos);
  EXPECT_NE(message("generation.seed = 2021-01-01").find("is nothing"), std::string::npos);
  EXPECT_NE(message("generation.seed = -1").find("seed is -1, allowed are"), std::string::npos);
  EXPECT_NE(
      message("generation.seed = '18446744073709551616'").find("seed is '18446744073709551616'"),
      std::string::npos);
  EXPECT_NE(message("cache.kv_type = 'f16,f16,f16'").find("or two"), std::string::npos);
}

TEST_F(ConfigFiles, AnUnknownKeyIsAnErrorWithTheNearestOne) {
  EXPECT_EQ(message("[local]\nthread = 2\n"),
            path() + ":2:1: there is no setting 'local.thread'|the nearest are: local.threads");
  EXPECT_NE(message("[lokal]\n").find("there is no setting 'lokal.'"), std::string::npos);
  EXPECT_NE(message("[[local]]\n").find("there is no setting 'local'"), std::string::npos);
  EXPECT_EQ(message("[local]\n"), "accepted");
}

TEST_F(ConfigFiles, ASyntaxErrorSaysWhereItIs) {
  EXPECT_NE(message("[local]\nthreads = = 2\n").find(path() + ":2:11: "), std::string::npos);
  EXPECT_NE(message("local.threads = 1\nlocal.threads = 2\n").find(path() + ":2:"),
            std::string::npos);
}

TEST_F(ConfigFiles, WhatShowsAsTomlReadsBackAsTheSame) {
  const std::string text =
      "generation.stop = [\"a\\\"\\n\\u0001\\\\\", \"b\"]\ngeneration.stop_id = [3, 4]\n"
      "cache.kv_limit = \"1.5GiB\"\ngeneration.temperature = 1\nhub.offline = true\n"
      "generation.seed = 7\ngeneration.top_k = 3\n";
  const auto config = load(text);
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->integer("cache.kv_limit"), 1610612736);
  std::string shown;
  for (const Option& row : options()) {
    const std::string value = to_toml(config->value(row.key));
    if (!value.empty()) shown += row.key + " = " + value + "\n";
  }
  const auto again = load(shown);
  ASSERT_TRUE(again) << to_string(again.error());
  for (const Option& row : options())
    EXPECT_EQ(again->value(row.key), config->value(row.key)) << row.key;
}

TEST_F(ConfigFiles, AFlagThatIsGivenTwiceIsAListOfTwo) {
  auto config = load("generation.stop = ['x', 'y', 'z']");
  const Option& row = *find_option("generation.stop");
  ASSERT_TRUE(config->set_flag(row, "a"));
  ASSERT_TRUE(config->set_flag(row, "b"));
  EXPECT_EQ(config->texts("generation.stop"), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(config->set_flag(*find_option("generation.stop_id"), "1,2"));
  EXPECT_EQ(config->integers("generation.stop_id"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(config->set_flag(*find_option("generation.stop_id"), "1,,2"));
}

TEST_F(ConfigFiles, StopSequencesHaveTheLimitsOfARequest) {
  const Option& row = *find_option("generation.stop");
  EXPECT_EQ(allowed(row), "up to 16 strings of up to 512 bytes");
  EXPECT_TRUE(check_option(row, std::vector<std::string>(16, std::string(512, 'x'))));
  EXPECT_FALSE(check_option(row, std::vector<std::string>(17, "x")));
  EXPECT_FALSE(check_option(row, std::vector<std::string>{std::string(513, 'x')}));
}

TEST(Switches, AreConsistent) {
  for (const Option& row : options()) {
    EXPECT_EQ(find_option(row.key), &row) << "two rows have the key " << row.key;
    EXPECT_FALSE(row.help.empty()) << row.key;
    EXPECT_FALSE(flag_name(row).empty()) << row.key;
    if (row.fallback.index() == 0) continue;
    const auto checked = check_option(row, row.fallback);
    ASSERT_TRUE(checked) << to_string(checked.error());
    EXPECT_EQ(*checked, row.fallback) << row.key;
  }
}

TEST(Switches, BytesHaveDecimalAndBinaryUnits) {
  const Option& row = *find_option("cache.kv_limit");
  const auto bytes = [&](const char* text) {
    return std::get<std::int64_t>(*parse_option(row, text));
  };
  EXPECT_EQ(bytes("2000000"), 2'000'000);
  EXPECT_EQ(bytes("2MB"), 2'000'000);
  EXPECT_EQ(bytes("2 mib"), 2 << 20);
  EXPECT_EQ(bytes("0.5GB"), 500'000'000);
  for (const char* const bad : {"", "GB", "-2GB", "1e9", "2 G B", "1..2MB", "999999999TB", "inf"})
    EXPECT_FALSE(parse_option(row, bad)) << bad;
}

TEST(HostileConfig, SizeNestingAndDotsAreLimited) {
  const auto message = [](const std::string& text) {
    const auto parsed = parse_toml(text, "f");
    return parsed ? "accepted" : parsed.error().message;
  };
  EXPECT_EQ(message(std::string(kMaxConfigBytes + 1, '#')),
            cat("f: has ", kMaxConfigBytes + 1, " bytes, the limit is ", kMaxConfigBytes));
  std::string dotted = "a";
  for (std::size_t i = 0; i < kMaxConfigLineDots; ++i)
    dotted += ".a";
  EXPECT_EQ(message(dotted + " = 1"), "accepted");
  EXPECT_EQ(message("\n" + dotted + ".a = 1"), "f:2: the line has 65 dots, the limit is 64");
  const std::string open(kMaxConfigBytes / 2 - 2, '[');
  EXPECT_NE(message("a = " + open), "accepted");
  std::string inner = "1";
  for (int i = 0; i < 20; ++i)
    inner = "{ a = " + inner + " }";
  EXPECT_NE(message("a = " + inner), "accepted");
  EXPECT_NE(message(std::string("a = \"\xff\xfe\"", 8)), "accepted");
  EXPECT_NE(message(std::string("a = 1\0", 6)), "accepted");
}

TEST(HostileConfig, EveryPrefixOfAFileIsReadOrRefused) {
  const std::string text =
      "[local]\nthreads = 2 # x\n[generation]\nstop = [\"a\", 'b', \"\"\"c\"\"\"]\nseed = 0x10\n"
      "[cache]\nkv_limit = \"1GB\"\n[a]\nb = {c = 1.5, d = [1, 2]}\ne = 2021-01-01T00:00:00Z\n";
  int n_read = 0;
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const auto parsed = parse_toml(std::string_view(text).substr(0, n), "f");
    n_read += parsed ? 1 : 0;
    if (!parsed) {
      EXPECT_EQ(parsed.error().message.substr(0, 2), "f:") << n;
    }
  }
  EXPECT_GT(n_read, 10);
}

}  // namespace
}  // namespace wick
