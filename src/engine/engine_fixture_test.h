// An engine over a tiny model, readers that keep what they were given, requests made of noise, and
// a backend that counts, fails and interrupts.
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
#include <vector>

#include "engine/engine.h"
#include "format/model_file.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {

// Takes everything, or only so many deltas until it is told to go on.
struct Reader final : DeltaSink {
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<TokenScore> scores, prompt_scores;
  std::optional<TextDelta> last;
  std::string error;
  std::atomic<int> room = 1 << 30;  // tests set it while the engine runs

  Reader() {  // offers are hot
    text.reserve(1 << 16);
    tokens.reserve(1 << 13);
    scores.reserve(1 << 13);
    prompt_scores.reserve(1 << 13);
    embedding.reserve(1 << 10);
  }

  std::atomic<bool> is_gone = false;
  std::optional<RequestPlan> plan = {};
  std::vector<float> embedding;

  bool is_closed() const noexcept override { return is_gone; }

  bool offer(const TextDelta& delta) noexcept override {
    if (room == 0) return false;
    --room;
    text += delta.text;
    tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    scores.insert(scores.end(), delta.scores.begin(), delta.scores.end());
    if (delta.stop != StopReason::kNone) {
      if (delta.error != nullptr) error = delta.error->id;
      if (delta.plan != nullptr) plan = *delta.plan;
      embedding.assign(delta.embedding.begin(), delta.embedding.end());
      prompt_scores.assign(delta.prompt_scores.begin(), delta.prompt_scores.end());
      last = delta;
      last->text = {};
      last->tokens = {};
      last->scores = last->prompt_scores = {};
      last->error = nullptr;
      last->plan = nullptr;
      last->embedding = {};
    }
    return true;
  }
};

// Does what another backend does; tells the tokens of each pass, and lets a test step in.
class WatchedBackend final : public Backend {
 public:
  explicit WatchedBackend(int threads) : inner_(*make_cpu_backend({.threads = threads})) {}

  int passes = 0;      // begun
  int verbs = 0;       // in all passes
  int n_tokens = 0;    // in all passes
  int n_logits = 0;    // rows, in all passes
  int fails_sync = 0;  // so many next passes end with this error
  Error failure = {
      .code = ErrorCode::kDevice, .id = "device_lost", .message = "the device is gone"};
  bool spoils_logits = false;
  std::function<void()> before_verb = {};
  std::vector<std::span<const std::byte>> buffers = {};  // all that were allocated
  std::set<const std::byte*> caches = {};                // where layers' keys begin

  std::string_view name() const noexcept override { return inner_->name(); }

  int threads() const noexcept override { return inner_->threads(); }

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    auto buffer = inner_->allocate(bytes);
    if (buffer) buffers.emplace_back((*buffer)->data(), (*buffer)->bytes());
    return buffer;
  }

  Result<std::unique_ptr<Weight>> upload(const TensorView& tensor, const WeightFix& fix) override {
    return inner_->upload(tensor, fix);
  }

  Result<void> prepare(const BackendLimits& limits, std::span<const RopeParams> ropes) override {
    return inner_->prepare(limits, ropes);
  }

  std::size_t scratch_bytes() const noexcept override { return inner_->scratch_bytes(); }

  void embed(Tensor y, const Weight& table, std::span<const TokenId> ids,
             float scale) noexcept override {
    ++passes;
    n_tokens += static_cast<int>(ids.size());
    watch();
    inner_->embed(y, table, ids, scale);
  }

  void linear(Tensor y, Tensor x, const Linear& step) noexcept override {
    watch();
    inner_->linear(y, x, step);
  }

  void qkv(Tensor q, Tensor x, const Linear& step, const HeadStep& head, const KvView& kv,
           const Batch& batch) noexcept override {
    watch();
    caches.insert(kv.k);
    inner_->qkv(q, x, step, head, kv, batch);
  }

  void attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
              const AttendParams& p) noexcept override {
    watch();
    inner_->attend(y, q, kv, batch, p);
  }

  void logits(Tensor y, Tensor x, const Linear& head, std::span<const int> rows) noexcept override {
    watch();
    n_logits += static_cast<int>(rows.size());
    inner_->logits(y, x, head, rows);
    if (!spoils_logits) return;
    for (int row = 0; row < y.rows; ++row)
      std::fill_n(y.data + std::ptrdiff_t{row} * y.row_stride, y.cols, std::nanf(""));
  }

  void normalise(Tensor x, const Weight& gain, const NormParams& norm) noexcept override {
    watch();
    inner_->normalise(x, gain, norm);
  }

  Result<void> sync() override {
    if (fails_sync > 0) {
      --fails_sync;
      return failure;
    }
    return inner_->sync();
  }

 private:
  void watch() {
    ++verbs;
    if (before_verb) before_verb();
  }

  std::unique_ptr<Backend> inner_;
};

struct Fixture {
  test::TempDir dir;
  std::optional<ModelFile> file;
  std::unique_ptr<WatchedBackend> backend;
  std::unique_ptr<Engine> engine;

  explicit Fixture(const EngineOptions& options = {}, int threads = 1, int chunk = 512,
                   const test::TinyModel& model = {}) {
    test::write_tiny_model(dir.path() / "tiny.gguf", model);
    file = *ModelFile::open(dir.path() / "tiny.gguf");
    backend = std::make_unique<WatchedBackend>(threads);
    auto decoder = Decoder::load(*file, *backend,
                                 {.max_batch_tokens = std::max(chunk, options.max_seqs),
                                  .max_logit_rows = options.max_seqs + options.draft_max,
                                  .max_seqs = options.max_seqs});
    engine =
        *Engine::create(*std::move(decoder), *backend, *Tokenizer::from(file->metadata()), options);
  }

  std::shared_ptr<Reader> submit(GenerateRequest request, RequestId* id = nullptr) {
    auto reader = std::make_shared<Reader>();
    request.sink = reader;
    auto result = engine->submit(std::move(request));
    EXPECT_TRUE(result) << result.error().message;
    if (id != nullptr && result) *id = *result;
    return reader;
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
