// Mixtures of experts: the sum in double, the same bits for any batch, threads and instruction set,
// and no byte of an expert that no token goes to.
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "backend/cpu/ops_fixture_test.h"
#include "base/hot_scope.h"
#include "kernels/cpu/matmul.h"
#include "support/hot_counters.h"

namespace wick::test {
namespace {

struct MixtureShape {
  DType type = DType::kF32;
  int d_model = 64, hidden = 96, shared_hidden = 0, n_experts = 7;
  Routing routing = {};
  bool has_shared_gate = false, has_bias = false, is_separate = false, is_fused = false;
  float limit = 0;
  bool has_own_router = false;  // with a gain, a scale and weights times numbers of the experts
};

constexpr int kMixtureTokens = 70;  // more than a tile

class Mixture {
 public:
  Mixture(Isa isa, int threads, const MixtureShape& shape)
      : shape_(shape), device_(make_device(isa)), weights_(*device_) {
    const MixtureShape& s = shape_;
    step_.routing = s.routing;
    step_.routing.n_experts = s.n_experts;
    if (step_.routing.n_active == 0) step_.routing.n_active = 2;
    step_.gain = weights_.vector(s.d_model, 1, 1);
    step_.router = weights_.matrix(DType::kF32, s.n_experts, s.d_model, 2);
    step_.limit = s.limit;
    step_.alpha = 1.7F;
    if (s.has_own_router) {
      step_.router_gain = weights_.vector(s.d_model, 11, 1);
      step_.router_scale = 0.3F;
      step_.weight_scale = weights_.vector(s.n_experts, 12, 1);
    }
    make_experts();
    if (s.shared_hidden > 0) {
      step_.shared = {.gate = weights_.matrix(s.type, s.shared_hidden, s.d_model, 20),
                      .up = weights_.matrix(s.type, s.shared_hidden, s.d_model, 21),
                      .down = weights_.matrix(s.type, s.d_model, s.shared_hidden, 22),
                      .hidden = s.shared_hidden};
      if (s.has_shared_gate) step_.shared.router = weights_.matrix(DType::kF32, 1, s.d_model, 23);
    }
    const BackendLimits limits{.max_batch_tokens = 128,
                               .max_cols = s.d_model,
                               .max_heads = 1,
                               .max_head_dim = 32,
                               .max_context = 16,
                               .experts = {.n_experts = s.n_experts,
                                           .n_active = step_.routing.n_active,
                                           .hidden = s.hidden,
                                           .shared_hidden = s.shared_hidden},
                               .threads = threads};
    backend_ = *device_->create_backend(limits, {});
    x_ = random_floats(static_cast<std::size_t>(kMixtureTokens * s.d_model), 30);
  }

