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
  return state_->memory.memory->bytes() + state_->backend->scratch_bytes();
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

}  // namespace

void Decoder::launch(const Batch& batch, KvCache& kv) noexcept {
  const std::atomic<bool> never = false;
  launch(batch, kv, never);
}

bool Decoder::launch(const Batch& batch, KvCache& kv, const std::atomic<bool>& gives_up) noexcept {
  const HotScope hot;
  State& model = *state_;
  check(batch, model.spec, model.options);
  Backend& backend = *model.backend;
  const int n = static_cast<int>(batch.tokens.size());
  const Tensor x = part(model.memory.x, n, model.spec.d_model);
  const Pass pass{.backend = backend, .batch = batch, .memory = model.memory, .x = x, .n = n};

  backend.embed(x, *model.table, batch.tokens, model.spec.embed_scale);
  for (int layer = 0; layer < static_cast<int>(model.blocks.size()); ++layer) {
    if (gives_up.load(std::memory_order_relaxed)) return false;
    const BoundBlock& block = model.blocks[static_cast<std::size_t>(layer)];
    std::visit(
        [&](const auto& mixer, const auto& ffn) noexcept {
          forward(mixer, kv.view(layer), pass);
          forward(ffn, pass);
        },
        block.mixer, block.ffn);
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

Result<std::span<float>> Decoder::logits() {
  WICK_DO(state_->backend->sync());
  const auto n =
      static_cast<std::size_t>(state_->n_logit_rows) * static_cast<std::size_t>(state_->spec.vocab);
  return std::span<float>(state_->memory.logits.data, n);
}

Result<std::span<const float>> Decoder::states(int first, int count) noexcept {
  State& model = *state_;
  const int width = model.spec.d_model;
  Tensor rows = part(model.memory.x, count, width);
  rows.data += static_cast<std::ptrdiff_t>(first) * width;
  model.backend->normalise(rows, *model.final_gain, model.spec.final_norm);
  WICK_DO(model.backend->sync());
  return std::span<const float>(rows.data,
                                static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
}

}  // namespace wick
