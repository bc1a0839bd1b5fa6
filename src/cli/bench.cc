// wick bench: tokens per second of prompt processing ("pp512") and generation ("tg64"), with
// llama-bench's flags and its way of measuring: tokens are random, nothing is sampled, one warm-up
// run (none with --no-warmup), then the median of -r runs. Beside each speed stand the bytes read
// per second, their share of a plain read of the same memory, and the share that products with
// weights have of the widest multiply of bytes: both limits by as many threads, taken before and
// after each run.
#include "cli/bench.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "base/thread_team.h"
#include "cli/bandwidth.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/option_flags.h"
#include "format/model_file.h"
#include "kernels/cpu/isa.h"
#include "model/decoder.h"

namespace wick {

namespace {

constexpr std::size_t kProbeBytes = 256 << 20;  // of the file, for the plain read

struct BenchFlags {
  OptionFlags settings = {};
  std::vector<int> prompt = {512}, generate = {64}, threads = {}, depth = {0};
  int repeats = 3;
  int chunk = 512;
  bool is_cold = false, is_json = false;
};

struct Test {
  int prompt = 0, generate = 0, depth = 0;
};

std::string name_of(const Test& test) {
  std::string name = test.generate > 0 ? cat("tg", test.generate) : cat("pp", test.prompt);
  return test.depth > 0 ? cat(name, "@d", test.depth) : name;
}

class Bench {
 public:
  Bench(BareModel& model, std::span<const std::byte> probe, ThreadTeam& team,
        const MatmulKernels& kernels, std::size_t kv_position_bytes)
      : model_(model),
        probe_(probe),
        team_(team),
        kernels_(kernels),
        kv_position_bytes_(kv_position_bytes) {}

  Result<BenchRecord> measure(const Test& test, int repeats, bool has_warmup) {
    std::vector<double> speed, bytes, of_read, of_multiply;
    for (int i = has_warmup ? -1 : 0; i < repeats; ++i) {
      WICK_DO(reach(test.depth));
      const Limits before = limits();
      const std::int64_t start = monotonic_ns();
      if (test.prompt > 0) WICK_DO(advance(test.depth, test.prompt));
      for (int t = 0; t < test.generate; ++t)
        WICK_DO(advance(test.depth + t, 1));
      const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
      n_cached_ = test.depth + test.prompt + test.generate;
      const Limits after = limits();
      if (i < 0) continue;
      speed.push_back((test.prompt + test.generate) / seconds);
      bytes.push_back(bytes_read(test) / seconds * 1e-9);
      of_read.push_back(bytes.back() * 1e9 / ((before.read + after.read) / 2));
      const double peak = (before.multiply + after.multiply) / 2;
      of_multiply.push_back(peak > 0 ? products(test) / seconds / peak : 0);
    }
    return BenchRecord{.test = name_of(test),
                       .threads = model_.decoder.threads(),
                       .figures = {{"tokens_per_second", quartiles(speed)},
                                   {"gb_per_s", quartiles(bytes)},
                                   {"share_of_read_bandwidth", quartiles(of_read)},
                                   {"share_of_multiply_peak", quartiles(of_multiply)}}};
  }

 private:
  struct Limits {
    double read = 0, multiply = 0;  // bytes and products per second
  };

  Limits limits() { return {read_bandwidth(team_, probe_), multiply_peak(team_, kernels_)}; }

  // Leaves `depth` positions in the cache; what an earlier run left there is kept.
  Result<void> reach(int depth) {
    const int kept = model_.memory.rollback(0, std::min(depth, n_cached_));
    return advance(kept, depth - kept);
  }

  // Computes positions [begin, begin + n) of random tokens, the last with logits.
  Result<void> advance(int begin, int n) {
    std::uniform_int_distribution<TokenId> any(0, model_.decoder.spec().vocab - 1);
    const int chunk = model_.decoder.options().max_batch_tokens;
    WICK_CHECK(model_.memory.extend(0, begin + n), "the cache was made for the deepest test");
    for (int done = 0; done < n; done += chunk) {
      tokens_.resize(static_cast<std::size_t>(std::min(chunk, n - done)));
      std::generate(tokens_.begin(), tokens_.end(), [&] { return any(rng_); });
      WICK_DO(model_.forward(tokens_, begin + done, done + chunk < n ? 0 : 1));
    }
    return {};
  }

  // Weights once for each forward pass, keys and values once for each position looked back at by a
  // decode step.
  double bytes_read(const Test& test) const {
    const int chunk = model_.decoder.options().max_batch_tokens;
    const int passes = (test.prompt + chunk - 1) / chunk + test.generate;
    const double looked_at = test.generate * (test.depth + (test.generate + 1) / 2.0);
    return passes * static_cast<double>(model_.decoder.bytes_read_per_token()) +
           looked_at * static_cast<double>(kv_position_bytes_);
  }

