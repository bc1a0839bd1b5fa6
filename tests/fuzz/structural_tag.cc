// A structural tag, a NUL byte, a text: a refusal with a name, or an automaton whose places have
// ends.
#include "grammar/structural_tag.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using wick::grammar::StateId;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view json = input.substr(0, input.find('\0'));
  const std::string_view text = input.substr(std::min(input.size(), json.size() + 1));
  const auto made = wick::grammar::structural_tag(json, {});
  if (!made) {
    WICK_CHECK(!made.error().id.empty(), "a refusal has a name");
    return 0;
  }
  wick::grammar::Recognizer& recognizer = **made;
  constexpr std::uint64_t kFuel = 50'000;
  const auto walk = [&](StateId state, std::string_view bytes) {
    recognizer.begin(kFuel);
    for (const char c : bytes)
      state = recognizer.step(state, static_cast<unsigned char>(c));
    return state;
  };
  const StateId state = walk(recognizer.start(), text.substr(0, 64));
  if (state == wick::grammar::kFailedState || state == wick::grammar::kDeadState) return 0;
  const auto end = recognizer.shortest(state);
  if (!end) return 0;
  const StateId last = walk(state, *end);
  WICK_CHECK(last == wick::grammar::kFailedState || recognizer.accepts(last),
             "the short end completes the text");
  return 0;
}
