#include "support/tiny_model.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "support/gguf_writer.h"

namespace wick::test {

namespace {

constexpr std::string_view kChatTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

std::string utf8(int code) {  // below U+0800
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// GPT-2's visible stand-ins for bytes: printable Latin-1 as itself, the rest from U+0100 on.
std::vector<std::string> byte_letters() {
  std::vector<std::string> letters;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_visible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    letters.push_back(utf8(is_visible ? byte : next++));
  }
  return letters;
}

void add_tokenizer(GgufWriter& gguf) {
  std::vector<std::string> tokens = byte_letters();
  const std::string space = tokens[' '];
  tokens.insert(tokens.end(),
                {"he", space + "t", space + "the", "<|endoftext|>", "<|im_start|>", "<|im_end|>"});
  std::vector<std::int64_t> types(tokens.size(), 1);
  for (std::size_t id = kTinyBeginOfText; id < tokens.size(); ++id)
    types[id] = 3;  // control
  gguf.add_string("tokenizer.ggml.model", "gpt2")
      .add_string("tokenizer.ggml.pre", "smollm")
      .add_strings("tokenizer.ggml.tokens", tokens)
      .add_integers("tokenizer.ggml.token_type", types)
      .add_strings("tokenizer.ggml.merges", {"h e", space + " t", space + "t he"})
      .add_integer("tokenizer.ggml.bos_token_id", kTinyBeginOfText)
      .add_integer("tokenizer.ggml.eos_token_id", kTinyImEnd)
      .add_bool("tokenizer.ggml.add_bos_token", false)
      .add_string("tokenizer.chat_template", kChatTemplate);
}

class Weights {
 public:
  Weights(GgufWriter& gguf, const TinyModel& model)
      : gguf_(gguf), type_(model.type), random_(model.seed), edit_(model.edit) {}

  // Uniform values whose products with a normalized row have a variance of about 2. With `heads`
  // the tensor is [heads, rows / heads, cols].
  void matrix(const std::string& name, int rows, int cols, int heads = 0) {
    const float reach = std::sqrt(6.0F / static_cast<float>(cols));
    const auto row = row_bytes(type_, cols);
    WICK_CHECK(row.has_value(), "a tiny model's rows are not whole blocks of its type");
    Bytes bytes(static_cast<std::size_t>(rows) * *row);
    std::vector<float> values(static_cast<std::size_t>(cols));
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      for (float& value : values)
        value = reach * uniform();
      encode_row(type_, values, std::span(bytes).subspan(r * *row, *row));
    }
    if (edit_) edit_(name, type_, rows, cols, bytes);
    if (heads > 0) {
      gguf_.add_tensor(name, type_, {heads, rows / heads, cols}, std::move(bytes));
    } else {
      gguf_.add_tensor(name, type_, {rows, cols}, std::move(bytes));
    }
  }

  void table(const std::string& name, int rows, int cols) {
    std::vector<float> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    for (float& value : values)
      value = uniform();
    add(name, DType::kF32, rows, cols, 2, bytes_of(values));
  }

  void vector(const std::string& name, int n, float middle, float reach) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values)
      value = middle + reach * uniform();
    add(name, DType::kF32, 1, n, 1, bytes_of(values));
  }

 private:
  float uniform() {  // [-1, 1), the same everywhere: std's distributions are not
    return static_cast<float>(random_() >> 8) * 0x1p-23F - 1;
  }

  void add(const std::string& name, DType type, int rows, int cols, int rank, Bytes bytes) {
    if (edit_) edit_(name, type, rows, cols, bytes);
    if (rank == 1) {
      gguf_.add_tensor(name, type, {cols}, std::move(bytes));
    } else {
      gguf_.add_tensor(name, type, {rows, cols}, std::move(bytes));
    }
  }

  GgufWriter& gguf_;
  DType type_;
  std::mt19937 random_;
  const TinyModel::Edit& edit_;
};

