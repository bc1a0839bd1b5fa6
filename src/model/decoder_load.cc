// The cold half of the decoder: from a file's metadata to a spec, from the spec to bound weights
// and to memory that is large enough for every later launch.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "model/decoder_state.h"
#include "model/limits.h"

namespace wick {

namespace {

Error bad_option(std::string_view what, std::int64_t seen, std::int64_t limit) {
  return Error{ErrorCode::kInvalid, "bad_option",
               cat(what, " is ", seen, ", it must be between 1 and ", limit)};
}

Result<DecoderOptions> checked(DecoderOptions options, const DecoderSpec& spec) {
  if (options.context == 0) options.context = spec.ctx_train;
  if (options.context < 1 || options.context > kMaxContext) {
    return bad_option("the context", options.context, kMaxContext);
  }
  if (options.max_batch_tokens < 1 || options.max_batch_tokens > kMaxBatchTokens) {
    return bad_option("the number of tokens in a batch", options.max_batch_tokens, kMaxBatchTokens);
  }
  if (options.max_logit_rows < 1) {
    return bad_option("the number of rows with logits", options.max_logit_rows, kMaxBatchTokens);
  }
  options.max_logit_rows = std::min(options.max_logit_rows, options.max_batch_tokens);
  options.progress = nullptr;  // it was of the load alone
  if (options.max_seqs < 1 || options.max_seqs > kMaxSeqs) {
    return bad_option("the number of sequences", options.max_seqs, kMaxSeqs);
  }
  return options;
}

std::uint64_t tensor_bytes(const ModelFile& file) noexcept {
  std::uint64_t all = 0;
  for (const TensorView& tensor : file.tensors())
    all += tensor.bytes.size();
  return all;
}

Result<void> report(const DecoderOptions& options, std::uint64_t done, std::uint64_t all) {
  if (!options.progress || options.progress(done, all)) return {};
  return Error{.code = ErrorCode::kCancelled,
               .id = "cancelled",
               .message = cat("stopped after ", done, " of ", all, " bytes of weights")};
}

Result<BoundBlock> bind_block(Binder& binder, const DecoderSpec& spec, int layer) {
  const BlockSpec& block = spec.blocks[static_cast<std::size_t>(layer)];
  BoundBlock bound;
  const auto bind_to = [&](auto& place) {
    return [&](const auto& part) -> Result<void> {
      WICK_TRY(place, bind(binder, part, block, spec.d_model, layer));
      return {};
    };
  };
  WICK_DO(std::visit(bind_to(bound.mixer), block.mixer));
  WICK_DO(std::visit(bind_to(bound.ffn), block.ffn));
  return bound;
}

bool same(const RopeParams& a, const RopeParams& b) noexcept {
  const auto all = [](const RopeParams& r) {
    return std::tie(r.layout, r.dim, r.theta, r.freq_scale, r.ext_factor, r.attn_factor,
                    r.beta_fast, r.beta_slow, r.ctx_orig, r.factors);
  };
  return all(a) == all(b);
}

RopeParams rotation_of(const GqaMixer& mixer) noexcept {
  return mixer.head.rope;
}

RopeParams rotation_of(const MlaMixer& mixer) noexcept {
  return mixer.head.rope;
}

RopeParams rotation_of(const DeltaMixer&) noexcept {
  return {.layout = RopeParams::kNone};
}

// Angles are made once for each kind of rotation that some layer uses.
std::vector<RopeParams> rotations(const std::vector<BoundBlock>& blocks) {
  std::vector<RopeParams> ropes;
  for (const BoundBlock& block : blocks) {
    const RopeParams rope =
        std::visit([](const auto& mixer) { return rotation_of(mixer); }, block.mixer);
    const auto is_same = [&](const RopeParams& other) { return same(rope, other); };
    if (std::none_of(ropes.begin(), ropes.end(), is_same)) ropes.push_back(rope);
  }
  return ropes;
}

}  // namespace

Result<Decoder> Decoder::load(const ModelFile& file, Device& device,
                              const DecoderOptions& options) {
  WICK_TRY(const Arch* const arch, find_arch(file));
  return load(file, *arch, device, options);
}

Result<Decoder> Decoder::load(const ModelFile& file, const Arch& arch, Device& device,
                              const DecoderOptions& options) {
  auto state = std::make_unique<State>();
  state->device = &device;
  WICK_TRY(state->spec, arch.spec(file));
  const DecoderSpec& spec = state->spec;
  WICK_TRY(state->options, checked(options, spec));

  const std::uint64_t all_bytes = tensor_bytes(file);
  WICK_DO(report(options, 0, all_bytes));
  Binder binder(file, device, arch.names);
  const Binder::Matrix vocab_rows{spec.vocab, spec.d_model};
  WICK_TRY(state->table, binder.matrix("token_embd.weight", vocab_rows));
  const std::size_t table_bytes = binder.bytes();
  const std::int64_t table_weights = binder.matrix_weights();
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); ++layer) {
    WICK_TRY(BoundBlock block, bind_block(binder, spec, layer));
    state->blocks.push_back(std::move(block));
    WICK_DO(report(options, binder.bytes(), all_bytes));
  }
  state->products_per_token = binder.matrix_weights() - table_weights;
  WICK_TRY(state->final_gain, binder.vector("output_norm.weight", spec.d_model));
  state->head[0] = state->table;
  if (!spec.is_tied) {
    WICK_TRY(state->head[0], binder.matrix("output.weight", vocab_rows));
  }
  // A step reads every matrix once, of the embedding table only one row unless it is the head too.
  state->bytes_read_per_token = binder.bytes() - (spec.is_tied ? 0 : table_bytes);
  state->weights = std::move(binder).take();

  const Widest w = widest(spec);
  const BackendLimits limits{.max_batch_tokens = state->options.max_batch_tokens,
                             .max_cols = std::max(spec.d_model, w.product),
                             .max_heads = w.heads,
                             .max_head_dim = w.head_dim,
                             .max_context = state->options.context,
                             .max_seqs = state->options.max_seqs,
                             .threads = state->options.threads};
  WICK_TRY(state->backend, device.create_backend(limits, rotations(state->blocks)));
  WICK_TRY(state->memory, make_activations(device, spec, w, state->options));
  if (state->memory.memory->host() == nullptr) {
    const auto floats = [](const Tensor& all) {
      return static_cast<std::size_t>(all.rows) * static_cast<std::size_t>(all.cols);
    };
    state->host_logits.resize(floats(state->memory.logits));
    state->host_states.resize(floats(state->memory.x));
  }
  WICK_DO(report(options, all_bytes, all_bytes));
  return Decoder(std::move(state));
}

}  // namespace wick
