// wick bench serve: concurrent streams; wick bench matrix: the gain of prefix caching and of
// batching.
#include "base/strings.h"
#include "cli/bench.h"
#include "cli/bench_engine.h"
#include "cli/out.h"

namespace wick {

namespace {

struct BenchServeFlags : BenchOptions {
  std::vector<int> concurrency = {1, 2, 4, 8, 16};
  int requests = 2;  // of each stream
  int late_prompt = 0;
};

// What the runs that count have told.
struct Sums {
  int threads = 0;
  std::vector<double> all_ms = {}, speed = {}, ttft = {}, late_ttft = {}, gaps = {};
};

// One run after another of what `requests` makes of a model, all at once but for `concurrency`; or
// the last beside the others. A run has its own tenant, so that no prompt is in the cache already.
template <class Requests>
Result<Sums> measure(const BenchOptions& o, const BenchSetup& setup, const Requests& requests,
                     bool is_last_late = false) {
  WICK_TRY(TimedEngine timed, TimedEngine::open(setup));
  Sums sums{.threads = timed.threads()};
  for (int run = -o.warm_up; run < o.runs; ++run) {
    std::vector<GenerateRequest> all = requests(timed);
    for (GenerateRequest& one : all)
      one.tenant = static_cast<std::uint64_t>(run + o.warm_up + 1);
    WICK_TRY(const TimedRun done,
             is_last_late ? timed.run_beside(all) : timed.run(all, setup.local.engine.max_seqs));
    if (run < 0) continue;
    sums.all_ms.push_back(done.seconds * 1e3);
    sums.speed.push_back(done.generated_tokens / done.seconds);
    sums.late_ttft.push_back(done.answers.back().ttft_ms);
    for (const TimedAnswer& answer : done.answers) {
      sums.ttft.push_back(answer.ttft_ms);
      sums.gaps.insert(sums.gaps.end(), answer.gaps_ms.begin(), answer.gaps_ms.end());
    }
  }
  return sums;
}

GenerateRequest request_of(std::vector<TokenId> prompt, int generate) {
  return {.prompt = std::move(prompt),
          .max_tokens = generate,
          .sampling = {.temperature = 0},
          .ignore_end = true};
}

Result<BenchRecord> serve(const BenchServeFlags& o, BenchSetup setup, int streams) {
  setup.local.engine.max_seqs = streams;
  WICK_TRY(const Sums sums, measure(o, setup, [&](const TimedEngine& timed) {
             std::vector<GenerateRequest> all;
             for (int i = 0; i < streams * o.requests; ++i)
               all.push_back(
                   request_of(timed.random_tokens(o.prompt, static_cast<unsigned>(i)), o.generate));
             return all;
           }));
  return BenchRecord{.test = cat("serve c", streams, " p", o.prompt, " n", o.generate),
                     .threads = sums.threads,
                     .figures = {{"tokens_per_second", quartiles(sums.speed)},
                                 {"ttft_ms", quartiles(sums.ttft)},
                                 {"ttft_p99_ms", quartiles({percentile(sums.ttft, 99)})},
                                 {"gap_ms", quartiles(sums.gaps)},
                                 {"gap_p99_ms", quartiles({percentile(sums.gaps, 99)})}}};
}

// The same number of streams while a long prompt is read: how long their next text takes.
Result<BenchRecord> serve_beside(const BenchServeFlags& o, BenchSetup setup, int streams) {
  setup.local.engine.max_seqs = streams + 1;
  const auto requests = [&](const TimedEngine& timed) {
    std::vector<GenerateRequest> all;
    for (int i = 0; i < streams; ++i)
      all.push_back(request_of(timed.random_tokens(o.prompt, static_cast<unsigned>(i)),
                               setup.local.engine.context - o.prompt));
    all.push_back(request_of(timed.random_tokens(o.late_prompt, 4711), 1));
    return all;
  };
  WICK_TRY(const Sums sums, measure(o, setup, requests, true));
  return BenchRecord{.test = cat("serve c", streams, " p", o.prompt, " late", o.late_prompt),
                     .threads = sums.threads,
                     .figures = {{"late_ttft_ms", quartiles(sums.late_ttft)},
                                 {"gap_ms", quartiles(sums.gaps)},
                                 {"gap_p99_ms", quartiles({percentile(sums.gaps, 99)})}}};
}

Result<int> run_serve(const BenchServeFlags& o) {
  WICK_TRY(BenchSetup setup, set_up(o));
  const bool has_late = o.late_prompt > 0;
  int& context = setup.local.engine.context;
  if (context == 0) context = std::max(has_late ? o.late_prompt + 1 : 0, o.prompt + o.generate);
  if (!o.is_json) {
    print({has_late
               ? Shown("streams  next text, ms p50  p99   long prompt's first text, ms\n")
               : Shown("streams  tokens/s   first text, ms p50  p99   next text, ms p50  p99\n")});
  }
  for (const int streams : o.concurrency) {
    const Printable head = column(streams, 7);
    WICK_TRY(const BenchRecord record,
             has_late ? serve_beside(o, setup, streams) : serve(o, setup, streams));
    if (has_late) {
      show(record, o.is_json, head, {{1, 19}, {2, 7}, {.figure = 0, .width = 29, .decimals = 0}});
    } else {
      show(record, o.is_json, head, {{0, 10}, {1, 21}, {2, 7}, {3, 19}, {4, 7}});
    }
  }
  return kExitOk;
}

struct Mode {
  const char* name;
  int streams;
  bool enable_prefix_caching;
};

// Eight requests: a common beginning of `prompt` tokens, then as many of their own as they
// generate.
std::vector<GenerateRequest> of_common_beginning(const TimedEngine& timed,
                                                 const BenchServeFlags& o) {
  std::vector<GenerateRequest> all;
  for (unsigned i = 1; i <= 8; ++i) {
    auto prompt = timed.random_tokens(o.prompt, 0);
    const auto own = timed.random_tokens(o.generate, i);
    prompt.insert(prompt.end(), own.begin(), own.end());
    all.push_back(request_of(std::move(prompt), o.generate));
  }
  return all;
}

Result<int> run_matrix(const BenchServeFlags& o) {
  WICK_TRY(BenchSetup setup, set_up(o));
  if (setup.local.engine.context == 0) setup.local.engine.context = o.prompt + 2 * o.generate;
  constexpr Mode kModes[] = {
      {"baseline", 1, false}, {"reuse", 1, true}, {"batch", 8, false}, {"all", 8, true}};
  if (!o.is_json) print({"             ms, median (quartiles)        tokens/s\n"});
  for (const Mode& mode : kModes) {
    setup.local.engine.max_seqs = mode.streams;
    setup.local.engine.enable_prefix_caching = mode.enable_prefix_caching;
    WICK_TRY(const Sums sums, measure(o, setup, [&](const TimedEngine& timed) {
               return of_common_beginning(timed, o);
             }));
    show({.test = cat("matrix ", mode.name, " p", o.prompt, " n", o.generate),
          .threads = sums.threads,
          .figures = {{"all_ms", quartiles(sums.all_ms)},
                      {"tokens_per_second", quartiles(sums.speed)}}},
         o.is_json, padded(printable(mode.name), 10),
         {{0, 9, Column::Form::kWithQuartiles}, {1, 16}});
  }
  return kExitOk;
}

void add_runs(Flags& flags, BenchServeFlags& o) {
  add_common(flags, o, 1);
  flags.integer("-p,--n-prompt", o.prompt, {1, 1 << 20}, "prompt tokens");
  flags.integer("--warm-up", o.warm_up, {0, 100}, "warm-up runs, not measured");
}

}  // namespace

void add_bench_serve(Flags& bench, const ChosenAction& chosen) {
  const auto o = std::make_shared<BenchServeFlags>();
  Flags flags = bench.command(
      "serve", "concurrent streams: tokens/s, time to first token, inter-token latency",
      [=] { *chosen = [o] { return run_serve(*o); }; });
  add_runs(flags, *o);
  flags.integers("--concurrency", o->concurrency, {1, 256},
                 "concurrent streams; several values are measured in turn");
  flags.integer("--requests", o->requests, {1, 1000}, "requests per stream, one after another");
  flags.integer("--late", o->late_prompt, {0, 1 << 20},
                "measure how long a prompt of N tokens delays the other streams; 0 = off");
}

void add_bench_matrix(Flags& bench, const ChosenAction& chosen) {
  const auto o = std::make_shared<BenchServeFlags>();
  o->prompt = 256;
  o->generate = 32;
  o->runs = 10;
  o->warm_up = 3;
  Flags flags = bench.command("matrix",
                              "eight requests with a shared prefix: with and without prefix "
                              "caching and batching",
                              [=] { *chosen = [o] { return run_matrix(*o); }; });
  add_runs(flags, *o);
}

}  // namespace wick
