// What drafting tokens ahead gains where a text repeats itself, and costs where it does not.
//
//   bench_speculation MODEL.gguf [--pairs 21] [--tokens 256] [--draft-max 16] [--context 2048]
//       [--kind copying|wandering]
//
// Each pair generates the same tokens without and with draft tokens, in turns, the order
// alternating; the figure is the ratio of their times, median and MAD over the pairs, from the
// first generated token to the last. `copying`: greedy, the prompt is a text that the model has
// begun to say again. `wandering`: temperature 1.5 over the whole vocabulary, which hardly repeats
// itself; of the prompt nothing is left. One thread; processor time. That both give the same tokens
// is checked.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/cpu_device.h"
#include "base/check.h"
#include "bench/measure.h"
#include "engine/engine.h"
#include "format/model_file.h"

namespace {

using namespace wick;

struct Options {
  std::string model, kind;  // kind empty = both
  int pairs = 21, tokens = 256, draft_max = 16, context = 2048;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (!key.starts_with("--")) {
      options.model = key;
      continue;
    }
    if (i + 1 == argc) return false;
    if (key == "--kind") {
      options.kind = argv[++i];
      continue;
    }
    const int value = std::stoi(argv[++i]);
    if (key == "--pairs") {
      options.pairs = value;
    } else if (key == "--tokens") {
      options.tokens = value;
    } else if (key == "--draft-max") {
      options.draft_max = value;
    } else if (key == "--context") {
      options.context = value;
    } else {
      return false;
    }
  }
  return !options.model.empty();
}

struct Reader final : DeltaSink {
  std::vector<TokenId> tokens;
  Usage usage;
  bool is_over = false;

  bool offer(const TextDelta& delta) noexcept override {
    tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    usage = delta.usage;
    is_over = delta.finish != FinishReason::kNone;
    return true;
  }
};

std::unique_ptr<Engine> make_engine(const ModelFile& file, Device& device, const Options& o,
                                    int draft_max) {
  auto decoder = Decoder::load(file, device,
                               {.max_batch_tokens = 512,
                                .max_logit_rows = 1 + draft_max,
                                .context = o.context,
                                .threads = 1});
  WICK_CHECK(decoder, "the model loads");
  auto engine = Engine::create(*std::move(decoder), *Tokenizer::from(file.metadata()),
                               {.max_seqs = 1, .context = o.context, .draft_max = draft_max});
  WICK_CHECK(engine, "the engine starts");
  return *std::move(engine);
}

struct Run {
  std::vector<TokenId> tokens;
  Usage usage;
  double seconds = 0;
};

Run generate(Engine& engine, GenerateRequest request) {
  const auto reader = std::make_shared<Reader>();
  request.sink = reader;
  WICK_CHECK(engine.submit(std::move(request)), "the request is accepted");
  while (reader->tokens.empty())
    engine.step();
  const double from = seconds();
  while (!reader->is_over)
    engine.step();
  return {reader->tokens, reader->usage, seconds() - from};
}

constexpr std::string_view kText =
    "The harbour of the old town lies between two low hills. In the morning the fishing boats come "
    "back, one after another, and the market on the quay begins to fill. A baker carries warm "
    "bread "
    "across the square, children run to school along the wall, and the clock of the customs house "
    "strikes eight. Whoever wants a good place at the window of the small inn has to come early, "
    "because the view over the bay is known far beyond the town. ";

GenerateRequest make_request(const Tokenizer& tokenizer, bool is_copying, int pair, int tokens) {
  GenerateRequest r{.max_tokens = tokens, .ignore_end = true};
  std::string text;
  if (is_copying) {
    // From another place each time, three times over and begun once more.
    const std::string turned = std::string(kText.substr(static_cast<std::size_t>(pair) * 7)) +
                               std::string(kText.substr(0, static_cast<std::size_t>(pair) * 7));
    text = turned + turned + turned + turned.substr(0, 60);
    r.sampling.temperature = 0;
  } else {
    text = kText.substr(static_cast<std::size_t>(pair) * 7, 40);
    r.sampling = {.temperature = 1.5F, .top_k = 0, .top_p = 1, .min_p = 0};
    r.sampling.seed = static_cast<std::uint64_t>(pair);
  }
  r.prompt = *tokenizer.encode_plain(text);
  return r;
}

void measure(const Options& o, Engine& plain, Engine& drafting, bool is_copying) {
  std::vector<double> ratios;
  long drawn = 0, drafted = 0, accepted = 0;
  for (int pair = 0; pair < o.pairs; ++pair) {
    const auto request = [&] {
      return make_request(plain.tokenizer(), is_copying, pair, o.tokens);
    };
    Run with, without;
    if (pair % 2 == 0) without = generate(plain, request());
    with = generate(drafting, request());
    if (pair % 2 != 0) without = generate(plain, request());
    WICK_CHECK(with.tokens == without.tokens, "draft tokens change no token");
    ratios.push_back(without.seconds / with.seconds);
    drawn += with.usage.generated_tokens;
    drafted += with.usage.draft_tokens;
    accepted += with.usage.accepted_tokens;
  }
  const Spread ratio = spread(ratios);
  std::printf(
      "%-9s %2d pairs of %d tokens, drafts of at most %d: %.3f times as fast ± %.3f (%.3f to "
      "%.3f),"
      " %ld drafted, %ld accepted, %.2f %% more computed\n",
      is_copying ? "copying" : "wandering", o.pairs, o.tokens, o.draft_max, ratio.median, ratio.mad,
      *std::min_element(ratios.begin(), ratios.end()),
      *std::max_element(ratios.begin(), ratios.end()), drafted, accepted,
      100.0 * static_cast<double>(drafted - accepted) / static_cast<double>(drawn));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (!parse(argc, argv, o)) {
    std::fprintf(stderr,
                 "usage: bench_speculation MODEL [--pairs N] [--tokens N] [--draft-max N] "
                 "[--context N] [--kind copying|wandering]\n");
    return 2;
  }
  const auto file = open_model(o.model);
  if (!file) {
    std::fprintf(stderr, "%s\n", to_string(file.error()).c_str());
    return 1;
  }
  const auto device = CpuDevice::create();
  WICK_CHECK(device, "the processor has kernels");
  const auto plain = make_engine(*file, **device, o, 0);
  const auto drafting = make_engine(*file, **device, o, o.draft_max);
  for (const bool is_copying : {true, false}) {
    if (o.kind.empty() || (o.kind == "copying") == is_copying) {
      measure(o, *plain, *drafting, is_copying);
    }
  }
  return 0;
}
