// A model as data. An architecture file (model/arch/) converts metadata to a DecoderSpec; all later
// code is independent of the architecture's name. Each layer has its own BlockSpec. Plain data; any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "format/hf_family.h"
#include "format/model_file.h"

namespace wick {

struct NormSpec {
  NormParams params = {};
  bool has_bias = false;  // a LayerNorm's, beside its gain
};

struct QkNormSpec {  // of queries and keys, before the rotation
  // A gain that heads share, one for each head, or one norm over all heads of a token.
  enum class Gain : std::uint8_t { kShared, kPerHead, kJoint } gain = Gain::kShared;
  NormParams params = {};
};

// The divisors of the RoPE frequencies: none; Llama 3's (rope_freqs.weight, or computed from the
// keys); LongRoPE's long factors if the context is longer than the original one, else its short
// ones; Gemma 4's, which stop all but the first frequencies.
enum class RopeFactors : std::uint8_t { kNone, kLlama3, kLong, kProportional };

struct GqaSpec {                                             // grouped-query attention
  int n_heads = 0, n_kv_heads = 0, head_dim = 0, v_dim = 0;  // v_dim 0 = head_dim
  bool has_joint_qkv = false;  // q, k and v lie in one tensor, attn_qkv
  bool qkv_bias = false, out_bias = false;
  // The layer has no keys and values of its own: it reads the cache of this earlier layer, which
  // has the same heads and window. -1 = it has.
  int kv_from_layer = -1;
  bool are_values_keys = false;    // v is the product of attn_k, before its norm and rotation
  bool normalizes_values = false;  // each head, without a gain
  bool has_sinks = false;          // a score of each head that takes weight and has no value
  // Each head's rows in attn_q are its query, then a gate, whose sigmoid multiplies its output.
  bool has_gate = false;
  std::optional<QkNormSpec> qk_norm = {};
  RopeParams rope = {};
  RopeFactors rope_factors = RopeFactors::kNone;
  // Dynamic NTK scaling: theta grows with a context size above the training context. 0 = off.
  float dynamic_factor = 0;
  Temperature temperature = {};  // of queries
  float scale = 0;               // multiplies q·k
  float soft_cap = 0;            // of scores, 0 = none
  int window = 0;                // tokens; 0 = whole context
  bool is_causal = true;         // false: queries see the whole text (encoders)
};

// Multi-head latent attention (DeepSeek V2): keys and values of all heads are projections of one
// latent vector. The cache stores this vector, and a rotated part of the key that all heads share.
struct MlaSpec {
  int n_heads = 0;
  int q_rank = 0;  // 0 = queries are one product
  int kv_rank = 0, nope_dim = 0, rope_dim = 0, v_dim = 0;
  bool has_joint_kv = false;  // keys and values lie in one tensor, attn_kv_b
  NormParams norm = {};       // of the latent vectors
  RopeParams rope = {};
  float scale = 0;

