#include <array>

#include "base/strings.h"
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

using P = SamplingParams;
constexpr SamplerParam kPenalties[] = {
    row<&P::repeat_penalty>("repeat_penalty", "how much less likely a repeated token becomes", 0.01,
                            100, 1),
    row<&P::presence_penalty>("presence_penalty", "taken off the logit of a token that occurred",
                              -2, 2, 0),
    row<&P::frequency_penalty>("frequency_penalty", "the same, for each time it occurred", -2, 2,
                               0),
    row<&P::repeat_window>("repeat_window", "tokens looked back at for these; -1 = all", -1,
                           1 << 24, 0),
};
constexpr SamplerParam kTopNSigma[] = {
    row<&P::top_n_sigma>("top_n_sigma", "leave out logits further below the largest, in deviations",
                         0, 100, 0),
};
constexpr SamplerParam kTopK[] = {
    row<&P::top_k>("top_k", "draw from the k most likely tokens; 0 = all", 0, 1 << 24, 0),
};
constexpr SamplerParam kTypical[] = {
    row<&P::typical_p>("typical_p", "draw from the most typical tokens that reach this probability",
                       0, 1, 1),
};
constexpr SamplerParam kTopP[] = {
    row<&P::top_p>("top_p", "draw from the smallest set that reaches this probability", 0, 1, 1),
};
constexpr SamplerParam kMinP[] = {
    row<&P::min_p>("min_p", "leave out tokens less likely than this times the likeliest", 0, 1, 0),
};
constexpr SamplerParam kXtc[] = {
    row<&P::xtc_probability>("xtc_probability", "how often the top choices are left out", 0, 1, 0),
    row<&P::xtc_threshold>("xtc_threshold", "which these are: all that reach it but the last", 0, 1,
                           1),
};
constexpr SamplerParam kTemperature[] = {
    row<&P::temperature>("temperature", "0 = always the likeliest token", 0, 100, 1),
    row<&P::dynatemp_range>("dynatemp_range", "how far the temperature moves with the entropy", 0,
                            100, 0),
    row<&P::dynatemp_exponent>("dynatemp_exponent", "and how steeply", 0.01, 100, 1),
};

bool is_penalising(const P& p) noexcept {
  return p.repeat_window != 0 &&
         (p.repeat_penalty != 1 || p.presence_penalty != 0 || p.frequency_penalty != 0);
}

constexpr SamplerInfo kSamplers[] = {
    {"penalties", kPenalties, is_penalising, nullptr},
    // It cuts by the whole vocabulary's deviation, so behind the selection it keeps the same set.
    {"top_n_sigma", kTopNSigma, [](const P& p) noexcept { return p.top_n_sigma > 0; },
     apply_top_n_sigma},
    {"top_k", kTopK, [](const P& p) noexcept { return p.top_k > 0; }, nullptr},
    {"typical", kTypical, [](const P& p) noexcept { return p.typical_p < 1; }, apply_typical},
    {"top_p", kTopP, [](const P& p) noexcept { return p.top_p < 1; }, apply_top_p},
    {"min_p", kMinP, [](const P& p) noexcept { return p.min_p > 0; }, apply_min_p},
    {"xtc", kXtc,
     [](const P& p) noexcept { return p.xtc_probability > 0 && p.xtc_threshold <= 0.5F; },
     apply_xtc},
    {"temperature", kTemperature,
     [](const P& p) noexcept { return p.temperature != 1 || p.dynatemp_range > 0; },
     apply_temperature},
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

Result<void> check(const SamplingParams& params) {
  for (const SamplerParam& row : sampler_params()) {
    const double value = row.get(params);
    if (value >= row.min && value <= row.max) continue;
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "sampling_out_of_range",
        .message = cat(row.key, " is ", value, ", allowed are ", row.min, " to ", row.max)};
  }
  return {};
}

}  // namespace wick
