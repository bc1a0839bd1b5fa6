#include "model/decoder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/hot_scope.h"
#include "model/decoder_state.h"

namespace wick {

Decoder::Decoder(std::unique_ptr<State> state) : state_(std::move(state)) {}

Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

const DecoderSpec& Decoder::spec() const noexcept {
  return state_->spec;
}

const DecoderOptions& Decoder::options() const noexcept {
  return state_->options;
}

const Placement& Decoder::placement() const noexcept {
  return state_->placement;
}

int Decoder::threads() const noexcept {
  int most = 0;
  for (const OnDevice& on : state_->on)
    most = std::max(most, on.backend->threads());
  return most;
}

std::size_t Decoder::weight_bytes() const noexcept {
  return state_->weights.bytes;
}

std::int64_t Decoder::products_per_token() const noexcept {
  return state_->products_per_token;
}

std::int64_t Decoder::products_per_logit_row() const noexcept {
  return std::int64_t{state_->spec.vocab} * state_->spec.d_model;
}

std::size_t Decoder::scratch_bytes() const noexcept {
  const State& model = *state_;
  std::size_t bytes = (model.host_logits.size() + model.host_states.size()) * sizeof(float);
  for (const OnDevice& on : model.on)
    bytes += on.scratch_bytes();
  return bytes;
}

std::size_t Decoder::bytes_on(int device) const noexcept {
  const auto at = static_cast<std::size_t>(device);
  return state_->weights.bytes_on[at] + state_->on[at].scratch_bytes();
}

std::size_t Decoder::bytes_read_per_token() const noexcept {
  return state_->bytes_read_per_token;
}

namespace {

// A batch that exceeds the memory is a bug of the caller, never of a file or user.
void check(const Batch& batch, const DecoderSpec& spec, const DecoderOptions& options) noexcept {
  const std::size_t n = batch.tokens.size();
  WICK_CHECK(n > 0 && n <= static_cast<std::size_t>(options.max_batch_tokens), "batch size");
  WICK_CHECK(batch.positions.size() == n && batch.seqs.size() == n, "lengths of a batch's spans");
  WICK_CHECK(batch.logit_rows.size() <= static_cast<std::size_t>(options.max_logit_rows),
             "rows that need logits");
  for (std::size_t i = 0; i < n; ++i) {
    WICK_CHECK(batch.tokens[i] >= 0 && batch.tokens[i] < spec.vocab,
               "token outside the vocabulary");
    WICK_CHECK(batch.positions[i] >= 0 && batch.positions[i] < options.context, "position");
    WICK_CHECK(batch.seqs[i] >= 0 && batch.seqs[i] < options.max_seqs, "sequence");
  }
  for (const int row : batch.logit_rows)
    WICK_CHECK(row >= 0 && static_cast<std::size_t>(row) < n, "logit row outside the batch");
}

// Entries of one sequence are contiguous and ascending.
void begin(const Batch& batch, SequenceMemory& memory) noexcept {
  for (std::size_t i = 0, end; i < batch.seqs.size(); i = end) {
    end = i + 1;
    while (end < batch.seqs.size() && batch.seqs[end] == batch.seqs[i])
      ++end;
    memory.begin(batch.seqs[i], batch.positions[i], static_cast<int>(end - i));
  }
}

// A forward pass over the devices of a placement. It holds the turn of one device at a time, until
// it yields.
class ForwardPass {
 public:
  ForwardPass(Decoder::State& model, const Batch& batch) noexcept : model_(model), batch_(batch) {
    arrive(model.placement.embedding());
  }

  ~ForwardPass() { pass_->backend.end_pass(); }

  ForwardPass(const ForwardPass&) = delete;
  ForwardPass& operator=(const ForwardPass&) = delete;

  const Pass& on(int device) noexcept {  // moves the pass there
    if (device != device_) cross(device);
    return *pass_;
  }

  void yield() noexcept { pass_->backend.yield(); }

 private:
  void arrive(int device) noexcept {
    device_ = device;
    const OnDevice& here = model_.on[static_cast<std::size_t>(device)];
    const int n = static_cast<int>(batch_.tokens.size());
    pass_.emplace(Pass{.backend = *here.backend,
                       .batch = batch_,
                       .memory = here.memory,
                       .x = part(here.memory.x, n, model_.spec.d_model),
                       .n = n});
    here.backend->begin_pass();
  }

