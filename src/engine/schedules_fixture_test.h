// What a request yields is what it yields alone. Random schedules: how many share a step, how
// prompts are cut, how large the cache is (so that prefixes are shared, evicted, and sequences
// preempted), its type, how many threads compute, who comes when, who is cancelled, who reads
// slowly. A schedule that fails is made smaller while it still fails, then printed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/engine_fixture_test.h"
#include "model/placed_test.h"
#include "model/tiny_archs_test.h"

namespace wick {

struct Ask {  // one request and what its client does; every request of a seed is another one
  int prompt_seed = 0, n_prompt = 1, edit = -1;  // position where it differs from its family
  int n_answer = 1;
  int sampling = 0;  // kind
  int seed = 0;
  int tenant = 0, priority = 0, emit_tokens = 0;
  int arrives = 0;      // step
  int cancelled = -1;   // so many steps later, -1 = never
  int reads_every = 1;  // takes one delta in so many steps
};

struct Schedule {
  int max_seqs = 1, chunk = 512, threads = 1, spare_blocks = 0, target_ms = 0, draft_max = 0;
  bool enable_prefix_caching = true;
  std::vector<Ask> asks = {};
};

inline std::string to_string(const Schedule& s) {
  std::ostringstream out;
  out << "max_seqs " << s.max_seqs << ", chunk " << s.chunk << ", threads " << s.threads
      << ", draft_max " << s.draft_max << ", spare blocks " << s.spare_blocks << ", target "
      << s.target_ms << " ms, reuse " << s.enable_prefix_caching << "\n";
  for (const Ask& a : s.asks) {
    out << "  prompt " << a.prompt_seed << " x " << a.n_prompt << " edit " << a.edit << ", answer "
        << a.n_answer << ", sampling " << a.sampling << ", seed " << a.seed << ", tenant "
        << a.tenant << ", priority " << a.priority << ", emit " << a.emit_tokens << ", arrives "
        << a.arrives << ", cancelled " << a.cancelled << ", reads every " << a.reads_every << "\n";
  }
  return out.str();
}

inline SamplingParams sampling_of(const Ask& ask) {
  SamplingParams params{.seed = static_cast<std::uint64_t>(ask.seed)};
  switch (ask.sampling) {
    case 0:
      params.temperature = 0;
      break;
    case 1:
      params.temperature = 0.9F;
      break;
    case 2:
      params.temperature = 2;
      params.top_k = 0;
      params.repeat_penalty = 1.3F;
      break;
    default:
      params.typical_p = 0.9F;
      params.xtc_probability = 0.5F;
      params.frequency_penalty = 0.4F;
  }
  return params;
}

struct Outcome {  // all that a request yields; what deltas come to carry besides belongs here
  std::vector<TokenId> tokens = {};
  std::string text = {};
  FinishReason finish = FinishReason::kNone;
  std::string error = {};
  std::vector<TokenId> top_logprobs = {};  // with their log-probabilities, as bits
  std::vector<std::uint32_t> logprobs = {};

  bool operator==(const Outcome&) const = default;
};

struct Subject {  // a model and its kind of cache
  std::filesystem::path path;
  KvType k = KvType::kF32, v = KvType::kF32;
  int context = 192, longest_prompt = 120, longest_answer = 24;
  const Arch* arch = nullptr;  // nullptr = the library's
};

class Schedules {
 public:
  explicit Schedules(Subject subject) : subject_(std::move(subject)) {
    file_ = *open_model(subject_.path);
    tokenizer_ = *Tokenizer::from(file_->metadata());
  }

  // Schedules `first`, `first` + 1, …; stops at the first that fails.
  void run(int first, int count) {
    for (int seed = first; seed < first + count; ++seed) {
      Schedule schedule = random(static_cast<std::uint32_t>(seed));
      if (difference(schedule).empty()) continue;
      shrink(schedule);
      ADD_FAILURE() << "seed " << seed << ": " << difference(schedule) << "\n"
                    << to_string(schedule);
      return;
    }
  }

  std::vector<int> parts = {};  // where schedules compute (test::placed); solos use one device

  int preemptions = 0, reuses = 0, accepted_tokens = 0, rejected_tokens = 0;
  int n_requests = 0, n_failed = 0;  // the latter with an error

