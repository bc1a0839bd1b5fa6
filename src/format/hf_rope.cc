#include "format/hf_rope.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/strings.h"

namespace wick {

namespace {

using nlohmann::json;

constexpr double kDefaultTheta = 10000.0;
constexpr double kDefaultBetaFast = 32;
constexpr double kDefaultBetaSlow = 1;

struct RopeFields {
  std::optional<JsonFields> main = {};     // of all layers, or of those that see everything
  std::optional<JsonFields> sliding = {};  // of the layers with a window, where they differ
};

// rope_scaling wins over rope_parameters where both are (as in transformers). Parameters are nested
// by layer type where a field "…_attention" is an object.
Result<RopeFields> find_fields(const JsonFields& config) {
  RopeFields out;
  WICK_TRY(out.main, config.object("rope_scaling"));
  if (!out.main) {
    WICK_TRY(out.main, config.object("rope_parameters"));
  }
  if (!out.main) return out;
  WICK_TRY(auto full, out.main->object("full_attention"));
  WICK_TRY(out.sliding, out.main->object("sliding_attention"));
  if (full) {
    out.main.emplace(*full);
  } else if (out.sliding) {
    out.main.emplace(*out.sliding);
    out.sliding.reset();
  }
  return out;
}

// The value in the rope's own fields, or else beside them in the config.
Result<std::optional<double>> nearest(const std::optional<JsonFields>& rope,
                                      const JsonFields& config, const char* name) {
  if (rope) {
    WICK_TRY(const auto value, rope->number(name));
    if (value) return value;
  }
  return config.number(name);
}

Result<std::string> scaling_type(const JsonFields& rope) {
  WICK_TRY(auto type, rope.text("rope_type"));
  if (!type) {
    WICK_TRY(type, rope.text("type"));
  }
  if (!type || *type == "mrope") return std::string("default");  // mrope: sections, no scaling
  return *type;
}

// The context that a scaled model was trained with at first. The config's own field wins over the
// rope's (Phi 3), the full context stands in where there is neither (transformers again).
Result<std::optional<std::int64_t>> original_context(const JsonFields& rope,
                                                     const JsonFields& config) {
  constexpr const char* kName = "original_max_position_embeddings";
  WICK_TRY(auto value, config.integer(kName));
  if (!value) {
    WICK_TRY(value, rope.integer(kName));
  }
  if (value) return value;
  return config.integer("max_position_embeddings");
}

double magnitude(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

// transformers: the factor on q and k is attention_factor, or follows from mscale, or else is
// magnitude(factor, 1). GGUF stores the quotient of that factor and magnitude(factor, 1).
Result<void> translate_yarn(const JsonFields& rope, const std::string& prefix, double factor,
                            Metadata& out) {
  WICK_TRY(const auto given, rope.number("attention_factor"));
  WICK_TRY(const auto mscale, rope.number("mscale"));
  WICK_TRY(const auto mscale_all, rope.number("mscale_all_dim"));
  WICK_TRY(const auto beta_fast, rope.number("beta_fast"));
  WICK_TRY(const auto beta_slow, rope.number("beta_slow"));
  WICK_TRY(const auto truncate, rope.boolean("truncate"));
  const auto or_default = [](const std::optional<double>& value, double otherwise) {
    return value && *value != 0 ? *value : otherwise;  // 0 counts as absent, as in transformers
  };
  const double usual = magnitude(factor, 1);
  if (given) {
    out.set_number(prefix + "attn_factor", *given / usual);
  } else if (mscale && mscale_all && *mscale != 0 && *mscale_all != 0) {
    const double wanted = magnitude(factor, *mscale) / magnitude(factor, *mscale_all);
    out.set_number(prefix + "attn_factor", wanted / usual);
  }
  if (mscale_all && *mscale_all != 0) {
    out.set_number("wick.rope_mscale_all_dim", *mscale_all);
  }
  out.set_number(prefix + "yarn_ext_factor", 1);
  out.set_number(prefix + "yarn_beta_fast", or_default(beta_fast, kDefaultBetaFast));
  out.set_number(prefix + "yarn_beta_slow", or_default(beta_slow, kDefaultBetaSlow));
  if (truncate == false) out.set_boolean("wick.rope_yarn_truncate", false);
  return {};
}

// A list of numbers under `key`.
Result<void> translate_factors(const JsonFields& rope, const char* name, const char* key,
                               Metadata& out) {
  const json* const list = rope.find(name);
  std::vector<double> factors;
  if (list != nullptr && list->is_array()) {
    for (const json& item : *list)
      factors.push_back(item.is_number() ? item.get<double>() : 0);
  }
  const auto is_bad = [](double factor) { return !(factor > 0); };
  if (factors.empty() || std::any_of(factors.begin(), factors.end(), is_bad)) {
    return rope.error(name, "an array of positive numbers");
  }
  out.set_numbers(key, factors);
  return {};
}

// LongRoPE: two lists of divisors, and a factor on q and k.
Result<void> translate_long(const JsonFields& rope, const JsonFields& config,
                            std::optional<std::int64_t> original, const std::string& prefix,
                            Metadata& out) {
  WICK_DO(translate_factors(rope, "short_factor", "wick.rope_short_factors", out));
  WICK_DO(translate_factors(rope, "long_factor", "wick.rope_long_factors", out));
  WICK_TRY(auto growth, rope.number("attention_factor"));
  WICK_TRY(auto factor, rope.number("factor"));
  WICK_TRY(const auto context, config.integer("max_position_embeddings"));
  if (original && *original > 1) {
    out.set_integer(prefix + "original_context_length", *original);
    const auto first = static_cast<double>(*original);
    if (!factor && context) factor = static_cast<double>(*context) / first;
    if (!growth && factor && *factor > 1) {
      growth = std::sqrt(1 + std::log(*factor) / std::log(first));
    }
  }
  out.set_number(prefix + "attn_factor", growth.value_or(1));
  return {};
}

Result<void> translate_scaling(const JsonFields& rope, const JsonFields& config,
                               std::string_view arch, Metadata& out) {
  WICK_TRY(const std::string type, scaling_type(rope));
  if (type == "default") return {};
  const std::string prefix = cat(arch, ".rope.scaling.");
  out.set_string(prefix + "type", type);
  WICK_TRY(auto factor, rope.number("factor"));
  if (type == "linear" || type == "dynamic") {
    if (!factor) return rope.error("factor", "a number");
    out.set_number(prefix + "factor", *factor);
    return {};
  }
  if (type == "proportional") {
    if (factor) out.set_number(prefix + "factor", *factor);
    WICK_TRY(const auto partial, rope.number("partial_rotary_factor"));
    out.set_number("wick.rope_partial", partial.value_or(1));
    return {};
  }
  WICK_TRY(const auto original, original_context(rope, config));
  if (type == "longrope" || type == "su")
    return translate_long(rope, config, original, prefix, out);
  if (original) out.set_integer(prefix + "original_context_length", *original);
  if (!factor) {
    WICK_TRY(const auto context, config.integer("max_position_embeddings"));
    if (context && original && *original > 0) {
      factor = static_cast<double>(*context) / static_cast<double>(*original);
    }
  }
  if (!factor) return rope.error("factor", "a number");
  out.set_number(prefix + "factor", *factor);
  if (type == "yarn") return translate_yarn(rope, prefix, *factor, out);
  if (type == "llama3") {
    for (const char* name : {"low_freq_factor", "high_freq_factor"}) {
      WICK_TRY(const auto value, rope.number(name));
      if (!value) return rope.error(name, "a number");
      out.set_number(prefix + name, *value);
    }
  }
  return {};
}

}  // namespace

Result<void> translate_rope(const JsonFields& config, std::string_view arch,
                            std::optional<std::int64_t> head_dim, Metadata& out) {
  WICK_TRY(const RopeFields rope, find_fields(config));
  WICK_TRY(auto theta, nearest(rope.main, config, "rope_theta"));
  if (!theta) {
    WICK_TRY(theta, config.number("rotary_emb_base"));  // Nomic's own code
  }
  out.set_number(cat(arch, ".rope.freq_base"), theta.value_or(kDefaultTheta));
  // transformers 4 has a field for the base of layers with a window.
  WICK_TRY(auto local, config.number("rope_local_base_freq"));
  if (rope.sliding) {
    WICK_TRY(const auto nested, rope.sliding->number("rope_theta"));
    if (nested) local = nested;
    if (!local) {
      WICK_TRY(local, config.number("rope_theta"));
    }
    out.set_number(cat(arch, ".rope.freq_base_swa"), local.value_or(kDefaultTheta));
  } else if (local) {
    out.set_number(cat(arch, ".rope.freq_base_swa"), *local);
  }
  WICK_TRY(const auto partial, nearest(rope.main, config, "partial_rotary_factor"));
  if (partial && !(*partial > 0 && *partial <= 1)) {
    const JsonFields& place =
        rope.main && rope.main->find("partial_rotary_factor") != nullptr ? *rope.main : config;
    return place.error("partial_rotary_factor", "a number above 0, at most 1");
  }
  if (head_dim) {
    const double rotated = static_cast<double>(*head_dim) * partial.value_or(1.0);
    if (rotated >= 0 && rotated < 1e9) {
      out.set_integer(cat(arch, ".rope.dimension_count"), static_cast<std::int64_t>(rotated));
    }
  }
  if (!rope.main) return {};
  WICK_TRY(const auto temperature, rope.main->number("llama_4_scaling_beta"));
  if (temperature) out.set_number(cat(arch, ".attention.temperature_scale"), *temperature);
  return translate_scaling(*rope.main, config, arch, out);
}

}  // namespace wick