  // The whole hidden state is copied, never a partial sum. Only one device is held at a time, so
  // two models cannot deadlock.
  void cross(int device) noexcept {
    const Pass from = *pass_;
    model_.wait(from.backend);
    const auto count = static_cast<std::size_t>(from.n) * static_cast<std::size_t>(from.x.cols);
    const auto x = Decoder::State::read_back(from.memory, from.x.data, count, model_.host_states);
    from.backend.end_pass();
    arrive(device);
    pass_->memory.memory->write(0, std::as_bytes(x));  // x is the first of them
  }

  Decoder::State& model_;
  const Batch& batch_;
  int device_ = 0;
  std::optional<Pass> pass_ = {};
};

}  // namespace

void Decoder::launch(const Batch& batch, SequenceMemory& memory) noexcept {
  const std::atomic<bool> never = false;
  launch(batch, memory, never);
}

bool Decoder::launch(const Batch& batch, SequenceMemory& memory,
                     const std::atomic<bool>& abort_requested) noexcept {
  const HotScope hot;
  State& model = *state_;
  check(batch, model.spec, model.options);
  begin(batch, memory);
  const Placement& placement = model.placement;
  ForwardPass forward_pass(model, batch);

  const Pass& first = forward_pass.on(placement.embedding());
  first.backend.embed(first.x, *model.table, batch.tokens, model.spec.embed_scale);
  for (int layer = 0; layer < static_cast<int>(model.blocks.size()); ++layer) {
    if (abort_requested.load(std::memory_order_relaxed)) return false;
    const BoundBlock& block = model.blocks[static_cast<std::size_t>(layer)];
    std::visit(
        [&](const auto& mixer, const auto& ffn) noexcept {
          forward(mixer, memory.layer(layer), forward_pass.on(placement.mixer(layer)));
          forward(ffn, forward_pass.on(placement.ffn(layer)));
        },
        block.mixer, block.ffn);
    forward_pass.yield();
  }
  const Pass& last = forward_pass.on(placement.head());
  model.n_logit_rows = static_cast<int>(batch.logit_rows.size());
  if (model.n_logit_rows == 0) return true;
  const Linear head{.w = model.head,
                    .gain = model.final_gain,
                    .norm = model.spec.final_norm,
                    .scale = model.spec.logit_scale};
  last.backend.logits(part(last.memory.logits, model.n_logit_rows, model.spec.vocab), last.x, head,
                      batch.logit_rows);
  return true;
}

void Decoder::State::wait(Backend& backend) noexcept {
  auto done = backend.sync();
  if (!done && !fault) fault = std::move(done).error();
}

Result<void> Decoder::State::finish() noexcept {
  wait(*last().backend);
  if (!fault) return {};
  return *std::exchange(fault, {});
}

std::span<float> Decoder::State::read_back(const Activations& all, const float* from,
                                           std::size_t count, std::span<float> host) noexcept {
  const auto* const first = reinterpret_cast<const float*>(all.memory->data());
  const auto at = static_cast<std::size_t>(from - first);
  if (std::byte* const in_place = all.memory->host(); in_place != nullptr) {
    return {reinterpret_cast<float*>(in_place) + at, count};
  }
  const auto out = host.first(count);
  all.memory->read(at * sizeof(float), std::as_writable_bytes(out));
  return out;
}

Result<std::span<float>> Decoder::logits() noexcept {
  State& model = *state_;
  WICK_DO(model.finish());
  const auto n =
      static_cast<std::size_t>(model.n_logit_rows) * static_cast<std::size_t>(model.spec.vocab);
  const Activations& all = model.last().memory;
  return State::read_back(all, all.logits.data, n, model.host_logits);
}

Result<std::span<const float>> Decoder::states(int first, int count) noexcept {
  State& model = *state_;
  const int width = model.spec.d_model;
  const OnDevice& last = model.last();
  Tensor rows = part(last.memory.x, count, width);
  rows.data += static_cast<std::ptrdiff_t>(first) * width;
  last.backend->normalize(rows, *model.final_gain, model.spec.final_norm);
  WICK_DO(model.finish());
  const std::size_t n = static_cast<std::size_t>(count) * static_cast<std::size_t>(width);
  return std::span<const float>(State::read_back(last.memory, rows.data, n, model.host_states));
}

}  // namespace wick
