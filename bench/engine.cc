// Many conversations at once: what they get together, and how evenly.
//
//   bench_engine FILE [--streams 1,4,16] [--tokens 64] [--prompt 32] [--threads 2] [--rounds 5]
//                [--long 0] [--target 100] [--kv bf16] [--json]
//
// One line for each number of streams: tokens a second of all streams together while they decode
// (median of the rounds, spread as MAD), the steps' p50 and p99, and the ratio to one stream in the
// same round. With --long N a prompt of N tokens comes while the streams decode: the times between
// two tokens of a stream until its first token, and that prompt's own time to it. Wall clock.
#include "engine/engine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "bench/measure.h"
#include "format/model_file.h"

namespace {

using namespace wick;

struct Options {
  std::string file;
  std::vector<int> streams = {1, 4, 16};
  int tokens = 64, prompt = 32, threads = 2, rounds = 5, long_prompt = 0, target_ms = 100;
  KvType kv = KvType::kBF16;
  bool is_json = false;
};

std::vector<int> numbers(std::string_view text) {
  std::vector<int> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    out.push_back(std::stoi(std::string(text.substr(0, comma))));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--json") {
      o.is_json = true;
      continue;
    }
    if (!key.starts_with("--")) {
      o.file = key;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string value = argv[++i];
    int* const number = key == "--tokens"    ? &o.tokens
                        : key == "--prompt"  ? &o.prompt
                        : key == "--threads" ? &o.threads
                        : key == "--rounds"  ? &o.rounds
                        : key == "--long"    ? &o.long_prompt
                        : key == "--target"  ? &o.target_ms
                                             : nullptr;
    if (key == "--streams") {
      o.streams = numbers(value);
    } else if (key == "--kv") {
      const auto* type = std::find_if(std::begin(kKvTypes), std::end(kKvTypes),
                                      [&](KvType t) { return name(t) == value; });
      if (type == std::end(kKvTypes)) return false;
      o.kv = *type;
    } else if (number != nullptr) {
      *number = std::stoi(value);
    } else {
      return false;
    }
  }
  return !o.file.empty();
}

struct Reader final : DeltaSink {
  int n_tokens = 0;
  bool is_done = false;

  bool offer(const TextDelta& delta) noexcept override {
    n_tokens += static_cast<int>(delta.tokens.size());
    is_done = is_done || delta.stop != StopReason::kNone;
    return true;
  }
};

struct Bench {
  Options options;
  ModelFile file;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Engine> engine;
  int vocab = 0, n_requests = 0;

  std::shared_ptr<Reader> submit(int n_prompt, int n_tokens) {
    auto reader = std::make_shared<Reader>();
    GenerateRequest request{.max_tokens = n_tokens,
                            .sampling = {.seed = static_cast<std::uint64_t>(n_requests)},
                            .ignore_end = true,
                            .sink = reader};
    ++n_requests;  // each text is another one: nothing is cached
    for (int i = 0; i < n_prompt; ++i)
      request.prompt.push_back((i * 7919 + n_requests * 104729) % vocab);
    const auto id = engine->submit(std::move(request));
    if (!id) std::fprintf(stderr, "%s\n", to_string(id.error()).c_str());
    return id ? reader : nullptr;
  }

  struct Round {
    double tokens_per_second = 0;
    std::vector<double> gaps_ms = {};
    double first_ms = 0;  // of the long prompt
  };

  // Until every stream has said its first token; then the clock runs.
  Round run(int streams) {
    const int extra = options.long_prompt > 0 ? 1 << 14 : 0;  // they say on until it has come
    std::vector<std::shared_ptr<Reader>> readers;
    for (int i = 0; i < streams; ++i)
      readers.push_back(submit(options.prompt, std::min(options.tokens + extra, 4000)));
    const auto all = [&](auto&& is_so) {
      return std::all_of(readers.begin(), readers.end(), is_so);
    };
    while (!all([](const auto& r) { return r->n_tokens > 0; }))
      engine->step();
    const auto said = [&] {
      int n = 0;
      for (const auto& reader : readers)
        n += reader->n_tokens;
      return static_cast<double>(n);
    };
    Round round;
    const double said_before = said();
    const std::int64_t began = monotonic_ns();
    std::shared_ptr<Reader> late;
    if (options.long_prompt > 0) late = submit(options.long_prompt, 1);
    std::int64_t last = began;
    while (late != nullptr ? !late->is_done : engine->step()) {
      if (late != nullptr) engine->step();
      const std::int64_t now = monotonic_ns();
      round.gaps_ms.push_back(static_cast<double>(now - last) * 1e-6);
      last = now;
    }
    const double took = static_cast<double>(last - began) * 1e-9;
    round.first_ms = late != nullptr ? took * 1e3 : 0;
    round.tokens_per_second = (said() - said_before) / took;
    if (late != nullptr) drop();
    return round;
  }

