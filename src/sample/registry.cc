#include <array>
#include <limits>

#include "base/strings.h"
#include "sample/limits.h"
#include "sample/stage.h"

namespace wick {

namespace {

// A row's accessors for one member of SamplingParams.
template <auto Member>
constexpr double (*kGet)(const SamplingParams&) =
    [](const SamplingParams& p) { return static_cast<double>(p.*Member); };
template <auto Member>
constexpr void (*kSet)(SamplingParams&, double) = [](SamplingParams& p, double value) {
  p.*Member = static_cast<std::remove_reference_t<decltype(p.*Member)>>(value);
};

template <auto Member>
constexpr SamplerParam row(std::string_view key, std::string_view help, double min, double max,
                           double off) {
  return {key, help, min, max, off, kGet<Member>, kSet<Member>};
}

template <auto Member>
constexpr SamplerParam switch_row(std::string_view key, std::string_view help) {
  return {key, help, 0, 1, 0, kGet<Member>, kSet<Member>, true};
}

using P = SamplingParams;
constexpr SamplerParam kEnds[] = {
    row<&P::min_tokens>("min_tokens", "no EOG token before this many tokens; 0 = off", 0, 1 << 24,
                        0),
    switch_row<&P::ignore_eos>("ignore_eos", "never sample EOG tokens"),
};
constexpr SamplerParam kPenalties[] = {
    row<&P::repeat_penalty>("repeat_penalty", "repetition penalty; 1 = off", 0.01, 100, 1),
    row<&P::presence_penalty>("presence_penalty", "presence penalty; 0 = off", -2, 2, 0),
    row<&P::frequency_penalty>("frequency_penalty", "frequency penalty; 0 = off", -2, 2, 0),
    row<&P::repeat_last_n>("repeat_last_n",
                           "number of last tokens that the penalties count; 0 = off, -1 = all", -1,
                           1 << 24, 0),
};
constexpr SamplerParam kDry[] = {
    row<&P::dry_multiplier>("dry_multiplier", "DRY: strength of the penalty; 0 = off", 0, 1000, 0),
    row<&P::dry_base>("dry_base", "DRY: factor of the penalty for each further repeated token", 1,
                      100, 1.75),
    row<&P::dry_allowed_length>("dry_allowed_length", "DRY: longest repetition without penalty", 0,
                                1 << 24, 2),
    row<&P::dry_penalty_last_n>("dry_penalty_last_n",
                                "DRY: number of last tokens to search; 0 = off, -1 = all", -1,
                                1 << 24, 0),
};
constexpr SamplerParam kTopNSigma[] = {
    row<&P::top_n_sigma>("top_n_sigma",
                         "keep logits within this many standard deviations of the largest; 0 = off",
                         0, 100, 0),
};
constexpr SamplerParam kTopK[] = {
    row<&P::top_k>("top_k", "keep the k most likely tokens; 0 = off", 0, 1 << 24, 0),
};
constexpr SamplerParam kTypical[] = {
    row<&P::typical_p>("typical_p", "locally typical sampling; 1 = off", 0, 1, 1),
};
constexpr SamplerParam kTopP[] = {
    row<&P::top_p>("top_p", "nucleus sampling: total probability of the kept tokens; 1 = off", 0, 1,
                   1),
};
constexpr SamplerParam kMinP[] = {
    row<&P::min_p>("min_p", "minimum probability relative to the most likely token; 0 = off", 0, 1,
                   0),
};
constexpr SamplerParam kXtc[] = {
    row<&P::xtc_probability>("xtc_probability", "XTC: probability of removing top choices; 0 = off",
                             0, 1, 0),
    row<&P::xtc_threshold>("xtc_threshold", "XTC: minimum probability of a top choice", 0, 1, 1),
};
constexpr SamplerParam kTemperature[] = {
    row<&P::temperature>("temperature", "temperature; 0 = greedy", 0, 100, 1),
    row<&P::dynatemp_range>("dynatemp_range", "dynamic temperature: range; 0 = off", 0, 100, 0),
    row<&P::dynatemp_exponent>("dynatemp_exponent", "dynamic temperature: exponent", 0.01, 100, 1),
};

constexpr SamplerParam kMirostat[] = {
    row<&P::mirostat>(
        "mirostat",
        "Mirostat version 1 or 2; replaces the truncating samplers (top-k, top-p, …); 0 = off", 0,
        2, 0),
    row<&P::mirostat_tau>("mirostat_tau", "Mirostat: target entropy (tau), in bits", 0, 100, 5),
    row<&P::mirostat_eta>("mirostat_eta", "Mirostat: learning rate (eta)", 0, 100, 0.1),
};
constexpr SamplerParam kAdaptiveP[] = {
    row<&P::adaptive_target>("adaptive_target", "adaptive-p: target probability; -1 = off", -1, 1,
                             -1),
    row<&P::adaptive_decay>("adaptive_decay",
                            "adaptive-p: decay factor of the running mean of the probability", 0,
                            0.99, 0.9),
};

bool is_penalising(const P& p) noexcept {
  return p.repeat_last_n != 0 &&
         (p.repeat_penalty != 1 || p.presence_penalty != 0 || p.frequency_penalty != 0);
}

using enum SamplerKind;
constexpr SamplerInfo kSamplers[] = {
    {.name = "ends",
     .kind = kFirst,
     .params = kEnds,
     .is_on = [](const P& p) noexcept { return p.min_tokens > 0 || p.ignore_eos != 0; },
     .apply = apply_ends,
     .prepare = prepare_ends},
    {.name = "logit_bias",
     .kind = kFirst,
     .is_on = [](const P& p) noexcept { return !p.logit_bias.empty(); },
     .apply = apply_logit_bias,
     .prepare = prepare_logit_bias},
    {.name = "penalties",
     .kind = kEdit,
     .params = kPenalties,
     .is_on = is_penalising,
     .apply = apply_penalties,
     .prepare = prepare_penalties},
    {.name = "dry",
     .kind = kEdit,
     .params = kDry,
     .is_on = [](const P& p) noexcept { return p.dry_multiplier > 0 && p.dry_penalty_last_n != 0; },
     .apply = apply_dry,
     .prepare = prepare_dry},
    {.name = "top_n_sigma",
     .kind = kCut,
     .params = kTopNSigma,
     .is_on = [](const P& p) noexcept { return p.top_n_sigma > 0; },
     .apply = apply_top_n_sigma,
     .works_unlisted = true},
    {.name = "top_k",
     .kind = kCut,
     .params = kTopK,
     .is_on = [](const P& p) noexcept { return p.top_k > 0; },
     .apply = apply_top_k},
    {.name = "typ_p",
     .kind = kCut,
     .params = kTypical,
     .is_on = [](const P& p) noexcept { return p.typical_p < 1; },
     .apply = apply_typical},
    {.name = "top_p",
     .kind = kCut,
     .params = kTopP,
     .is_on = [](const P& p) noexcept { return p.top_p < 1; },
     .apply = apply_top_p},
    {.name = "min_p",
     .kind = kCut,
     .params = kMinP,
     .is_on = [](const P& p) noexcept { return p.min_p > 0; },
     .apply = apply_min_p,
     .works_unlisted = true},
    {.name = "xtc",
     .kind = kCut,
     .params = kXtc,
     .is_on = [](const P& p) noexcept { return p.xtc_probability > 0 && p.xtc_threshold <= 0.5F; },
     .apply = apply_xtc},
    {.name = "temperature",
     .kind = kScale,
     .params = kTemperature,
     .is_on = [](const P& p) noexcept { return p.temperature != 1 || p.dynatemp_range > 0; },
     .apply = apply_temperature},
    {.name = "adaptive_p",
     .kind = kChoose,
     .params = kAdaptiveP,
     .is_on = [](const P& p) noexcept { return p.adaptive_target >= 0; },
     .choose = choose_adaptive_p,
     .prepare = prepare_adaptive_p},
    {.name = "mirostat",
     .kind = kReplace,
     .params = kMirostat,
     .is_on = [](const P& p) noexcept { return p.mirostat != 0; },
     .choose = choose_mirostat,
     .prepare = prepare_mirostat},
};

// The parameters of all stages in one row.
constexpr std::size_t count_params() {
  std::size_t n = 0;
  for (const SamplerInfo& stage : kSamplers)
    n += stage.params.size();
  return n;
}

constexpr auto gather_params() {
  std::array<SamplerParam, count_params()> all = {};
  std::size_t n = 0;
  for (const SamplerInfo& stage : kSamplers) {
    for (const SamplerParam& param : stage.params)
      all[n++] = param;
  }
  return all;
}

constexpr std::array kParams = gather_params();

}  // namespace

std::span<const SamplerParam> sampler_params() noexcept {
  return kParams;
}

std::span<const SamplerInfo> samplers() noexcept {
  return kSamplers;
}

namespace {

Error out_of_range(std::string message) {
  return {
      .code = ErrorCode::kInvalid, .id = "sampling_out_of_range", .message = std::move(message)};
}

}  // namespace

Result<void> check(const SamplingParams& params) {
  for (const SamplerParam& row : sampler_params()) {
    const double value = row.get(params);
    if (value >= row.min && value <= row.max) continue;
    return out_of_range(cat(row.key, " is ", value, ", allowed are ", row.min, " to ", row.max));
  }
  if (params.logit_bias.size() > kMaxLogitBiases) {
    return out_of_range(
        cat(params.logit_bias.size(), " logit biases, allowed are ", kMaxLogitBiases));
  }
  for (const LogitBias& one : params.logit_bias) {
    const bool is_ban = one.bias == -std::numeric_limits<float>::infinity();
    if (is_ban || (one.bias >= -kMaxLogitBias && one.bias <= kMaxLogitBias)) continue;
    return out_of_range(cat("the logit bias of token ", one.id, " is ", one.bias,
                            ", allowed are -inf and -", kMaxLogitBias, " to ", kMaxLogitBias));
  }
  const auto& runs = params.dry_sequence_breakers.runs;
  if (runs.size() > kMaxDryBreakers) {
    return out_of_range(cat(runs.size(), " DRY breakers, allowed are ", kMaxDryBreakers));
  }
  for (const auto& run : runs) {
    if (!run.empty() && run.size() <= kMaxDryBreakerTokens) continue;
    return out_of_range(
        cat("a DRY breaker has ", run.size(), " tokens, allowed are 1 to ", kMaxDryBreakerTokens));
  }
  return {};
}

}  // namespace wick
