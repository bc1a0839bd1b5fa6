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
  return state_->weights.bytes + state_->weights.adapter_bytes;
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
  WICK_CHECK(!spec.encoder || batch.logit_rows.empty(), "an encoder has no logits");
  for (std::size_t i = 0; i < n; ++i) {
    WICK_CHECK(batch.tokens[i] >= 0 && batch.tokens[i] < spec.vocab,
               "token outside the vocabulary");
    WICK_CHECK(batch.positions[i] >= 0 && batch.positions[i] < options.context, "position");
    WICK_CHECK(batch.seqs[i] >= 0 && batch.seqs[i] < options.max_seqs, "sequence");
  }
  for (const AdapterRun& run : batch.adapters) {
    WICK_CHECK(
        run.adapter >= 0 && static_cast<std::size_t>(run.adapter) < options.adapters.size() &&
            run.first >= 0 && run.count > 0 && static_cast<std::size_t>(run.first + run.count) <= n,
        "adapters of a batch");
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

  // The next mixer and feed-forward read the hidden state, or with a gain its norm, made once.
  void begin_block(const BoundNorm& shared) noexcept {
    is_parallel_ = shared.gain != nullptr;
    pass_->in = is_parallel_ ? branch() : pass_->x;
    if (!is_parallel_) return;
    pass_->backend.normalize(pass_->in, pass_->x,
                             {.gain = shared.gain, .shift = shared.shift, .norm = shared.params});
  }

  void end_block() noexcept { begin_block({}); }

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
    pass_->in = is_parallel_ ? branch() : pass_->x;
    here.backend->begin_pass();
    here.backend->use_adapters(batch_.adapters);
  }

  Tensor branch() const noexcept {
    return part(pass_->memory.branch, pass_->n, model_.spec.d_model);
  }

  // The whole hidden state is copied, never a partial sum; inside a parallel block its norm, too.
  // Only one device is held at a time, so two models cannot deadlock.
  void cross(int device) noexcept {
    const Pass from = *pass_;
    model_.wait(from.backend);
    from.backend.end_pass();
    arrive(device);
    carry(from, from.x, pass_->x);
    if (is_parallel_) carry(from, from.in, pass_->in);
    if (const int cols = from.memory.layer_inputs.cols; cols > 0) {
      carry(from, part(from.memory.layer_inputs, from.n, cols),
            part(pass_->memory.layer_inputs, pass_->n, cols));
    }
  }

  void carry(const Pass& from, const Tensor& source, const Tensor& to) noexcept {
    const auto count = static_cast<std::size_t>(from.n) * static_cast<std::size_t>(source.cols);
    const auto values =
        Decoder::State::read_back(from.memory, source.data, count, model_.host_states);
    const auto* const first = reinterpret_cast<const float*>(pass_->memory.memory->data());
    pass_->memory.memory->write(static_cast<std::size_t>(to.data - first) * sizeof(float),
                                std::as_bytes(values));
  }

  Decoder::State& model_;
  const Batch& batch_;
  int device_ = 0;
  bool is_parallel_ = false;
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
  model.embed(first);
  make_layer_inputs(model.layer_inputs, first);
  for (int layer = 0; layer < static_cast<int>(model.blocks.size()); ++layer) {
    if (abort_requested.load(std::memory_order_relaxed)) return false;
    const BoundBlock& block = model.blocks[static_cast<std::size_t>(layer)];
    forward_pass.on(placement.mixer(layer));
    forward_pass.begin_block(block.shared);
    std::visit(
        [&](const auto& mixer, const auto& ffn) noexcept {
          forward(mixer, memory.layer(layer), forward_pass.on(placement.mixer(layer)));
          forward(ffn, forward_pass.on(placement.ffn(layer)));
        },
        block.mixer, block.ffn);
    forward(block.input, forward_pass.on(placement.ffn(layer)));
    forward_pass.end_block();
    forward_pass.yield();
  }
  const Pass& last = forward_pass.on(placement.head());
  model.n_logit_rows = static_cast<int>(batch.logit_rows.size());
  if (model.n_logit_rows == 0) return true;
  Linear head = with_norm(
      {.w = model.head, .scale = model.spec.logit_scale, .soft_cap = model.spec.logit_soft_cap},
      model.final_norm);
  if (model.spec.has_head_bias) head.bias = model.head_bias;
  last.backend.logits(part(last.memory.logits, model.n_logit_rows, model.spec.vocab), last.x, head,
                      batch.logit_rows);
  return true;
}

