#include <algorithm>
#include <cmath>
#include <random>

#include "base/strings.h"
#include "provider/local.h"

namespace wick {

namespace {

// The names that GGUF files use for what the chain calls otherwise.
struct Hint {
  std::string_view gguf, key;
};

constexpr Hint kHints[] = {
    {"general.sampling.temp", "temperature"},
    {"general.sampling.top_k", "top_k"},
    {"general.sampling.top_p", "top_p"},
    {"general.sampling.min_p", "min_p"},
    {"general.sampling.penalty_repeat", "repeat_penalty"},
    {"general.sampling.penalty_last_n", "repeat_window"},
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
          .message = cat("seed is ", value, ", allowed are whole numbers from 0 to 2^53 - 1")};
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

Result<SamplingParams> resolve_sampling(const Metadata& meta, const GenerationSettings& settings) {
  SamplingParams params;
  params.seed = std::random_device()();
  for (const Hint& hint : kHints) {
    const auto value = meta.number(hint.gguf);
    // A hint is the file's advice: one that makes no sense is passed over, like an absent one.
    if (value) static_cast<void>(static_cast<bool>(set(params, hint.key, *value)));
  }
  if (const auto sequence = meta.string("general.sampling.sequence")) {
    if (const auto order = parse_sampler_order(*sequence)) params.order = *order;
  }
  if (!settings.samplers.empty()) {
    WICK_TRY(params.order, parse_sampler_order(settings.samplers));
  }
  for (const auto& [key, value] : settings.sampling)
    WICK_DO(set(params, key, value));
  return params;
}

Result<void> resolve_tokens(const Tokenizer& tokenizer, const GenerationSettings& settings,
                            SamplingParams& params) {
  for (const BiasSetting& one : settings.logit_bias) {
    const auto bias = static_cast<float>(one.bias);
    if (one.id >= 0) {
      params.logit_bias.push_back({one.id, bias});
      continue;
    }
    for (const TokenId id : tokenizer.encode_plain(one.text))
      params.logit_bias.push_back({id, bias});
  }
  if (params.dry_multiplier == 0) return {};
  std::vector<std::string> breakers(std::begin(kDryBreakers), std::end(kDryBreakers));
  if (settings.dry_breakers) breakers = *settings.dry_breakers;
  for (const std::string& text : breakers) {
    if (text.empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_dry_breaker",
                   .message = "a DRY sequence breaker is empty, wanted is a text",
                   .hint = "for none at all say 'none'"};
    }
    const auto run = tokenizer.encode_plain(text);
    if (run.size() > 1) params.dry_breakers.runs.push_back(run);
  }
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    const auto is_in = [&](const std::string& text) {
      return bytes.find(text) != std::string_view::npos;
    };
    if (std::any_of(breakers.begin(), breakers.end(), is_in)) {
      params.dry_breakers.tokens.push_back(id);
    }
  }
  return {};
}

}  // namespace wick
