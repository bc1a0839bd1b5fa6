// An engine over a tiny model, readers that keep what they were given, requests made of noise, and
// a device that counts, fails and interrupts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "format/model_file.h"
#include "model/placed_test.h"
#include "support/temp_dir.h"
#include "support/test_device.h"
#include "support/tiny_model.h"

namespace wick {

// Takes everything, or only so many deltas until it is told to go on.
struct Reader final : DeltaSink {
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<IdLogprob> logprobs, prompt_scores;
  std::optional<TextDelta> last;
  std::string error;
  std::atomic<int> room = 1 << 30;  // tests set it while the engine runs

  Reader() {  // offers are hot
    text.reserve(1 << 16);
    tokens.reserve(1 << 13);
    logprobs.reserve(1 << 13);
  }

  std::atomic<bool> is_gone = false;
  std::atomic<bool> is_over = false;  // `last` is there, for another thread

  bool is_closed() const noexcept override { return is_gone; }

  bool offer(const TextDelta& delta) noexcept override {
    if (room == 0) return false;
    --room;
    text += delta.text;
    tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    logprobs.insert(logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
    if (delta.finish != FinishReason::kNone) {
      if (delta.error != nullptr) error = delta.error->id;
      last = delta;
      last->text = {};
      last->tokens = {};
      last->logprobs = {};
      last->error = nullptr;
      is_over = true;
    }
    return true;
  }
};

// Does what another device does; tells the tokens of each pass, and lets a test step in.
class WatchedDevice final : public Device {
 public:
  int passes = 0;      // begun
  int ops = 0;         // in all passes
  int n_tokens = 0;    // in all passes
  int n_logits = 0;    // rows, in all passes
  int fails_sync = 0;  // so many next passes end with this error
  Error failure = {
      .code = ErrorCode::kDevice, .id = "device_lost", .message = "the device is gone"};
  bool spoils_logits = false;
  std::function<void()> before_op = {};
  std::vector<Buffer*> buffers = {};       // all that were allocated
  std::set<const std::byte*> caches = {};  // where layers' keys begin

  const DeviceInfo& info() const noexcept override { return inner_->info(); }

  std::size_t bytes_in_use() const noexcept override { return inner_->bytes_in_use(); }

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    auto buffer = inner_->allocate(bytes);
    if (buffer) buffers.push_back(buffer->get());
    return buffer;
  }

  Result<std::unique_ptr<Weight>> upload(const TensorView& tensor,
                                         const WeightTransform& fix) override {
    return inner_->upload(tensor, fix);
  }

  Result<std::unique_ptr<Backend>> create_backend(const BackendLimits& limits,
                                                  std::span<const RopeParams> ropes) override;

  void copy_positions(const KvView& kv, std::int32_t from, std::int32_t to,
                      int n) noexcept override {
    inner_->copy_positions(kv, from, to, n);
  }

  void watch() {
    ++ops;
    if (before_op) before_op();
  }

  // NaN wherever logits were.
  void spoil(const Tensor& y) {
    const auto* const address = reinterpret_cast<const std::byte*>(y.data);
    const std::vector<float> nans(
        static_cast<std::size_t>(y.rows) * static_cast<std::size_t>(y.cols), std::nanf(""));
    for (Buffer* buffer : buffers) {
      if (address < buffer->data() || address >= buffer->data() + buffer->bytes()) continue;
      buffer->write(static_cast<std::size_t>(address - buffer->data()),
                    std::as_bytes(std::span(nans)));
      return;
    }
  }

 private:
  std::unique_ptr<Device> inner_ = test::make_device();
};

class WatchedBackend final : public Backend {
 public:
  WatchedBackend(std::unique_ptr<Backend> inner, WatchedDevice& watch)
      : inner_(std::move(inner)), watch_(watch) {}

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
    ++watch_.passes;
    watch_.n_tokens += static_cast<int>(ids.size());
    watch_.watch();
    inner_->embed(y, table, ids, step);
  }

  void linear(Tensor y, Tensor x, const Linear& step) noexcept override {
    watch_.watch();
    inner_->linear(y, x, step);
  }

  void qkv(Tensor q, Tensor x, const Linear& step, const QkNormRope& head, const KvView& kv,
           const Batch& batch) noexcept override {
    watch_.watch();
    watch_.caches.insert(kv.k);
    inner_->qkv(q, x, step, head, kv, batch);
  }

  void linear_heads(Tensor y, Tensor x, const HeadLinear& step) noexcept override {
    watch_.watch();
    inner_->linear_heads(y, x, step);
  }

  void latent(Tensor q, Tensor x, Tensor c, const QkNormRope& head, const KvView& kv,
              const Batch& batch) noexcept override {
    watch_.watch();
    inner_->latent(q, x, c, head, kv, batch);
  }