void Decoder::State::embed(const Pass& pass) noexcept {
  pass.backend.embed(pass.x, *table, pass.batch.tokens, {.scale = spec.embed_scale});
  if (types != nullptr) {
    const auto zeros = std::span<const TokenId>(first_type).first(pass.batch.tokens.size());
    const auto of_tokens = pass.batch.types.empty() ? zeros : pass.batch.types;
    pass.backend.embed(pass.x, *types, of_tokens, {.adds = true});
  }
  if (positions != nullptr) {
    pass.backend.embed(pass.x, *positions, pass.batch.positions, {.adds = true});
  }
  if (embed_norm.gain == nullptr) return;
  pass.backend.normalize(
      pass.x, pass.x,
      {.gain = embed_norm.gain, .shift = embed_norm.shift, .norm = embed_norm.params});
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
  const BoundNorm& norm = model.final_norm;
  if (norm.gain != nullptr) {
    last.backend->normalize(rows, rows,
                            {.gain = norm.gain, .shift = norm.shift, .norm = norm.params});
  }
  WICK_DO(model.finish());
  const std::size_t n = static_cast<std::size_t>(count) * static_cast<std::size_t>(width);
  return std::span<const float>(State::read_back(last.memory, rows.data, n, model.host_states));
}

// The scores of the state in x; `x` has them at last, `y` is scratch.
void Decoder::State::classify(Backend& backend, Tensor& x, Tensor& y) noexcept {
  const ClassifierSpec& head_spec = *spec.encoder->classifier;
  if (head_spec.has_dense) {
    y.cols = spec.d_model;
    Linear step{.w = classifier.dense, .soft_cap = 1};  // tanh
    if (head_spec.has_dense_bias) step.bias = classifier.dense_bias;
    backend.linear(y, x, step);
    std::swap(x, y);
  }
  y.cols = head_spec.n_labels;
  Linear step{.w = classifier.out};
  if (head_spec.has_bias) step.bias = classifier.out_bias;
  backend.linear(y, x, step);
  std::swap(x, y);
}

Result<std::span<const float>> Decoder::project(std::span<const float> pooled) noexcept {
  State& model = *state_;
  const bool classifies = model.spec.encoder && model.spec.encoder->classifier;
  if (model.dense.empty() && !classifies) return pooled;
  const OnDevice& last = model.last();
  Tensor x = last.memory.pooled, y = x;
  x.rows = y.rows = 1;
  y.data += x.cols;
  const auto* const begin = reinterpret_cast<const float*>(last.memory.memory->data());
  last.memory.memory->write(static_cast<std::size_t>(x.data - begin) * sizeof(float),
                            std::as_bytes(pooled));
  x.cols = model.spec.d_model;
  last.backend->begin_pass();
  for (std::size_t i = 0; i < model.dense.size(); ++i) {
    y.cols = model.spec.encoder->dense[i];
    last.backend->linear(y, x, {.w = model.dense[i]});
    std::swap(x, y);
  }
  if (classifies) model.classify(*last.backend, x, y);
  last.backend->end_pass();
  WICK_DO(model.finish());
  return std::span<const float>(
      State::read_back(last.memory, x.data, static_cast<std::size_t>(x.cols), model.host_states));
}

}  // namespace wick
