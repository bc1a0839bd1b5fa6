#include "assist/rules.h"

#include <algorithm>

#include "shell/rows.h"

namespace wick::assist {

namespace {

using shell::Call;
using shell::Level;
using shell::Node;

bool is_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

// Whether the call's words hold `wanted` as it stands: "--network=host" also as two words, and
// "--force" also with a value.
bool has_word(const Call& call, const std::string& wanted) {
  const std::size_t equals = is_option(wanted) ? wanted.find('=') : std::string::npos;
  for (std::size_t at = 1; at < call.argv.size(); ++at) {
    const std::string& word = *call.argv[at];
    if (word == wanted) return true;
    if (wanted.starts_with("--") && word.starts_with(wanted + "=")) return true;
    if (!is_option(wanted) && is_option(word) && word.ends_with("=" + wanted)) return true;
    if (equals != std::string::npos && at + 1 < call.argv.size() &&
        word == wanted.substr(0, equals) && call.argv[at + 1] == wanted.substr(equals + 1))
      return true;
  }
  return false;
}

// Whether the rows of the command and its verbs know the option in the call by another form:
// abbreviated, short for long, in a cluster.
bool has_known_option(const Call& call, const std::string& wanted) {
  std::vector<shell::Arg> argv;
  for (const auto& word : call.argv)
    argv.push_back({.value = shell::Value::exact(*word)});
  std::string name = *call.argv.front();
  for (std::size_t first = 1; const shell::Row* const row = shell::find_row(name);) {
    const auto names_of = [&](const std::vector<shell::Arg>& words, std::size_t begin) {
      std::vector<std::string_view> names;
      for (const std::string_view option : shell::read_usage(*row, words, begin).options)
        names.push_back(shell::long_name(*row, option));
      return names;
    };
    const auto there = names_of(argv, first);
    const auto needed = names_of({{.value = shell::Value::exact(wanted)}}, 0);
    const bool has_all = std::all_of(needed.begin(), needed.end(), [&](std::string_view option) {
      return std::find(there.begin(), there.end(), option) != there.end();
    });
    if (!needed.empty() && has_all) return true;
    const shell::Usage usage = shell::read_usage(*row, argv, first);
    if (usage.rest == 0 || usage.rest_role != 'v') return false;
    name += " " + argv[usage.rest].text();
    first = usage.rest + 1;
  }
  return false;
}

// Whether the command may be one that a deny or ask rule means. The rule's words up to its first
// option come first in the command; options between them, each perhaps with an argument, are passed
// over: `git -C x push` is a push. The rule's other words may stand anywhere behind them.
bool may_match(const Rule& rule, const Call& call) {
  const auto first_option = std::find_if(rule.argv.begin() + 1, rule.argv.end(), is_option);
  const auto n_first = static_cast<std::size_t>(first_option - rule.argv.begin());
  std::size_t wanted = 0;
  bool is_behind_option = false;
  for (std::size_t at = 0; at < call.argv.size() && wanted < n_first; ++at) {
    if (!call.argv[at]) return true;  // it may be the rest of the rule
    const std::string& word = *call.argv[at];
    if (word == rule.argv[wanted]) {
      ++wanted;
      is_behind_option = false;
      continue;
    }
    if (at == 0 || (!is_option(word) && !is_behind_option)) return false;
    is_behind_option = is_option(word);
  }
  if (wanted < n_first || first_option == rule.argv.end()) return wanted == n_first;
  const auto is_known = [](const auto& word) { return word.has_value(); };
  if (!std::all_of(call.argv.begin(), call.argv.end(), is_known)) return true;
  return std::all_of(first_option, rule.argv.end(), [&](const std::string& word) {
    if (has_word(call, word)) return true;
    return is_option(word) && word.find('=') == std::string::npos && has_known_option(call, word);
  });
}

bool is_covered(const Rule& rule, const Call& call) {
  if (call.argv.size() < rule.argv.size()) return false;
  return std::equal(rule.argv.begin(), rule.argv.end(), call.argv.begin(),
                    [](const std::string& wanted, const std::optional<std::string>& word) {
                      return word == wanted;
                    });
}

// Where a redirection of this kind writes to no file.
bool is_harmless(const shell::Redirect& redirect) {
  using enum shell::RedirectOp;
  switch (redirect.op) {
    case kIn:
    case kDupIn:
    case kHereDoc:
    case kHereDocTabs:
    case kHereString:
      return true;
    case kOut:
    case kAppend:
    case kReadWrite:
    case kClobber:
    case kDupOut:
    case kBoth:
    case kBothAppend:
      break;
  }
  const std::string* const target = shell::plain_text(redirect.target);
  if (target == nullptr) return false;
  if (redirect.op == kDupOut) return target->find_first_not_of("0123456789-") == std::string::npos;
  return *target == "/dev/null";
}

// Commands and lists of them, without a write or an assignment of their own.
bool is_plain(const shell::List<Node>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
    using enum shell::NodeKind;
    if (node.kind != kSimple && node.kind != kPipeline && node.kind != kAndOr) return false;
    return node.assignments.empty() && is_plain(node.children) &&
           std::all_of(node.redirects.begin(), node.redirects.end(), is_harmless);
  });
}

// Every command is covered and every word known.
bool is_allowed(std::string_view text, shell::Dialect dialect, const shell::Verdict& verdict,
                const std::vector<Rule>& rules, RuleResult& result) {
  if (verdict.error || verdict.calls.empty() || verdict.level == Level::kCritical) return false;
  const shell::Parsed parsed = shell::parse(text, dialect, shell::Mode::kScript);
  const auto* const script = std::get_if<shell::Script>(&parsed);
  if (script == nullptr || !is_plain(script->body)) return false;
  Level level = Level::kSafe;
  for (const Call& call : verdict.calls) {
    const bool is_known = std::all_of(call.argv.begin(), call.argv.end(),
                                      [](const auto& word) { return word.has_value(); });
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& one) {
      return one.kind == RuleKind::kAllow && is_covered(one, call);
    });
    if (!is_known || rule == rules.end()) return false;
    level = std::max(level, rule->level);
    result.rule = &*rule;
  }
  result.level = std::min(verdict.level, level);
  return true;
}

}  // namespace

std::string_view name(RuleKind kind) noexcept {
  switch (kind) {
    case RuleKind::kAllow:
      return "allow";
    case RuleKind::kAsk:
      return "ask";
    case RuleKind::kDeny:
      break;
  }
  return "deny";
}

RuleResult apply_rules(std::string_view text, shell::Dialect dialect, const shell::Verdict& verdict,
                       const std::vector<Rule>& rules) {
  RuleResult result{.level = verdict.level};
  const auto find = [&](RuleKind kind, const Call& call) {
    return std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
      return rule.kind == kind && may_match(rule, call);
    });
  };
  for (const Call& call : verdict.calls) {
    const auto rule = find(RuleKind::kDeny, call);
    if (rule == rules.end()) continue;
    result.rule = &*rule;
    result.is_denied = true;
    return result;
  }
  for (const Call& call : verdict.calls) {
    const auto rule = find(RuleKind::kAsk, call);
    if (rule == rules.end()) continue;
    result.rule = &*rule;
    result.is_asked = true;
    result.level = std::max(result.level, rule->level);
  }
  if (result.is_asked) return result;
  RuleResult allowed = result;
  if (is_allowed(text, dialect, verdict, rules, allowed)) return allowed;
  return result;
}

}  // namespace wick::assist