// As many heads of keys as of values, all of head_dim.
void add_delta(Weights& weights, const TinyModel& m, const std::string& blk) {
  const int values = m.delta_heads * m.head_dim;
  weights.matrix(blk + "attn_qkv.weight", 3 * values, m.d_model);
  weights.matrix(blk + "attn_gate.weight", values, m.d_model);
  weights.matrix(blk + "ssm_beta.weight", m.delta_heads, m.d_model);
  weights.matrix(blk + "ssm_alpha.weight", m.delta_heads, m.d_model);
  weights.matrix(blk + "ssm_out.weight", m.d_model, values);
  weights.table(blk + "ssm_conv1d.weight", 3 * values, kTinyConvWidth);
  weights.vector(blk + "ssm_a", m.delta_heads, -0.3F, 0.2F);
  weights.vector(blk + "ssm_dt.bias", m.delta_heads, 0, 1);
  weights.vector(blk + "ssm_norm.weight", m.head_dim, 1, 0.3F);
}

// Heads have a part that is rotated and one that is not, both of head_dim.
void add_latent(Weights& weights, const TinyModel& m, const std::string& blk) {
  const int rank = m.latent, keys = rank + m.head_dim, values = m.n_heads * m.head_dim;
  const int query_rank = m.query_rank > 0 ? m.query_rank : m.d_model;
  if (m.query_rank > 0) {
    weights.matrix(blk + "attn_q_a.weight", m.query_rank, m.d_model);
    weights.vector(blk + "attn_q_a_norm.weight", m.query_rank, 1, 0.3F);
  }
  weights.matrix(blk + (m.query_rank > 0 ? "attn_q_b.weight" : "attn_q.weight"), 2 * values,
                 query_rank);
  weights.matrix(blk + "attn_kv_a_mqa.weight", keys, m.d_model);
  weights.vector(blk + "attn_kv_a_norm.weight", rank, 1, 0.3F);
  if (m.has_joint_kv) {
    weights.matrix(blk + "attn_kv_b.weight", 2 * values, rank);
  } else {
    weights.matrix(blk + "attn_k_b.weight", m.n_heads * rank, m.head_dim, m.n_heads);
    weights.matrix(blk + "attn_v_b.weight", values, rank, m.n_heads);
  }
  weights.matrix(blk + "attn_output.weight", m.d_model, values);
}

void add_attention(Weights& weights, const TinyModel& m, const std::string& blk) {
  const int q = m.n_heads * m.head_dim, kv = m.n_kv_heads * m.head_dim;
  weights.matrix(blk + "attn_q.weight", q, m.d_model);
  weights.matrix(blk + "attn_k.weight", kv, m.d_model);
  weights.matrix(blk + "attn_v.weight", kv, m.d_model);
  weights.matrix(blk + "attn_output.weight", m.d_model, q);
  if (m.arch.starts_with("qwen2")) {
    weights.vector(blk + "attn_q.bias", q, 0, 0.5F);
    weights.vector(blk + "attn_k.bias", kv, 0, 0.5F);
    weights.vector(blk + "attn_v.bias", kv, 0, 0.5F);
  }
  if (m.arch.starts_with("qwen3")) {
    weights.vector(blk + "attn_q_norm.weight", m.head_dim, 1, 0.3F);
    weights.vector(blk + "attn_k_norm.weight", m.head_dim, 1, 0.3F);
  }
}

void add_experts(Weights& weights, const TinyModel& m, const std::string& blk) {
  const int n = m.experts;
  weights.table(blk + "ffn_gate_inp.weight", n, m.d_model);
  weights.matrix(blk + "ffn_gate_exps.weight", n * m.hidden, m.d_model, n);
  weights.matrix(blk + "ffn_up_exps.weight", n * m.hidden, m.d_model, n);
  weights.matrix(blk + "ffn_down_exps.weight", n * m.d_model, m.hidden, n);
  if (m.arch != "qwen2moe") return;
  weights.matrix(blk + "ffn_gate_shexp.weight", m.hidden, m.d_model);
  weights.matrix(blk + "ffn_up_shexp.weight", m.hidden, m.d_model);
  weights.matrix(blk + "ffn_down_shexp.weight", m.d_model, m.hidden);
  weights.vector(blk + "ffn_gate_inp_shexp.weight", m.d_model, 0, 1);
}

