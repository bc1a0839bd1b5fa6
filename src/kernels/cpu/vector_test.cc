// Norms, activations and rotations: each ISA against the scalar reference bit for bit, the scalar
// reference against double precision.
#include "kernels/cpu/vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/isa.h"

namespace wick {
namespace {

using Floats = std::vector<float>;

// Lengths around a multiple of sixteen, and real ones.
const int kLengths[] = {1, 2, 15, 16, 17, 24, 31, 32, 33, 48, 64, 100, 576, 1001, 1536};

std::vector<Isa> other_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (is_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

Floats random_floats(int n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  Floats out(static_cast<std::size_t>(n));
  for (float& x : out)
    x = normal(engine);
  return out;
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double act_in_double(int kind, double x) {
  switch (kind) {
    case kGateSilu:
      return x / (1 + std::exp(-x));
    case kGateGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case kGateGeluTanh: {  // (1 + tanh u) / 2 = 1 / (1 + e^(-2 u)), which does not cancel
      const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
      return x / (1 + std::exp(-2 * u));
    }
    case kGateSigmoid:
      return 1 / (1 + std::exp(-x));
    default:
      return x > 0 ? x * x : 0;
  }
}

// Every value a gate is likely to see and the far ends.
Floats gate_inputs() {
  Floats x;
  for (float v = -12; v <= 12; v += 0.00317F)
    x.push_back(v);
  for (const float v : {-1e30F, -1000.0F, -100.0F, -88.0F, 0.0F, -0.0F, 1e-30F, 88.0F, 1e4F}) {
    x.push_back(v);
  }
  return x;
}

TEST(VectorScalar, ActivationsAreCloseToDouble) {
  const VectorKernels& kernels = vector_kernels(Isa::kScalar);
  const Floats x = gate_inputs();
  const int n = static_cast<int>(x.size());
  for (int kind = 0; kind < kGateKinds; ++kind) {
    Floats y(x.size());
    kernels.gate[kind](x.data(), nullptr, n, y.data());
    // Gelu's formula errs by 1.5e-7 in Phi, so by that much times x. The others err by a few last
    // places of the result, and by the share that an error of 1e-7 in the exponent makes; where
    // e^x is clamped the result is x times 1e-38.
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = act_in_double(kind, x[i]);
      const double size = std::fabs(static_cast<double>(x[i]));
      const double exponent = kind == kGateGeluTanh ? size + size * size * size : size;
      const double bound =
          kind == kGateGelu ? 3e-7 * size : 3e-7 * std::fabs(want) * (2 + std::min(exponent, 90.0));
      EXPECT_NEAR(y[i], want, bound + 1e-37 * size + 1e-38) << "kind " << kind << ", x " << x[i];
    }
  }
}

TEST(VectorScalar, ActivationsCarryNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int kind = 0; kind < kGateKinds; ++kind) {
    if (kind == kGateRelu2) continue;
    float y = 0;
    vector_kernels(Isa::kScalar).gate[kind](&nan, nullptr, 1, &y);
    EXPECT_TRUE(std::isnan(y)) << "kind " << kind;
  }
}

TEST(VectorScalar, NormsAreCloseToDouble) {
  for (const int n : kLengths) {
    const Floats x = random_floats(n, 1, 3);
    const Floats gain = random_floats(n, 2);
    for (const bool rms : {true, false}) {
      double mean = 0;
      for (const float v : x)
        mean += rms ? 0.0 : static_cast<double>(v) / n;
      double square = 0;
      for (const float v : x)
        square += (v - mean) * (v - mean) / n;
      Floats y(x.size());
      const Floats shift = random_floats(n, 3);
      const NormArgs args{.x = x.data(),
                          .gain = gain.data(),
                          .shift = rms ? nullptr : shift.data(),
                          .eps = 1e-5F,
                          .n = n,
                          .y = y.data()};
      const VectorKernels& kernels = vector_kernels(Isa::kScalar);
      (rms ? kernels.rms_norm : kernels.layer_norm)(args);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double normed = (x[i] - mean) / std::sqrt(square + 1e-5) * gain[i];
        const double want = normed + (rms ? 0.0 : static_cast<double>(shift[i]));
        EXPECT_NEAR(y[i], want,
                    2e-6 * (std::fabs(normed) + std::fabs(gain[i]) + std::fabs(shift[i])))
            << "rms " << rms << ", n " << n << ", i " << i;
      }
    }
  }
}

TEST(VectorScalar, NormMayWorkInPlace) {
  Floats x = random_floats(40, 3);
  const Floats gain = random_floats(40, 4);
  Floats apart(40);
  const VectorKernels& kernels = vector_kernels(Isa::kScalar);
  kernels.rms_norm({.x = x.data(), .gain = gain.data(), .n = 40, .y = apart.data()});
  kernels.rms_norm({.x = x.data(), .gain = gain.data(), .n = 40, .y = x.data()});
  EXPECT_TRUE(same_bits(x, apart));
}

TEST(VectorScalar, RotationsTurnPairsByTheAngle) {
  for (const int dim : {2, 8, 40, 64, 128}) {
    const int half = dim / 2;
    const Floats head = random_floats(dim, 5);
    Floats cosines, sines;
    for (int i = 0; i < half; ++i) {
      cosines.push_back(static_cast<float>(std::cos(0.3 * i + 0.1)));
      sines.push_back(static_cast<float>(std::sin(0.3 * i + 0.1)));
    }
    const VectorKernels& kernels = vector_kernels(Isa::kScalar);
    Floats halves = head;
    Floats pairs = head;
    kernels.rotate_halves(halves.data(), cosines.data(), sines.data(), dim);
    kernels.rotate_pairs(pairs.data(), cosines.data(), sines.data(), dim);
    const auto at = [](const Floats& v, int i) { return v[static_cast<std::size_t>(i)]; };
    for (int i = 0; i < half; ++i) {
      const double c = std::cos(0.3 * i + 0.1);
      const double s = std::sin(0.3 * i + 0.1);
      EXPECT_NEAR(at(halves, i), at(head, i) * c - at(head, half + i) * s, 1e-6);
      EXPECT_NEAR(at(halves, half + i), at(head, half + i) * c + at(head, i) * s, 1e-6);
      EXPECT_NEAR(at(pairs, 2 * i), at(head, 2 * i) * c - at(head, 2 * i + 1) * s, 1e-6);
      EXPECT_NEAR(at(pairs, 2 * i + 1), at(head, 2 * i + 1) * c + at(head, 2 * i) * s, 1e-6);
    }
  }
}

// Runs `work` with each ISA's kernels and compares what it returns with the scalar reference's.
void expect_same_on_every_isa(const std::function<Floats(const VectorKernels&)>& work,
                              const char* what) {
  const Floats want = work(vector_kernels(Isa::kScalar));
  for (const Isa isa : other_isas()) {
    EXPECT_TRUE(same_bits(work(vector_kernels(isa)), want)) << what << " on " << name(isa);
  }
}

TEST(SameBitsVector, Activations) {
  const Floats x = gate_inputs();
  const int n = static_cast<int>(x.size());
  const Floats up = random_floats(n, 6);
  for (int kind = 0; kind < kGateKinds; ++kind) {
    expect_same_on_every_isa(
        [&](const VectorKernels& kernels) {
          Floats y(x.size());
          kernels.gate[kind](x.data(), up.data(), n, y.data());
          return y;
        },
        "gate");
  }
}

TEST(SameBitsVector, Norms) {
  for (const int n : kLengths) {
    const Floats x = random_floats(n, 7, 2);
    const Floats gain = random_floats(n, 8);
    for (const bool rms : {true, false}) {
      expect_same_on_every_isa(
          [&](const VectorKernels& kernels) {
            Floats y(x.size());
            (rms ? kernels.rms_norm : kernels.layer_norm)({.x = x.data(),
                                                           .gain = gain.data(),
                                                           .shift = rms ? nullptr : gain.data(),
                                                           .eps = 1e-6F,
                                                           .n = n,
                                                           .y = y.data()});
            return y;
          },
          "norm");
    }
  }
}

TEST(VectorScalar, SoftCapsAreCloseToDouble) {
  const VectorKernels& kernels = vector_kernels(Isa::kScalar);
  for (const float cap : {2.0F, 30.0F, 50.0F}) {
    for (const float x : {-1e30F, -200.0F, -40.0F, -1.0F, -1e-3F, 0.0F, 1e-6F, 0.5F, 7.0F, 1e30F}) {
      float y = x;
      kernels.soft_cap(&y, cap, 1);
      const double want = cap * std::tanh(static_cast<double>(x) / cap);
      EXPECT_NEAR(y, want, 3e-7 * cap) << x << " of " << cap;
    }
    float nan = std::numeric_limits<float>::quiet_NaN();
    kernels.soft_cap(&nan, cap, 1);
    EXPECT_TRUE(std::isnan(nan));
  }
}

TEST(SameBitsVector, SoftCaps) {
  for (const int n : kLengths) {
    expect_same_on_every_isa(
        [&](const VectorKernels& kernels) {
          Floats x = random_floats(n, 13, 40);
          kernels.soft_cap(x.data(), 30, n);
          return x;
        },
        "soft cap");
  }
}

TEST(SameBitsVector, ScaledSums) {
  for (const int n : kLengths) {
    const Floats r = random_floats(n, 11);
    expect_same_on_every_isa(
        [&](const VectorKernels& kernels) {
          Floats y = random_floats(n, 12);
          kernels.add_scaled(y.data(), r.data(), 0.3F, n);
          EXPECT_EQ(y[0], std::fma(0.3F, r[0], random_floats(1, 12)[0]));
          return y;
        },
        "scaled sum");
  }
}

TEST(SameBitsVector, Rotations) {
  for (const int dim : {2, 6, 30, 32, 34, 40, 64, 80, 128, 256}) {
    const Floats angles = random_floats(dim, 9);
    for (const bool halves : {true, false}) {
      expect_same_on_every_isa(
          [&](const VectorKernels& kernels) {
            Floats head = random_floats(dim, 10);
            (halves ? kernels.rotate_halves : kernels.rotate_pairs)(head.data(), angles.data(),
                                                                    angles.data() + dim / 2, dim);
            return head;
          },
          "rotation");
    }
  }
}

}  // namespace
}  // namespace wick
