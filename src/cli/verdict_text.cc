#include "cli/verdict_text.h"

#include <algorithm>

#include "base/strings.h"
#include "cli/out.h"

namespace wick {

Object to_object(const shell::Verdict& verdict) {
  Array effects;
  for (const shell::Effect& effect : verdict.effects) {
    effects.emplace_back(json_object({{"kind", shell::name(effect.kind)},
                                      {"scope", shell::name(effect.scope)},
                                      {"target", effect.target},
                                      {"span", Array{effect.span.begin, effect.span.end}},
                                      {"why", effect.why}}));
  }
  Object out = json_object({{"level", shell::name(verdict.level)},
                            {"effects", std::move(effects)},
                            {"suggestion", verdict.suggestion}});
  if (verdict.error) {
    out["error"] = json_object({{"line", verdict.error->line},
                                {"column", verdict.error->column},
                                {"message", verdict.error->message}});
  }
  return out;
}

namespace {

constexpr std::size_t kMaxMarked = 400;  // bytes of a line: a few lines of a terminal

// The line of the command in which an effect begins, and its bytes there.
struct Place {
  std::string_view line = {};
  std::size_t begin = 0, end = 0;
};

Place place_of(std::string_view command, shell::Span span) {
  const std::size_t begin =
      std::min(static_cast<std::size_t>(std::max(0, span.begin)), command.size());
  const std::size_t before = begin == 0 ? std::string_view::npos : command.rfind('\n', begin - 1);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t last = std::min(command.find('\n', begin), command.size());
  const auto end = static_cast<std::size_t>(std::max(span.end, 0));
  return {.line = command.substr(first, last - first),
          .begin = begin - first,
          .end = std::clamp(end, begin, last) - first};
}

// Without "…": an escape has at most four bytes for one.
Printable whole(std::string_view text) {
  return printable(text, 4 * text.size() + 1);
}

// Columns that the text takes when it is printed.
std::size_t width_of(std::string_view text) {
  const Printable shown = whole(text);
  const auto is_begun = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; };
  return static_cast<std::size_t>(
      std::count_if(shown.view().begin(), shown.view().end(), is_begun));
}

std::string marks(const Place& place) {
  const std::string_view marked = place.line.substr(place.begin, place.end - place.begin);
  return std::string(width_of(place.line.substr(0, place.begin)), ' ') +
         std::string(std::max<std::size_t>(width_of(marked), 1), '^');
}

}  // namespace

bool has_lines(const std::string& command) {
  return command.find('\n') < command.find_last_not_of('\n');
}

void print_effects(const std::string& command, const shell::Verdict& verdict, bool is_long) {
  const char* line = has_lines(command) ? nullptr : command.data();  // that stands above
  for (const shell::Effect& effect : verdict.effects) {
    const bool is_shown = is_long || shell::level_of(effect) > shell::Level::kSafe;
    if (!is_shown) continue;
    const Place place = place_of(command, effect.span);
    const bool is_marked = place.line.size() <= kMaxMarked;
    if (is_marked && place.line.data() != line) {
      line = place.line.data();
      print({"  ", whole(place.line), "\n"});
    }
    const std::string where =
        is_marked ? marks(place) : cat("bytes ", effect.span.begin, " to ", effect.span.end);
    print({"  ", whole(where), "  ",
           printable(shell::name(shell::level_of(effect))), ": ", printable(effect.why), "\n"});
  }
  if (!verdict.suggestion.empty()) print({"  safer: ", printable(verdict.suggestion), "\n"});
}

}  // namespace wick
