#include "format/hf_layers.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "format/limits.h"

namespace wick {

namespace {

struct FullHeads {  // of layers that see everything, where they differ
  std::optional<std::int64_t> dim = {}, n_kv = {};
};

// transformers writes them for each such layer; published files have fields of their own.
Result<FullHeads> full_heads(const JsonFields& config, const std::vector<std::int64_t>& is_local) {
  FullHeads heads;
  WICK_TRY(const auto layers, config.object("per_layer_config"));
  for (std::size_t i = 0; layers && i < is_local.size(); ++i) {
    if (is_local[i] != 0) continue;
    WICK_TRY(const auto own, layers->object(std::to_string(i).c_str()));
    if (!own) continue;
    WICK_TRY(heads.dim, own->integer("head_dim"));
    WICK_TRY(heads.n_kv, own->integer("num_key_value_heads"));
    return heads;
  }
  if (layers) return heads;
  WICK_TRY(heads.dim, config.integer("global_head_dim"));
  WICK_TRY(const auto are_values_keys, config.boolean("attention_k_eq_v"));
  if (are_values_keys == true) {
    WICK_TRY(heads.n_kv, config.integer("num_global_key_value_heads"));
  }
  return heads;
}

// The feed-forwards of layers that share keys and values may be twice as wide.
Result<void> translate_widths(const JsonFields& config, std::string_view arch, std::size_t layers,
                              Metadata& out) {
  WICK_TRY(const auto shared, config.integer("num_kv_shared_layers"));
  WICK_TRY(const auto is_double, config.boolean("use_double_wide_mlp"));
  WICK_TRY(const auto width, config.integer("intermediate_size"));
  if (!shared) return {};
  const auto n = static_cast<std::int64_t>(layers);
  if (*shared < 0 || *shared >= n) {
    return config.error("num_kv_shared_layers", cat("an integer in [0, ", n - 1, "]"));
  }
  out.set_integer(cat(arch, ".attention.shared_kv_layers"), *shared);
  if (is_double != true || !width) return {};
  if (*width < 1 || *width > (std::int64_t{1} << 30)) {
    return config.error("intermediate_size", "a positive integer");
  }
  std::vector<std::int64_t> widths(layers, *width);
  for (std::int64_t i = n - *shared; i < n; ++i)
    widths[static_cast<std::size_t>(i)] = 2 * *width;
  out.set_integers(cat(arch, ".feed_forward_length"), widths);
  return {};
}

}  // namespace

Result<void> translate_layers(const JsonFields& config, std::string_view arch, Metadata& out) {
  if (config.find("global_head_dim") == nullptr && config.find("per_layer_config") == nullptr) {
    return {};
  }
  WICK_TRY(const auto layers, config.integer("num_hidden_layers"));
  if (!layers || *layers < 1 || *layers > kMaxConfigLayers) {
    return config.error("num_hidden_layers", cat("an integer in [1, ", kMaxConfigLayers, "]"));
  }
  std::vector<std::int64_t> is_local(static_cast<std::size_t>(*layers), 0);
  const std::string pattern = cat(arch, ".attention.sliding_window_pattern");
  if (auto found = out.need_per_layer(pattern, static_cast<int>(*layers), 0, 1)) {
    is_local.assign(found->begin(), found->end());
  }
  WICK_TRY(const FullHeads full, full_heads(config, is_local));
  WICK_TRY(const auto local, config.integer("head_dim"));
  if (full.dim && local) {
    out.set_integer(cat(arch, ".attention.key_length"), *full.dim);
    out.set_integer(cat(arch, ".attention.value_length"), *full.dim);
    out.set_integer(cat(arch, ".attention.key_length_swa"), *local);
    out.set_integer(cat(arch, ".attention.value_length_swa"), *local);
  }
  WICK_TRY(const auto local_kv, config.integer("num_key_value_heads"));
  if (full.n_kv && local_kv) {
    std::vector<std::int64_t> heads(is_local.size(), *full.n_kv);
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (is_local[i] != 0) heads[i] = *local_kv;
    out.set_integers(cat(arch, ".attention.head_count_kv"), heads);
  }
  WICK_TRY(const auto are_values_keys, config.boolean("attention_k_eq_v"));
  out.set_boolean("wick.values_are_keys", are_values_keys.value_or(false));
  WICK_TRY(const auto input, config.integer("hidden_size_per_layer_input"));
  if (input) out.set_integer(cat(arch, ".embedding_length_per_layer_input"), *input);
  const auto* const both = config.find("use_bidirectional_attention");
  if (both != nullptr && *both == "all") out.set_boolean("wick.is_bidirectional", true);
  return translate_widths(config, arch, is_local.size(), out);
}

}  // namespace wick
