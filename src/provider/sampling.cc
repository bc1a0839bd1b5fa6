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
  for (const auto& [key, value] : settings.sampling)
    WICK_DO(set(params, key, value));
  return params;
}

}  // namespace wick
