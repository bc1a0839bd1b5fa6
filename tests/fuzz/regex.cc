// A pattern, a line feed, a text: a refusal with a name, or a language that agrees with itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "regex/automaton.h"
#include "regex/ecma.h"

using wick::regex::Automaton;
using wick::regex::ExprId;

namespace {

void check_refusal(const wick::Error& error) {
  WICK_CHECK(error.id.starts_with("regex_") && !error.message.empty(), "a refusal has a name");
}

// A budget that keeps each input below a tenth of a second under sanitizers.
constexpr wick::regex::PoolLimits kLimits = {.max_bytes = 2U << 20U, .fuel = 20'000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view pattern = input.substr(0, input.find('\n'));
  const std::string_view text = input.substr(std::min(input.size(), pattern.size() + 1));
  Automaton automaton(kLimits);
  const auto found = wick::regex::parse_ecma(automaton.pool(), pattern);
  const auto whole =
      wick::regex::parse_ecma(automaton.pool(), pattern, wick::regex::PatternUse::kWhole);
  for (const auto* language : {&found, &whole}) {
    if (!*language) {
      check_refusal(language->error());
      continue;
    }
    const auto shortest = automaton.shortest(**language);
    const auto empty = automaton.is_empty(**language);
    if (!shortest) check_refusal(shortest.error());
    if (shortest && empty)
      WICK_CHECK(*empty == !shortest->has_value(), "empty: no shortest string");
    if (shortest && shortest->has_value()) {
      const auto matches = automaton.matches(**language, **shortest);
      WICK_CHECK(!matches || *matches, "the shortest string is in the language");
    }
    const auto strings = automaton.shortest_strings(**language, 4);
    if (!strings) check_refusal(strings.error());
    if (strings && shortest) {
      WICK_CHECK(strings->empty() == !shortest->has_value(), "none: no shortest string");
      WICK_CHECK(strings->empty() || strings->front().size() == (*shortest)->size(),
                 "the first string is a shortest");
    }
    automaton.pool().refuel();
    const ExprId rest = automaton.pool().complement(**language);
    const auto in = automaton.matches(**language, text);
    const auto out = automaton.matches(rest, text);
    if (in && out) WICK_CHECK(*in != *out, "a text is in a language or in its complement");
    if (in && *in && shortest && shortest->has_value()) {
      WICK_CHECK((*shortest)->size() <= text.size(), "no text is shorter than the shortest");
    }
  }
  // Lookbehind means something only in a search.
  if (found && whole && pattern.find("(?<") == std::string_view::npos) {
    const auto is_within = automaton.contains(*found, *whole);
    WICK_CHECK(!is_within || *is_within, "what matches from end to end is found");
  }
  return 0;
}
