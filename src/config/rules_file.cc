#include "config/rules_file.h"

#include <optional>

#include "assist/limits.h"
#include "base/strings.h"
#include "config/toml_file.h"

namespace wick {

namespace {

using assist::Rule;
using assist::RuleKind;

std::optional<RuleKind> kind_named(std::string_view text) {
  for (const RuleKind kind : {RuleKind::kAllow, RuleKind::kAsk, RuleKind::kDeny}) {
    if (name(kind) == text) return kind;
  }
  return std::nullopt;
}

std::optional<shell::Level> level_named(std::string_view text) {
  using enum shell::Level;
  for (const shell::Level level : {kSafe, kModerate, kHigh, kCritical}) {
    if (shell::name(level) == text) return level;
  }
  return std::nullopt;
}

Error bad_rule(const TomlItem& item, std::string_view path, std::string_view what) {
  return {
      .code = ErrorCode::kInvalid,
      .id = "bad_rule",
      .message = cat(printable(path), ":", item.line, ": [[", printable(item.name), "]] ", what),
      .hint = "docs/ask.md shows rules"};
}

Result<Rule> rule_of(const TomlItem& item, std::string_view path) {
  const auto kind = kind_named(item.name);
  if (!kind) return bad_rule(item, path, "is not known; there are deny, ask and allow");
  Rule rule{.kind = *kind, .place = cat(path, ":", item.line)};
  if (*kind == RuleKind::kAsk) rule.level = shell::Level::kModerate;
  for (const auto& [key, value] : item.fields) {
    if (key == "argv") {
      for (const JsonValue& word : value.array() == nullptr ? Array() : *value.array()) {
        if (word.string() == nullptr) return bad_rule(item, path, "has an argv of more than texts");
        rule.argv.push_back(*word.string());
      }
    } else if (key == "reason" && value.string() != nullptr) {
      rule.reason = *value.string();
    } else if (key == "level" && value.string() != nullptr && *kind != RuleKind::kDeny) {
      const auto level = level_named(*value.string());
      if (!level)
        return bad_rule(item, path, "has a level that is none of safe, moderate, high, critical");
      rule.level = *level;
    } else {
      return bad_rule(item, path, cat("has no setting '", printable(key), "' of this kind"));
    }
  }
  if (rule.argv.empty() || rule.argv.front().empty())
    return bad_rule(item, path, "needs argv, a list of texts that begins with a command");
  return rule;
}

}  // namespace

Result<std::vector<Rule>> parse_rules(std::string_view text, std::string_view path) {
  WICK_TRY(const std::vector<TomlItem> items, parse_toml_items(text, path));
  if (items.size() > static_cast<std::size_t>(assist::kMaxRules))
    return bad_rule(items.back(), path,
                    cat("is one of ", items.size(), " rules, the limit is ", assist::kMaxRules));
  std::vector<Rule> rules;
  for (const TomlItem& item : items) {
    WICK_TRY(Rule rule, rule_of(item, path));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Rule>> read_rules(const std::filesystem::path& path) {
  WICK_TRY(const std::string text, read_toml_text(path));
  return parse_rules(text, path.string());
}

}  // namespace wick
