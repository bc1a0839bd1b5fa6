// Choosing from 150,000 logits should cost one look at each. Top-k therefore first takes the
// largest logit of each chunk, which is one comparison a logit and vectorized. The k-th largest of
// these maxima is a bound that at least k logits reach, so that only the chunks whose maximum
// reaches it are looked at again, and in them hardly more than k logits are candidates; a heap
// keeps the best k of those.
//
// Loops over a chunk exist twice on x86-64, compiled for every processor and for AVX2, as
// choose_isa() says; the numbers are the same, as comparisons are exact and the sums have a fixed
// order of eight lanes.
#include "sample/scan.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "sample/elementary.h"

namespace wick {

namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr std::size_t kLanes = 8;
constexpr std::size_t kRun = 16;  // logits looked through one by one if any of them is wanted
using Floats = float __attribute__((vector_size(32)));  // two registers where one has 16 bytes
using Masks = std::int32_t __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(32)));
using Longs = std::uint64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(const float* x, Doubles& out) noexcept {
  using Half = float __attribute__((vector_size(16)));
  Half half;
  std::memcpy(&half, x, sizeof half);
  out = __builtin_convertvector(half, Doubles);
}

// Of eight lanes, in their order.
[[gnu::always_inline]] inline double total(const Doubles (&lanes)[2]) noexcept {
  double sum = 0;
  for (const Doubles& half : lanes) {
    for (std::size_t i = 0; i < kLanes / 2; ++i)
      sum += half[i];
  }
  return sum;
}

// Bodies of the loops over a chunk: inlined into one function for each instruction set.

[[gnu::always_inline]] inline float max_body(const float* x) noexcept {
  Floats a, b, c, d;
  a = b = c = d = Floats{} + kNothing;
  for (std::size_t i = 0; i < kScanChunk; i += 4 * kLanes) {
    Floats v;
    std::memcpy(&v, x + i, sizeof v);
    a = v > a ? v : a;
    std::memcpy(&v, x + i + kLanes, sizeof v);
    b = v > b ? v : b;
    std::memcpy(&v, x + i + 2 * kLanes, sizeof v);
    c = v > c ? v : c;
    std::memcpy(&v, x + i + 3 * kLanes, sizeof v);
    d = v > d ? v : d;
  }
  a = a > b ? a : b;
  c = c > d ? c : d;
  a = a > c ? a : c;
  b = __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3);
  a = a > b ? a : b;
  b = __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
  a = a > b ? a : b;
  return a[0] > a[1] ? a[0] : a[1];
}

// A chunk whose logits of tokens that are not allowed are -infinity.
[[gnu::always_inline]] inline void allow_body(const float* x, const std::uint64_t* allowed,
                                              float* out) noexcept {
  const Floats nothing = Floats{} + kNothing;
  const Masks bits = {1, 2, 4, 8, 16, 32, 64, 128};
  for (std::size_t i = 0; i < kScanChunk; i += kLanes) {
    const Masks byte = Masks{} + static_cast<std::int32_t>(allowed[i / 64] >> (i % 64) & 0xff);
    Floats v;
    std::memcpy(&v, x + i, sizeof v);
    v = (byte & bits) == bits ? v : nothing;
    std::memcpy(out + i, &v, sizeof v);
  }
}

// Places of the logits that are at least `least`, in order; returns how many.
[[gnu::always_inline]] inline int find_body(const float* x, float least,
                                            std::uint16_t* out) noexcept {
  const Floats bound = Floats{} + least;
  int n = 0;
  for (std::size_t i = 0; i < kScanChunk; i += kRun) {
    Masks hit = {};
    for (std::size_t j = 0; j < kRun; j += kLanes) {
      Floats v;
      std::memcpy(&v, x + i + j, sizeof v);
      hit |= v >= bound;
    }
    hit |= __builtin_shufflevector(hit, hit, 4, 5, 6, 7, 0, 1, 2, 3);
    std::int64_t words[2];
    std::memcpy(words, &hit, sizeof words);
    if ((words[0] | words[1]) == 0) continue;
    for (std::size_t j = i; j < i + kRun; ++j) {
      out[n] = static_cast<std::uint16_t>(j);
      n += static_cast<int>(x[j] >= least);
    }
  }
  return n;
}

// Adds to sums[0..2] what measure_moments() measures.
[[gnu::always_inline]] inline void moments_body(const float* x, float least, float top,
                                                double* sums) noexcept {
  Doubles n[2] = {}, sum[2] = {}, squares[2] = {};
  const Doubles low = Doubles{} + static_cast<double>(least), high = Doubles{} - kLowest;
  const Doubles one = Doubles{} + 1;
  for (std::size_t i = 0; i < kScanChunk; i += kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Doubles v;
      load(x + i + half * kLanes / 2, v);
      const auto counts = (v >= low) & (v <= high);
      const Doubles below = counts ? static_cast<double>(top) - v : Doubles{};
      n[half] += counts ? one : Doubles{};
      sum[half] += below;
      squares[half] += below * below;
    }
  }
  sums[0] += total(n);
  sums[1] += total(sum);
  sums[2] += total(squares);
}