  int key_dim() const noexcept { return kv_rank + rope_dim; }
};

struct DeltaSpec {  // gated delta rule (Qwen 3.5), see backend.h's DeltaParams
  int n_k_heads = 0, n_v_heads = 0, k_dim = 0, v_dim = 0, conv_width = 4;
  bool are_heads_tiled = false;  // GGUF's qwen35; Qwen3-Next's are grouped
  NormParams norm = {};          // of each head's output
};

struct DenseSpec {  // down(act(gate(x)) * up(x)), or without a gate down(act(up(x)))
  int hidden = 0;
  Act act = Act::kSilu;
  bool is_gated = true;
  bool has_joint_gate = false;  // gate and up lie in one tensor, ffn_up
  bool bias = false;            // on gate, up and down
};

// A mixture of experts: the sum of the chosen experts' feed-forwards, weighted by the router, see
// backend.h's ExpertStep.
struct MoeSpec {
  Routing routing = {};
  int hidden = 0;         // of an expert
  int shared_hidden = 0;  // of the shared experts together, which serve every token; 0 = none
  bool has_shared_gate = false;
  bool has_router_bias = false, has_choice_bias = false;
  bool has_bias = false;  // on gate, up and down of experts
  // The router reads x normalized with a gain of its own, and its outputs are divided by the root
  // of x's width; the weights of the chosen are multiplied by a number of each expert.
  bool has_router_gain = false, has_weight_scale = false;
  Act act = Act::kSilu;
  float limit = 0, alpha = 1;  // of a clamped SwiGLU
};

// n1(dense(n(x))) + n2(experts(n'(x))); n is the block's pre_ffn, the other norms have `norm`.
struct DenseMoeSpec {
  DenseSpec dense = {};
  MoeSpec experts = {};
  NormSpec norm = {};
};

struct BlockSpec {
  std::variant<GqaSpec, MlaSpec, DeltaSpec> mixer = {};
  std::variant<DenseSpec, MoeSpec, DenseMoeSpec> ffn = {};
  // Pre-norms of the inputs of mixer and feed-forward, post-norms of their outputs.
  std::optional<NormSpec> pre_mixer = {}, post_mixer = {}, pre_ffn = {}, post_ffn = {};
  std::string_view pre_ffn_name = "blk.{}.ffn_norm";  // some files call it post_attention_norm
  // x + mixer(n(x)) + ffn(n(x)); n is pre_mixer, and there is no other norm.
  bool is_parallel = false;
  bool norms_sums = false;        // post-norms are of the sums: x = n(x + mixer(x)), as in BERT
  bool has_layer_input = false;   // DecoderSpec::layer_inputs
  bool has_output_scale = false;  // the hidden state after the block is multiplied by a number
  float residual_scale = 1;       // multiplies what is added to the hidden state; 1 with post norms
};

// A head that classifies the first token's state: out(tanh(dense(x))), or out(x).
struct ClassifierSpec {
  int n_labels = 1;
  bool has_dense = false, has_dense_bias = false, has_bias = false;
};

// What an encoder has beside its blocks. Its attention sees later tokens, too; so a text is one
// launch. It has no LM head.
struct EncoderSpec {
  bool has_positions = false, has_types = false;  // learned embeddings, added to those of tokens
  std::optional<NormSpec> embed_norm = {};        // of their sum
  bool has_final_norm = false;
  int position_offset = 0;      // the position embeddings of a text begin at this row
  int n_types = 1;              // 2: the second text of a pair has the second type
  std::vector<int> dense = {};  // widths of the products after pooling, each without a bias
  std::optional<ClassifierSpec> classifier = {};  // a cross-encoder
};

// Embeddings that each layer adds after its feed-forward (Gemma 4): x + n(up(act(gate(x)) * e)),
// where e has a part of the token's embedding itself and one of its row in a second table.
struct LayerInputSpec {
  int width = 0;  // features of a layer
  Act act = Act::kGeluTanh;
};

struct DecoderSpec {
  int d_model = 0, vocab = 0, ctx_train = 0;
  float embed_scale = 1, logit_scale = 1;
  float logit_soft_cap = 0;  // 0 = none
  NormSpec final_norm = {};
  bool is_tied = false;  // the head is the embedding table
  bool has_head_bias = false;
  std::vector<BlockSpec> blocks = {};
  std::optional<EncoderSpec> encoder = {};  // nullopt: a decoder
  std::optional<LayerInputSpec> layer_inputs = {};

  // Features of the layers' inputs together.
  int layer_inputs_width() const noexcept {
    return layer_inputs ? layer_inputs->width * static_cast<int>(blocks.size()) : 0;
  }

  // Features of an embedding.
  int embedding_width() const noexcept {
    if (encoder && encoder->classifier) return encoder->classifier->n_labels;
    return encoder && !encoder->dense.empty() ? encoder->dense.back() : d_model;
  }
};

// How a safetensors weight becomes the canonical one. "{}" stands for the layer's number.
struct NameRule {
  // kPermute: rows of q and k to adjacent pairs; kAddOne: a gain that is stored minus one; kStack:
  // one vector for each head, whose number is the second "{}"; kNegatedExp: a vector whose -exp is
  // wanted; kTurned: [in, out] for each expert, of which kTurnedEven and kTurnedOdd take every
  // other column.
  enum class Fix : std::uint8_t {
    kNone,
    kPermuteQ,
    kPermuteK,
    kAddOne,
    kStack,
    kNegatedExp,
    kTurned,
    kTurnedEven,
    kTurnedOdd
  };
  std::string_view hf,
      canonical;  // "model.layers.{}.self_attn.q_proj.weight" → "blk.{}.attn_q.weight"
  Fix fix = Fix::kNone;
};

struct Arch {
  std::string_view gguf_name;
  Result<DecoderSpec> (*spec)(const ModelFile& file);
  std::span<const NameRule> names;
  std::span<const HfFamily> families = {};  // of config.json; `gguf` may be empty
  bool is_encoder = false;                  // its specs have DecoderSpec::encoder
};

std::span<const Arch> archs() noexcept;
// The families of all archs().
std::span<const HfFamily> hf_families();
// ModelFile::open() for files of these families.
Result<ModelFile> open_model(const std::filesystem::path& path);
// The row of `file`, or kUnsupported naming the architecture and those that work.
Result<const Arch*> find_arch(const ModelFile& file);

}  // namespace wick
