// A device whose memory the host cannot touch: any access of an address that it hands out faults
// (support/device_arena.h). Its kernels are the CPU's, behind the mapping; its weights are copies
// and opaque. What runs on it unchanged treats every device as a device.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/cpu_device.h"
#include "support/device_arena.h"

namespace wick::test {

class FakeBuffer final : public Buffer {
 public:
  FakeBuffer(DeviceArena& arena, MemoryAccount& account, std::size_t bytes)
      : arena_(arena), place_(arena.take(bytes)), bytes_(bytes), hold_(account, bytes) {}

  ~FakeBuffer() override { arena_.give_back(place_, bytes_); }

  std::byte* data() noexcept override { return place_; }

  std::byte* host() noexcept override { return nullptr; }

  std::size_t bytes() const noexcept override { return bytes_; }

  void write(std::size_t at, std::span<const std::byte> bytes) noexcept override {
    std::memcpy(place(at, bytes.size()), bytes.data(), bytes.size());
  }

  void read(std::size_t at, std::span<std::byte> out) const noexcept override {
    if (out.empty()) return;
    std::memcpy(out.data(), place(at, out.size()), out.size());
  }

  void copy(std::size_t to, std::size_t from, std::size_t bytes) noexcept override {
    std::memcpy(place(to, bytes), place(from, bytes), bytes);
  }

  void zero(std::size_t at, std::size_t bytes) noexcept override {
    std::memset(place(at, bytes), 0, bytes);
  }

 private:
  std::byte* place(std::size_t at, std::size_t n) const noexcept {
    WICK_CHECK(at <= bytes_ && n <= bytes_ - at, "a range inside the buffer");
    return arena_.for_kernels(place_) + at;
  }

  DeviceArena& arena_;
  std::byte* place_;
  std::size_t bytes_;
  MemoryHold hold_;
};

struct FakeWeight final : Weight {
  void adapt(const LowRank& change) override {
    LowRank own = change;
    own.a = static_cast<const FakeWeight*>(change.a)->inner.get();
    own.b = static_cast<const FakeWeight*>(change.b)->inner.get();
    inner->adapt(own);
  }

  std::unique_ptr<FakeBuffer> bytes = {};
  std::unique_ptr<Weight> inner = {};
};

// The CPU's ops, with every address and weight of the device turned into theirs.
class FakeBackend final : public Backend {
 public:
  FakeBackend(std::unique_ptr<Backend> inner, const DeviceArena& arena)
      : inner_(std::move(inner)), arena_(arena) {}

  int threads() const noexcept override { return inner_->threads(); }

  std::size_t scratch_bytes() const noexcept override { return inner_->scratch_bytes(); }

  void begin_pass() noexcept override { inner_->begin_pass(); }

  void yield() noexcept override { inner_->yield(); }

  void end_pass() noexcept override { inner_->end_pass(); }

  void use_adapters(std::span<const AdapterRun> runs) noexcept override {
    inner_->use_adapters(runs);
  }

  void embed(Tensor y, const Weight& table, std::span<const TokenId> ids,
             const Embed& step) noexcept override {
    inner_->embed(real(y), *real(&table), ids, step);
  }

  void linear(Tensor y, Tensor x, const Linear& step) noexcept override {
    inner_->linear(real(y), real(x), RealLinear(step).step);
  }

  void qkv(Tensor q, Tensor x, const Linear& step, const QkNormRope& head, const KvView& kv,
           const Batch& batch) noexcept override {
    inner_->qkv(real(q), real(x), RealLinear(step).step, real(head), real(kv, arena_), batch);
  }

  void linear_heads(Tensor y, Tensor x, const HeadLinear& step) noexcept override {
    HeadLinear own = step;
    own.w = real(step.w);
    inner_->linear_heads(real(y), real(x), own);
  }

  void latent(Tensor q, Tensor x, Tensor c, const QkNormRope& head, const KvView& kv,
              const Batch& batch) noexcept override {
    inner_->latent(real(q), real(x), real(c), real(head), real(kv, arena_), batch);
  }

  void attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
              const AttendParams& p) noexcept override {
    AttendParams own = p;
    own.sinks = real(p.sinks);
    inner_->attend(real(y), real(q), real(kv, arena_), batch, own);
  }

  void delta(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
             const Batch& batch) noexcept override {
    DeltaParams own = p;
    own.conv = real(p.conv);
    own.rate = real(p.rate);
    own.dt = real(p.dt);
    own.gain = real(p.gain);
    const StateView at{.state = arena_.for_kernels(states.state), .stride = states.stride};
    inner_->delta(real(y), real(x), own, at, batch);
  }

  void experts(Tensor y, Tensor x, const ExpertStep& step) noexcept override {
    ExpertStep own = step;
    for (const Weight** w : {&own.gain, &own.router, &own.router_gain, &own.router_bias,
                             &own.choice_bias, &own.weight_scale, &own.shared.gate, &own.shared.up,
                             &own.shared.down, &own.shared.router})
      *w = real(*w);
    RealMatrix gate(step.gate), up(step.up), down(step.down);
    own.gate = gate.matrix;
    own.up = up.matrix;
    own.down = down.matrix;
    inner_->experts(real(y), real(x), own);
  }

  void logits(Tensor y, Tensor x, const Linear& head, std::span<const int> rows) noexcept override {
    inner_->logits(real(y), real(x), RealLinear(head).step, rows);
  }

