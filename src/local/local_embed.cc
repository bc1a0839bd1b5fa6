// Texts as vectors.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/strings.h"
#include "local/local.h"

namespace wick {

namespace {

struct PoolingName {
  std::string_view name;  // EmbedOptions::pooling
  int number;             // llama.cpp's, in the file; 0 = unspecified
  Pooling pooling;
};

constexpr PoolingName kPoolings[] = {{"mean", 1, Pooling::kMean},
                                     {"mean", 0, Pooling::kMean},
                                     {"first", 2, Pooling::kFirst},
                                     {"cls", 2, Pooling::kFirst},  // llama.cpp's name
                                     {"last", 3, Pooling::kLast}};

Result<Pooling> pooling_of(const Metadata& meta, const std::string& wanted) {
  const auto arch = meta.string("general.architecture").value_or("");
  const auto number = meta.integer(cat(arch, ".pooling_type")).value_or(0);
  for (const PoolingName& row : kPoolings) {
    if (wanted.empty() ? row.number == number : row.name == wanted) return row.pooling;
  }
  if (wanted.empty()) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "bad_pooling",
                 .message = cat("the model's pooling_type is ", number,
                                ", known are 1 (mean), 2 (first) and 3 (last)"),
                 .hint = "say which pooling is wanted"};
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_pooling",
               .message = cat("pooling '", printable(wanted), "' is not mean, first or last")};
}

void normalize(std::vector<float>& values) {
  const double squares =
      std::accumulate(values.begin(), values.end(), 0.0, [](double sum, float value) {
        return sum + static_cast<double>(value) * static_cast<double>(value);
      });
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (float& value : values)
    value = static_cast<float>(static_cast<double>(value) * scale);
}

// Requests on their way; those that are left behind are cancelled.
struct Pending {
  Engine& engine;
  std::vector<std::shared_ptr<EmbedResult>> results = {};

  ~Pending() { cancel(); }

  void cancel() const noexcept {
    for (const auto& result : results)
      engine.cancel(result->id());
  }
};

constexpr std::size_t kTogether = 64;  // texts in the queue at once

}  // namespace

// `tokens_of` makes the prompt of a text.
template <class Text, class Tokens>
Result<std::vector<Embedding>> LocalModel::embed_all(std::span<const Text> texts,
                                                     const EmbedOptions& options,
                                                     const Tokens& tokens_of) {
  WICK_DO(check_caller());
  WICK_DO(check_files());
  WICK_TRY(const Pooling pooling, pooling_of(metadata(), options.pooling));
  WICK_TRY(const std::vector<AdapterUse> adapters, adapters_->uses({}));
  std::vector<Embedding> out;
  for (; !texts.empty(); texts = texts.subspan(std::min(kTogether, texts.size()))) {
    Pending pending{*engine_};
    for (const Text& text : texts.first(std::min(kTogether, texts.size()))) {
      EmbedRequest request{.pooling = pooling,
                           .adapters = adapters,
                           .tenant = options.tenant,
                           .priority = options.priority,
                           .time_limit_ms = options.time_limit_ms};
      WICK_TRY(request.prompt, tokens_of(text));
      WICK_TRY(auto result, engine_->submit(std::move(request)));
      pending.results.push_back(std::move(result));
    }
    const std::stop_callback cancel(options.cancel, [&pending] { pending.cancel(); });
    for (const auto& result : pending.results) {
      WICK_TRY(Embedding embedding, result->wait());
      if (options.normalize) normalize(embedding.values);
      out.push_back(std::move(embedding));
    }
  }
  return out;
}

Result<std::vector<Embedding>> LocalModel::embed(const std::string& /*model*/,
                                                 std::span<const std::string> texts,
                                                 const EmbedOptions& options) {
  return embed_all(texts, options, [this](const std::string& text) -> Result<std::vector<TokenId>> {
    const auto prefix = tokenizer().prefix(), suffix = tokenizer().suffix();
    std::vector<TokenId> ids(prefix.begin(), prefix.end());
    WICK_TRY(const auto middle, tokenizer().encode_plain(text));
    ids.insert(ids.end(), middle.begin(), middle.end());
    ids.insert(ids.end(), suffix.begin(), suffix.end());
    return ids;
  });
}

Result<std::vector<Embedding>> LocalModel::embed_tokens(
    const std::string& /*model*/, std::span<const std::vector<TokenId>> prompts,
    const EmbedOptions& options) {
  return embed_all(
      prompts, options,
      [](const std::vector<TokenId>& ids) -> Result<std::vector<TokenId>> { return ids; });
}

}  // namespace wick
