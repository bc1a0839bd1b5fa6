#include "format/hf_config.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "format/hf_layers.h"
#include "format/hf_rope.h"
#include "format/json_fields.h"
#include "format/json_text.h"
#include "format/limits.h"
#include "format/model_parts.h"

namespace wick {

namespace {

using nlohmann::json;

enum class Kind { kInteger, kNumber, kBool, kText };

struct KeyRule {
  const char* hf;
  std::string_view gguf;  // one that begins with '.' follows the architecture's name
  Kind kind;
};

constexpr KeyRule kConfigRules[] = {
    {"num_hidden_layers", ".block_count", Kind::kInteger},
    {"max_position_embeddings", ".context_length", Kind::kInteger},
    {"position_offset", ".position_offset", Kind::kInteger},
    {"hidden_size", ".embedding_length", Kind::kInteger},
    // These five, and layer_norm_epsilon: Nomic's own code.
    {"n_layer", ".block_count", Kind::kInteger},
    {"n_positions", ".context_length", Kind::kInteger},
    {"n_embd", ".embedding_length", Kind::kInteger},
    {"n_inner", ".feed_forward_length", Kind::kInteger},
    {"n_head", ".attention.head_count", Kind::kInteger},
    {"intermediate_size", ".feed_forward_length", Kind::kInteger},
    {"vocab_size", ".vocab_size", Kind::kInteger},
    {"num_attention_heads", ".attention.head_count", Kind::kInteger},
    {"rms_norm_eps", ".attention.layer_norm_rms_epsilon", Kind::kNumber},
    {"layer_norm_eps", ".attention.layer_norm_epsilon", Kind::kNumber},
    {"layer_norm_epsilon", ".attention.layer_norm_epsilon", Kind::kNumber},
    {"norm_epsilon", ".attention.layer_norm_epsilon", Kind::kNumber},
    {"attn_logit_softcapping", ".attn_logit_softcapping", Kind::kNumber},
    {"final_logit_softcapping", ".final_logit_softcapping", Kind::kNumber},
    {"embedding_multiplier", ".embedding_scale", Kind::kNumber},
    {"residual_multiplier", ".residual_scale", Kind::kNumber},
    {"attention_multiplier", ".attention.scale", Kind::kNumber},
    {"logits_scaling", ".logit_scale", Kind::kNumber},
    {"logit_scale", ".logit_scale", Kind::kNumber},
    {"query_pre_attn_scalar", "wick.query_pre_attn_scalar", Kind::kNumber},
    {"no_rope_layer_interval", "wick.no_rope_layer_interval", Kind::kInteger},
    {"num_local_experts", ".expert_count", Kind::kInteger},
    {"num_experts", ".expert_count", Kind::kInteger},
    {"n_routed_experts", ".expert_count", Kind::kInteger},
    {"num_experts_per_tok", ".expert_used_count", Kind::kInteger},
    {"top_k_experts", ".expert_used_count", Kind::kInteger},
    {"moe_intermediate_size", ".expert_feed_forward_length", Kind::kInteger},
    {"n_shared_experts", ".expert_shared_count", Kind::kInteger},
    {"shared_expert_intermediate_size", ".expert_shared_feed_forward_length", Kind::kInteger},
    {"routed_scaling_factor", ".expert_weights_scale", Kind::kNumber},
    {"norm_topk_prob", ".expert_weights_norm", Kind::kBool},
    {"swiglu_limit", "wick.swiglu_limit", Kind::kNumber},
    {"swiglu_alpha", "wick.swiglu_alpha", Kind::kNumber},
    {"linear_conv_kernel_dim", ".ssm.conv_kernel", Kind::kInteger},
    {"linear_key_head_dim", ".ssm.state_size", Kind::kInteger},
    {"linear_num_key_heads", ".ssm.group_count", Kind::kInteger},
    {"linear_num_value_heads", ".ssm.time_step_rank", Kind::kInteger},
    {"scoring_func", "wick.scoring_func", Kind::kText},
    {"tie_word_embeddings", "wick.tie_word_embeddings", Kind::kBool},
    {"attention_bias", "wick.attention_bias", Kind::kBool},
    {"position_embedding_type", "wick.position_embedding_type", Kind::kText},
    {"mlp_bias", "wick.mlp_bias", Kind::kBool},
    {"hidden_act", "wick.hidden_act", Kind::kText},
    {"hidden_activation", "wick.hidden_act", Kind::kText},
    {"torch_dtype", "wick.dtype", Kind::kText},  // transformers 4
    {"dtype", "wick.dtype", Kind::kText},        // transformers 5
};

constexpr KeyRule kGenerationRules[] = {
    {"temperature", "general.sampling.temp", Kind::kNumber},
    {"top_k", "general.sampling.top_k", Kind::kInteger},
    {"top_p", "general.sampling.top_p", Kind::kNumber},
    {"min_p", "general.sampling.min_p", Kind::kNumber},
    {"repetition_penalty", "general.sampling.penalty_repeat", Kind::kNumber},
};

Result<void> apply(const KeyRule& rule, const JsonFields& fields, std::string_view arch,
                   Metadata& out) {
  const bool is_prefixed = rule.gguf.front() == '.';
  const std::string key = is_prefixed ? cat(arch, rule.gguf) : std::string(rule.gguf);
  switch (rule.kind) {
    case Kind::kInteger: {
      WICK_TRY(const auto value, fields.integer(rule.hf));
      if (value) out.set_integer(key, *value);
      return {};
    }
    case Kind::kNumber: {
      WICK_TRY(const auto value, fields.number(rule.hf));
      if (value) out.set_number(key, *value);
      return {};
    }
    case Kind::kBool: {
      WICK_TRY(const auto value, fields.boolean(rule.hf));
      if (value) out.set_boolean(key, *value);
      return {};
    }
    case Kind::kText: {
      WICK_TRY(const auto value, fields.text(rule.hf));
      if (value) out.set_string(key, *value);
      return {};
    }
  }
  return {};
}

// How many key and value heads there are, and how wide heads are; returns that width, which is
// hidden / heads where the file does not say.
Result<std::optional<std::int64_t>> translate_heads(const JsonFields& config, std::string_view arch,
                                                    Metadata& out) {
  WICK_TRY(const auto heads, config.integer("num_attention_heads"));
  WICK_TRY(const auto kv_heads, config.integer("num_key_value_heads"));
  WICK_TRY(const auto hidden, config.integer("hidden_size"));
  WICK_TRY(auto head_dim, config.integer("head_dim"));
  if (kv_heads || heads) {
    out.set_integer(cat(arch, ".attention.head_count_kv"), kv_heads ? *kv_heads : *heads);
  }
  if (head_dim) {
    out.set_integer(cat(arch, ".attention.key_length"), *head_dim);
    out.set_integer(cat(arch, ".attention.value_length"), *head_dim);
  } else if (heads && hidden && *heads > 0) {
    head_dim = *hidden / *heads;
  }
  return head_dim;
}

// Groups that limit the choice of experts; "greedy" does without them.
Result<void> translate_groups(const JsonFields& config, std::string_view arch, Metadata& out) {
  WICK_TRY(const auto method, config.text("topk_method"));
  WICK_TRY(const auto groups, config.integer("n_group"));
  WICK_TRY(const auto used, config.integer("topk_group"));
  if (!groups || !used || (method && *method == "greedy")) return {};
  out.set_integer(cat(arch, ".expert_group_count"), *groups);
  out.set_integer(cat(arch, ".expert_group_used_count"), *used);
  return {};
}

// Latent attention (DeepSeek): heads as they are, and as the latent keeps them.
Result<void> translate_latent(const JsonFields& config, std::string_view arch, Metadata& out) {
  WICK_TRY(const auto kv_rank, config.integer("kv_lora_rank"));
  if (!kv_rank) return {};
  WICK_TRY(const auto q_rank, config.integer("q_lora_rank"));
  WICK_TRY(const auto nope, config.integer("qk_nope_head_dim"));
  WICK_TRY(const auto rotated, config.integer("qk_rope_head_dim"));
  WICK_TRY(const auto values, config.integer("v_head_dim"));
  constexpr std::int64_t kMost = 1 << 20;
  const auto is_size = [](const std::optional<std::int64_t>& size) {
    return size && *size >= 0 && *size <= kMost;
  };
  if (!is_size(nope)) return config.error("qk_nope_head_dim", "an integer in [0, 1048576]");
  if (!is_size(rotated)) return config.error("qk_rope_head_dim", "an integer in [0, 1048576]");
  if (!is_size(kv_rank)) return config.error("kv_lora_rank", "an integer in [0, 1048576]");
  if (!is_size(values)) return config.error("v_head_dim", "an integer in [0, 1048576]");
  const std::string prefix = cat(arch, ".attention.");
  if (q_rank) out.set_integer(prefix + "q_lora_rank", *q_rank);
  out.set_integer(prefix + "kv_lora_rank", *kv_rank);
  out.set_integer(prefix + "key_length", *kv_rank + *rotated);
  out.set_integer(prefix + "value_length", *kv_rank);
  out.set_integer(prefix + "key_length_mla", *nope + *rotated);
  out.set_integer(prefix + "value_length_mla", *values);
  out.set_integer(cat(arch, ".rope.dimension_count"), *rotated);
  return {};
}

// Gated delta layers: all heads of values together.
Result<void> translate_delta(const JsonFields& config, std::string_view arch, Metadata& out) {
  WICK_TRY(const auto heads, config.integer("linear_num_value_heads"));
  WICK_TRY(const auto dim, config.integer("linear_value_head_dim"));
  if (!heads || !dim) return {};
  constexpr std::int64_t kMost = 1 << 20;
  if (*heads < 1 || *heads > kMost) return config.error("linear_num_value_heads", "in [1, 2^20]");
  if (*dim < 1 || *dim > kMost) return config.error("linear_value_head_dim", "in [1, 2^20]");
  out.set_integer(cat(arch, ".ssm.inner_size"), *heads * *dim);
  return {};
}

// Which layers see a window only: the config names them, or each but every `period`-th does, or all
// do from some layer on.
Result<std::vector<std::int64_t>> window_pattern(const JsonFields& config, std::int64_t layers,
                                                 int period) {
  std::vector<std::int64_t> pattern(static_cast<std::size_t>(layers), 0);
  if (const json* types = config.find("layer_types")) {
    if (!types->is_array() || types->size() != pattern.size()) {
      return config.error("layer_types", cat("an array of ", layers, " names"));
    }
    for (std::size_t i = 0; i < pattern.size(); ++i)
      pattern[i] = (*types)[i] == "sliding_attention";
    return pattern;
  }
  if (period > 0) {
    WICK_TRY(const auto own, config.integer("sliding_window_pattern"));
    const std::int64_t every = own && *own > 0 ? *own : period;
    for (std::int64_t i = 0; i < layers; ++i)
      pattern[static_cast<std::size_t>(i)] = (i + 1) % every != 0;
    return pattern;
  }
  WICK_TRY(const auto first, config.integer("max_window_layers"));
  for (std::int64_t i = std::max<std::int64_t>(first.value_or(layers), 0); i < layers; ++i) {
    pattern[static_cast<std::size_t>(i)] = 1;
  }
  return pattern;
}

// A window is written only where transformers would really use one.
Result<void> translate_window(const JsonFields& config, const HfFamily& family,
                              std::string_view arch, Metadata& out) {
  using Windows = HfFamily::Windows;
  WICK_TRY(const auto window, config.integer("sliding_window"));
  WICK_TRY(const auto is_used, config.boolean("use_sliding_window"));
  if (!window || family.windows == Windows::kNone || is_used == false) return {};
  const bool has_types =
      family.windows == Windows::kAsSaid && config.find("layer_types") != nullptr;
  if (is_used == true || has_types || family.window_period > 0) {
    WICK_TRY(const auto layers, config.integer("num_hidden_layers"));
    if (!layers || *layers < 0 || *layers > kMaxConfigLayers) {
      return config.error("num_hidden_layers", cat("an integer in [0, ", kMaxConfigLayers, "]"));
    }
    WICK_TRY(const std::vector<std::int64_t> pattern,
             window_pattern(config, *layers, family.window_period));
    if (std::find(pattern.begin(), pattern.end(), 1) == pattern.end()) return {};
    out.set_integers(cat(arch, ".attention.sliding_window_pattern"), pattern);
  }
  out.set_integer(cat(arch, ".attention.sliding_window"), *window);
  return {};
}

// Which layers rotate (1) and which do not (0).
Result<void> translate_rotated_layers(const JsonFields& config, Metadata& out) {
  const json* const layers = config.find("no_rope_layers");
  if (layers == nullptr) return {};
  std::vector<std::int64_t> rotates;
  if (layers->is_array() && layers->size() <= static_cast<std::size_t>(kMaxConfigLayers)) {
    for (const json& item : *layers)
      rotates.push_back(item.is_number_integer() ? item.get<std::int64_t>() : -1);
  }
  if (rotates.empty() || *std::min_element(rotates.begin(), rotates.end()) < 0) {
    return config.error("no_rope_layers", "an array of 0 and 1, one for each layer");
  }
  out.set_integers("wick.rotated_layers", rotates);
  return {};
}

// One id or a list of ids. Absent or negative values ("none" in old files) mean no ids.
Result<std::vector<std::int64_t>> token_ids(const JsonFields& fields, const char* name) {
  std::vector<std::int64_t> ids;
  const json* value = fields.find(name);
  if (value == nullptr) return ids;
  const auto add = [&](const json& item) {
    const bool is_id = item.is_number_integer();
    if (is_id && item.get<std::int64_t>() >= 0) ids.push_back(item.get<std::int64_t>());
    return is_id;
  };
  bool is_right = true;
  if (value->is_array()) {
    if (value->size() > kMaxEndTokens) {
      return fields.error(name, cat("at most ", kMaxEndTokens, " token ids"));
    }
    for (const json& item : *value)
      is_right = add(item) && is_right;
  } else {
    is_right = add(*value);
  }
  if (!is_right) return fields.error(name, "a token id or a list of them");
  return ids;
}

Result<void> translate_tokens(const JsonFields& config, const JsonFields& generation,
                              Metadata& out) {
  WICK_TRY(const auto bos, token_ids(config, "bos_token_id"));
  if (!bos.empty()) out.set_integer("tokenizer.ggml.bos_token_id", bos.front());
  WICK_TRY(const auto pad, token_ids(config, "pad_token_id"));
  if (!pad.empty()) out.set_integer("tokenizer.ggml.padding_token_id", pad.front());
  // Either file may know more ends than the other (Llama 3: the config has one, generation three).
  WICK_TRY(std::vector<std::int64_t> ends, token_ids(config, "eos_token_id"));
  WICK_TRY(const auto more, token_ids(generation, "eos_token_id"));
  for (const std::int64_t id : more) {
    if (std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  }
  if (ends.empty()) return {};
  out.set_integer("tokenizer.ggml.eos_token_id", ends.front());
  out.set_integers("wick.end_token_ids", ends);
  return {};
}

Result<void> translate_generation(const JsonFields& generation, Metadata& out) {
  WICK_TRY(const auto samples, generation.boolean("do_sample"));
  if (samples == false) return {};  // its temperature and the like are then not in use
  for (const KeyRule& rule : kGenerationRules)
    WICK_DO(apply(rule, generation, "", out));
  return {};
}

MetaValue text_value(std::string_view text) {
  return {.type = MetaType::kString, .bytes = std::as_bytes(std::span(text.data(), text.size()))};
}

// tokenizer_config.json may hold one template, or a list of {"name", "template"}.
Result<void> translate_named_templates(const JsonFields& fields, const json& list, Metadata& out) {
  std::vector<std::string> names;
  if (list.size() > kMaxChatTemplates) {
    return fields.error("chat_template", cat("at most ", kMaxChatTemplates, " templates"));
  }
  for (const json& item : list) {
    const bool is_pair = item.is_object() && item.contains("name") && item["name"].is_string() &&
                         item.contains("template") && item["template"].is_string();
    if (!is_pair) return fields.error("chat_template", "a list of objects with name and template");
    const auto& name = item["name"].get_ref<const std::string&>();
    const auto& text = item["template"].get_ref<const std::string&>();
    if (name == "default" || list.size() == 1) {
      out.set_string("tokenizer.chat_template", text);
    } else {
      out.set_string(cat("tokenizer.chat_template.", name), text);
      names.push_back(name);
    }
  }
  if (!names.empty()) out.set_strings("tokenizer.chat_templates", names);
  return {};
}

// The family of a model_type; one whose condition is met comes first. A model_type outside of them
// is its own name in GGUF.
HfFamily family_of(std::span<const HfFamily> families, std::string_view model_type,
                   const json& config) {
  HfFamily found{.model_type = model_type, .gguf = model_type};
  for (const HfFamily& known : families) {
    if (known.model_type != model_type) continue;
    if (known.if_true == nullptr) {
      found = known;
    } else if (const auto field = config.find(known.if_true);
               field != config.end() && field->is_boolean() && field->get<bool>()) {
      return known;
    }
  }
  return found;
}

// The language model of one that sees images, too, has a config of its own inside: it counts, and
// where it is silent the outer one.
json language_config(json config) {
  const auto at = config.find("text_config");
  if (at == config.end() || !at->is_object() || !at->contains("model_type")) return config;
  json inner = *at;
  for (const auto& [name, value] : config.items()) {
    if (!inner.contains(name) && name != "text_config") inner[name] = value;
  }
  if (const auto names = config.find("architectures"); names != config.end()) {
    inner["architectures"] = *names;
  }
  return inner;
}

Result<void> translate_config(json config, const HfTexts& texts, const JsonFields& generation,
                              Metadata& out) {
  const std::string path = texts.folder + "/config.json";
  config = language_config(std::move(config));
  std::string model_type;
  if (const auto at = config.find("model_type"); at != config.end() && at->is_string()) {
    model_type = at->get<std::string>();
  }
  if (model_type.empty()) {
    return JsonFields(config, path).error("model_type", "the name of an architecture");
  }
  const HfFamily family = family_of(texts.families, model_type, config);
  const json defaults = json::parse(family.defaults, nullptr, false);
  for (const auto& [name, value] : defaults.items()) {
    if (!config.contains(name)) config[name] = value;
  }
  if (const auto has_experts = config.find("enable_moe_block");
      has_experts != config.end() && *has_experts == false) {
    for (const char* const count : {"num_experts", "num_local_experts", "n_routed_experts"})
      config.erase(count);
  }
  const std::string arch(family.gguf);
  const JsonFields fields(config, path);
  out.set_string("general.architecture", arch);
  if (const json* names = fields.find("architectures");
      names != nullptr && names->is_array() && !names->empty() && names->front().is_string()) {
    out.set_string("wick.hf_architecture", names->front().get_ref<const std::string&>());
  }
  for (const KeyRule& rule : kConfigRules)
    WICK_DO(apply(rule, fields, arch, out));
  WICK_TRY(const auto head_dim, translate_heads(fields, arch, out));
  WICK_DO(translate_rope(fields, arch, head_dim, out));
  WICK_DO(translate_latent(fields, arch, out));
  WICK_DO(translate_groups(fields, arch, out));
  WICK_DO(translate_delta(fields, arch, out));
  WICK_DO(translate_window(fields, family, arch, out));
  WICK_DO(translate_layers(fields, arch, out));
  WICK_DO(translate_rotated_layers(fields, out));
  return translate_tokens(fields, generation, out);
}

// llama.cpp's numbers of poolings, which its GGUF files have.
struct PoolingField {
  const char* name;  // in 1_Pooling/config.json: true for one of them
  int number;        // 0: wick lacks it
};

constexpr PoolingField kPoolings[] = {{"pooling_mode_mean_tokens", 1},
                                      {"pooling_mode_cls_token", 2},
                                      {"pooling_mode_lasttoken", 3},
                                      {"pooling_mode_max_tokens", 0},
                                      {"pooling_mode_mean_sqrt_len_tokens", 0},
                                      {"pooling_mode_weightedmean_tokens", 0}};

Result<void> translate_pooling(const HfTexts& texts, Metadata& out) {
  if (!texts.pooling) return {};
  const std::string path = cat(texts.folder, "/1_Pooling/config.json");
  WICK_TRY(const json document, parse_json_object(*texts.pooling, path));
  const JsonFields fields(document, path);
  int number = 0;
  for (const PoolingField& row : kPoolings) {
    WICK_TRY(const auto is_on, fields.boolean(row.name));
    if (is_on != true) continue;
    if (number != 0 || row.number == 0) {
      return Error{.code = ErrorCode::kUnsupported,
                   .id = "unsupported_pooling",
                   .message = cat(printable(path), ": has ", row.name,
                                  ", wick knows one of cls, mean and lasttoken")};
    }
    number = row.number;
  }
  const auto arch = out.string("general.architecture").value_or("");
  if (number != 0) out.set_integer(cat(arch, ".pooling_type"), number);
  return {};
}

}  // namespace

// From the weakest source to the strongest: chat_template.json, tokenizer_config.json, .jinja files
// (the order of transformers).
Result<void> hf_chat_templates(const HfTexts& texts, Metadata& out) {
  if (texts.chat_template || !texts.named_templates.empty()) {
    std::vector<std::string> names;
    if (texts.chat_template) out.set_string("tokenizer.chat_template", *texts.chat_template);
    for (const auto& [name, text] : texts.named_templates) {
      out.set_string(cat("tokenizer.chat_template.", name), text);
      names.push_back(name);
    }
    if (!names.empty()) out.set_strings("tokenizer.chat_templates", names);
    return {};
  }
  const std::pair<std::optional<std::string_view>, const char*> sources[] = {
      {texts.chat_template_json, "/chat_template.json"},
      {texts.tokenizer_config, "/tokenizer_config.json"}};
  for (const auto& [text, file] : sources) {
    if (!text) continue;
    const std::string path = texts.folder + file;
    WICK_TRY(const json document, parse_json_object(*text, path));
    const JsonFields fields(document, path);
    const json* value = fields.find("chat_template");
    if (value == nullptr) continue;
    if (value->is_array()) {
      WICK_DO(translate_named_templates(fields, *value, out));
    } else {
      WICK_TRY(const auto single, fields.text("chat_template"));
      if (single) out.set_string("tokenizer.chat_template", *single);
    }
  }
  return {};
}

Result<Metadata> hf_metadata(const HfTexts& texts) {
  const std::string config_path = texts.folder + "/config.json";
  const std::string generation_path = texts.folder + "/generation_config.json";
  WICK_TRY(json config, parse_json_object(texts.config, config_path));
  json generation = json::object();
  if (texts.generation_config) {
    WICK_TRY(generation, parse_json_object(*texts.generation_config, generation_path));
  }
  const JsonFields generation_fields(generation, generation_path);
  Metadata out;
  WICK_DO(translate_config(std::move(config), texts, generation_fields, out));
  WICK_DO(translate_generation(generation_fields, out));
  WICK_DO(translate_pooling(texts, out));
  if (texts.tokenizer) out.add("tokenizer.huggingface.json", text_value(*texts.tokenizer));
  if (texts.tokenizer_config) {
    out.add("tokenizer.huggingface.config", text_value(*texts.tokenizer_config));
  }
  for (const auto& [key, bytes] : texts.tokenizers) {
    out.add(key, text_value(bytes));
  }
  WICK_DO(hf_chat_templates(texts, out));
  return out;
}

}  // namespace wick
