#include "model/arch/experts.h"

#include <algorithm>

#include "backend/limits.h"
#include "base/strings.h"
#include "model/limits.h"
#include "model/tensors.h"

namespace wick {

namespace {

// llama.cpp's numbers; softmax over the chosen alone is softmax with normalized weights.
enum GatingFunction { kByArchitecture, kSoftmax, kSigmoid, kSoftmaxOfChosen };

Result<Routing> routing_of(const Hparams& hparams, const ExpertDefaults& defaults) {
  Routing routing{.score = defaults.score};
  WICK_TRY(routing.n_experts, hparams.need("expert_count", 1, kMaxExperts));
  WICK_TRY(routing.n_active, hparams.need("expert_used_count", 1, routing.n_experts));
  WICK_TRY(const int gating, hparams.integer_or("expert_gating_func", kByArchitecture, 0, 100));
  if (gating > kSoftmaxOfChosen) {
    return hparams.unsupported(cat(hparams.key("expert_gating_func"), " is ", gating,
                                   ", wick knows 1 (softmax), 2 (sigmoid) and 3 (softmax of the "
                                   "chosen)"));
  }
  if (gating != kByArchitecture) {
    routing.score = gating == kSigmoid ? Routing::Score::kSigmoid : Routing::Score::kSoftmax;
  }
  const auto score = hparams.file().metadata().string("wick.scoring_func");  // config.json
  if (score) {
    if (*score != "sigmoid" && *score != "softmax") {
      return hparams.unsupported(
          cat("scores experts by '", printable(*score), "', wick knows softmax and sigmoid"));
    }
    routing.score = *score == "sigmoid" ? Routing::Score::kSigmoid : Routing::Score::kSoftmax;
  }
  // DeepSeek V3 and V2; no key says it.
  routing.adds_two_best = routing.score == Routing::Score::kSigmoid;
  routing.normalizes = hparams.file()
                           .metadata()
                           .boolean(hparams.key("expert_weights_norm"))
                           .value_or(defaults.normalizes || gating == kSoftmaxOfChosen);
  WICK_TRY(const double scale, hparams.number_or("expert_weights_scale", 1, 0, 1e6));
  if (scale > 0) routing.scale = static_cast<float>(scale);  // files write 0 for "none"
  WICK_TRY(const int groups, hparams.integer_or("expert_group_count", 1, 0, kMaxExpertGroups));
  if (groups <= 1) return routing;
  routing.n_groups = groups;
  WICK_TRY(routing.n_active_groups, hparams.need("expert_group_used_count", 1, groups));
  const int per_group = routing.n_experts / groups;
  if (routing.n_experts % groups != 0 || per_group < (routing.adds_two_best ? 2 : 1) ||
      routing.n_active > per_group * routing.n_active_groups) {
    return hparams.invalid(cat(routing.n_experts, " experts in ", groups, " groups (",
                               hparams.key("expert_group_count"), "), of which ",
                               routing.n_active_groups, " are used, cannot give ", routing.n_active,
                               " experts for each token"));
  }
  return routing;
}

}  // namespace

namespace {

// Mixtral, Qwen, DeepSeek, GLM; experts alone as checkpoints have them, or together as in memory.
constexpr NameRule kExpertRules[] = {
    {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    {"model.layers.{}.mlp.gate.weight", "blk.{}.ffn_gate_inp.weight"},
    {"model.layers.{}.block_sparse_moe.gate.weight", "blk.{}.ffn_gate_inp.weight"},
    {"model.layers.{}.mlp.gate.e_score_correction_bias", "blk.{}.exp_probs_b.bias"},
    {"model.layers.{}.mlp.experts.{}.gate_proj.weight", "blk.{}.ffn_gate.{}.weight"},
    {"model.layers.{}.mlp.experts.{}.up_proj.weight", "blk.{}.ffn_up.{}.weight"},
    {"model.layers.{}.mlp.experts.{}.down_proj.weight", "blk.{}.ffn_down.{}.weight"},
    {"model.layers.{}.block_sparse_moe.experts.{}.w1.weight", "blk.{}.ffn_gate.{}.weight"},
    {"model.layers.{}.block_sparse_moe.experts.{}.w3.weight", "blk.{}.ffn_up.{}.weight"},
    {"model.layers.{}.block_sparse_moe.experts.{}.w2.weight", "blk.{}.ffn_down.{}.weight"},
    {"model.layers.{}.mlp.experts.gate_up_proj", "blk.{}.ffn_gate_up_exps.weight"},
    {"model.layers.{}.mlp.experts.down_proj", "blk.{}.ffn_down_exps.weight"},
    {"model.layers.{}.mlp.shared_expert.gate_proj.weight", "blk.{}.ffn_gate_shexp.weight"},
    {"model.layers.{}.mlp.shared_expert.up_proj.weight", "blk.{}.ffn_up_shexp.weight"},
    {"model.layers.{}.mlp.shared_expert.down_proj.weight", "blk.{}.ffn_down_shexp.weight"},
    {"model.layers.{}.mlp.shared_experts.gate_proj.weight", "blk.{}.ffn_gate_shexp.weight"},
    {"model.layers.{}.mlp.shared_experts.up_proj.weight", "blk.{}.ffn_up_shexp.weight"},
    {"model.layers.{}.mlp.shared_experts.down_proj.weight", "blk.{}.ffn_down_shexp.weight"},
    {"model.layers.{}.mlp.shared_expert_gate.weight", "blk.{}.ffn_gate_inp_shexp.weight"},
    {"model.layers.{}.self_attn.q_a_proj.weight", "blk.{}.attn_q_a.weight"},
    {"model.layers.{}.self_attn.q_a_layernorm.weight", "blk.{}.attn_q_a_norm.weight"},
    {"model.layers.{}.self_attn.q_b_proj.weight", "blk.{}.attn_q_b.weight"},
    {"model.layers.{}.self_attn.kv_a_proj_with_mqa.weight", "blk.{}.attn_kv_a_mqa.weight"},
    {"model.layers.{}.self_attn.kv_a_layernorm.weight", "blk.{}.attn_kv_a_norm.weight"},
    {"model.layers.{}.self_attn.kv_b_proj.weight", "blk.{}.attn_kv_b.weight"}};

}  // namespace

std::vector<NameRule> with_experts(std::span<const NameRule> plain) {
  std::vector<NameRule> all(plain.begin(), plain.end());
  all.insert(all.end(), std::begin(kExpertRules), std::end(kExpertRules));
  return all;
}

std::span<const NameRule> expert_names() {
  static const std::vector<NameRule> names = with_experts(plain_names());
  return names;
}

std::span<const NameRule> permuted_expert_names() {
  static const std::vector<NameRule> names = with_experts(permuted_names());
  return names;
}

Result<void> drop_nextn_layers(DecoderSpec& spec, const Hparams& hparams) {
  const auto all = static_cast<int>(spec.blocks.size());
  WICK_TRY(const int n, hparams.integer_or("nextn_predict_layers", 0, 0, all - 1));
  spec.blocks.resize(static_cast<std::size_t>(all - n));
  return {};
}

Result<void> add_experts(DecoderSpec& spec, const Hparams& hparams, std::span<const NameRule> names,
                         const ExpertDefaults& defaults) {
  WICK_TRY(const int n, hparams.integer_or("expert_count", 0, 0, kMaxExperts));
  if (n == 0) return {};
  WICK_TRY(const Routing routing, routing_of(hparams, defaults));
  // Mixtral's files say it as feed_forward_length.
  const char* const hidden_key = hparams.has("expert_feed_forward_length")
                                     ? "expert_feed_forward_length"
                                     : "feed_forward_length";
  const auto n_layers = static_cast<int>(spec.blocks.size());
  WICK_TRY(const std::vector<int> hidden,
           hparams.need_per_layer(hidden_key, n_layers, 1, kMaxHidden));
  WICK_TRY(const int n_shared, hparams.integer_or("expert_shared_count", 0, 0, kMaxExperts));
  WICK_TRY(const int shared_hidden,
           hparams.integer_or("expert_shared_feed_forward_length", 0, 0, kMaxHidden));
  for (int layer = 0; layer < n_layers; ++layer) {
    const auto has = [&](std::string_view name) {
      return find_tensor(hparams.file(), names, name, layer).view != nullptr;
    };
    if (!has("blk.{}.ffn_gate_inp.weight")) continue;
    const int own = hidden[static_cast<std::size_t>(layer)];
    const bool has_shared = has("blk.{}.ffn_gate_shexp.weight");
    const std::int64_t usual = std::int64_t{own} * std::max(n_shared, 1);
    if (has_shared && usual > kMaxHidden) {
      return hparams.invalid(cat(n_shared, " shared experts of ", own, " features: wick takes ",
                                 kMaxHidden, " in all"));
    }
    spec.blocks[static_cast<std::size_t>(layer)].ffn =
        MoeSpec{.routing = routing,
                .hidden = own,
                .shared_hidden = !has_shared         ? 0
                                 : shared_hidden > 0 ? shared_hidden
                                                     : static_cast<int>(usual),
                .has_shared_gate = has("blk.{}.ffn_gate_inp_shexp.weight"),
                .has_router_bias = has("blk.{}.ffn_gate_inp.bias"),
                .has_choice_bias = has("blk.{}.exp_probs_b.bias"),
                .has_bias = has("blk.{}.ffn_down_exps.bias")};
  }
  return {};
}

}  // namespace wick
