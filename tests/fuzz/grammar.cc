// A grammar in GBNF, a NUL byte, a text: a refusal with a name, or an automaton whose places have
// ends.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "grammar/earley.h"
#include "fuzz/refusal.h"

using wick::grammar::EarleyRecognizer;
using wick::grammar::StateId;
using wick::test::check_refusal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view grammar = input.substr(0, input.find('\0'));
  const std::string_view text = input.substr(std::min(input.size(), grammar.size() + 1));
  const auto made = EarleyRecognizer::parse(grammar);
  if (!made) {
    check_refusal(made.error());
    return 0;
  }
  EarleyRecognizer& recognizer = **made;
  constexpr std::uint64_t kFuel = 50'000;
  recognizer.begin(kFuel);
  const StateId state = recognizer.step_all(recognizer.start(), text.substr(0, 64));
  if (state == wick::grammar::kFailedState) {
    check_refusal(recognizer.failure());
    return 0;
  }
  if (state == wick::grammar::kDeadState) return 0;
  const auto end = recognizer.shortest(state);
  if (!end) {
    check_refusal(end.error());
    return 0;
  }
  recognizer.begin(kFuel);
  const StateId last = recognizer.step_all(state, *end);
  WICK_CHECK(last == wick::grammar::kFailedState || recognizer.accepts(last),
             "the short end completes the text");
  return 0;
}