  // Tokens [first, first + n) in one call.
  Floats run(int first, int n) {
    const auto width = static_cast<std::size_t>(shape_.d_model);
    Floats x(x_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first) * width),
             x_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first + n) * width));
    const OnDevice at(*device_, x, n, shape_.d_model);
    run_at(at);
    return read(at, n);
  }

  void run_at(Tensor x) noexcept {
    backend_->begin_pass();
    backend_->experts(x, x, step_);
    backend_->end_pass();
  }

  Floats in_chunks(int chunk) {
    Floats all;
    for (int at = 0; at < kMixtureTokens; at += chunk) {
      const Floats some = run(at, std::min(chunk, kMixtureTokens - at));
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  ExpertStep& step() noexcept { return step_; }

  Device& device() noexcept { return *device_; }

  const Floats& x() const noexcept { return x_; }

  const Floats& values(const Weight* weight) const { return weights_.values_of(weight); }

 private:
  Floats read(Tensor x, int n) {
    Floats out(static_cast<std::size_t>(n * shape_.d_model));
    std::memcpy(out.data(), for_kernels(*device_, x.data), out.size() * sizeof(float));
    return out;
  }

  void make_experts() {
    const MixtureShape& s = shape_;
    const auto stack = [&](int rows, int cols, unsigned seed) {
      std::vector<const Weight*> all;
      if (!s.is_separate)
        return std::vector{weights_.matrix(s.type, s.n_experts * rows, cols, seed)};
      for (int e = 0; e < s.n_experts; ++e)
        all.push_back(weights_.matrix(s.type, rows, cols, seed * 100 + static_cast<unsigned>(e)));
      return all;
    };
    gate_ = stack(s.is_fused ? 2 * s.hidden : s.hidden, s.d_model, 3);
    up_ = s.is_fused ? gate_ : stack(s.hidden, s.d_model, 4);
    down_ = stack(s.d_model, s.hidden, 5);
    step_.gate = {.w = gate_, .rows = s.hidden};
    step_.up = {.w = up_, .first_row = s.is_fused ? s.hidden : 0, .rows = s.hidden};
    step_.down = {.w = down_, .rows = s.d_model};
    if (!s.has_bias) return;
    step_.router_bias = weights_.vector(s.n_experts, 6);
    step_.choice_bias = weights_.vector(s.n_experts, 7);
    step_.gate.bias = weights_.vector(s.n_experts * s.hidden, 8);
    step_.up.bias = weights_.vector(s.n_experts * s.hidden, 9);
    step_.down.bias = weights_.vector(s.n_experts * s.d_model, 10);
  }

  MixtureShape shape_;
  std::unique_ptr<Device> device_;
  Weights weights_;
  std::unique_ptr<Backend> backend_;
  std::vector<const Weight*> gate_, up_, down_;
  ExpertStep step_ = {};
  Floats x_;
};

std::vector<MixtureShape> mixtures() {
  const Routing sigmoid{.score = Routing::Score::kSigmoid, .n_active = 3, .scale = 2.5F};
  return {
      {},
      {.type = DType::kQ8_0, .shared_hidden = 64, .has_shared_gate = true},
      {.type = DType::kQ4_1, .shared_hidden = 128, .routing = sigmoid, .is_separate = true},
      {.type = DType::kMXFP4, .n_experts = 5, .has_bias = true, .is_fused = true, .limit = 0.7F},
      {.type = DType::kQ8_0, .is_fused = true, .has_own_router = true},
      {.type = DType::kQ4_K, .d_model = 256, .hidden = 256, .n_experts = 3},
      {.type = DType::kBF16, .n_experts = 40, .routing = {.n_active = 8}}};
}

using Doubles = std::vector<double>;

double dot(const Floats& w, std::size_t row, const Doubles& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    sum += static_cast<double>(w[row * v.size() + i]) * v[i];
  return sum;
}

double sigmoid_of(double x) {
  return 1 / (1 + std::exp(-x));
}

struct Chosen {
  std::size_t expert = 0;
  double weight = 0;
};

// `x` as the router reads it.
std::vector<Chosen> chosen_in_double(const Mixture& m, const ExpertStep& step, const Doubles& x) {
  const auto experts = static_cast<std::size_t>(step.routing.n_experts);
  const bool is_sigmoid = step.routing.score == Routing::Score::kSigmoid;
  Doubles score(experts);
  double all = 0;
  for (std::size_t e = 0; e < experts; ++e) {
    score[e] = dot(m.values(step.router), e, x);
    if (step.router_bias != nullptr) score[e] += m.values(step.router_bias)[e];
    score[e] *= step.router_scale;
    score[e] = is_sigmoid ? sigmoid_of(score[e]) : std::exp(score[e]);
    all += is_sigmoid ? 0 : score[e];
  }
  for (double& value : score)
    value /= is_sigmoid ? 1 : all;
  Doubles choice = score;
  for (std::size_t e = 0; e < experts && step.choice_bias != nullptr; ++e)
    choice[e] += m.values(step.choice_bias)[e];
  std::vector<std::size_t> order(experts);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return choice[a] > choice[b]; });
  order.resize(static_cast<std::size_t>(step.routing.n_active));
  double sum = 0;
  for (const std::size_t e : order)
    sum += score[e];
  std::vector<Chosen> chosen;
  for (const std::size_t e : order) {
    const double own = step.weight_scale == nullptr ? 1 : m.values(step.weight_scale)[e];
    const double weight = step.routing.scale * score[e] / (step.routing.normalizes ? sum : 1);
    chosen.push_back({e, own * weight});
  }
  return chosen;
}

