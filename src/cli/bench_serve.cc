// wick bench serve: many streams at once; wick bench matrix: what prefix reuse and batching each
// bring.
#include "base/strings.h"
#include "cli/bench.h"
#include "cli/bench_engine.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/settings.h"

namespace wick {

namespace {

struct Options {
  SettingFlags settings = {};
  std::vector<int> concurrency = {1, 2, 4, 8, 16};
  int prompt = 128, generate = 64, requests = 2;  // requests of each stream
  int late_prompt = 0;
  int runs = 3, warm_up = 1;
  bool is_json = false;
};

GenerateRequest request_of(std::vector<TokenId> prompt, int generate, std::uint64_t tenant) {
  return {.prompt = std::move(prompt),
          .max_tokens = generate,
          .sampling = {.temperature = 0},
          .ignore_end = true,
          .tenant = tenant};
}

void append(std::vector<double>& to, const std::vector<double>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

Printable column(int value, std::size_t width) {
  return right_aligned(joined({value}), width);
}

Printable column(const std::pair<std::string, Quartiles>& figure, std::size_t width, int decimals) {
  return right_aligned(fixed(figure.second.median, decimals), width);
}

// Measures each of `cases` and shows it at once: as a line of JSON, or as `show` does.
template <class Cases, class Measure, class Show>
Result<int> report_each(const Cases& cases, bool is_json, const Measure& measure,
                        const Show& show) {
  for (const auto& one : cases) {
    WICK_TRY(const BenchRecord record, measure(one));
    if (is_json) {
      print_json(record);
      continue;
    }
    show(one, record.figures);
    flush_output();
  }
  return kExitOk;
}

// One number of streams; a run has its own tenant, so that no prompt is in the cache already.
Result<BenchRecord> serve(const std::filesystem::path& path, const Options& o, EngineOptions engine,
                          int threads, int streams) {
  engine.max_seqs = streams;
  WICK_TRY(TimedEngine timed, TimedEngine::open(path, threads, engine));
  std::vector<double> generated, ttft, gaps;
  for (int run = -o.warm_up; run < o.runs; ++run) {
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < streams * o.requests; ++i) {
      requests.push_back(
          request_of(random_tokens(o.prompt, timed.vocab(), static_cast<unsigned>(i)), o.generate,
                     static_cast<std::uint64_t>(run + o.warm_up + 1)));
    }
    WICK_TRY(const TimedRun done, timed.run(requests, streams));
    if (run < 0) continue;
    generated.push_back(done.generated_tokens / done.seconds);
    for (const TimedAnswer& answer : done.answers) {
      ttft.push_back(answer.ttft_ms);
      append(gaps, answer.gaps_ms);
    }
  }
  return BenchRecord{.test = cat("serve c", streams, " p", o.prompt, " n", o.generate),
                     .threads = timed.threads(),
                     .figures = {{"tokens_per_second", quartiles(generated)},
                                 {"ttft_ms", quartiles(ttft)},
                                 {"ttft_p99_ms", quartiles({percentile(ttft, 99)})},
                                 {"gap_ms", quartiles(gaps)},
                                 {"gap_p99_ms", quartiles({percentile(gaps, 99)})}}};
}

// The same number of streams while a long prompt is read: how long their next text takes.
Result<BenchRecord> serve_beside(const std::filesystem::path& path, const Options& o,
                                 EngineOptions engine, int threads, int streams) {
  engine.max_seqs = streams + 1;
  WICK_TRY(TimedEngine timed, TimedEngine::open(path, threads, engine));
  std::vector<double> ttft, gaps;
  for (int run = -o.warm_up; run < o.runs; ++run) {
    const auto request = [&](int n, int generate, unsigned seed) {
      return request_of(random_tokens(n, timed.vocab(), seed), generate,
                        static_cast<std::uint64_t>(run + o.warm_up + 1));
    };
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < streams; ++i) {
      requests.push_back(request(o.prompt, engine.context - o.prompt, static_cast<unsigned>(i)));
    }
    WICK_TRY(const TimedRun done, timed.run_beside(requests, request(o.late_prompt, 1, 4711)));
    if (run < 0) continue;
    ttft.push_back(done.answers.back().ttft_ms);
    for (const TimedAnswer& answer : done.answers)
      append(gaps, answer.gaps_ms);
  }
  return BenchRecord{.test = cat("serve c", streams, " p", o.prompt, " late", o.late_prompt),
                     .threads = timed.threads(),
                     .figures = {{"late_ttft_ms", quartiles(ttft)},
                                 {"gap_ms", quartiles(gaps)},
                                 {"gap_p99_ms", quartiles({percentile(gaps, 99)})}}};
}

Result<int> run_beside(const Options& o, const std::filesystem::path& path, EngineOptions engine,
                       int threads) {
  if (engine.context == 0) engine.context = std::max(o.late_prompt + 1, o.prompt + o.generate);
  if (!o.is_json) print({"streams  next text, ms p50  p99   long prompt's first text, ms\n"});
  return report_each(
      o.concurrency, o.is_json,
      [&](int streams) { return serve_beside(path, o, engine, threads, streams); },
      [](int streams, const auto& f) {
        print({column(streams, 7), column(f[1], 19, 1), column(f[2], 7, 1), column(f[0], 29, 0),
               "\n"});
      });
}

Result<int> run_serve(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(EngineOptions engine, engine_options(config));
  const auto threads = static_cast<int>(config.integer("local.threads"));
  if (o.late_prompt > 0) return run_beside(o, path, engine, threads);
  if (engine.context == 0) engine.context = o.prompt + o.generate;
  if (!o.is_json) {
    print({"streams  tokens/s   first text, ms p50  p99   next text, ms p50  p99\n"});
  }
  return report_each(
      o.concurrency, o.is_json,
      [&](int streams) { return serve(path, o, engine, threads, streams); },
      [](int streams, const auto& f) {
        print({column(streams, 7), column(f[0], 10, 1), column(f[1], 21, 1), column(f[2], 7, 1),
               column(f[3], 19, 1), column(f[4], 7, 1), "\n"});
      });
}

struct Mode {
  const char* name;
  int streams;
  bool reuses_prefixes;
};

// Eight requests: a common beginning of `prompt` tokens, then as many of their own as they
// generate.
Result<BenchRecord> measure(const std::filesystem::path& path, const Options& o,
                            EngineOptions engine, int threads, const Mode& mode) {
  constexpr int kRequests = 8;
  engine.max_seqs = mode.streams;
  engine.reuses_prefixes = mode.reuses_prefixes;
  WICK_TRY(TimedEngine timed, TimedEngine::open(path, threads, engine));
  const auto common = random_tokens(o.prompt, timed.vocab(), 0);
  std::vector<double> seconds, speed;
  for (int run = -o.warm_up; run < o.runs; ++run) {
    std::vector<GenerateRequest> requests;
    for (unsigned i = 1; i <= kRequests; ++i) {
      auto prompt = common;
      const auto own = random_tokens(o.generate, timed.vocab(), i);
      prompt.insert(prompt.end(), own.begin(), own.end());
      requests.push_back(request_of(std::move(prompt), o.generate,
                                    static_cast<std::uint64_t>(run + o.warm_up + 1)));
    }
    WICK_TRY(const TimedRun done, timed.run(requests, mode.streams));
    if (run < 0) continue;
    seconds.push_back(done.seconds * 1e3);
    speed.push_back(done.generated_tokens / done.seconds);
  }
  return BenchRecord{
      .test = cat("matrix ", mode.name, " p", o.prompt, " n", o.generate),
      .threads = timed.threads(),
      .figures = {{"all_ms", quartiles(seconds)}, {"tokens_per_second", quartiles(speed)}}};
}

Result<int> run_matrix(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(EngineOptions engine, engine_options(config));
  const auto threads = static_cast<int>(config.integer("local.threads"));
  if (engine.context == 0) engine.context = o.prompt + 2 * o.generate;
  constexpr Mode kModes[] = {
      {"baseline", 1, false}, {"reuse", 1, true}, {"batch", 8, false}, {"all", 8, true}};
  if (!o.is_json) print({"             ms, median (quartiles)        tokens/s\n"});
  return report_each(
      kModes, o.is_json, [&](const Mode& mode) { return measure(path, o, engine, threads, mode); },
      [](const Mode& mode, const auto& f) {
        const Quartiles& ms = f[0].second;
        print({padded(printable(mode.name), 10), right_aligned(fixed(ms.median, 1), 9), " (",
               fixed(ms.q1, 1), " to ", fixed(ms.q3, 1), ")", column(f[1], 16, 1), "\n"});
      });
}

void add_common(Flags& flags, Options& o) {
  o.settings.add_model(flags, false);
  o.settings.add(flags, {"local.threads", "cache.kv_type"});
  flags.integer("-p,--n-prompt", o.prompt, {1, 1 << 20}, "prompt tokens");
  flags.integer("-n,--n-gen", o.generate, {1, 1 << 20}, "generated tokens");
  flags.integer("-r,--repetitions", o.runs, {1, 1000}, "runs of which the median counts");
  flags.integer("--warm-up", o.warm_up, {0, 100}, "runs before them that do not count");
  flags.toggle("--json", o.is_json, "one JSON object a line");
}

}  // namespace

void add_bench_serve(Flags& bench, const ChosenAction& chosen) {
  const auto o = std::make_shared<Options>();
  Flags flags = bench.command("serve", "many streams at once: tokens per second, first text, gaps",
                              [=] { *chosen = [o] { return run_serve(*o); }; });
  add_common(flags, *o);
  flags.integers("--concurrency", o->concurrency, {1, 256}, "streams");
  flags.integer("--requests", o->requests, {1, 1000}, "requests of each stream, one after another");
  flags.integer("--late", o->late_prompt, {0, 1 << 20},
                "tokens of a prompt that comes while the streams talk: how long their next text "
                "takes until it is read; 0 = none comes");
}

void add_bench_matrix(Flags& bench, const ChosenAction& chosen) {
  const auto o = std::make_shared<Options>();
  o->prompt = 256;
  o->generate = 32;
  o->runs = 10;
  o->warm_up = 3;
  Flags flags = bench.command("matrix",
                              "eight requests with a common beginning: with and without "
                              "prefix reuse and batching",
                              [=] { *chosen = [o] { return run_matrix(*o); }; });
  add_common(flags, *o);
}

}  // namespace wick