  void attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
              const AttendParams& p) noexcept override {
    watch_.watch();
    inner_->attend(y, q, kv, batch, p);
  }

  void delta(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
             const Batch& batch) noexcept override {
    watch_.watch();
    inner_->delta(y, x, p, states, batch);
  }

  void experts(Tensor y, Tensor x, const ExpertStep& step) noexcept override {
    watch_.watch();
    inner_->experts(y, x, step);
  }

  void logits(Tensor y, Tensor x, const Linear& head, std::span<const int> rows) noexcept override {
    watch_.watch();
    watch_.n_logits += static_cast<int>(rows.size());
    inner_->logits(y, x, head, rows);
    if (watch_.spoils_logits) watch_.spoil(y);
  }

  void normalize(Tensor y, Tensor x, const Normalize& step) noexcept override {
    watch_.watch();
    inner_->normalize(y, x, step);
  }

  Result<void> sync() override {
    if (watch_.fails_sync > 0) {
      --watch_.fails_sync;
      return watch_.failure;
    }
    return inner_->sync();
  }

 private:
  std::unique_ptr<Backend> inner_;
  WatchedDevice& watch_;
};

inline Result<std::unique_ptr<Backend>> WatchedDevice::create_backend(
    const BackendLimits& limits, std::span<const RopeParams> ropes) {
  WICK_TRY(auto backend, inner_->create_backend(limits, ropes));
  return std::unique_ptr<Backend>(std::make_unique<WatchedBackend>(std::move(backend), *this));
}

// Goes forward when a test says so.
struct HandClock final : Clock {
  std::atomic<std::int64_t> ns = 1'000'000'000;

  std::int64_t now_ns() const noexcept override { return ns; }

  void advance_ms(std::int64_t ms) noexcept { ns += ms * 1'000'000; }
};

// `request`, and the logprobs of its prompt with it.
inline ScoreRequest scored(GenerateRequest request, const std::shared_ptr<Reader>& reader) {
  request.sink = reader;
  return {.generate = std::move(request), .logprobs = {reader, &reader->prompt_scores}};
}

struct Fixture {
  test::TempDir dir;
  std::optional<ModelFile> file;
  std::unique_ptr<WatchedDevice> device;
  std::unique_ptr<Device> second;
  std::unique_ptr<Engine> engine;

  // `parts`: of a placement over the watched device and another one.
  explicit Fixture(const EngineOptions& options = {}, int threads = 1, int chunk = 512,
                   const test::TinyModel& model = {}, const std::vector<int>& parts = {}) {
    test::write_tiny_model(dir.path() / "tiny.gguf", model);
    file = *open_model(dir.path() / "tiny.gguf");
    device = std::make_unique<WatchedDevice>();
    if (!parts.empty()) second = std::make_unique<test::FakeDevice>(*choose_isa());
    auto decoder = Decoder::load(*file, test::placed(*device, second.get(), parts),
                                 {.max_batch_tokens = std::max(chunk, options.max_seqs),
                                  .max_logit_rows = options.max_seqs + options.draft_max,
                                  .max_seqs = options.max_seqs,
                                  .threads = threads});
    engine = *Engine::create(*std::move(decoder), *Tokenizer::from(file->metadata()), options);
  }

  std::shared_ptr<Reader> submit(GenerateRequest request, RequestId* id = nullptr) {
    auto reader = std::make_shared<Reader>();
    request.sink = reader;
    auto result = engine->submit(std::move(request));
    EXPECT_TRUE(result) << result.error().message;
    if (id != nullptr && result) *id = *result;
    return reader;
  }

  // Calls that wait for the engine's thread need one. It does not end as run() does, which cancels.
  template <class Call>
  auto beside_steps(const Call& call) {
    const std::jthread thread([&](const std::stop_token& stop) {
      while (!stop.stop_requested())
        engine->step();
    });
    return call();
  }

  void finish() {
    while (engine->step()) {
    }
  }

  std::string alone(GenerateRequest request) {
    const auto reader = submit(std::move(request));
    finish();
    EXPECT_TRUE(reader->last);
    return reader->text;
  }
};

inline std::vector<TokenId> prompt(int n, int seed) {
  std::vector<TokenId> ids;
  for (int i = 0; i < n; ++i)
    ids.push_back((i * 37 + seed * 101) % 256);
  return ids;
}

inline GenerateRequest request(int n_prompt, int seed, int max_tokens) {
  return {.prompt = prompt(n_prompt, seed),
          .max_tokens = max_tokens,
          .sampling = {.temperature = 0.9F, .seed = static_cast<std::uint64_t>(seed)},
          .ignore_end = true};
}

}  // namespace wick