[[gnu::always_inline]] inline double exp_body(const float* x, float top) noexcept {
  Doubles sum[2] = {};
  for (std::size_t i = 0; i < kScanChunk; i += kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Doubles v, e;
      load(x + i + half * kLanes / 2, v);
      exp_into<Doubles, Longs>(v - static_cast<double>(top), e);
      sum[half] += e;
    }
  }
  return total(sum);
}

[[gnu::always_inline]] inline void weigh_body(const Candidate* items, std::size_t n, float top,
                                              double* weights) noexcept {
  std::size_t i = 0;
  for (; i + kLanes / 2 <= n; i += kLanes / 2) {
    const Doubles v = {static_cast<double>(items[i].logit), static_cast<double>(items[i + 1].logit),
                       static_cast<double>(items[i + 2].logit),
                       static_cast<double>(items[i + 3].logit)};
    Doubles e;
    exp_into<Doubles, Longs>(v - static_cast<double>(top), e);
    std::memcpy(weights + i, &e, sizeof e);
  }
  for (; i < n; ++i)
    weights[i] = exp_of(static_cast<double>(items[i].logit) - static_cast<double>(top));
}

struct Kernels {
  float (*max)(const float*) noexcept;
  void (*allow)(const float*, const std::uint64_t*, float*) noexcept;
  int (*find)(const float*, float, std::uint16_t*) noexcept;
  void (*moments)(const float*, float, float, double*) noexcept;
  double (*exp_sum)(const float*, float) noexcept;
  void (*weigh)(const Candidate*, std::size_t, float, double*) noexcept;
};

namespace plain {

float max(const float* x) noexcept {
  return max_body(x);
}

void allow(const float* x, const std::uint64_t* allowed, float* out) noexcept {
  allow_body(x, allowed, out);
}

int find(const float* x, float least, std::uint16_t* out) noexcept {
  return find_body(x, least, out);
}

void moments(const float* x, float least, float top, double* out) noexcept {
  moments_body(x, least, top, out);
}

double exp_sum(const float* x, float top) noexcept {
  return exp_body(x, top);
}

void weigh(const Candidate* items, std::size_t n, float top, double* weights) noexcept {
  weigh_body(items, n, top, weights);
}

}  // namespace plain

constexpr Kernels kPlain = {plain::max,     plain::allow,   plain::find,
                            plain::moments, plain::exp_sum, plain::weigh};

#if defined(__x86_64__)
namespace avx2 {

[[gnu::target("avx2")]] float max(const float* x) noexcept {
  return max_body(x);
}

[[gnu::target("avx2")]] void allow(const float* x, const std::uint64_t* allowed,
                                   float* out) noexcept {
  allow_body(x, allowed, out);
}

[[gnu::target("avx2")]] int find(const float* x, float least, std::uint16_t* out) noexcept {
  return find_body(x, least, out);
}

[[gnu::target("avx2")]] void moments(const float* x, float least, float top, double* out) noexcept {
  moments_body(x, least, top, out);
}

[[gnu::target("avx2")]] double exp_sum(const float* x, float top) noexcept {
  return exp_body(x, top);
}

[[gnu::target("avx2")]] void weigh(const Candidate* items, std::size_t n, float top,
                                   double* weights) noexcept {
  weigh_body(items, n, top, weights);
}

}  // namespace avx2

constexpr Kernels kAvx2 = {avx2::max,     avx2::allow,   avx2::find,
                           avx2::moments, avx2::exp_sum, avx2::weigh};
#endif

const Kernels& kernels() noexcept {
#if defined(__x86_64__)
  static const bool wants_avx2 = [] {
    const Result<Isa> isa = choose_isa();
    return isa && (*isa == Isa::kAvx2 || *isa == Isa::kAvx512);
  }();
  if (wants_avx2) return kAvx2;
#endif
  return kPlain;
}

// Calls each(chunk, first id) for every chunk that wants(first id) names; `chunk` points to 512
// logits. A chunk that is not whole or not all allowed is a copy.
template <class Wants, class Each>
void for_chunks(const Vocabulary& v, Wants&& wants, Each&& each) noexcept {
  alignas(64) float copy[kScanChunk];
  const std::size_t size = v.logits.size();
  for (std::size_t at = 0; at < size; at += kScanChunk) {
    if (!wants(at)) continue;
    const float* x = v.logits.data() + at;
    const std::size_t n = std::min(kScanChunk, size - at);
    const auto allowed = v.allowed.empty() ? v.allowed : v.allowed.subspan(at / 64, (n + 63) / 64);
    if (n < kScanChunk) {
      for (std::size_t i = 0; i < kScanChunk; ++i) {
        const bool is_in = i < n && (allowed.empty() || (allowed[i / 64] >> (i % 64) & 1) != 0);
        copy[i] = is_in ? x[i] : kNothing;
      }
      x = copy;
    } else if (!std::all_of(allowed.begin(), allowed.end(), [](auto word) { return ~word == 0; })) {
      kernels().allow(x, allowed.data(), copy);
      x = copy;
    }
    each(x, at);
  }
}