  void normalize(Tensor y, Tensor x, const Normalize& step) noexcept override {
    Normalize own = step;
    own.gain = real(step.gain);
    own.shift = real(step.shift);
    inner_->normalize(real(y), real(x), own);
  }

  Result<void> sync() override { return inner_->sync(); }

  static const Weight* real(const Weight* weight) noexcept {
    return weight == nullptr ? nullptr : static_cast<const FakeWeight*>(weight)->inner.get();
  }

  static QkNormRope real(const QkNormRope& head) noexcept {
    QkNormRope own = head;
    own.q_gain = real(head.q_gain);
    own.k_gain = real(head.k_gain);
    own.v_gain = real(head.v_gain);
    own.rope = real(head.rope);
    return own;
  }

  static RopeParams real(const RopeParams& rope) noexcept {
    RopeParams own = rope;
    own.factors = real(rope.factors);
    return own;
  }

  static KvView real(const KvView& kv, const DeviceArena& arena) noexcept {
    KvView own = kv;
    own.k = arena.for_kernels(kv.k);
    own.v = arena.for_kernels(kv.v);
    own.tables = arena.for_kernels(kv.tables);
    return own;
  }

 private:
  struct RealLinear {
    std::array<const Weight*, 4> w = {}, bias = {};
    Linear step;

    explicit RealLinear(const Linear& given) noexcept : step(given) {
      step.w = real_all(given.w, w);
      step.bias = real_all(given.bias, bias);
      step.gain = real(given.gain);
      step.shift = real(given.shift);
    }

    static std::span<const Weight* const> real_all(std::span<const Weight* const> from,
                                                   std::array<const Weight*, 4>& to) noexcept {
      for (std::size_t i = 0; i < from.size(); ++i)
        to[i] = real(from[i]);
      return std::span(to).first(from.size());
    }
  };

  struct RealMatrix {
    std::array<const Weight*, 64> w = {};  // as many experts as tests have
    std::array<LowRank, 4> changes = {};   // and adapters
    ExpertMatrix matrix;

    explicit RealMatrix(const ExpertMatrix& given) noexcept : matrix(given) {
      WICK_CHECK(given.w.size() <= w.size() && given.changes.size() <= changes.size(),
                 "tests have few experts and adapters");
      for (std::size_t i = 0; i < given.w.size(); ++i)
        w[i] = real(given.w[i]);
      matrix.w = std::span(w).first(given.w.size());
      matrix.bias = real(given.bias);
      for (std::size_t i = 0; i < given.changes.size(); ++i) {
        changes[i] = given.changes[i];
        changes[i].a = real(given.changes[i].a);
        changes[i].b = real(given.changes[i].b);
      }
      matrix.changes = std::span(changes).first(given.changes.size());
    }
  };

  Tensor real(Tensor tensor) const noexcept {
    tensor.data = arena_.for_kernels(tensor.data);
    return tensor;
  }

  std::unique_ptr<Backend> inner_;
  const DeviceArena& arena_;
};

class FakeDevice final : public Device {
 public:
  // `memory_bytes` only bounds what is planned; 0 = unknown.
  explicit FakeDevice(Isa isa, std::uint64_t memory_bytes = 0)
      : cpu_(isa), info_{.name = "fake", .description = "fake/cpu", .memory_bytes = memory_bytes} {}

  const DeviceArena& arena() const noexcept { return arena_; }

  const DeviceInfo& info() const noexcept override { return info_; }

  std::size_t bytes_in_use() const noexcept override {
    return account_.bytes() + cpu_.bytes_in_use();
  }

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    return std::unique_ptr<Buffer>(std::make_unique<FakeBuffer>(arena_, account_, bytes));
  }

  Result<std::unique_ptr<Weight>> upload(const TensorView& tensor,
                                         const WeightTransform& fix) override {
    auto weight = std::make_unique<FakeWeight>();
    weight->bytes = std::make_unique<FakeBuffer>(arena_, account_, tensor.bytes.size());
    weight->bytes->write(0, tensor.bytes);
    TensorView copy = tensor;
    copy.bytes = {arena_.for_kernels(weight->bytes->data()), tensor.bytes.size()};
    WICK_TRY(weight->inner, cpu_.upload(copy, fix));
    weight->type = weight->inner->type;
    weight->shape = weight->inner->shape;
    return std::unique_ptr<Weight>(std::move(weight));
  }

  Result<std::unique_ptr<Backend>> create_backend(const BackendLimits& limits,
                                                  std::span<const RopeParams> ropes) override {
    std::vector<RopeParams> own;
    for (const RopeParams& rope : ropes)
      own.push_back(FakeBackend::real(rope));
    WICK_TRY(auto backend, cpu_.create_backend(limits, own));
    return std::unique_ptr<Backend>(std::make_unique<FakeBackend>(std::move(backend), arena_));
  }

  void copy_positions(const KvView& kv, std::int32_t from, std::int32_t to,
                      int n) noexcept override {
    cpu_.copy_positions(FakeBackend::real(kv, arena_), from, to, n);
  }

 private:
  CpuDevice cpu_;
  DeviceInfo info_;
  DeviceArena arena_ = {};
  MemoryAccount account_ = {};
};

}  // namespace wick::test
