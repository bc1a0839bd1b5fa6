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

constexpr std::size_t kMaxMarked = 400;  // bytes: a few lines of a terminal

// Whether marks below the command stand at its bytes.
bool has_columns(const std::string& command) {
  return command.size() <= kMaxMarked && command.find('\n') == std::string::npos &&
         printable(command, command.size() + 1).view() == command;
}

std::string marks(const std::string& command, shell::Span span, bool is_marked) {
  const auto begin = static_cast<std::size_t>(std::max(0, span.begin));
  const std::size_t end =
      std::min(static_cast<std::size_t>(std::max(span.end, span.begin + 1)), command.size());
  if (!is_marked) return cat("bytes ", begin, " to ", end);
  return std::string(begin, ' ') + std::string(end > begin ? end - begin : 1, '^');
}

}  // namespace

void print_effects(const std::string& command, const shell::Verdict& verdict, bool is_long) {
  const bool is_marked = has_columns(command);
  for (const shell::Effect& effect : verdict.effects) {
    const bool is_shown = is_long || shell::level_of(effect) > shell::Level::kSafe;
    if (!is_shown) continue;
    print({"  ", printable(marks(command, effect.span, is_marked), kMaxMarked), "  ",
           printable(shell::name(shell::level_of(effect))), ": ", printable(effect.why), "\n"});
  }
  if (!verdict.suggestion.empty()) print({"  safer: ", printable(verdict.suggestion), "\n"});
}

}  // namespace wick
