#include "cli/flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <span>

#include "base/strings.h"

namespace wick {

namespace {

constexpr char kBracketMark = '\x1F';

// An option whose arguments are taken as they are. Without this, CLI11 takes [a,b] for a list: it
// strips the brackets and splits at commas. Every option that holds a list goes through here; the
// values of the others are single, where CLI11 does not look for brackets.
CLI::Option& verbatim(CLI::Option& option) {
  option.allow_extra_args(false);  // also: of `-m MODEL TEXT` the text is no second model
  return option;
}

// The help of an integer flag, with its range and default as settings show them.
std::string with_range(const std::string& help, Range<int> range, std::span<const int> defaults) {
  std::string shown;
  for (const int value : defaults)
    shown += cat(shown.empty() ? "" : ",", value);
  return cat(help, " (", range.min, " to ", range.max, shown.empty() ? "" : "; default ", shown,
             ")");
}

}  // namespace

Flags Flags::group(std::string_view title, bool is_common) const {
  Flags flags(*this);
  flags.group_ = title;
  if (!is_common) flags.group_ += kRareMark;
  return flags;
}

CLI::Option& Flags::added(CLI::Option* option) const {
  if (!group_.empty()) option->group(group_);
  return *option;
}

void Flags::toggle(const std::string& names, bool& value, const std::string& help) {
  added(app_->add_flag(names, value, help));
}

void Flags::toggle(const std::string& names, const std::string& help,
                   std::function<void(bool)> set) {
  added(app_->add_flag_function(
      names, [set = std::move(set)](std::int64_t count) { set(count > 0); }, help));
}

void Flags::text(const std::string& names, std::string& value, const std::string& help) {
  CLI::Option& option = added(app_->add_option(names, value, help));
  if (!value.empty()) option.capture_default_str();
}

void Flags::required_text(const std::string& names, std::string& value, const std::string& help) {
  added(app_->add_option(names, value, help)).required();
}

void Flags::texts(const std::string& names, std::vector<std::string>& values,
                  const std::string& help) {
  CLI::Option& option = added(app_->add_option(names, values, help));
  const bool is_positional = names.find('-') == std::string::npos;
  if (!is_positional) {
    option.expected(1)->take_all();
    verbatim(option);
    return;
  }
  option.expected(-1);  // WORD WORD…
  const auto unmark = [](std::string& word) {
    if (word.ends_with(kBracketMark)) word.pop_back();
    return std::string();
  };
  option.transform(CLI::Validator(unmark, ""));
}

// A list of positional arguments has to allow extra arguments, and then CLI11 reads a word in
// brackets as a list. With a mark behind its bracket it does not.
void mark_brackets(const CLI::App& app, std::vector<std::string>& words) {
  const auto is_named = [&](const CLI::App* one) {
    return words.size() >= 2 && one->get_name() == words[1];
  };
  const auto named = app.get_subcommands(is_named);
  const CLI::App* const command = named.empty() ? nullptr : named.front();
  if (command == nullptr) return;
  const auto options = command->get_options(
      [](const CLI::Option* one) { return one->get_positional() && one->get_allow_extra_args(); });
  if (options.empty()) return;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (!words[i].starts_with('[') || !words[i].ends_with(']')) continue;
    const CLI::Option* const flag =
        words[i - 1].starts_with('-') ? command->get_option_no_throw(words[i - 1]) : nullptr;
    if (flag == nullptr || flag->get_expected_max() == 0) words[i] += kBracketMark;
  }
}

void Flags::integer(const std::string& names, int& value, Range<int> range,
                    const std::string& help) {
  added(app_->add_option(names, value, with_range(help, range, {&value, 1})))
      .check(CLI::Range(range.min, range.max).description(""))
      ->type_name("N");
}

void Flags::integers(const std::string& names, std::vector<int>& values, Range<int> range,
                     const std::string& help) {
  verbatim(added(app_->add_option(names, values, with_range(help, range, values))))
      .delimiter(',')
      ->check(CLI::Range(range.min, range.max).description(""))
      ->type_name("N,N,...");
}

void Flags::setting(const std::string& names, const std::string& type, bool is_list,
                    const std::string& help, std::function<void(const std::string&)> set) {
  const auto set_all = [set = std::move(set)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      set(text);
  };
  CLI::Option* const option =
      verbatim(added(app_->add_option_function<std::vector<std::string>>(names, set_all, help)))
          .expected(1)
          ->type_name(type);
  if (is_list) option->take_all();
}

void Flags::remark(const std::string& text) {
  app_->footer(text);
}

void Flags::exclude(const std::string& a, const std::string& b) {
  app_->get_option(a)->excludes(app_->get_option(b));
}

bool Flags::is_given(const std::string& name) const {
  return app_->count(name) > 0;
}

bool Flags::has(const std::string& name) const {
  return app_->get_option_no_throw(name) != nullptr;
}

Flags Flags::command(const std::string& name, const std::string& help,
                     std::function<void()> chosen) {
  CLI::App* sub = app_->add_subcommand(name, help);
  sub->final_callback(std::move(chosen));
  return Flags(*sub);
}

void Flags::require_command() {
  app_->require_subcommand(1);
}

}  // namespace wick
