// A scheduler over a real block cache of one tiny layer, and a stand-in for the model: "computing"
// a position writes the hash of the text up to it into that position's key. What a request then
// finds below its first uncomputed position must be the hashes of its own text, whatever was
// shared, copied, evicted or taken back meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/scheduler.h"
#include "support/test_device.h"

namespace wick {

inline std::vector<TokenId> text(int n, int seed) {
  std::vector<TokenId> ids;
  for (int i = 0; i < n; ++i)
    ids.push_back((i * 37 + seed * 101) % 251);
  return ids;
}

// A text under way, which keeps what the scheduler said of it last.
struct TestRequest {
  std::vector<TokenId> tokens = {};
  SchedulerRequest terms = {};
  SchedulerEntry* entry = nullptr;
  SchedulerEntry last = {};

  SchedulerEntry* operator->() { return entry != nullptr ? entry : &last; }
};

struct SchedulerFixture {
  struct Sizes {
    int max_seqs = 4, batch = 64, context = 256, blocks = 64;
    int window = 0;              // 0 = the layer keeps every position
    bool has_paged_too = false;  // a second layer does
    bool has_state = false;      // and one with a state
    bool is_latent = false;      // the second layer keeps keys alone
    bool enable_prefix_caching = true, explain_other_tenants = false;
  };

  std::unique_ptr<Device> device = test::make_device();
  SequenceMemory memory;
  Scheduler scheduler;
  std::map<std::uint64_t, TestRequest*> requests = {};  // that the scheduler has
  std::uint64_t last_id = 0;
  int window, n_layers;
  bool has_state;

  explicit SchedulerFixture(const Sizes& s)
      : memory(make_memory(s)),
        scheduler(memory, {.max_seqs = s.max_seqs,
                           .max_batch_tokens = s.batch,
                           .enable_prefix_caching = s.enable_prefix_caching,
                           .explain_other_tenants = s.explain_other_tenants}),
        window(s.window),
        n_layers(s.has_paged_too || s.is_latent ? 2 : 1),
        has_state(s.has_state) {}

  SequenceMemory make_memory(const Sizes& s) {
    DecoderSpec spec;
    const GqaSpec layer{.n_heads = 1, .n_kv_heads = 1, .head_dim = 2, .window = s.window};
    spec.blocks.push_back({.mixer = layer});
    if (s.is_latent) {
      spec.blocks.push_back({.mixer = MlaSpec{.n_heads = 1, .kv_rank = 2}});
    } else if (s.has_paged_too) {
      spec.blocks.push_back({.mixer = GqaSpec{.n_heads = 1, .n_kv_heads = 1, .head_dim = 2}});
    }
    if (s.has_state) {
      spec.blocks.push_back(
          {.mixer = DeltaSpec{.n_k_heads = 1, .n_v_heads = 1, .k_dim = 2, .v_dim = 2}});
    }
    auto cache = SequenceMemory::create(*device, spec,
                                        {.k_type = KvType::kF32,
                                         .v_type = KvType::kF32,
                                         .max_seqs = s.max_seqs,
                                         .context = s.context,
                                         .positions = s.blocks * kBlockTokens,
                                         .max_batch_tokens = s.batch});
    WICK_CHECK(cache, "a small cache can be made");
    return *std::move(cache);
  }

  TestRequest request(std::vector<TokenId> tokens, std::uint64_t tenant = 0, int priority = 0) {
    return {.tokens = std::move(tokens),
            .terms = {.id = ++last_id, .tenant = tenant, .priority = priority}};
  }

  void add(TestRequest& request) {
    request.terms.tokens = &request.tokens;
    request.entry = &scheduler.add(request.terms);
    requests[request.terms.id] = &request;
  }

  void remove(TestRequest& request) {
    request.last = *request.entry;
    scheduler.remove(*std::exchange(request.entry, nullptr));
    requests.erase(request.terms.id);
  }