template <class Each>
void for_each_chunk(const Vocabulary& v, Each&& each) noexcept {
  for_chunks(v, [](std::size_t) { return true; }, each);
}

bool is_better(const Candidate& a, const Candidate& b) noexcept {  // and, in a heap, on top last
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

}  // namespace

Isa scan_isa() noexcept {
  return &kernels() == &kPlain ? Isa::kScalar : Isa::kAvx2;
}

TokenId find_largest(const Vocabulary& v) noexcept {
  const Kernels& k = kernels();
  float most = kNothing;
  std::size_t where = 0;
  for_each_chunk(v, [&](const float* x, std::size_t at) {
    const float here = k.max(x);
    if (here > most) {
      most = here;
      where = at;
    }
  });
  for (std::size_t i = where; i < v.logits.size() && most > kNothing; ++i) {
    const bool is_in = v.allowed.empty() || (v.allowed[i / 64] >> (i % 64) & 1) != 0;
    if (is_in && v.logits[i] == most) return static_cast<TokenId>(i);
  }
  return -1;
}

float largest_logit(const Vocabulary& v) noexcept {
  const Kernels& k = kernels();
  float most = kNothing;
  for_each_chunk(v, [&](const float* x, std::size_t) { most = std::max(most, k.max(x)); });
  return most;
}

std::size_t select_top_k(const Vocabulary& v, std::size_t k, float least, std::span<float> maxima,
                         std::span<Candidate> out) noexcept {
  const Kernels& kernel = kernels();
  const std::size_t n_chunks = count_chunks(v.logits.size());
  for_each_chunk(v,
                 [&](const float* x, std::size_t at) { maxima[at / kScanChunk] = kernel.max(x); });
  if (n_chunks >= k) {
    // The ordering below must not lose which chunk has which maximum: it works on the second half.
    const auto order = maxima.subspan(n_chunks, n_chunks);
    std::copy_n(maxima.begin(), n_chunks, order.begin());
    const auto kth = order.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(order.begin(), kth, order.end(), std::greater<>());
    least = std::max(least, *kth);
  }
  std::size_t n = 0;
  const auto heap_end = out.begin() + static_cast<std::ptrdiff_t>(k);
  std::uint16_t places[kScanChunk + 1];
  const auto has_any = [&](std::size_t at) { return maxima[at / kScanChunk] >= least; };
  for_chunks(v, has_any, [&](const float* x, std::size_t at) {
    const int found = kernel.find(x, least, places);
    for (int i = 0; i < found; ++i) {
      const Candidate candidate{static_cast<TokenId>(at + places[i]), x[places[i]]};
      if (n < k) {
        out[n++] = candidate;
        if (n == k) std::make_heap(out.begin(), heap_end, is_better);
      } else if (is_better(candidate, out[0])) {  // out[0] is the least of the best
        std::pop_heap(out.begin(), heap_end, is_better);
        out[k - 1] = candidate;
        std::push_heap(out.begin(), heap_end, is_better);
        least = out[0].logit;  // ids ascend: an equal one loses against it
      }
    }
  });
  std::sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), is_better);
  return n;
}

std::size_t select_from(const Vocabulary& v, float least, std::span<Candidate> out) noexcept {
  const Kernels& k = kernels();
  std::size_t n = 0;
  std::uint16_t places[kScanChunk + 1];
  for_each_chunk(v, [&](const float* x, std::size_t at) {
    const int found = k.find(x, least, places);
    for (int i = 0; i < found; ++i)
      out[n++] = {static_cast<TokenId>(at + places[i]), x[places[i]]};
  });
  return n;
}

Moments measure_moments(const Vocabulary& v, float least, float top) noexcept {
  const Kernels& k = kernels();
  double sums[3] = {};
  for_each_chunk(v, [&](const float* x, std::size_t) { k.moments(x, least, top, sums); });
  return {.n = sums[0], .sum = sums[1], .squares = sums[2]};
}

void weigh(std::span<const Candidate> items, float top, std::span<double> weights) noexcept {
  kernels().weigh(items.data(), items.size(), top, weights.data());
}

double log_sum_exp(std::span<const float> logits) noexcept {
  const Kernels& k = kernels();
  const Vocabulary v{.logits = logits};
  const float top = largest_logit(v);
  if (!(top >= kLowest && top <= -kLowest)) return static_cast<double>(top);
  double sum = 0;
  for_each_chunk(v, [&](const float* x, std::size_t) { sum += k.exp_sum(x, top); });
  return static_cast<double>(top) + log_of(sum);
}

}  // namespace wick
