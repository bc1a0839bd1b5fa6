// Any text as a shell command: a tree that prints and parses to itself, or an error with a place;
// and a verdict of known level, whose spans lie in the text. The first byte chooses the dialect.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "shell/verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wick::shell;
  if (size == 0) return 0;
  const auto dialect = static_cast<Dialect>(data[0] % 4);
  const Mode mode = data[0] / 4 % 2 == 0 ? Mode::kScript : Mode::kInteractive;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Parsed parsed = parse(text, dialect, mode);
  if (const auto* script = std::get_if<Script>(&parsed)) {
    const Parsed again = parse(print(*script), dialect, mode);
    const auto* second = std::get_if<Script>(&again);
    const auto* error = std::get_if<SyntaxError>(&again);
    WICK_CHECK(second != nullptr ? equal(*script, *second) : error->is_limit,
               "print gives text that parses to the same tree");
  }
  const Verdict verdict = judge(text, dialect, mode, {.cwd = "/home/u/p", .home = "/home/u"});
  Level worst = Level::kSafe;
  for (const Effect& effect : verdict.effects) {
    WICK_CHECK(effect.span.begin >= 0 && effect.span.begin <= effect.span.end &&
                   effect.span.end <= static_cast<int>(text.size()),
               "a span lies in the text");
    WICK_CHECK(!effect.why.empty(), "an effect says why");
    worst = std::max(worst, level_of(effect));
  }
  WICK_CHECK(worst == verdict.level, "the level is the worst effect's");
  return 0;
}
