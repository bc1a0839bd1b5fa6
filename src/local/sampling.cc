#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/strings.h"
#include "local/local.h"
#include "sample/limits.h"

namespace wick {

namespace {

// GGUF's names of samplers that have another name in the chain.
struct Hint {
  std::string_view gguf, key;
};

constexpr Hint kHints[] = {
    {"general.sampling.temp", "temperature"},
    {"general.sampling.top_k", "top_k"},
    {"general.sampling.top_p", "top_p"},
    {"general.sampling.min_p", "min_p"},
    {"general.sampling.penalty_repeat", "repeat_penalty"},
    {"general.sampling.penalty_last_n", "repeat_last_n"},
    {"general.sampling.xtc_probability", "xtc_probability"},
    {"general.sampling.xtc_threshold", "xtc_threshold"},
    {"general.sampling.mirostat", "mirostat"},
    {"general.sampling.mirostat_tau", "mirostat_tau"},
    {"general.sampling.mirostat_eta", "mirostat_eta"},
};

const SamplerParam* find_param(std::string_view key) {
  const auto rows = sampler_params();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const SamplerParam& r) { return r.key == key; });
  return row == rows.end() ? nullptr : &*row;
}

Result<void> set(SamplingParams& params, std::string_view key, double value) {
  if (key == "seed") {
    if (!(value >= 0 && value < 0x1p53 && value == std::floor(value))) {
      return Error{
          .code = ErrorCode::kInvalid,
          .id = "sampling_out_of_range",
          .message = cat("seed is ", value, ", allowed are whole numbers from 0 to 2^53 - 1"),
          .hint = "Generation::seed takes all 64 bits"};
    }
    params.seed = static_cast<std::uint64_t>(value);
    return {};
  }
  const SamplerParam* row = find_param(key);
  if (row == nullptr) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "unknown_parameter",
                 .message = cat("'", printable(key), "' is not a sampling parameter")};
  }
  if (!(value >= row->min && value <= row->max)) {  // before the conversion to its type
    return Error{.code = ErrorCode::kInvalid,
                 .id = "sampling_out_of_range",
                 .message = cat(key, " is ", value, ", allowed are ", row->min, " to ", row->max)};
  }
  row->set(params, value);
  return {};
}

}  // namespace

std::string origin_of(const Generation& settings, std::string_view key, bool is_set) {
  const auto& rows = settings.origins;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const auto& pair) { return pair.first == key; });
  if (row != rows.end()) return row->second;
  return is_set ? "request" : "default";
}

namespace {

// A chain's parameters and, beside each, who set it last.
class Resolver {
 public:
  SamplingParams params = {};

  Result<void> set(std::string_view key, double value, std::string origin) {
    WICK_DO(wick::set(params, key, value));
    origins_[std::string(key)] = std::move(origin);
    return {};
  }

  Result<void> set_order(std::string_view text, std::string origin) {
    WICK_TRY(params.order, parse_sampler_order(text));
    origins_["samplers"] = std::move(origin);
    return {};
  }

  void set_seed(std::uint64_t seed, std::string origin) {
    params.seed = seed;
    origins_["seed"] = std::move(origin);
  }

  std::vector<EffectiveParameter> effective() const {
    std::vector<EffectiveParameter> all;
    for (const SamplerParam& row : sampler_params()) {
      const double value = as_written(static_cast<float>(row.get(params)));
      all.push_back({std::string(row.key), value, origin(row.key)});
    }
    all.push_back({"seed", params.seed, origin("seed")});
    all.push_back({"samplers", to_string(params.order), origin("samplers")});
    return all;
  }

 private:
  std::string origin(std::string_view key) const {
    const auto row = origins_.find(key);
    return row == origins_.end() ? "default" : row->second;
  }

  std::map<std::string, std::string, std::less<>> origins_;
};

}  // namespace

Result<ResolvedSampling> resolve_sampling(const Metadata& meta, const Generation& settings) {
  Resolver resolver;
  resolver.params.seed = std::random_device()();
  // An invalid hint of the model file is ignored.
  for (const Hint& hint : kHints) {
    const auto value = meta.number(hint.gguf);
    if (value) static_cast<void>(resolver.set(hint.key, *value, "model file"));
  }
  if (const auto sequence = meta.string("general.sampling.sequence")) {
    static_cast<void>(resolver.set_order(*sequence, "model file"));
  }
  if (!settings.samplers.empty()) {
    WICK_DO(resolver.set_order(settings.samplers, origin_of(settings, "samplers")));
  }
  for (const auto& [key, value] : settings.more)
    WICK_DO(resolver.set(key, value, origin_of(settings, key)));
  const std::pair<std::string_view, std::optional<double>> named[] = {
      {"temperature", settings.temperature},
      {"top_k", settings.top_k},
      {"top_p", settings.top_p},
      {"min_p", settings.min_p},
      {"repeat_penalty", settings.repeat_penalty}};
  for (const auto& [key, value] : named) {
    if (value) WICK_DO(resolver.set(key, *value, origin_of(settings, key)));
  }
  if (settings.seed) resolver.set_seed(*settings.seed, origin_of(settings, "seed"));
  return ResolvedSampling{resolver.params, resolver.effective()};
}

namespace {

constexpr std::string_view kDryBreakers[] = {"\n", ":", "\"", "*"};  // llama.cpp's

}  // namespace

Result<void> resolve_tokens(const Tokenizer& tokenizer, const Generation& settings,
                            SamplingParams& params) {
  for (const TokenBias& one : settings.logit_bias) {
    const auto bias = static_cast<float>(one.bias);
    if (one.id >= 0) {
      params.logit_bias.push_back({one.id, bias});
      continue;
    }
    if (one.text.empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_logit_bias",
                   .message = cat("a logit bias is for token ", one.id,
                                  " and has no text, wanted is an id from 0, or a text")};
    }
    WICK_TRY(const auto ids, tokenizer.encode_plain(one.text));
    for (const TokenId id : ids)
      params.logit_bias.push_back({id, bias});
  }
  if (params.dry_multiplier == 0) return {};
  std::vector<std::string> breakers(std::begin(kDryBreakers), std::end(kDryBreakers));
  if (settings.dry_sequence_breakers) breakers = *settings.dry_sequence_breakers;
  // Before each is sought in every token.
  if (breakers.size() > kMaxDryBreakers) {
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "bad_dry_breaker",
        .message = cat(breakers.size(), " DRY sequence breakers, allowed are ", kMaxDryBreakers)};
  }
  for (const std::string& text : breakers) {
    if (text.empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_dry_breaker",
                   .message = "a DRY sequence breaker is empty, wanted is a text",
                   .hint = "for none at all say 'none'"};
    }
    WICK_TRY(const auto run, tokenizer.encode_plain(text));
    if (run.size() > 1) params.dry_sequence_breakers.runs.push_back(run);
  }
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    const auto is_in = [&](const std::string& text) {
      return bytes.find(text) != std::string_view::npos;
    };
    if (std::any_of(breakers.begin(), breakers.end(), is_in)) {
      params.dry_sequence_breakers.tokens.push_back(id);
    }
  }
  return {};
}

}  // namespace wick
