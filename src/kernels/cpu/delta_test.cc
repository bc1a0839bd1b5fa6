// The gated delta rule and its convolution: scalar against double precision, every ISA against
// scalar bit for bit, and any cut of the tokens against all at once.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/isa.h"

namespace wick {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::size_t n, std::uint32_t seed, float reach = 1) {
  std::mt19937 random(seed);
  Floats x(n);
  for (float& v : x)
    v = reach * (static_cast<float>(random() >> 8) * 0x1p-23F - 1);
  return x;
}

struct Head {  // one head over so many tokens
  int n, k_dim, v_dim;
  Floats q, k, v, beta, decay, state, y, scratch;

  Head(int tokens, int keys, int values)
      : n(tokens),
        k_dim(keys),
        v_dim(values),
        q(random_floats(size(n, k_dim), 1)),
        k(random_floats(size(n, k_dim), 2)),
        v(random_floats(size(n, v_dim), 3)),
        beta(random_floats(size(n, k_dim), 4, 3)),
        decay(random_floats(size(n, 1), 5)),
        state(random_floats(size(k_dim, v_dim), 6)),
        y(size(n, v_dim)),
        scratch(size(2, k_dim)) {
    for (float& d : decay)
      d = 0.5F + 0.49F * d;
  }

  static std::size_t size(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  }

  // Tokens [begin, begin + count); q, k, v and beta in rows of one width.
  void run(const VectorKernels& kernels, int begin, int count) {
    const int stride = k_dim + k_dim + v_dim + 1;
    Floats rows(size(count, stride));
    for (int t = 0; t < count; ++t) {
      float* row = rows.data() + size(t, stride);
      std::memcpy(row, q.data() + size(begin + t, k_dim), size(k_dim, 4));
      std::memcpy(row + k_dim, k.data() + size(begin + t, k_dim), size(k_dim, 4));
      std::memcpy(row + 2 * k_dim, v.data() + size(begin + t, v_dim), size(v_dim, 4));
      row[2 * k_dim + v_dim] = beta[static_cast<std::size_t>(begin + t)];
    }
    kernels.delta({.q = rows.data(),
                   .k = rows.data() + k_dim,
                   .v = rows.data() + 2 * k_dim,
                   .beta = rows.data() + 2 * k_dim + v_dim,
                   .stride = stride,
                   .decay = decay.data() + begin,
                   .n_tokens = count,
                   .k_dim = k_dim,
                   .v_dim = v_dim,
                   .scale = 0.25F,
                   .state = state.data(),
                   .y = y.data() + size(begin, v_dim),
                   .y_stride = v_dim,
                   .scratch = scratch.data()});
  }
};

// Where nothing but scalar runs, scalar with itself, cut otherwise.
std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::kScalar};
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (is_supported(isa)) all.push_back(isa);
  }
  return all;
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// y of all tokens by the formula of kernels/cpu/vector.h.
std::vector<double> in_double(const Head& h) {
  std::vector<double> s(h.state.begin(), h.state.end()), y;
  const auto unit = [](const float* x, int n, double scale) {
    double sum = 1e-6;
    for (int i = 0; i < n; ++i)
      sum += double{x[i]} * x[i];
    std::vector<double> out;
    for (int i = 0; i < n; ++i)
      out.push_back(x[i] / std::sqrt(sum) * scale);
    return out;
  };
  for (int t = 0; t < h.n; ++t) {
    const auto q = unit(h.q.data() + Head::size(t, h.k_dim), h.k_dim, 0.25);
    const auto k = unit(h.k.data() + Head::size(t, h.k_dim), h.k_dim, 1);
    const double beta = 1 / (1 + std::exp(-double{h.beta[static_cast<std::size_t>(t)]}));
    for (int c = 0; c < h.v_dim; ++c) {
      double seen = 0, out = 0;
      const auto at = [&](int i) -> double& { return s[Head::size(i, h.v_dim) + std::size_t(c)]; };
      for (int i = 0; i < h.k_dim; ++i) {
        at(i) *= h.decay[static_cast<std::size_t>(t)];
        seen += k[std::size_t(i)] * at(i);
      }
      const double delta = (h.v[Head::size(t, h.v_dim) + std::size_t(c)] - seen) * beta;
      for (int i = 0; i < h.k_dim; ++i) {
        at(i) += k[std::size_t(i)] * delta;
        out += q[std::size_t(i)] * at(i);
      }
      y.push_back(out);
    }
  }
  return y;
}