void add_layer(Weights& weights, const TinyModel& m, int layer) {
  const std::string blk = cat("blk.", layer, ".");
  weights.vector(blk + "attn_norm.weight", m.d_model, 1, 0.3F);
  if (m.delta_heads > 0 && layer % 2 == 0) {
    add_delta(weights, m, blk);
  } else if (m.latent > 0 && layer % 2 == 0) {
    add_latent(weights, m, blk);
  } else {
    add_attention(weights, m, blk);
  }
  weights.vector(blk + "ffn_norm.weight", m.d_model, 1, 0.3F);
  if (m.experts > 0) return add_experts(weights, m, blk);
  weights.matrix(blk + "ffn_gate.weight", m.hidden, m.d_model);
  weights.matrix(blk + "ffn_up.weight", m.hidden, m.d_model);
  weights.matrix(blk + "ffn_down.weight", m.d_model, m.hidden);
}

}  // namespace

void write_tiny_model(const std::filesystem::path& path, const TinyModel& model) {
  GgufWriter gguf;
  const auto key = [&](std::string_view suffix) { return cat(model.arch, ".", suffix); };
  gguf.add_string("general.architecture", model.arch)
      .add_string("general.name", "tiny")
      .add_integer(key("block_count"), model.n_layers)
      .add_integer(key("context_length"), model.context)
      .add_integer(key("embedding_length"), model.d_model)
      .add_integer(key("feed_forward_length"), model.hidden)
      .add_integer(key("attention.head_count"), model.n_heads)
      .add_integer(key("attention.head_count_kv"), model.n_kv_heads)
      .add_integer(key("attention.key_length"), model.head_dim)
      .add_integer(key("attention.value_length"), model.head_dim)
      .add_integer(key("rope.dimension_count"), model.head_dim)
      .add_number(key("rope.freq_base"), 10000)
      .add_number(key("attention.layer_norm_rms_epsilon"), 1e-5);
  if (model.experts > 0) {
    gguf.add_integer(key("expert_count"), model.experts)
        .add_integer(key("expert_used_count"), 2)
        .add_integer(key("expert_feed_forward_length"), model.hidden);
  }
  if (model.latent > 0) {
    gguf.add_integer(key("attention.kv_lora_rank"), model.latent)
        .add_integer(key("attention.q_lora_rank"), model.query_rank)
        .add_integer(key("attention.key_length_mla"), 2 * model.head_dim)
        .add_integer(key("attention.value_length_mla"), model.head_dim);
  }
  if (model.window > 0) gguf.add_integer(key("attention.sliding_window"), model.window);
  if (model.window_alternates) {
    std::vector<std::int64_t> pattern(static_cast<std::size_t>(model.n_layers));
    for (std::size_t i = 0; i < pattern.size(); i += 2)
      pattern[i] = 1;
    gguf.add_integers(key("attention.sliding_window_pattern"), pattern);
  }
  if (model.has_tokenizer) add_tokenizer(gguf);
  WICK_CHECK(model.vocab == 0 || !model.has_tokenizer, "the tiny tokenizer has its own vocabulary");
  const int vocab = model.vocab > 0 ? model.vocab : kTinyVocab;
  Weights weights(gguf, model);
  weights.matrix("token_embd.weight", vocab, model.d_model);
  for (int layer = 0; layer < model.n_layers; ++layer)
    add_layer(weights, model, layer);
  weights.vector("output_norm.weight", model.d_model, 1, 0.3F);
  if (!model.is_tied) weights.matrix("output.weight", vocab, model.d_model);
  gguf.write(path);
}

}  // namespace wick::test