  void drop() {  // what still runs
    for (int id = 1; id <= n_requests; ++id)
      engine->cancel(static_cast<RequestId>(id));
    while (engine->step()) {
    }
  }
};

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(p * static_cast<double>(values.size())))];
}

Result<Bench> open(const Options& options) {
  WICK_TRY(ModelFile file, ModelFile::open(options.file));
  WICK_TRY(auto backend, make_cpu_backend({.threads = options.threads}));
  const int most = *std::max_element(options.streams.begin(), options.streams.end()) + 1;
  WICK_TRY(Decoder decoder,
           Decoder::load(file, *backend, {.max_logit_rows = most, .max_seqs = most}));
  const int vocab = decoder.spec().vocab;
  WICK_TRY(auto tokenizer, Tokenizer::from(file.metadata()));
  WICK_TRY(auto engine, Engine::create(std::move(decoder), *backend, std::move(tokenizer),
                                       {.max_seqs = most,
                                        .step_target_ms = options.target_ms,
                                        .k_type = options.kv,
                                        .v_type = options.kv}));
  return Bench{options, std::move(file), std::move(backend), std::move(engine), vocab};
}

void report(const Options& o, int streams, const std::vector<Bench::Round>& rounds,
            const std::vector<double>& ratios) {
  std::vector<double> speeds, gaps, firsts;
  for (const auto& round : rounds) {
    speeds.push_back(round.tokens_per_second);
    firsts.push_back(round.first_ms);
    gaps.insert(gaps.end(), round.gaps_ms.begin(), round.gaps_ms.end());
  }
  const Spread speed = spread(speeds), ratio = spread(ratios);
  const double p50 = percentile(gaps, 0.5), p99 = percentile(gaps, 0.99);
  const double first = o.long_prompt > 0 ? spread(firsts).median : 0;
  if (o.is_json) {
    std::printf(
        "{\"streams\":%d,\"tokens_per_second\":%.1f,\"mad\":%.1f,\"ratio\":%.2f,\"p50_ms\":%.2f,"
        "\"p99_ms\":%.2f,\"long_prompt\":%d,\"long_first_ms\":%.0f}\n",
        streams, speed.median, speed.mad, ratio.median, p50, p99, o.long_prompt, first);
    return;
  }
  std::printf("%3d streams %8.1f tokens/s ± %5.1f  %5.2f x one  step p50 %7.2f ms  p99 %7.2f ms",
              streams, speed.median, speed.mad, ratio.median, p50, p99);
  if (o.long_prompt > 0) std::printf("  first token of %d: %.0f ms", o.long_prompt, first);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "see the first lines of bench/engine.cc\n");
    return 2;
  }
  auto bench = open(options);
  if (!bench) {
    std::fprintf(stderr, "%s\n", to_string(bench.error()).c_str());
    return 4;
  }
  bench->run(options.streams[0]);  // pages of the file, tables of the angles
  std::vector<std::vector<Bench::Round>> rounds(options.streams.size());
  std::vector<std::vector<double>> ratios(options.streams.size());
  for (int i = 0; i < options.rounds; ++i) {
    for (std::size_t k = 0; k < options.streams.size(); ++k) {
      rounds[k].push_back(bench->run(options.streams[k]));
      ratios[k].push_back(rounds[k].back().tokens_per_second / rounds[0].back().tokens_per_second);
    }
  }
  for (std::size_t k = 0; k < options.streams.size(); ++k)
    report(options, options.streams[k], rounds[k], ratios[k]);
  return 0;
}