 private:
  Schedule random(std::uint32_t seed) const {
    std::mt19937 bits(seed);
    const auto below = [&](int n) { return static_cast<int>(bits() % static_cast<unsigned>(n)); };
    const int chunks[] = {1, 2, 7, 16, 33, 64, 200, 512, 2048};
    Schedule s{.max_seqs = 1 + below(16),
               .chunk = chunks[below(9)],
               .threads = below(8) == 0 ? 3 + below(2) : 1 + below(2),
               .spare_blocks = below(3) == 0 ? 200 : below(4),
               .target_ms = below(2) * 5,
               .draft_max = seed % 2 == 0 ? 0 : 1 + static_cast<int>(seed / 2 % 20),
               .enable_prefix_caching = below(8) != 0};
    const int n = 1 + below(9);
    for (int i = 0; i < n; ++i) {
      // Few families, so that prompts share beginnings, and few kinds, so that solos are known.
      Ask a{.prompt_seed = below(3), .n_prompt = 1 + below(8) * subject_.longest_prompt / 8};
      if (below(3) == 0) a.edit = a.n_prompt / 2;
      a.n_answer = below(4) == 0 ? 1 : subject_.longest_answer - below(2) * 7;
      a.sampling = below(4);
      a.seed = below(2);
      a.tenant = below(4) == 0 ? 1 : 0;
      a.priority = below(5) - 2;
      a.emit_tokens = below(4) == 0 ? 5 : 0;
      a.arrives = below(30);
      if (below(6) == 0) a.cancelled = below(20);
      if (below(6) == 0) a.reads_every = 2 + below(40);
      s.asks.push_back(a);
    }
    return s;
  }

  GenerateRequest request_of(const Ask& ask) const {
    const int vocab = tokenizer_->size();
    GenerateRequest r{.max_tokens = ask.n_answer,
                      .sampling = sampling_of(ask),
                      .tenant = static_cast<std::uint64_t>(ask.tenant),
                      .priority = ask.priority,
                      .emit_tokens = ask.emit_tokens};
    r.top_logprobs = ask.prompt_seed;
    for (int i = 0; i < ask.n_prompt; ++i) {
      const int value = i * 37 + ask.prompt_seed * 1009 + i / 50 * 3;
      r.prompt.push_back((i == ask.edit ? value + 1 : value) % vocab);
    }
    return r;
  }

  Result<RequestId> submit(Engine& engine, const Ask& ask,
                           const std::shared_ptr<Reader>& reader) const {
    GenerateRequest request = request_of(ask);
    if (ask.seed == 1 && ask.prompt_seed == 1) {
      return engine.submit(scored(std::move(request), reader));
    }
    request.sink = reader;
    return engine.submit(std::move(request));
  }

  std::unique_ptr<Engine> make_engine(const Placement& placement, const Schedule& s) const {
    const int batch = std::max(s.chunk, s.max_seqs);
    auto decoder = Decoder::load(
        *file_, subject_.arch == nullptr ? **find_arch(*file_) : *subject_.arch, placement,
        {.max_batch_tokens = batch,
         .max_logit_rows = s.max_seqs + s.draft_max,
         .context = subject_.context,
         .max_seqs = s.max_seqs,
         .threads = s.threads});
    WICK_CHECK(decoder, "the subject loads");
    const auto blocks =
        static_cast<std::uint64_t>(subject_.context / kBlockTokens + 1 + s.spare_blocks);
    const std::uint64_t bytes =
        blocks * kBlockTokens * kv_bytes_per_position(decoder->spec(), subject_.k, subject_.v);
    auto engine = Engine::create(*std::move(decoder), tokenizer_,
                                 {.max_seqs = s.max_seqs,
                                  .context = subject_.context,
                                  .kv_limit_bytes = bytes,
                                  .prefill_chunk = s.chunk,
                                  .step_target_ms = s.target_ms,
                                  .k_type = subject_.k,
                                  .v_type = subject_.v,
                                  .draft_max = s.draft_max,
                                  .adaptive_drafting = false,
                                  .enable_prefix_caching = s.enable_prefix_caching});
    WICK_CHECK(engine, "the engine starts");
    return *std::move(engine);
  }

  static Outcome outcome_of(const Reader& reader) {
    Outcome out{.tokens = reader.tokens,
                .text = reader.text,
                .finish = reader.last ? reader.last->finish : FinishReason::kNone,
                .error = reader.error};
    for (const auto* logprobs : {&reader.logprobs, &reader.prompt_scores}) {
      for (const IdLogprob& score : *logprobs) {
        out.top_logprobs.push_back(score.id);
        out.logprobs.push_back(std::bit_cast<std::uint32_t>(score.logprob));
      }
    }
    return out;
  }

  // What the request yields alone, on one thread, in an engine that knows nothing.
  const Outcome& solo(const Ask& ask) {
    const auto key =
        std::tuple(ask.prompt_seed, ask.n_prompt, ask.edit, ask.n_answer, ask.sampling, ask.seed);
    const auto known = solos_.find(key);
    if (known != solos_.end()) return known->second;
    if (solo_device_ == nullptr) {
      solo_device_ = test::make_device();
      solo_engine_ = make_engine(*solo_device_, {.threads = 1, .enable_prefix_caching = false});
    }
    const auto reader = std::make_shared<Reader>();
    WICK_CHECK(submit(*solo_engine_, ask, reader), "a solo is accepted");
    while (solo_engine_->step()) {
    }
    return solos_.emplace(key, outcome_of(*reader)).first->second;
  }

