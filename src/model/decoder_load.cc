// Loading a decoder: a spec from the file's metadata, bound weights, and memory large enough for
// every launch.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "model/decoder_state.h"
#include "model/limits.h"
#include "model/rope.h"

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
  options.progress = nullptr;  // only for the load
  if (options.max_seqs < 1 || options.max_seqs > kMaxModelSeqs) {
    return bad_option("the number of sequences", options.max_seqs, kMaxModelSeqs);
  }
  if (options.adapters.size() > static_cast<std::size_t>(kMaxAdapters)) {
    return bad_option("the number of adapters", static_cast<std::int64_t>(options.adapters.size()),
                      kMaxAdapters);
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

Result<BoundBlock> bind_block(Binder& binder, const DecoderSpec& spec, const Placement& placement,
                              int layer) {
  const BlockSpec& block = spec.blocks[static_cast<std::size_t>(layer)];
  BoundBlock bound;
  const auto bind_to = [&](auto& place) {
    return [&](const auto& part) -> Result<void> {
      WICK_TRY(place, bind(binder, part, block, spec.d_model, layer));
      return {};
    };
  };
  binder.use(placement.mixer(layer));
  if (block.is_parallel) {
    WICK_TRY(bound.shared, binder.norm("blk.{}.attn_norm", *block.pre_mixer, spec.d_model, layer));
  }
  WICK_DO(std::visit(bind_to(bound.mixer), block.mixer));
  binder.use(placement.ffn(layer));
  WICK_DO(std::visit(bind_to(bound.ffn), block.ffn));
  WICK_TRY(bound.input, bind_layer_input(binder, spec, layer));
  return bound;
}

bool same(const RopeParams& a, const RopeParams& b) noexcept {
  const auto all = [](const RopeParams& r) {
    return std::tie(r.layout, r.dim, r.theta, r.freq_scale, r.ext_factor, r.attn_factor,
                    r.beta_fast, r.beta_slow, r.ctx_orig, r.is_range_rounded, r.factors);
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

// One RoPE table for each kind of rotation that a layer on this device uses.
std::vector<RopeParams> rotations(const Decoder::State& model, int device) {
  std::vector<RopeParams> ropes;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    if (model.placement.mixer(static_cast<int>(layer)) != device) continue;
    const RopeParams rope =
        std::visit([](const auto& mixer) { return rotation_of(mixer); }, model.blocks[layer].mixer);
    const auto is_same = [&](const RopeParams& other) { return same(rope, other); };
    if (std::none_of(ropes.begin(), ropes.end(), is_same)) ropes.push_back(rope);
  }
  return ropes;
}

int max_rank(std::span<const Adapter> adapters) noexcept {
  int most = 0;
  for (const Adapter& adapter : adapters)
    most = std::max(most, adapter.max_rank());
  return most;
}

// Scratch, activations and rotations on each device, large enough for every later launch.
Result<void> make_ready(Decoder::State& model) {
  const DecoderSpec& spec = model.spec;
  const Widest w = widest(spec);
  const BackendLimits limits{.max_batch_tokens = model.options.max_batch_tokens,
                             .max_cols = std::max(spec.d_model, w.product),
                             .max_heads = w.heads,
                             .max_head_dim = w.head_dim,
                             .max_joint_keys = w.joint_keys,
                             .max_context = model.options.context,
                             .max_seqs = model.options.max_seqs,
                             .experts = w.experts,
                             .max_adapters = static_cast<int>(model.options.adapters.size()),
                             .max_rank = max_rank(model.options.adapters),
                             .threads = model.options.threads};
  const auto floats = [](const Tensor& all) {
    return static_cast<std::size_t>(all.rows) * static_cast<std::size_t>(all.cols);
  };
  for (Device* const device : model.placement.devices) {
    const int index = static_cast<int>(model.on.size());
    DecoderOptions sizes = model.options;
    if (index != model.placement.head()) sizes.max_logit_rows = 0;
    OnDevice& on = model.on.emplace_back();
    WICK_TRY(on.backend, device->create_backend(limits, rotations(model, index)));
    WICK_TRY(on.memory, make_activations(*device, spec, w, sizes));
    if (on.memory.memory->host() != nullptr) continue;
    model.host_states.resize(std::max(floats(on.memory.x), floats(on.memory.layer_inputs)));
    if (index == model.placement.head()) model.host_logits.resize(floats(on.memory.logits));
  }
  return {};
}

}  // namespace

Result<void> Decoder::State::bind(const ModelFile& file, const Arch& arch,
                                  const DecoderOptions& given) {
  const std::uint64_t all_bytes = tensor_bytes(file);
  WICK_DO(report(given, 0, all_bytes));
  Binder binder(file, placement.devices, arch.names, options.context);
  binder.use(given.adapters);
  for (const Adapter& adapter : given.adapters) {
    WICK_DO(
        adapter.check_architecture(file.metadata().string("general.architecture").value_or("")));
  }
  const Binder::Matrix vocab_rows{.out = spec.vocab, .in = spec.d_model, .takes_adapters = false};
  binder.use(placement.embedding());
  WICK_TRY(table, binder.matrix("token_embd.weight", vocab_rows));
  const std::size_t table_bytes = binder.bytes();
  const std::int64_t table_weights = binder.matrix_weights();
  const bool is_head = spec.is_tied && placement.head() == placement.embedding();
  if (is_head && !spec.encoder) WICK_DO(binder.adapt("output.weight", vocab_rows));
  WICK_DO(bind_embeddings(binder, options.context));
  WICK_TRY(layer_inputs, bind_layer_inputs(binder, spec));
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); ++layer) {
    WICK_TRY(BoundBlock block, bind_block(binder, spec, placement, layer));
    blocks.push_back(std::move(block));
    WICK_DO(report(given, std::min<std::uint64_t>(binder.bytes(), all_bytes), all_bytes));
  }
  products_per_token = binder.matrix_weights() - table_weights;
  binder.use(placement.head());
  WICK_DO(bind_end(binder));
  WICK_DO(binder.check_adapters());
  // A step reads every matrix once, but only one row of each table of embeddings, unless it is the
  // LM head too, and of experts only those that its token goes to.
  bytes_read_per_token =
      binder.bytes() - binder.idle_bytes() - (head[0] == table && !spec.encoder ? 0 : table_bytes);
  weights = std::move(binder).take();
  return {};
}

