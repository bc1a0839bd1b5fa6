// A scheduler over a real block cache of one tiny layer, and a stand-in for the model: "computing"
// a position writes the hash of the text up to it into that position's key. What a job then finds
// below its first uncomputed position must be the hashes of its own text, whatever was shared,
// copied, evicted or taken back meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "base/check.h"
#include "engine/scheduler.h"

namespace wick {

inline std::vector<TokenId> text(int n, int seed) {
  std::vector<TokenId> ids;
  for (int i = 0; i < n; ++i)
    ids.push_back((i * 37 + seed * 101) % 251);
  return ids;
}

struct SchedulerFixture {
  struct Sizes {
    int max_seqs = 4, batch = 64, context = 256, blocks = 64;
    bool reuses_prefixes = true, explains_tenants = false;
  };

  std::unique_ptr<Backend> backend = *make_cpu_backend({.threads = 1});
  KvCache kv;
  Scheduler scheduler;
  std::uint64_t last_id = 0;

  explicit SchedulerFixture(const Sizes& s)
      : kv(make_cache(s)),
        scheduler(kv, {.max_seqs = s.max_seqs,
                       .max_batch_tokens = s.batch,
                       .reuses_prefixes = s.reuses_prefixes,
                       .explains_tenants = s.explains_tenants}) {}

  KvCache make_cache(const Sizes& s) {
    DecoderSpec spec;
    spec.blocks.push_back({.mixer = GqaSpec{.n_heads = 1, .n_kv_heads = 1, .head_dim = 2}});
    auto cache = KvCache::create(*backend, spec,
                                 {.k_type = KvType::kF32,
                                  .v_type = KvType::kF32,
                                  .max_seqs = s.max_seqs,
                                  .context = s.context,
                                  .positions = s.blocks * kBlockTokens});
    WICK_CHECK(cache, "a small cache can be made");
    return *std::move(cache);
  }

  Job job(std::vector<TokenId> tokens, std::uint64_t tenant = 0, int priority = 0) {
    return {.id = ++last_id, .tenant = tenant, .priority = priority, .tokens = std::move(tokens)};
  }

  // The key of a position of `job`: [2][16] floats a block.
  std::byte* key(const Job& job, Pos pos) const {
    const KvView view = kv.view(0);
    const auto block =
        static_cast<std::size_t>(kv.blocks(job.slot)[static_cast<std::size_t>(pos / kBlockTokens)]);
    return view.k + block * kv_head_block_bytes(KvType::kF32, 2) +
           static_cast<std::size_t>(pos % kBlockTokens) * sizeof(float);
  }

  static std::uint32_t extend_hash(std::uint32_t hash, TokenId id) {
    return (hash ^ static_cast<std::uint32_t>(id + 1)) * 0x9E3779B1U + (hash >> 15);
  }

  // Finds the hashes of the job's text below `begin`, and writes those from there on.
  void compute(const Job& job, int begin, int count) {
    auto hash = static_cast<std::uint32_t>(job.tenant + 1);
    for (Pos pos = 0; pos < begin + count; ++pos) {
      hash = extend_hash(hash, job.tokens[static_cast<std::size_t>(pos)]);
      if (pos >= begin) {
        std::memcpy(key(job, pos), &hash, sizeof hash);
        continue;
      }
      std::uint32_t seen = 0;
      std::memcpy(&seen, key(job, pos), sizeof seen);
      ASSERT_EQ(seen, hash) << "job " << job.id << ", position " << pos << " of " << begin;
    }
  }

  // One step: the slices that were computed. `answer` appends to a job whose slice gives logits.
  template <class Answer>
  std::vector<Slice> step(const StepBudget& budget, Answer&& answer) {
    scheduler.admit();
    const auto planned = scheduler.plan(budget);
    std::vector<Slice> slices(planned.begin(), planned.end());
    for (const Slice& slice : slices) {
      compute(*slice.job, slice.begin, slice.count);
      scheduler.computed(slice);
      if (slice.is_last) answer(*slice.job);
    }
    scheduler.publish();
    return slices;
  }

  std::vector<Slice> step(int shared = 64) {
    return step({.shared = shared, .alone = shared},
                [](Job& job) { job.tokens.push_back(job.tokens.back() + 1); });
  }

  // Computes all of the job's text, and it is gone.
  void run(Job& job) {
    scheduler.add(job);
    while (job.slot < 0 || job.missing() > 1)
      step(1024);
    scheduler.remove(job);
  }

  // Every block is free, or kept and idle, or in the table of a live job: none is lost.
  void check_blocks() const {
    std::set<std::int32_t> held;
    for (const Job* job : scheduler.live()) {
      const auto blocks = kv.blocks(job->slot);
      held.insert(blocks.begin(), blocks.end());
    }
    ASSERT_EQ(kv.free_blocks() + kv.idle_blocks() + static_cast<int>(held.size()),
              kv.total_blocks());
  }
};

}  // namespace wick
