// wick bench compare: two files of --json lines; exit status 4 where the second is worse. Worse
// means by more than the limit, and beyond what both spread: their quartiles don't overlap.
#include <cmath>
#include <map>

#include "base/strings.h"
#include "chat/json_value.h"
#include "cli/bench.h"
#include "cli/options.h"
#include "cli/out.h"

namespace wick {

namespace {

constexpr std::size_t kMaxFileBytes = 16U << 20;

struct CompareFlags {
  std::string before = {}, after = {};
  int percent = 5;
};

// By test, threads and figure.
using Figures = std::map<std::string, Quartiles>;

std::optional<double> number(const Object& line, std::string_view key) {
  const JsonValue* value = line.find(key);
  if (value == nullptr) return std::nullopt;
  if (const double* real = value->number()) return *real;
  if (const std::int64_t* whole = value->integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

void add_figures(const Object& line, Figures& figures) {
  const JsonValue* test = line.find("test");
  if (test == nullptr || test->string() == nullptr) return;
  const auto threads = number(line, "threads").value_or(0);
  for (const auto& [name, value] : line) {
    const auto q1 = number(line, cat(name, "_q1")), q3 = number(line, cat(name, "_q3"));
    const auto median = number(line, name);
    if (q1 && q3 && median)
      figures[cat(*test->string(), ", ", threads, " threads, ", name)] = {*q1, *median, *q3};
  }
}

Result<Figures> read(const std::string& path) {
  WICK_TRY(const std::string text, read_text(path, kMaxFileBytes));
  Figures figures;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) {
      WICK_TRY(const JsonValue line, parse_json(std::string_view(text).substr(begin, end - begin)));
      if (line.object() != nullptr) add_figures(*line.object(), figures);
    }
    begin = end + 1;
  }
  if (figures.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_figures",
                 .message = cat(printable(path), " holds no line of wick bench --json"),
                 .hint = "wick bench single --json > before.jsonl"};
  }
  return figures;
}

bool is_better_when_more(std::string_view figure) {
  return figure.ends_with("_per_second");
}

Result<int> run_compare(const CompareFlags& o) {
  WICK_TRY(const Figures before, read(o.before));
  WICK_TRY(const Figures after, read(o.after));
  int worse = 0, compared = 0;
  for (const auto& [name, was] : before) {
    const auto found = after.find(name);
    if (found == after.end() || was.median <= 0) continue;
    ++compared;
    const Quartiles& now = found->second;
    const double change = (now.median / was.median - 1) * 100;
    const bool more = is_better_when_more(name);
    const bool is_apart = more ? now.q3 < was.q1 : now.q1 > was.q3;
    const bool is_worse = is_apart && (more ? -change : change) > o.percent;
    worse += is_worse ? 1 : 0;
    print({padded(printable(name), 61), right_aligned(fixed(was.median, 2), 12),
           right_aligned(fixed(now.median, 2), 13),
           right_aligned(joined({change < 0 ? Shown("") : Shown("+"), fixed(change, 1)}), 8), " %",
           is_worse ? Shown("  worse\n") : Shown("\n")});
  }
  if (compared == 0) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "nothing_to_compare",
                 .message = cat(printable(o.before), " and ", printable(o.after),
                                " have no test in common")};
  }
  print({compared, " figures, ", worse, " worse by more than ", o.percent, " %\n"});
  return worse == 0 ? kExitOk : kExitFailure;
}

}  // namespace

void add_bench_compare(Flags& bench, const ChosenAction& chosen) {
  const auto o = std::make_shared<CompareFlags>();
  Flags flags =
      bench.command("compare", "compare two files of --json results; exit status 4 if one is worse",
                    [=] { *chosen = [o] { return run_compare(*o); }; });
  flags.required_text("BEFORE", o->before, "results of wick bench --json");
  flags.required_text("AFTER", o->after, "results of a later wick bench --json");
  flags.integer("--limit", o->percent, {0, 1000}, "allowed regression in percent");
}

}  // namespace wick
