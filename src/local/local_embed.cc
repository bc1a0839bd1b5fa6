// Texts as vectors.
#include <algorithm>

#include "base/strings.h"
#include "base/unit_length.h"
#include "engine/pooling.h"
#include "local/local.h"

namespace wick {

namespace {

struct PoolingName {
  std::string_view name;  // EmbedOptions::pooling
  int number;             // llama.cpp's, in the file; 0 = unspecified
  Pooling pooling;
};

constexpr int kRankPooling = 4;

constexpr PoolingName kPoolings[] = {
    {"mean", 1, Pooling::kMean},   {"mean", 0, Pooling::kMean},
    {"first", 2, Pooling::kFirst}, {"cls", 2, Pooling::kFirst},  // llama.cpp's name
    {"last", 3, Pooling::kLast},   {"rank", kRankPooling, Pooling::kFirst}};

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

// What a model makes of a text: a vector, or as a cross-encoder its scores.
Result<void> check_kind(const DecoderSpec& spec, const EmbedOptions& options) {
  const bool ranks = spec.encoder && spec.encoder->classifier;
  if (!options.query.empty() && !ranks) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "no_cross_encoder",
                 .message =
                     "a query is given, but the model is no cross-encoder: it has no "
                     "classifier",
                 .hint = "rank with a reranker, or compare embeddings of query and texts"};
  }
  if (ranks && !options.pooling.empty() && options.pooling != "rank") {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_pooling",
                 .message = cat("pooling is '", printable(options.pooling),
                                "', of a cross-encoder only 'rank' is possible")};
  }
  return {};
}

Result<void> check_made_for_embeddings(const ModelFile& file, const DecoderSpec& spec) {
  const Metadata& meta = file.metadata();
  const auto arch = meta.string("general.architecture").value_or("");
  const auto number = meta.integer(cat(arch, ".pooling_type")).value_or(0);
  const bool ranks = number == kRankPooling || (spec.encoder && spec.encoder->classifier);
  if (!ranks && (spec.encoder || number != 0)) return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "no_embedding_model",
               .message = cat(printable(file.path().string()), " is ",
                              ranks ? "a cross-encoder" : "a chat model: it has no pooling_type",
                              ", wanted is an embedding model")};
}

constexpr std::size_t kTogether = 64;  // texts in the queue at once

}  // namespace

Result<void> check_embedding_model(const std::filesystem::path& path) {
  WICK_TRY(const ModelFile file, open_model(path));
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const DecoderSpec spec, arch->spec(file));
  return check_made_for_embeddings(file, spec);
}

// `tokens_of` makes the prompt of a text, and says where its second text begins.
template <class Text, class Tokens>
Result<std::vector<Embedding>> LocalModel::embed_all(std::span<const Text> texts,
                                                     const EmbedOptions& options,
                                                     const Tokens& tokens_of) {
  WICK_DO(check_caller());
  WICK_DO(check_files());
  WICK_DO(check_kind(engine_->spec(), options));
  const bool ranks = engine_->spec().encoder && engine_->spec().encoder->classifier;
  Pooling pooling = Pooling::kFirst;
  if (!ranks) {
    WICK_TRY(pooling, pooling_of(metadata(), options.pooling));
  }
  WICK_TRY(const std::vector<AdapterUse> adapters, adapters_->uses({}));
  std::vector<Embedding> out;
  for (; !texts.empty(); texts = texts.subspan(std::min(kTogether, texts.size()))) {
    if (options.cancel.stop_requested()) return request_cancelled();
    Pending pending{*engine_};
    for (const Text& text : texts.first(std::min(kTogether, texts.size()))) {
      EmbedRequest request{.pooling = pooling,
                           .adapters = adapters,
                           .tenant = options.tenant,
                           .client = options.client,
                           .priority = options.priority,
                           .time_limit_ms = options.time_limit_ms};
      WICK_TRY(request.prompt, tokens_of(text, request.second_begin));
      WICK_TRY(auto result, engine_->submit(std::move(request)));
      pending.results.push_back(std::move(result));
    }
    const std::stop_callback cancel(options.cancel, [&pending] { pending.cancel(); });
    for (const auto& result : pending.results) {
      WICK_TRY(Embedding embedding, result->wait());
      if (options.normalize && !ranks) scale_to_unit(embedding.values);
      out.push_back(std::move(embedding));
    }
  }
  return out;
}

// A query and a text as the models' tokenizers pair them: BERT's has one separator between them,
// RoBERTa's, without a second token type, two.
Result<std::vector<Embedding>> LocalModel::embed(const EmbedTexts& request) {
  const EmbedOptions& options = request.options;
  if (request.only_embedding_model) WICK_DO(check_made_for_embeddings(file_, engine_->spec()));
  using Ids = std::vector<TokenId>;
  const auto prefix = tokenizer().prefix(), suffix = tokenizer().suffix();
  const auto append = [](Ids& to, std::span<const TokenId> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  Ids begin(prefix.begin(), prefix.end());
  int second = 0;
  if (!options.query.empty()) {
    WICK_TRY(const Ids query, tokenizer().encode_plain(options.query));
    append(begin, query);
    append(begin, suffix);
    const auto& encoder = engine_->spec().encoder;
    if (encoder && encoder->n_types == 1) append(begin, suffix);
    second = static_cast<int>(begin.size());
  }
  return embed_all(request.texts, options, [&](const std::string& text, int& at) -> Result<Ids> {
    at = second;
    Ids ids = begin;
    WICK_TRY(const Ids middle, tokenizer().encode_plain(text));
    append(ids, middle);
    append(ids, suffix);
    return ids;
  });
}

Result<std::vector<Embedding>> LocalModel::embed_tokens(
    const std::string& /*model*/, std::span<const std::vector<TokenId>> prompts,
    const EmbedOptions& options) {
  if (!options.query.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_query",
                 .message = "a query ranks texts, token ids are used as they are"};
  }
  return embed_all(
      prompts, options,
      [](const std::vector<TokenId>& ids, int&) -> Result<std::vector<TokenId>> { return ids; });
}

}  // namespace wick
