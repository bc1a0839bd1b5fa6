// What a model is, as data: an architecture file turns metadata into a DecoderSpec, and nothing
// after that line knows the architecture's name. Per-layer lists express what differs between
// layers. Plain data; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "format/model_file.h"

namespace wick {

struct GqaSpec {                                             // grouped-query attention
  int n_heads = 0, n_kv_heads = 0, head_dim = 0, v_dim = 0;  // v_dim 0 = head_dim
  bool qkv_bias = false, out_bias = false;
  std::optional<NormParams> qk_norm = {};  // for each head, before the rotation
  RopeParams rope = {};
  bool has_rope_factors = false;  // divide the frequencies by the tensor rope_freqs.weight (or by
                                  // what Llama 3's keys say)
  float scale = 0;                // multiplies q·k
  int window = 0;                 // tokens; 0 = whole context
};

// Multi-head latent attention (DeepSeek V2): keys and values of all heads are projections of one
// latent vector, which is what the cache keeps, beside a rotated part of the key that heads share.
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

struct DenseSpec {  // down(act(gate(x)) * up(x))
  int hidden = 0;
  Act act = Act::kSilu;
  bool bias = false;  // on gate, up and down
};

struct BlockSpec {
  std::variant<GqaSpec, MlaSpec, DeltaSpec> mixer = {};
  std::variant<DenseSpec> ffn = {};
  std::optional<NormParams> pre_mixer = {}, pre_ffn = {};
};

struct DecoderSpec {
  int d_model = 0, vocab = 0, ctx_train = 0;
  float embed_scale = 1, logit_scale = 1;
  NormParams final_norm = {};
  bool is_tied = false;  // the head is the embedding table
  std::vector<BlockSpec> blocks = {};
};

// How a safetensors weight becomes the canonical one. "{}" stands for the layer's number.
struct NameRule {
  enum class Fix : std::uint8_t { kNone, kPermuteQ, kPermuteK };
  std::string_view hf,
      canonical;  // "model.layers.{}.self_attn.q_proj.weight" → "blk.{}.attn_q.weight"
  Fix fix = Fix::kNone;
};

struct Arch {
  std::string_view gguf_name;
  Result<DecoderSpec> (*spec)(const ModelFile& file);
  std::span<const NameRule> names;
};

std::span<const Arch> archs() noexcept;
// The row of `file`, or kUnsupported naming the architecture and those that work.
Result<const Arch*> find_arch(const ModelFile& file);

}  // namespace wick