  // The key of a position of `request` in a layer: [2][16] floats a block.
  std::byte* key(const SchedulerEntry& request, Pos pos, int layer) const {
    const KvView& view = memory.layer(layer).kv;
    const std::int32_t* const table = test::for_kernels(*device, view.tables);
    const auto block =
        static_cast<std::size_t>(table[request.slot * view.table_stride + pos / kBlockTokens]);
    return test::for_kernels(*device, view.k) + block * kv_head_block_bytes(KvType::kF32, 2) +
           static_cast<std::size_t>(pos % kBlockTokens) * sizeof(float);
  }

  // The state of the layer behind the others holds the hash of all that was computed.
  float* state(const SchedulerEntry& request) const {
    const StateView& view = memory.layer(n_layers).state;
    return test::for_kernels(*device, view.state) +
           static_cast<std::size_t>(request.slot) * view.stride;
  }

  static std::uint32_t extend_hash(std::uint32_t hash, TokenId id) {
    return (hash ^ static_cast<std::uint32_t>(id + 1)) * 0x9E3779B1U + (hash >> 15);
  }

  // Finds the hashes of the request's text below `begin`, as far as a layer looks back, and writes
  // those from there on.
  void compute(const SchedulerEntry& request, int begin, int count) {
    memory.begin(request.slot, begin, count);
    auto hash = static_cast<std::uint32_t>(request.tenant + 1);
    if (begin == 0 && has_state) std::memcpy(state(request), &hash, sizeof hash);
    for (Pos pos = 0; pos < begin + count; ++pos) {
      if (has_state && pos == begin) {
        std::uint32_t seen = 0;
        std::memcpy(&seen, state(request), sizeof seen);
        ASSERT_EQ(seen, hash) << "the state of request " << request.id << " behind " << begin;
      }
      hash = extend_hash(hash, (*request.tokens)[static_cast<std::size_t>(pos)]);
      for (int layer = 0; layer < n_layers; ++layer) {
        if (pos >= begin) {
          std::memcpy(key(request, pos, layer), &hash, sizeof hash);
          continue;
        }
        if (layer == 0 && window > 0 && pos <= begin - window) continue;
        std::uint32_t seen = 0;
        std::memcpy(&seen, key(request, pos, layer), sizeof seen);
        ASSERT_EQ(seen, hash) << "request " << request.id << ", position " << pos << " of " << begin
                              << ", layer " << layer;
      }
    }
    if (has_state) std::memcpy(state(request), &hash, sizeof hash);
  }

  // One step: the slices that were computed. `answer` appends to a request whose slice gives
  // logits.
  template <class Answer>
  std::vector<Slice> step(const StepBudget& budget, Answer&& answer) {
    scheduler.admit();
    const auto planned = scheduler.schedule(budget);
    std::vector<Slice> slices(planned.begin(), planned.end());
    for (const Slice& slice : slices) {
      compute(*slice.entry, slice.begin, slice.count);
      scheduler.computed(slice);
      if (slice.is_last) answer(*requests.at(slice.entry->id));
    }
    scheduler.publish();
    return slices;
  }

  std::vector<Slice> step(int shared = 64) {
    return step({.shared = shared, .exclusive = shared},
                [](TestRequest& request) { request.tokens.push_back(request.tokens.back() + 1); });
  }

  // Computes all of the request's text, and it is gone.
  void run(TestRequest& request) {
    add(request);
    while (request->slot < 0 || request->missing() > 1)
      step(1024);
    remove(request);
  }

  // Every block is free, or kept and idle, or in the table of a live request: none is lost.
  void check_blocks() const {
    std::set<std::int32_t> held;
    for (const SchedulerEntry* request : scheduler.live()) {
      const auto blocks = memory.blocks(request->slot);
      held.insert(blocks.begin(), blocks.end());
    }
    ASSERT_EQ(memory.free_blocks() + memory.evictable_blocks() + static_cast<int>(held.size()),
              memory.total_blocks());
  }
};

}  // namespace wick