// Row `row` of an expert's matrix times v, plus its bias.
double product(const Mixture& m, const ExpertMatrix& matrix, std::size_t n_experts,
               const Chosen& chosen, std::size_t row, const Doubles& v) {
  const bool is_stacked = matrix.w.size() == 1;
  const auto per_expert = static_cast<std::size_t>(matrix.w[0]->shape.dim[0]) / n_experts;
  const std::size_t at = (is_stacked ? chosen.expert * per_expert : 0) +
                         static_cast<std::size_t>(matrix.first_row) + row;
  double sum = dot(m.values(matrix.w[is_stacked ? 0 : chosen.expert]), at, v);
  if (matrix.bias != nullptr) {
    sum += m.values(matrix.bias)[chosen.expert * static_cast<std::size_t>(matrix.rows) + row];
  }
  return sum;
}

double gated(const ExpertStep& step, double gate, double up) {
  if (step.limit == 0) return gate * sigmoid_of(gate) * up;
  gate = std::min<double>(gate, step.limit);
  return gate * sigmoid_of(step.alpha * gate) *
         (std::clamp<double>(up, -step.limit, step.limit) + 1);
}

void add_shared(const Mixture& m, const ExpertStep& step, const Doubles& x, Doubles& y) {
  const SharedExpert& shared = step.shared;
  if (shared.gate == nullptr) return;
  Doubles inside(static_cast<std::size_t>(shared.hidden));
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const double g = dot(m.values(shared.gate), i, x);
    inside[i] = g * sigmoid_of(g) * dot(m.values(shared.up), i, x);
  }
  const double weight =
      shared.router == nullptr ? 1 : sigmoid_of(dot(m.values(shared.router), 0, x));
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] += weight * dot(m.values(shared.down), i, inside);
}

// Of token 0, in double, from the decoded weights.
Doubles sum_in_double(const Mixture& m, const ExpertStep& step, int d_model) {
  Doubles x(m.x().begin(), m.x().begin() + d_model), y = x;
  double squares = 0;
  for (const double v : x)
    squares += v * v;
  Doubles routed = x;
  const Weight* const router_gain = step.router_gain == nullptr ? step.gain : step.router_gain;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double root = std::sqrt(squares / d_model + step.norm.eps);
    x[i] *= m.values(step.gain)[i] / root;
    routed[i] *= m.values(router_gain)[i] / root;
  }
  const auto n_experts = static_cast<std::size_t>(step.routing.n_experts);
  for (const Chosen& one : chosen_in_double(m, step, routed)) {
    Doubles inside(static_cast<std::size_t>(step.gate.rows));
    for (std::size_t i = 0; i < inside.size(); ++i) {
      inside[i] = gated(step, product(m, step.gate, n_experts, one, i, x),
                        product(m, step.up, n_experts, one, i, x));
    }
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += one.weight * product(m, step.down, n_experts, one, i, inside);
  }
  add_shared(m, step, x, y);
  return y;
}

bool are_same(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Experts, AddTheWeightedSumOfTheChosenOnes) {
  for (const MixtureShape& shape : mixtures()) {
    Mixture mixture(*choose_isa(), 2, shape);
    const Floats got = mixture.run(0, 1);
    const auto want = sum_in_double(mixture, mixture.step(), shape.d_model);
    const double error = needs_quantized(shape.type) ? 0.05 : 1e-5;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], error * (1 + std::abs(want[i])))
          << dtype_info(shape.type).name << ", value " << i;
    }
  }
}

TEST(Experts, AreTheSumAloneWhereNothingIsAdded) {
  Mixture mixture(*choose_isa(), 2, {});
  const Floats added = mixture.run(0, kMixtureTokens);
  mixture.step().adds = false;
  const Floats alone = mixture.run(0, kMixtureTokens);
  for (std::size_t i = 0; i < added.size(); ++i)
    ASSERT_NEAR(alone[i] + mixture.x()[i], added[i], 1e-5) << "value " << i;
}