TEST(Delta, IsCloseToDouble) {
  Head head(50, 24, 40);
  const auto wanted = in_double(head);
  head.run(vector_kernels(Isa::kScalar), 0, head.n);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(head.y[i], wanted[i], 2e-6) << i;
}

TEST(SameBitsDelta, OnEveryIsaAndForAnyCut) {
  for (const auto& [keys, values] : {std::pair(16, 16), std::pair(24, 40), std::pair(128, 128)}) {
    Head wanted(40, keys, values);
    wanted.run(vector_kernels(Isa::kScalar), 0, wanted.n);
    for (const Isa isa : isas()) {
      for (const int chunk : {1, 7, 40}) {
        Head head(40, keys, values);
        for (int t = 0; t < head.n; t += chunk)
          head.run(vector_kernels(isa), t, std::min(chunk, head.n - t));
        EXPECT_TRUE(same_bits(head.y, wanted.y)) << name(isa) << ", " << chunk << " tokens";
        EXPECT_TRUE(same_bits(head.state, wanted.state)) << name(isa) << ", " << chunk;
      }
    }
  }
}

struct Channels {
  int n = 0, channels = 0, width = 0;
  Floats x = {}, weight = {}, past = {};

  static Channels make(int n, int channels, int width) {
    return {n,
            channels,
            width,
            random_floats(Head::size(n, channels), 1),
            random_floats(Head::size(channels, width), 2),
            random_floats(Head::size(width - 1, channels), 3)};
  }

  void run(const VectorKernels& kernels, int begin, int count) {
    kernels.conv_silu({.x = x.data() + Head::size(begin, channels),
                       .stride = channels,
                       .weight = weight.data(),
                       .past = past.data(),
                       .past_stride = channels,
                       .n_tokens = count,
                       .n_channels = channels,
                       .width = width});
  }
};

TEST(Delta, TheConvolutionIsCloseToDouble) {
  Channels c = Channels::make(20, 37, 4);
  const Channels before = c;
  c.run(vector_kernels(Isa::kScalar), 0, c.n);
  for (int t = 0; t < c.n; ++t) {
    for (int i = 0; i < c.channels; ++i) {
      double sum = 0;
      for (int j = 0; j < c.width; ++j) {
        const int from = t - c.width + 1 + j;
        const Floats& source = from < 0 ? before.past : before.x;
        const int row = from < 0 ? from + c.width - 1 : from;
        sum += double{before.weight[Head::size(i, c.width) + std::size_t(j)]} *
               source[Head::size(row, c.channels) + std::size_t(i)];
      }
      ASSERT_NEAR(c.x[Head::size(t, c.channels) + std::size_t(i)], sum / (1 + std::exp(-sum)),
                  2e-6);
    }
  }
}

TEST(SameBitsDelta, TheConvolutionOnEveryIsaAndForAnyCut) {
  for (const int channels : {3, 16, 61}) {
    Channels wanted = Channels::make(30, channels, 4);
    wanted.run(vector_kernels(Isa::kScalar), 0, wanted.n);
    for (const Isa isa : isas()) {
      for (const int chunk : {1, 2, 11, 30}) {
        Channels c = Channels::make(30, channels, 4);
        for (int t = 0; t < c.n; t += chunk)
          c.run(vector_kernels(isa), t, std::min(chunk, c.n - t));
        EXPECT_TRUE(same_bits(c.x, wanted.x)) << name(isa) << ", " << chunk << " tokens";
        EXPECT_TRUE(same_bits(c.past, wanted.past)) << name(isa) << ", " << chunk;
      }
    }
  }
}

}  // namespace
}  // namespace wick