  // Plays the schedule; empty = every request yielded what it yields alone.
  std::string difference(const Schedule& s) {
    const auto device = test::make_device();
    std::unique_ptr<Device> second;
    if (!parts.empty()) second = std::make_unique<test::FakeDevice>(*choose_isa());
    const auto engine = make_engine(test::placed(*device, second.get(), parts), s);
    std::vector<std::shared_ptr<Reader>> readers(s.asks.size());
    std::vector<RequestId> ids(s.asks.size());
    bool is_open = true;
    for (int step = 0; is_open; ++step) {
      if (step > 100'000) return "it does not end";
      is_open = false;
      for (std::size_t i = 0; i < s.asks.size(); ++i) {
        const Ask& ask = s.asks[i];
        if (step == ask.arrives) {
          readers[i] = std::make_shared<Reader>();
          if (ask.reads_every > 1) readers[i]->room = 0;
          const auto id = submit(*engine, ask, readers[i]);
          if (!id) return id.error().message;
          ids[i] = *id;
        }
        if (readers[i] != nullptr && step % ask.reads_every == 0 && ask.reads_every > 1) {
          readers[i]->room = 1;
        }
        if (ask.cancelled >= 0 && step == ask.arrives + ask.cancelled) engine->cancel(ids[i]);
        is_open = is_open || readers[i] == nullptr || !readers[i]->last;
      }
      engine->step();
    }
    for (std::size_t i = 0; i < s.asks.size(); ++i) {
      const std::string what = compare(s.asks[i], *readers[i]);
      if (!what.empty()) return "request " + std::to_string(i) + what;
    }
    return {};
  }

  std::string compare(const Ask& ask, const Reader& reader) {
    const Outcome seen = outcome_of(reader);
    preemptions += reader.last->usage.preemptions;
    reuses += reader.last->usage.cached_tokens > 0 ? 1 : 0;
    n_requests += 1;
    n_failed += seen.error.empty() ? 0 : 1;
    accepted_tokens += reader.last->usage.accepted_tokens;
    rejected_tokens += reader.last->usage.draft_tokens - reader.last->usage.accepted_tokens;
    const Outcome& alone = solo(ask);
    if (ask.cancelled < 0 || seen.finish != FinishReason::kCancelled) {
      return seen == alone ? "" : " differs from its solo run";
    }
    const bool begins_like_it =
        seen.tokens.size() <= alone.tokens.size() &&
        std::equal(seen.tokens.begin(), seen.tokens.end(), alone.tokens.begin());
    return begins_like_it ? "" : ", cancelled, does not begin like its solo run";
  }

  // Takes away and simplifies as long as it still fails.
  void shrink(Schedule& schedule) {
    for (bool is_smaller = true; is_smaller;) {
      is_smaller = false;
      for (std::size_t i = 0; i < schedule.asks.size(); ++i) {
        Schedule smaller = schedule;
        smaller.asks.erase(smaller.asks.begin() + static_cast<std::ptrdiff_t>(i));
        is_smaller = keep_if_failing(schedule, std::move(smaller)) || is_smaller;
      }
    }
    const std::function<void(Schedule&)> simpler[] = {
        [](Schedule& s) { s.threads = 1; },
        [](Schedule& s) { s.chunk = 2048; },
        [](Schedule& s) { s.spare_blocks = 200; },
        [](Schedule& s) { s.max_seqs = 2; },
        [](Schedule& s) { s.target_ms = 0; },
        [](Schedule& s) { s.enable_prefix_caching = false; }};
    for (const auto& change : simpler) {
      Schedule changed = schedule;
      change(changed);
      keep_if_failing(schedule, std::move(changed));
    }
    for (std::size_t i = 0; i < schedule.asks.size(); ++i) {
      const std::function<void(Ask&)> plainer[] = {
          [](Ask& a) { a.cancelled = -1; }, [](Ask& a) { a.reads_every = 1; },
          [](Ask& a) { a.priority = 0; },   [](Ask& a) { a.emit_tokens = 0; },
          [](Ask& a) { a.sampling = 0; },   [](Ask& a) { a.arrives = 0; }};
      for (const auto& change : plainer) {
        Schedule changed = schedule;
        change(changed.asks[i]);
        keep_if_failing(schedule, std::move(changed));
      }
    }
  }

  bool keep_if_failing(Schedule& schedule, Schedule&& other) {
    if (other.asks.empty() || difference(other).empty()) return false;
    schedule = std::move(other);
    return true;
  }

  Subject subject_;
  std::optional<ModelFile> file_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<Device> solo_device_;
  std::unique_ptr<Engine> solo_engine_;
  std::map<std::tuple<int, int, int, int, int, int>, Outcome> solos_;
};

inline int env_number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace wick