TEST(SameBitsExperts, AnyBatchThreadsAndInstructionSet) {
  for (const MixtureShape& shape : mixtures()) {
    Mixture alone(Isa::kScalar, 1, shape);
    const Floats want = alone.in_chunks(1);
    for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
      if (!is_supported(isa)) continue;
      for (const int threads : {1, 3}) {
        Mixture mixture(isa, threads, shape);
        for (const int chunk : {1, 3, 16, kMixtureTokens}) {
          EXPECT_TRUE(are_same(mixture.in_chunks(chunk), want))
              << dtype_info(shape.type).name << " on " << name(isa) << ", " << threads
              << " threads, chunks of " << chunk;
        }
      }
    }
  }
}

// Each expert on pages of its own; those of experts that the token does not go to cannot be read.
TEST(Experts, ReadNothingOfTheOthers) {
  constexpr int kHidden = 64, kWidth = 64;  // 16 KiB of floats: whole pages
  const MixtureShape shape{.d_model = kWidth, .hidden = kHidden, .n_experts = 6};
  Mixture mixture(*choose_isa(), 2, shape);
  const Floats want = mixture.run(0, 1);
  CpuDevice& device = static_cast<CpuDevice&>(mixture.device());
  constexpr std::size_t kBytes = sizeof(float) * kHidden * kWidth;
  void* const pages =
      mmap(nullptr, 18 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const memory = static_cast<std::byte*>(pages);
  std::vector<std::unique_ptr<Weight>> own;
  std::vector<const Weight*> moved;
  ExpertStep& step = mixture.step();
  for (const ExpertMatrix* matrix : {&step.gate, &step.up, &step.down}) {
    const Floats& values = mixture.values(matrix->w[0]);
    std::byte* const at = memory + own.size() * 6 * kBytes;
    std::memcpy(at, values.data(), 6 * kBytes);
    TensorView view{.name = "w", .type = DType::kF32, .bytes = {at, 6 * kBytes}};
    view.shape = {.dim = {6 * kHidden, kWidth, 1, 1}, .rank = 2};
    auto weight = device.upload(view, {});
    ASSERT_TRUE(weight);
    own.push_back(*std::move(weight));
    moved.push_back(own.back().get());
  }
  step.gate.w = std::span(moved).subspan(0, 1);
  step.up.w = std::span(moved).subspan(1, 1);
  step.down.w = std::span(moved).subspan(2, 1);
  EXPECT_TRUE(are_same(mixture.run(0, 1), want));
  // Without an expert's pages the token's result is the same or the test dies: so try each alone,
  // by what the router's scores say.
  const Floats& router = mixture.values(step.router);
  std::vector<std::pair<double, int>> scores;
  for (int e = 0; e < 6; ++e) {
    double sum = 0;
    for (std::size_t i = 0; i < kWidth; ++i)
      sum += static_cast<double>(router[static_cast<std::size_t>(e) * kWidth + i]) *
             mixture.x()[i] * mixture.values(step.gain)[i];
    scores.emplace_back(sum, e);
  }
  std::sort(scores.rbegin(), scores.rend());
  for (std::size_t place = 2; place < 6; ++place) {
    for (std::size_t matrix = 0; matrix < 3; ++matrix) {
      const std::size_t at = matrix * 6 + static_cast<std::size_t>(scores[place].second);
      ASSERT_EQ(mprotect(memory + at * kBytes, kBytes, PROT_NONE), 0);
    }
  }
  EXPECT_TRUE(are_same(mixture.run(0, 1), want));
  munmap(pages, 18 * kBytes);
}

TEST(HotPathExperts, NeitherAllocateNorLock) {
  for (const MixtureShape& shape : mixtures()) {
    Mixture mixture(*choose_isa(), 2, shape);
    Floats x = mixture.x();
    const OnDevice at(mixture.device(), x, kMixtureTokens, shape.d_model);
    const Tensor all = at;
    reset_hot_counts();
    {
      const HotScope hot;
      for (const int n : {kMixtureTokens, 1, 5})
        mixture.run_at({.data = all.data, .rows = n, .cols = all.cols, .row_stride = all.cols});
    }
    EXPECT_EQ(hot_counts().allocations, 0);
    EXPECT_EQ(hot_counts().frees, 0);
    EXPECT_EQ(hot_counts().locks, 0);
  }
}

}  // namespace
}  // namespace wick::test
