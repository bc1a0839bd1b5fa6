#include "format/hf_config.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "format/hf_rope.h"
#include "format/json_fields.h"
#include "format/json_text.h"
#include "format/limits.h"
#include "format/model_parts.h"

namespace wick {

namespace {

using nlohmann::json;

// What transformers 5.23 assumes where config.json is silent (its configuration_*.py), and the
// architecture's name in GGUF.
struct ModelType {
  std::string_view hf;
  std::string_view gguf;
  const char* defaults;
};

constexpr ModelType kModelTypes[] = {
    {"llama", "llama", R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "bos_token_id": 1, "eos_token_id": 2,
      "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false})"},
    {"mistral", "llama", R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
      "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": false,
      "sliding_window": 4096})"},
    {"qwen2", "qwen2", R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
      "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
      "max_window_layers": 28})"},
    {"qwen3", "qwen3", R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 32768,
      "rms_norm_eps": 1e-6, "tie_word_embeddings": false, "attention_bias": false,
      "use_sliding_window": false, "sliding_window": 4096, "max_window_layers": 28})"},
};

enum class Kind { kInteger, kNumber, kBool, kText };

struct KeyRule {
  const char* hf;
  std::string_view gguf;  // one that begins with '.' follows the architecture's name
  Kind kind;
};

constexpr KeyRule kConfigRules[] = {
    {"num_hidden_layers", ".block_count", Kind::kInteger},
    {"max_position_embeddings", ".context_length", Kind::kInteger},
    {"hidden_size", ".embedding_length", Kind::kInteger},
    {"intermediate_size", ".feed_forward_length", Kind::kInteger},
    {"vocab_size", ".vocab_size", Kind::kInteger},
    {"num_attention_heads", ".attention.head_count", Kind::kInteger},
    {"rms_norm_eps", ".attention.layer_norm_rms_epsilon", Kind::kNumber},
    {"layer_norm_eps", ".attention.layer_norm_epsilon", Kind::kNumber},
    {"tie_word_embeddings", "wick.tie_word_embeddings", Kind::kBool},
    {"attention_bias", "wick.attention_bias", Kind::kBool},
    {"mlp_bias", "wick.mlp_bias", Kind::kBool},
    {"hidden_act", "wick.hidden_act", Kind::kText},
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

// Which layers see a window only: Qwen names them, or has a first layer from which on they do.
Result<std::vector<std::int64_t>> window_pattern(const JsonFields& config, std::int64_t layers) {
  std::vector<std::int64_t> pattern(static_cast<std::size_t>(layers), 0);
  if (const json* types = config.find("layer_types")) {
    if (!types->is_array() || types->size() != pattern.size()) {
      return config.error("layer_types", cat("an array of ", layers, " names"));
    }
    for (std::size_t i = 0; i < pattern.size(); ++i)
      pattern[i] = (*types)[i] == "sliding_attention";
    return pattern;
  }
  WICK_TRY(const auto first, config.integer("max_window_layers"));
  for (std::int64_t i = std::max<std::int64_t>(first.value_or(layers), 0); i < layers; ++i) {
    pattern[static_cast<std::size_t>(i)] = 1;
  }
  return pattern;
}

// A window is written only where transformers would really use one: Mistral's layers all do unless
// it is null; Qwen's do where use_sliding_window says so.
Result<void> translate_window(const JsonFields& config, std::string_view model_type,
                              std::string_view arch, Metadata& out) {
  WICK_TRY(const auto window, config.integer("sliding_window"));
  WICK_TRY(const auto is_used, config.boolean("use_sliding_window"));
  if (!window || model_type == "llama" || is_used == false) return {};
  const bool has_types = model_type != "mistral" && config.find("layer_types") != nullptr;
  if (is_used == true || has_types) {
    WICK_TRY(const auto layers, config.integer("num_hidden_layers"));
    if (!layers || *layers < 0 || *layers > kMaxConfigLayers) {
      return config.error("num_hidden_layers", cat("an integer in [0, ", kMaxConfigLayers, "]"));
    }
    WICK_TRY(const std::vector<std::int64_t> pattern, window_pattern(config, *layers));
    if (std::find(pattern.begin(), pattern.end(), 1) == pattern.end()) return {};
    out.set_integers(cat(arch, ".attention.sliding_window_pattern"), pattern);
  }
  out.set_integer(cat(arch, ".attention.sliding_window"), *window);
  return {};
}

// One id or a list of them; what is absent or negative ("none" in old files) gives no ids.
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

Result<void> translate_config(json config, const std::string& path, const JsonFields& generation,
                              Metadata& out) {
  std::string model_type;
  if (const auto at = config.find("model_type"); at != config.end() && at->is_string()) {
    model_type = at->get<std::string>();
  }
  if (model_type.empty()) {
    return JsonFields(config, path).error("model_type", "the name of an architecture");
  }
  std::string arch = model_type;
  for (const ModelType& known : kModelTypes) {
    if (known.hf != model_type) continue;
    arch = known.gguf;
    const json defaults = json::parse(known.defaults, nullptr, false);
    for (const auto& [name, value] : defaults.items()) {
      if (!config.contains(name)) config[name] = value;
    }
  }
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
  WICK_DO(translate_window(fields, model_type, arch, out));
  return translate_tokens(fields, generation, out);
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
  WICK_DO(translate_config(std::move(config), config_path, generation_fields, out));
  WICK_DO(translate_generation(generation_fields, out));
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
