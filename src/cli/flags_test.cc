#include "cli/flags.h"

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace wick {
namespace {

using Strings = std::vector<std::string>;

// Every option and positional argument of `app` and of the commands below it.
void expect_verbatim(CLI::App& app, const std::string& where, int& n_options) {
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // takes no argument
    ++n_options;
    if (option->get_positional() && option->get_allow_extra_args()) continue;  // mark_brackets()
    option->clear();
    option->add_result("[{x} y]");
    EXPECT_EQ(option->results(), Strings{"[{x} y]"}) << where << " " << option->get_name(true);
    EXPECT_FALSE(option->get_allow_extra_args()) << where << " " << option->get_name(true);
  }
  for (CLI::App* const below : app.get_subcommands([](const CLI::App*) { return true; }))
    expect_verbatim(*below, where + " " + below->get_name(), n_options);
}

TEST(Flags, EveryArgumentOfTheProgramIsTakenAsItIs) {
  CLI::App app("test", "wick");
  std::vector<Action> actions;
  for (const Command& command : commands())
    actions.push_back(command.setup(Flags(*app.add_subcommand(std::string(command.name)))));
  int n_options = 0;
  expect_verbatim(app, "wick", n_options);
  EXPECT_GT(n_options, 200);
}

TEST(Flags, TextsInBracketsStayWhole) {
  CLI::App app("test", "wick");
  Flags flags(app);
  std::string text, required, set;
  Strings texts;
  std::vector<int> numbers;
  flags.text("--text", text, "");
  flags.required_text("FILE", required, "");
  flags.texts("--each", texts, "");
  flags.integers("--numbers", numbers, {0, 9}, "");
  flags.setting("--set", "TEXT", false, "", [&](const std::string& value) { set = value; });
  app.parse("--each '[1,2]' --text '[a,b]' '[c,d]' --set '[e,f]' --each '[]' --numbers 1,2");
  EXPECT_EQ(texts, (Strings{"[1,2]", "[]"}));
  EXPECT_EQ(text, "[a,b]");
  EXPECT_EQ(required, "[c,d]");
  EXPECT_EQ(set, "[e,f]");
  EXPECT_EQ(numbers, (std::vector<int>{1, 2}));
}

TEST(Flags, WordsInBracketsStayWhole) {
  CLI::App app("test", "wick");
  CLI::App* const sub = app.add_subcommand("trash");
  Flags flags(*sub);
  std::vector<std::string> words;
  std::string text;
  bool toggle = false;
  flags.texts("FILE", words, "");
  flags.text("--text", text, "");
  flags.toggle("--toggle", toggle, "");
  std::vector<std::string> given = {"wick",   "trash", "[a,b]",    "c",  "[]",
                                    "--text", "[d]",   "--toggle", "[e]"};
  mark_brackets(app, given);
  app.parse(std::vector<std::string>(given.rbegin(), given.rend() - 1));
  EXPECT_EQ(words, (Strings{"[a,b]", "c", "[]", "[e]"}));
  EXPECT_EQ(text, "[d]");
}

// A list of numbers ends with its argument: the model behind it is no number.
TEST(Flags, AListOfNumbersIsOneArgument) {
  CLI::App app("test", "wick");
  Flags flags(app);
  std::string model;
  std::vector<int> numbers;
  flags.text("MODEL", model, "");
  flags.integers("-p", numbers, {0, 9}, "");
  app.parse("-p 1,2 3.gguf");
  EXPECT_EQ(numbers, (std::vector<int>{1, 2}));
  EXPECT_EQ(model, "3.gguf");
}

}  // namespace
}  // namespace wick
