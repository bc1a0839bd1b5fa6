#include "model/decoder.h"

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

Device& Decoder::device() const noexcept {
  return *state_->device;
}

int Decoder::threads() const noexcept {
  return state_->backend->threads();
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
  return model.memory.memory->bytes() + model.backend->scratch_bytes() +
         (model.host_logits.size() + model.host_states.size()) * sizeof(float);
}

std::size_t Decoder::bytes_read_per_token() const noexcept {
  return state_->bytes_read_per_token;
}

namespace {

// A batch that the memory was not made for is the caller's mistake, never a file's or a user's.
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

class PassScope {  // the device is this model's, until it yields
 public:
  explicit PassScope(Backend& backend) noexcept : backend_(backend) { backend_.begin_pass(); }

  ~PassScope() { backend_.end_pass(); }

  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  Backend& backend_;
};

}  // namespace

void Decoder::launch(const Batch& batch, SequenceMemory& memory) noexcept {
  const std::atomic<bool> never = false;
  launch(batch, memory, never);
}

bool Decoder::launch(const Batch& batch, SequenceMemory& memory,
                     const std::atomic<bool>& gives_up) noexcept {
  const HotScope hot;
  State& model = *state_;
  check(batch, model.spec, model.options);
  Backend& backend = *model.backend;
  const int n = static_cast<int>(batch.tokens.size());
  begin(batch, memory);
  const Tensor x = part(model.memory.x, n, model.spec.d_model);
  const Pass pass{.backend = backend, .batch = batch, .memory = model.memory, .x = x, .n = n};
  const PassScope scope(backend);

  backend.embed(x, *model.table, batch.tokens, model.spec.embed_scale);
  for (int layer = 0; layer < static_cast<int>(model.blocks.size()); ++layer) {
    if (gives_up.load(std::memory_order_relaxed)) return false;
    const BoundBlock& block = model.blocks[static_cast<std::size_t>(layer)];
    std::visit(
        [&](const auto& mixer, const auto& ffn) noexcept {
          forward(mixer, memory.layer(layer), pass);
          forward(ffn, pass);
        },
        block.mixer, block.ffn);
    backend.yield();
  }
  model.n_logit_rows = static_cast<int>(batch.logit_rows.size());
  if (model.n_logit_rows == 0) return true;
  const Linear head{.w = model.head,
                    .gain = model.final_gain,
                    .norm = model.spec.final_norm,
                    .scale = model.spec.logit_scale};
  backend.logits(part(model.memory.logits, model.n_logit_rows, model.spec.vocab), x, head,
                 batch.logit_rows);
  return true;
}

std::span<float> Decoder::State::read_back(const float* from, std::size_t count,
                                           std::span<float> host) noexcept {
  const auto* const first = reinterpret_cast<const float*>(memory.memory->data());
  const auto at = static_cast<std::size_t>(from - first);
  if (std::byte* const in_place = memory.memory->host(); in_place != nullptr) {
    return {reinterpret_cast<float*>(in_place) + at, count};
  }
  const auto out = host.first(count);
  memory.memory->read(at * sizeof(float), std::as_writable_bytes(out));
  return out;
}

Result<std::span<float>> Decoder::logits() {
  WICK_DO(state_->backend->sync());
  const auto n =
      static_cast<std::size_t>(state_->n_logit_rows) * static_cast<std::size_t>(state_->spec.vocab);
  return state_->read_back(state_->memory.logits.data, n, state_->host_logits);
}

Result<std::span<const float>> Decoder::states(int first, int count) noexcept {
  State& model = *state_;
  const int width = model.spec.d_model;
  Tensor rows = part(model.memory.x, count, width);
  rows.data += static_cast<std::ptrdiff_t>(first) * width;
  model.backend->normalise(rows, *model.final_gain, model.spec.final_norm);
  WICK_DO(model.backend->sync());
  const std::size_t n = static_cast<std::size_t>(count) * static_cast<std::size_t>(width);
  return std::span<const float>(model.read_back(rows.data, n, model.host_states));
}

}  // namespace wick
