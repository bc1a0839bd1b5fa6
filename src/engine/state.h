// What the engine's thread owns, shared by engine.cc (the cold side: create, submit, admit, retire)
// and step.cc (the hot side).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/inbox.h"
#include "engine/engine.h"
#include "engine/scheduler.h"
#include "engine/sequence.h"

namespace wick {

struct Cancel {
  RequestId id = 0;
  Cancel* inbox_next = nullptr;
};

// A place in the cache. After its request is over it keeps what it computed, for a prompt that
// begins the same.
struct Slot {
  bool is_used = false;
  std::vector<TokenId> cached = {};
  std::uint64_t last_used = 0;
};

struct Engine::State {
  State(Decoder d, KvCache c, std::shared_ptr<const Tokenizer> t, const EngineOptions& o,
        int context_tokens);

  Decoder decoder;
  KvCache kv;
  std::shared_ptr<const Tokenizer> tokenizer;
  EngineOptions options;
  int context;

  std::atomic<RequestId> next_id = 1;
  Inbox<Sequence> inbox;
  Inbox<Cancel> cancels;

  // Engine thread.
  std::vector<std::unique_ptr<Sequence>> waiting;  // admitted next, oldest first
  std::vector<std::unique_ptr<Sequence>> live;     // in order of admission
  std::vector<Slot> slots;
  std::uint64_t admissions = 0;
  Error failure = {};  // of the last forward pass that failed

  // The next batch; sized once.
  std::vector<Work> work;
  std::vector<Slice> slices;
  std::vector<TokenId> tokens;
  std::vector<Pos> positions;
  std::vector<SeqId> seqs;
  std::vector<int> logit_rows;

  void admit();
  void place(std::unique_ptr<Sequence> sequence);
  void apply_cancels() noexcept;
  void retire();

  // Hot:
  Batch plan_batch(int& n_slices) noexcept;
  void sample_and_emit(int n_slices) noexcept;
  void accept(Sequence& s, std::span<const float> logits) noexcept;
  void fail(int n_slices) noexcept;
};

// Hot: hands the reader what is pending, then the last delta if the sequence has stopped. False if
// the reader is behind.
bool deliver(Sequence& s) noexcept;

}  // namespace wick
