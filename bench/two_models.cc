// Two models of one process that answer at the same time, against one after the other: tokens a
// second of both together. They share a device, so they take turns on one thread team.
//
//   build/release/bench_two_models MODEL [tokens] [pairs]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "backend/cpu/cpu_device.h"
#include "base/check.h"
#include "bench/measure.h"
#include "engine/engine.h"
#include "format/model_file.h"

namespace {

using namespace wick;

struct Reader final : DeltaSink {
  std::vector<TokenId> tokens;
  bool is_over = false;

  bool offer(const TextDelta& delta) noexcept override {
    tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    is_over = delta.finish != FinishReason::kNone;
    return true;
  }
};

std::unique_ptr<Engine> make_engine(const ModelFile& file, Device& device) {
  auto decoder = Decoder::load(file, device, {.max_logit_rows = 1, .context = 2048});
  WICK_CHECK(decoder, "the model loads");
  auto engine = Engine::create(*std::move(decoder), *Tokenizer::from(file.metadata()),
                               {.max_seqs = 1, .context = 2048, .enable_prefix_caching = false});
  WICK_CHECK(engine, "the engine starts");
  return *std::move(engine);
}

std::vector<TokenId> generate(Engine& engine, int tokens) {
  const auto reader = std::make_shared<Reader>();
  GenerateRequest request{.max_tokens = tokens, .ignore_end = true};
  for (TokenId id = 0; id < 64; ++id)
    request.prompt.push_back(id * 37 % 4096);
  request.sampling.temperature = 0;
  request.sink = reader;
  WICK_CHECK(engine.submit(std::move(request)), "the request is accepted");
  while (!reader->is_over)
    engine.step();
  return reader->tokens;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_two_models MODEL [tokens] [pairs]\n");
    return 2;
  }
  const int tokens = argc > 2 ? std::atoi(argv[2]) : 128;
  const int pairs = argc > 3 ? std::atoi(argv[3]) : 7;
  const auto file = open_model(argv[1]);
  WICK_CHECK(file, "the file is a model");
  const auto device = CpuDevice::create();
  WICK_CHECK(device, "the processor has kernels");
  const std::array engines = {make_engine(*file, **device), make_engine(*file, **device)};
  std::vector<TokenId> alone, beside;
  std::vector<double> rates, ratios;
  for (int pair = -1; pair < pairs; ++pair) {  // the first one warms up
    const double start = seconds();
    for (const auto& engine : engines)
      alone = generate(*engine, tokens);
    const double between = seconds();
    {
      const std::jthread other([&] { beside = generate(*engines[1], tokens); });
      generate(*engines[0], tokens);
    }
    const double end = seconds();
    WICK_CHECK(alone == beside, "company changes no token");
    if (pair < 0) continue;
    rates.push_back(2 * tokens / (end - between));
    ratios.push_back((between - start) / (end - between));
  }
  std::printf(
      "two models, %d tokens each, %d pairs: %.1f tokens/s together, %.3f of one after the "
      "other ± %.3f (%.3f to %.3f)\n",
      tokens, pairs, spread(rates).median, spread(ratios).median, spread(ratios).mad,
      *std::min_element(ratios.begin(), ratios.end()),
      *std::max_element(ratios.begin(), ratios.end()));
}
