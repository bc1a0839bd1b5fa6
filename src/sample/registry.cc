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
constexpr std::array kParams = {
    row<&P::repeat_penalty>("repeat_penalty", "how much less likely a repeated token becomes", 0.01,
                            100, 1),
    row<&P::repeat_window>("repeat_window", "tokens looked back at for it; -1 = all", -1, 1 << 24,
                           0),
    row<&P::top_k>("top_k", "draw from the k most likely tokens; 0 = all", 0, 1 << 24, 0),
    row<&P::top_p>("top_p", "draw from the smallest set that reaches this probability", 0, 1, 1),
    row<&P::min_p>("min_p", "leave out tokens less likely than this times the likeliest", 0, 1, 0),
    row<&P::temperature>("temperature", "0 = always the likeliest token", 0, 100, 1),
};

constexpr std::span<const SamplerParam> kAll = kParams;
constexpr std::array kSamplers = {
    SamplerInfo{"penalties", kAll.subspan(0, 2),
                [](const P& p) noexcept { return p.repeat_penalty != 1 && p.repeat_window != 0; },
                nullptr},
    SamplerInfo{"top_k", kAll.subspan(2, 1), [](const P& p) noexcept { return p.top_k > 0; },
                nullptr},
    SamplerInfo{"top_p", kAll.subspan(3, 1), [](const P& p) noexcept { return p.top_p < 1; },
                apply_top_p},
    SamplerInfo{"min_p", kAll.subspan(4, 1), [](const P& p) noexcept { return p.min_p > 0; },
                apply_min_p},
    SamplerInfo{"temperature", kAll.subspan(5, 1),
                [](const P& p) noexcept { return p.temperature != 1; }, apply_temperature},
};

}  // namespace

std::span<const SamplerParam> sampler_params() noexcept {
  return kAll;
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
