#include "assist/rules.h"

#include <algorithm>

namespace wick::assist {

namespace {

using shell::Call;
using shell::Level;
using shell::Node;

// Whether the command may be one that begins with the rule's words. Options between them, each
// perhaps with an argument, are passed over: `git -C x push` is a push.
bool may_match(const Rule& rule, const Call& call) {
  std::size_t wanted = 0;
  bool is_behind_option = false;
  for (std::size_t at = 0; at < call.argv.size(); ++at) {
    if (!call.argv[at]) return true;  // it may be the rest of the rule
    const std::string& word = *call.argv[at];
    if (word == rule.argv[wanted]) {
      if (++wanted == rule.argv.size()) return true;
      is_behind_option = false;
      continue;
    }
    const bool is_option = at > 0 && word.starts_with('-');
    if (at == 0 || (!is_option && !is_behind_option)) return false;
    is_behind_option = is_option;
  }
  return false;
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