Result<void> Decoder::State::bind_embeddings(Binder& binder, int context) {
  if (!spec.encoder) return {};
  const EncoderSpec& encoder = *spec.encoder;
  if (encoder.has_positions) {
    if (context > spec.ctx_train) return bad_option("the context", context, spec.ctx_train);
    WICK_TRY(positions, binder.lookup("position_embd.weight", spec.ctx_train, spec.d_model,
                                      encoder.position_offset));
  }
  if (encoder.has_types) {
    WICK_TRY(types, binder.lookup("token_types.weight", encoder.n_types, spec.d_model));
    first_type.resize(static_cast<std::size_t>(options.max_batch_tokens));
  }
  if (encoder.embed_norm) {
    WICK_TRY(embed_norm, binder.norm("token_embd_norm", *encoder.embed_norm, spec.d_model));
  }
  return {};
}

Result<void> Decoder::State::bind_classifier(Binder& binder) {
  if (!spec.encoder->classifier) return {};
  const ClassifierSpec& head_spec = *spec.encoder->classifier;
  if (head_spec.has_dense) {
    WICK_TRY(classifier.dense[0],
             binder.matrix("cls.weight", {.out = spec.d_model, .in = spec.d_model}));
  }
  if (head_spec.has_dense && head_spec.has_dense_bias) {
    WICK_TRY(classifier.dense_bias[0], binder.vector("cls.bias", spec.d_model));
  }
  WICK_TRY(classifier.out[0],
           binder.matrix("cls.output.weight", {.out = head_spec.n_labels, .in = spec.d_model}));
  if (head_spec.has_bias) {
    WICK_TRY(classifier.out_bias[0], binder.vector("cls.output.bias", head_spec.n_labels));
  }
  return {};
}

// What follows the last layer.
Result<void> Decoder::State::bind_end(Binder& binder) {
  if (!spec.encoder || spec.encoder->has_final_norm) {
    WICK_TRY(final_norm, binder.norm("output_norm", spec.final_norm, spec.d_model));
  }
  if (spec.encoder) {
    int in = spec.d_model;
    for (const int out : spec.encoder->dense) {
      const std::string name = cat("dense_", dense.size() + 2, ".weight");
      WICK_TRY(dense.emplace_back()[0], binder.matrix(name, {out, in}));
      in = out;
    }
    head[0] = table;
    return bind_classifier(binder);
  }
  if (spec.has_head_bias) {
    WICK_TRY(head_bias[0], binder.vector("output.bias", spec.vocab));
  }
  head[0] = table;
  const Binder::Matrix vocab_rows{.out = spec.vocab, .in = spec.d_model, .takes_adapters = false};
  if (!spec.is_tied || placement.head() != placement.embedding()) {
    WICK_TRY(head[0],
             binder.matrix(spec.is_tied ? "token_embd.weight" : "output.weight", vocab_rows));
    WICK_DO(binder.adapt("output.weight", vocab_rows));
  }
  return {};
}

Result<Decoder> Decoder::load(const ModelFile& file, const Placement& placement,
                              const DecoderOptions& options) {
  WICK_TRY(const Arch* const arch, find_arch(file));
  return load(file, *arch, placement, options);
}

Result<Decoder> Decoder::load(const ModelFile& file, const Arch& arch, const Placement& placement,
                              const DecoderOptions& options) {
  auto state = std::make_unique<State>();
  state->placement = placement;
  WICK_TRY(state->spec, arch.spec(file));
  join_shared_caches(state->placement, state->spec);
  WICK_TRY(state->options, checked(options, state->spec));
  if (!state->spec.encoder && file.find("dense_2.weight") != nullptr) {
    return Error{ErrorCode::kUnsupported, "unsupported_model",
                 cat(file.path().string(),
                     ": has tensor 'dense_2.weight', a layer after pooling, which wick knows of "
                     "encoders only")};
  }
  fit_to_context(state->spec, state->options.context);
  WICK_DO(state->bind(file, arch, options));
  WICK_DO(make_ready(*state));
  const std::uint64_t all_bytes = tensor_bytes(file);
  WICK_DO(report(options, all_bytes, all_bytes));
  return Decoder(std::move(state));
}

}  // namespace wick
