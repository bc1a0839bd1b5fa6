// RFC 3339 (dates), 5321 (mail), 1123 (hosts), 2673 and 4291 (addresses), 3986 and 3987 (URI, IRI),
// 6570, 6901, 4122. Dates know months and leap years; times know that a leap second is 23:59:60 in
// UTC, for zones of whole hours.
#include "grammar/schema/formats.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "grammar/limits.h"
#include "regex/automaton.h"
#include "regex/ecma.h"

namespace wick::grammar {
namespace {

std::string date() {
  return "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|"
         "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|"
         "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
}

std::string time() {
  std::string leap = "23:59:60(?:\\.[0-9]+)?(?:[zZ]|[+-]00:00)";
  for (int hour = 1; hour < 24; ++hour) {  // local = UTC + zone
    const auto two = [](int n) { return cat(n / 10, n % 10); };
    leap += cat("|", two((23 + hour) % 24), ":59:60(?:\\.[0-9]+)?\\+", two(hour), ":00|",
                two(23 - hour), ":59:60(?:\\.[0-9]+)?-", two(hour), ":00");
  }
  // Zones of half hours and quarters: minute 59 of UTC is minute 29, 44 or 14 there.
  for (int hour = 0; hour < 24; ++hour) {
    const auto two = [](int n) { return cat(n / 10, n % 10); };
    for (const int minutes : {15, 30, 45}) {
      const int ahead = (23 * 60 + 59 + hour * 60 + minutes) % 1440;
      const int behind = (23 * 60 + 59 + 1440 - hour * 60 - minutes) % 1440;
      leap += cat("|", two(ahead / 60), ":", two(ahead % 60), ":60(?:\\.[0-9]+)?\\+", two(hour),
                  ":", two(minutes), "|", two(behind / 60), ":", two(behind % 60),
                  ":60(?:\\.[0-9]+)?-", two(hour), ":", two(minutes));
    }
  }
  return cat(
      "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?"
      "(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])|",
      leap, ")");
}

std::string duration() {
  const std::string time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
  return cat("P(?:(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)(?:", time, ")?|",
             time, "|[0-9]+W)");
}

std::string ipv4() {
  const std::string byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
  return cat("(?:", byte, "(?:\\.", byte, "){3})");
}

std::string ipv6() {
  const std::string h = "[0-9a-fA-F]{1,4}", last = cat("(?:", h, ":", h, "|", ipv4(), ")");
  std::string out = cat("(?:(?:", h, ":){6}", last);
  out += cat("|::(?:", h, ":){5}", last);
  for (int n = 4; n >= 0; --n)  // n groups and the last two behind the gap, 5 - n before it
    out += cat("|(?:", h, "(?::", h, "){0,", 4 - n, "})?::(?:", h, ":){", n, "}", last);
  return out + cat("|(?:", h, "(?::", h, "){0,5})?::", h, "|(?:", h, "(?::", h, "){0,6})?::)");
}

// The parts of a URI; `more` are characters that an IRI has besides.
std::string uri(const std::string& more, bool may_be_relative) {
  const std::string hex = "%[0-9a-fA-F]{2}";
  const std::string plain = cat("A-Za-z0-9\\-._~!$&'()*+,;=", more);
  const std::string pchar = cat("(?:[", plain, ":@]|", hex, ")");
  const std::string host =
      cat("(?:\\[(?:", ipv6(), "|v[0-9a-fA-F]+\\.[A-Za-z0-9\\-._~!$&'()*+,;=:]+)\\]|(?:[", plain,
          "]|", hex, ")*)");
  const std::string authority =
      cat("//(?:(?:[", plain, ":]|", hex, ")*@)?", host, "(?::[0-9]*)?(?:/", pchar, "*)*");
  const std::string absolute = cat("/(?:", pchar, "+(?:/", pchar, "*)*)?");
  const std::string tail = cat("(?:\\?(?:", pchar, "|[/?])*)?(?:#(?:", pchar, "|[/?])*)?");
  const std::string full = cat("[A-Za-z][A-Za-z0-9+.\\-]*:(?:", authority, "|", absolute, "|",
                               pchar, "+(?:/", pchar, "*)*|)", tail);
  if (!may_be_relative) return full;
  const std::string no_colon = cat("(?:[", plain, "@]|", hex, ")+");
  return cat("(?:", full, "|(?:", authority, "|", absolute, "|", no_colon, "(?:/", pchar, "*)*|)",
             tail, ")");
}

std::string mail(const std::string& more) {
  const std::string atom = cat("[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-", more, "]+");
  const std::string label =
      cat("[A-Za-z0-9", more, "](?:[A-Za-z0-9\\-", more, "]*[A-Za-z0-9", more, "])?");
  return cat("(?:", atom, "(?:\\.", atom, ")*|\"(?:[ !#-\\[\\]-~", more,
             "]|\\\\[ -~])*\")@(?:", label, "(?:\\.", label, ")*|\\[(?:", ipv4(), "|IPv6:", ipv6(),
             ")\\])");
}

std::string uri_template() {
  const std::string letter = "(?:[A-Za-z0-9_]|%[0-9a-fA-F]{2})";
  const std::string variable = cat(letter, "(?:\\.?", letter, ")*(?::[1-9][0-9]{0,3}|\\*)?");
  return cat("(?:[^\\x00-\\x20\\x22\\x27%<>\\\\^`{|}\\x7f]|%[0-9a-fA-F]{2}", "|\\{[+#./;?&=,!@|]?",
             variable, "(?:,", variable, ")*\\})*");
}

std::vector<std::pair<std::string_view, std::string>> patterns() {
  const std::string more = "\\u{a0}-\\u{d7ff}\\u{e000}-\\u{10ffff}";
  const std::string pointer = "(?:/(?:[^~/]|~[01])*)*";
  std::vector<std::pair<std::string_view, std::string>> out = {
      {"date", date()},
      {"time", time()},
      {"date-time", cat(date(), "[tT]", time())},
      {"duration", duration()},
      {"email", mail("")},
      {"idn-email", mail(more)},
      {"hostname",
       "(?=[^]{1,253}$)"
       "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?"
       "(?:\\.[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?)*"},
      {"ipv4", ipv4()},
      {"ipv6", ipv6()},
      {"uri", uri("", false)},
      {"uri-reference", uri("", true)},
      {"iri", uri(more, false)},
      {"iri-reference", uri(more, true)},
      {"uuid", "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"},
      {"uri-template", uri_template()},
      {"json-pointer", pointer},
      {"relative-json-pointer", cat("(?:0|[1-9][0-9]*)(?:#|", pointer, ")")},
  };
  for (auto& [name, pattern] : out)
    pattern = cat("^(?:", pattern, ")$");
  return out;
}

struct Language {
  regex::ExprPool pool = regex::ExprPool();
  regex::ExprId id = regex::kNoExpr;
};

const std::string* pattern_of(std::string_view name) {
  static const auto kPatterns = patterns();
  const auto its = std::find_if(kPatterns.begin(), kPatterns.end(),
                                [&](const auto& one) { return one.first == name; });
  return its == kPatterns.end() ? nullptr : &its->second;
}

// A pattern is parsed once in a process: parsing took most of the time of compiling a schema.
const Language* known_language(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Language>, std::less<>> known;
  const std::string* const pattern = pattern_of(name);
  if (pattern == nullptr) return nullptr;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(name); found != known.end()) return found->second.get();
  auto made = std::make_unique<Language>();
  const auto parsed = regex::parse_ecma(made->pool, *pattern);
  WICK_CHECK(parsed, "the pattern of a format");
  made->id = *parsed;
  return known.emplace(name, std::move(made)).first->second.get();
}

}  // namespace