  // With weights; a prompt's last token alone has logits. Attention multiplies floats.
  double products(const Test& test) const {
    const int n_logits = test.generate + (test.prompt > 0 ? 1 : 0);
    return static_cast<double>(model_.decoder.products_per_token()) *
               (test.prompt + test.generate) +
           static_cast<double>(model_.decoder.products_per_logit_row()) * n_logits;
  }

  BareModel& model_;
  std::span<const std::byte> probe_;
  ThreadTeam& team_;
  const MatmulKernels& kernels_;
  std::size_t kv_position_bytes_;
  int n_cached_ = 0;
  std::mt19937 rng_{42};
  std::vector<TokenId> tokens_;
};

std::vector<Test> tests_of(const BenchFlags& o) {
  std::vector<Test> tests;
  for (const int depth : o.depth) {
    for (const int n : o.prompt) {
      if (n > 0) tests.push_back({.prompt = n, .depth = depth});
    }
    for (const int n : o.generate) {
      if (n > 0) tests.push_back({.generate = n, .depth = depth});
    }
  }
  return tests;
}

Result<int> run_bench(const BenchFlags& o) {
  const auto tests = tests_of(o);
  int context = 1;
  for (const Test& test : tests)
    context = std::max(context, test.depth + test.prompt + test.generate);
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const KvTypes types, parse_kv_types(config.text("cache.kv_type")));
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const ModelFile file, open_model(path));
  // A second mapping of the same pages, to read without touching the engine's own.
  WICK_TRY(
      const MappedFile probe,
      MappedFile::open(std::filesystem::is_directory(path) ? path / "model.safetensors" : path));
  const auto bytes = probe.bytes().first(std::min(kProbeBytes, probe.bytes().size()));
  if (!o.is_json) {
    print({printable(path.filename().string()), ", ", human(file.bytes()), "\n",
           "test            threads    tokens/s     GB/s  of memory speed   of peak MACs\n"});
  }
  std::vector<int> threads = o.threads;
  if (threads.empty()) threads = {static_cast<int>(config.integer("local.threads"))};
  WICK_TRY(const Isa isa, choose_isa());
  for (const int wanted : threads) {
    WICK_TRY(BareModel model, load_bare_model(config, file, {.max_batch_tokens = o.chunk,
                                                            .max_logit_rows = 1,
                                                            .context = context,
                                                            .threads = wanted}));
    const int threads_in_use = model.decoder.threads();
    WICK_TRY(ThreadTeam team, ThreadTeam::create(threads_in_use));
    Bench bench(model, bytes, team, matmul_kernels(isa),
                kv_bytes_per_position(model.decoder.spec(), types.k, types.v));
    for (const Test& test : tests) {
      WICK_TRY(const BenchRecord record, bench.measure(test, o.repeats, !o.is_cold));
      const Printable head =
          joined({padded(printable(record.test), 16), column(threads_in_use, 7)});
      show(record, o.is_json, head,
           {{0, 12}, {1, 9}, {2, 10, Column::Form::kPercent}, {3, 13, Column::Form::kPercent}});
    }
  }
  return kExitOk;
}

}  // namespace

Action setup_bench(Flags flags) {
  const auto o = std::make_shared<BenchFlags>();
  o->settings.add_model(flags, false);
  o->settings.add(flags, {"local.device", "local.tensor_split", "cache.kv_type"});
  constexpr Range<int> kTokens = {0, 1 << 20};
  flags.integers("-p,--n-prompt", o->prompt, kTokens, "prompt tokens; 0 = skip this test");
  flags.integers("-n,--n-gen", o->generate, kTokens, "generated tokens; 0 = skip this test");
  flags.integers("-t,--threads", o->threads, {0, 1024},
                 "CPU threads; several values are measured in turn");
  flags.integers("-d,--n-depth", o->depth, kTokens, "tokens in the KV cache before the test");
  flags.integer("-r,--repetitions", o->repeats, {1, 1000}, "measured runs; the median is reported");
  flags.toggle("--no-warmup", o->is_cold, "no warm-up run");
  flags.integer("-b,--batch-size", o->chunk, {1, 8192}, "prompt tokens per forward pass");
  flags.toggle("--json", o->is_json, "print one JSON object per line");
  const auto chosen = std::make_shared<Action>([o] { return run_bench(*o); });
  add_bench_single(flags, chosen);
  add_bench_chat(flags, chosen);
  add_bench_serve(flags, chosen);
  add_bench_matrix(flags, chosen);
  add_bench_compare(flags, chosen);
  return [chosen] { return (*chosen)(); };
}

}  // namespace wick
