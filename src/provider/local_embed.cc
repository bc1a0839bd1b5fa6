// Texts as vectors.
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/strings.h"
#include "provider/local.h"

namespace wick {

namespace {

class Reader final : public DeltaSink {
 public:
  explicit Reader(int d_model) : values_(static_cast<std::size_t>(d_model)) {}

  bool offer(const TextDelta& delta) noexcept override {
    if (delta.stop == StopReason::kNone) return true;
    if (delta.embedding.size() == values_.size()) {
      std::copy(delta.embedding.begin(), delta.embedding.end(), values_.begin());
    }
    stop_ = delta.stop;
    usage_ = delta.usage;
    if (delta.error != nullptr) error_ = *delta.error;  // cold: the request has failed
    is_over_.store(true, std::memory_order_release);
    is_over_.notify_one();
    return true;
  }

  // Blocks until the engine has said its last word.
  Result<LocalModel::Embedding> take() {
    is_over_.wait(false, std::memory_order_acquire);
    if (stop_ == StopReason::kError) return error_;
    if (stop_ == StopReason::kCancelled) {
      return Error{
          .code = ErrorCode::kCancelled, .id = "cancelled", .message = "the request was cancelled"};
    }
    return LocalModel::Embedding{.values = std::move(values_), .usage = usage_};
  }

 private:
  std::vector<float> values_;
  StopReason stop_ = StopReason::kNone;
  Usage usage_ = {};
  Error error_ = {};
  std::atomic<bool> is_over_ = false;
};

Result<Pooling> pooling_of(const Metadata& meta, const std::string& wanted) {
  if (wanted == "mean") return Pooling::kMean;
  if (wanted == "first") return Pooling::kFirst;
  if (wanted == "last") return Pooling::kLast;
  if (!wanted.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_pooling",
                 .message = cat("pooling '", printable(wanted), "' is not mean, first or last")};
  }
  const auto arch = meta.string("general.architecture").value_or("");
  switch (meta.integer(cat(arch, ".pooling_type")).value_or(0)) {  // llama.cpp's numbers
    case 0:                                                        // unspecified
    case 1:
      return Pooling::kMean;
    case 2:
      return Pooling::kFirst;
    case 3:
      return Pooling::kLast;
    default:
      return Error{
          .code = ErrorCode::kUnsupported,
          .id = "bad_pooling",
          .message = cat("the model's pooling_type is ", *meta.integer(cat(arch, ".pooling_type")),
                         ", known are 1 (mean), 2 (first) and 3 (last)"),
          .hint = "say which pooling is wanted"};
  }
}

void normalise(std::vector<float>& values) {
  const double squares =
      std::accumulate(values.begin(), values.end(), 0.0, [](double sum, float value) {
        return sum + static_cast<double>(value) * static_cast<double>(value);
      });
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (float& value : values)
    value = static_cast<float>(static_cast<double>(value) * scale);
}

// Requests on their way; those that are left behind are cancelled.
class Pending {
 public:
  explicit Pending(Engine& engine) : engine_(&engine) {}

  ~Pending() { cancel(); }

  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  Result<void> add(GenerateRequest request) {
    auto reader = std::make_shared<Reader>(engine_->d_model());
    request.sink = reader;
    WICK_TRY(const RequestId id, engine_->submit(std::move(request)));
    ids_.push_back(id);
    readers_.push_back(std::move(reader));
    return {};
  }

  void cancel() noexcept {
    for (const RequestId id : ids_)
      engine_->cancel(id);
  }

  std::span<const std::shared_ptr<Reader>> readers() const noexcept { return readers_; }

 private:
  Engine* engine_;
  std::vector<RequestId> ids_ = {};
  std::vector<std::shared_ptr<Reader>> readers_ = {};
};

constexpr std::size_t kTogether = 64;  // texts in the queue at once

}  // namespace

Result<std::vector<LocalModel::Embedding>> LocalModel::embed(std::span<const std::string> texts,
                                                             const EmbedSettings& settings,
                                                             std::stop_token stop) {
  WICK_TRY(const Pooling pooling, pooling_of(metadata(), settings.pooling));
  std::vector<Embedding> out;
  for (; !texts.empty(); texts = texts.subspan(std::min(kTogether, texts.size()))) {
    Pending pending(*engine_);
    for (const std::string& text : texts.first(std::min(kTogether, texts.size()))) {
      GenerateRequest request{.tenant = settings.tenant,
                              .priority = settings.priority,
                              .time_limit_ms = settings.time_limit_ms,
                              .pooling = pooling};
      const auto prefix = tokenizer().prefix(), suffix = tokenizer().suffix();
      request.prompt.assign(prefix.begin(), prefix.end());
      const auto ids = tokenizer().encode_plain(text);
      request.prompt.insert(request.prompt.end(), ids.begin(), ids.end());
      request.prompt.insert(request.prompt.end(), suffix.begin(), suffix.end());
      WICK_DO(pending.add(std::move(request)));
    }
    const std::stop_callback cancel(stop, [&pending] { pending.cancel(); });
    for (const auto& reader : pending.readers()) {
      WICK_TRY(Embedding embedding, reader->take());
      if (settings.normalises) normalise(embedding.values);
      out.push_back(std::move(embedding));
    }
  }
  return out;
}

}  // namespace wick
