// Microseconds to choose a token from the logits of a large vocabulary.
//
//   bench_sample [--vocab 151936] [--rows 1] [--rounds 21] [--json]
//
// One line a case: the median of the rounds and their spread (MAD). `pass` looks for the
// largest logit, the least any case can take; the cases take turns inside a round, so a busy
// neighbor meets all of them. With --rows N the logits of N positions take turns, so that they
// come from further away than the nearest cache. One thread; processor time.
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.h"
#include "sample/sampler.h"
#include "sample/scan.h"

namespace {

using namespace wick;

struct Options {
  int vocab = 151936;
  int rows = 1;
  int rounds = 21;
  bool is_json = false;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--json") {
      options.is_json = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const int value = std::stoi(argv[++i]);
    if (key == "--vocab") {
      options.vocab = value;
    } else if (key == "--rows") {
      options.rows = value;
    } else if (key == "--rounds") {
      options.rounds = value;
    } else {
      return false;
    }
  }
  return options.vocab > 0 && options.rows > 0 && options.rounds > 0;
}

struct Case {
  std::string_view name;
  SamplingParams params;
  std::vector<double> times = {};
};

std::vector<Case> cases() {
  const SamplingParams all{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};
  SamplingParams nucleus = all, least = all;
  nucleus.top_p = 0.95F;
  least.min_p = 0.05F;
  return {{"greedy", {.temperature = 0}},
          {"default", {}},
          {"default, penalties", {.repeat_penalty = 1.1F}},
          {"default, top-n-sigma", {.top_n_sigma = 1}},
          {"min-p alone", least},
          {"top-p alone", nucleus},
          {"all tokens", all}};
}

volatile float sink;

void print(const Options& o, std::string_view name, const std::vector<double>& times) {
  const Spread us = spread(times);
  const char* format = o.is_json
                           ? "{\"case\":\"%s\",\"vocab\":%d,\"rows\":%d,\"us\":%.2f,\"mad\":%.2f}\n"
                           : "%-22s vocab %d, rows %d: %8.2f us ± %.2f\n";
  std::printf(format, std::string(name).c_str(), o.vocab, o.rows, us.median, us.mad);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (!parse(argc, argv, o)) {
    std::fprintf(stderr, "usage: bench_sample [--vocab N] [--rows N] [--rounds N] [--json]\n");
    return 2;
  }
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<std::vector<float>> rows(static_cast<std::size_t>(o.rows));
  for (auto& row : rows) {
    row.resize(static_cast<std::size_t>(o.vocab));
    for (float& x : row)
      x = normal(random);
  }
  std::vector<TokenId> history(256);
  for (TokenId& id : history)
    id = static_cast<TokenId>(random() % static_cast<unsigned>(o.vocab));
  std::vector<Case> all = cases();
  std::vector<SamplerChain> chains;
  for (const Case& one : all)
    chains.emplace_back(one.params, ChainSizes{.vocab = o.vocab, .history = 4096});
  std::vector<double> pass;
  constexpr int kRepeats = 16;
  const auto measure = [&](std::vector<double>& times, const auto& body) {
    const double from = seconds();
    for (int i = 0; i < kRepeats; ++i)
      body(rows[static_cast<std::size_t>(i) % rows.size()]);
    times.push_back((seconds() - from) / kRepeats * 1e6);
  };
  for (int round = 0; round < o.rounds; ++round) {
    measure(pass, [](std::vector<float>& row) { sink = largest_logit({.logits = row}); });
    for (std::size_t i = 0; i < all.size(); ++i) {
      measure(all[i].times, [&](std::vector<float>& row) {
        sink = static_cast<float>(chains[i].sample(row, {}, history));
      });
    }
  }
  print(o, "pass", pass);
  for (const Case& one : all)
    print(o, one.name, one.times);
  return 0;
}