bool is_known_format(std::string_view name) {
  return pattern_of(name) != nullptr;
}

std::optional<regex::ExprId> format_language(regex::ExprPool& pool, std::string_view name) {
  const Language* const its = known_language(name);
  return its == nullptr ? std::nullopt : std::optional(pool.copy_of(its->pool, its->id));
}

std::shared_ptr<const FormatPool> format_pool(const std::set<std::string, std::less<>>& known) {
  constexpr std::size_t kMaxPools = 64;
  static std::mutex mutex;
  static std::map<std::set<std::string, std::less<>>, std::shared_ptr<const FormatPool>> pools;
  const std::lock_guard lock(mutex);
  if (const auto found = pools.find(known); found != pools.end()) return found->second;
  auto made = std::make_shared<FormatPool>();
  for (const std::string& name : known) {
    const auto language = format_language(made->pool, name);
    if (language && *language != regex::kNoExpr) made->languages[name] = *language;
  }
  std::vector<regex::ExprId> asked;
  for (const auto& [name, language] : made->languages) {
    asked.push_back(language);
    asked.push_back(made->pool.intersect({language, made->pool.any_text()}));
  }
  regex::Automaton judge(made->pool);
  made->lives.resize(made->pool.size());
  for (const regex::ExprId id : asked) {
    judge.pool().refuel(kSchemaFuel);
    made->lives[id] = judge.liveness(id);
  }
  if (pools.size() < kMaxPools) pools[known] = made;
  return made;
}

}  // namespace wick::grammar
