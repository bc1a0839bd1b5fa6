// The local provider: a model file, its tokenizer and chat template, and the engine with its
// thread. Everything here may be called from several threads at once; answers share forward passes
// and never influence each other. A RunningAnswer must not outlive the model it came from.
//
//   WICK_TRY(const auto model, LocalModel::open("model.gguf", {}));
//   WICK_TRY(const auto answer, model->begin({.prompt = "Once"}, {}));    // pull
//   WICK_DO(model->complete({.prompt = "Once"}, sink, stop));             // or a callback
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "format/metadata.h"
#include "format/model_file.h"
#include "provider/chat_templates.h"
#include "provider/provider.h"
#include "provider/running_answer.h"
#include "provider/session_file.h"
#include "sample/sampler.h"

namespace wick {

struct LocalOptions {
  int threads = 0;  // 0 = what this process may use
  EngineOptions engine = {};
  std::filesystem::path draft_model = {};  // guesses tokens ahead; empty = none
  std::string chat_template = {};          // instead of the model's own
  // A model that may need more is refused before any of it is touched (id "memory_limit"). 0 =
  // none.
  std::uint64_t memory_limit_bytes = 0;
};

// What a loaded model takes at most: weights, which lie in the mapped file and can be given back to
// the system; the cache once it is full; activations, tables and the index of the cache once the
// longest prompt has gone through. A draft model has all of these, too. Besides come the tokenizer
// and the requests' own texts.
struct LocalMemory {
  std::uint64_t weight_bytes = 0, cache_bytes = 0, scratch_bytes = 0;
  std::uint64_t draft_weight_bytes = 0, draft_cache_bytes = 0, draft_scratch_bytes = 0;

  std::uint64_t draft_bytes() const noexcept {
    return draft_weight_bytes + draft_cache_bytes + draft_scratch_bytes;
  }

  std::uint64_t total() const noexcept {
    return weight_bytes + cache_bytes + scratch_bytes + draft_bytes();
  }
};

class LocalModel final : public Provider {
 public:
  // Loads and starts. The model's general.sampling.* hints become defaults. A model without a chat
  // template answers completions; chats then fail with id "no_chat_template".
  static Result<std::unique_ptr<LocalModel>> open(const std::filesystem::path& path,
                                                  const LocalOptions& options);
  ~LocalModel() override;  // what runs ends as cancelled
  LocalModel(const LocalModel&) = delete;
  LocalModel& operator=(const LocalModel&) = delete;

  std::string_view name() const noexcept override { return "local"; }

  std::vector<ModelInfo> models() const override;
  Result<void> chat(const ChatRequest& request, const EventSink& sink,
                    std::stop_token stop) override;
  Result<void> complete(const CompletionRequest& request, const EventSink& sink,
                        std::stop_token stop) override;

  // The same, to be read piece by piece. `editor` may be null.
  Result<std::unique_ptr<RunningAnswer>> begin(const ChatRequest& request,
                                               std::shared_ptr<LogitsEditor> editor = {});
  Result<std::unique_ptr<RunningAnswer>> begin(const CompletionRequest& request,
                                               std::shared_ptr<LogitsEditor> editor = {});

  // What the request would take if it ran now (GenerateRequest::only_plans). Refused as it would
  // be itself.
  Result<RequestPlan> plan(const ChatRequest& request);
  Result<RequestPlan> plan(const CompletionRequest& request);

  // A vector of d_model values for each text, all of them computed together; `pooling` empty: as
  // the file says (its pooling_type), else "mean". BOS and EOS stand around a text where the model
  // has them. A stop request ends with kCancelled.
  struct EmbedSettings {
    std::string pooling = {};  // "mean", "first", "last"
    bool normalises = true;    // to length 1
    std::uint64_t tenant = 0;
    int priority = 0;
    int time_limit_ms = 0;
  };

  struct Embedding {
    std::vector<float> values = {};
    Usage usage = {};
  };

  Result<std::vector<Embedding>> embed(std::span<const std::string> texts,
                                       const EmbedSettings& settings, std::stop_token stop = {});

  // A conversation (messages as templates know them) and what the cache holds of its text, to a
  // file and back (provider/session_file.h). A file that does not fit this model and its cache
  // types, or is damaged, is refused. The next answer then computes only what is new.
  Result<void> save_session(const std::filesystem::path& path, const Array& messages);
  Result<Array> load_session(const std::filesystem::path& path);

  // Engine::close_tenant(). A session file that was written stays.
  int close_tenant(std::uint64_t tenant, bool wipes) {
    return engine_->close_tenant(tenant, wipes);
  }

  const Tokenizer& tokenizer() const noexcept { return engine_->tokenizer(); }

  const Metadata& metadata() const noexcept { return file_.metadata(); }

  int context() const noexcept { return engine_->context(); }

  LocalMemory memory() const noexcept { return memory_; }

 private:
  LocalModel(ModelFile file, std::unique_ptr<Backend> backend);
  Result<void> start(const LocalOptions& options);
  Result<std::unique_ptr<DraftModel>> load_draft(const LocalOptions& options,
                                                 const DecoderSpec& spec,
                                                 const Tokenizer& tokenizer);
  Result<std::vector<TokenId>> render(Object context) const;
  const SessionKind& session_kind();
  Result<GenerateRequest> prepare(const ChatRequest& request) const;
  GenerateRequest prepare(const CompletionRequest& request) const;
  Result<RequestPlan> plan(GenerateRequest generate, const GenerationSettings& settings);
  Result<std::unique_ptr<RunningAnswer>> submit(GenerateRequest generate,
                                                const GenerationSettings& settings,
                                                std::shared_ptr<LogitsEditor> editor);

  ModelFile file_;
  std::unique_ptr<Backend> backend_;
  std::optional<ModelFile> draft_file_;
  std::unique_ptr<Backend> draft_backend_;
  std::unique_ptr<Engine> engine_;
  LocalMemory memory_ = {};
  std::once_flag kind_once_;
  SessionKind kind_ = {};
  std::unique_ptr<const ChatTemplates> templates_;
  std::jthread thread_;
};

// What of the sampling depends on the vocabulary: biases of texts, and where DRY stops comparing.
Result<void> resolve_tokens(const Tokenizer& tokenizer, const GenerationSettings& settings,
                            SamplingParams& params);

// What sampling a request gets: its own settings, else the file's hints, else SamplingParams{}; the
// seed is random unless it is set ("seed" is a key like the others). Errors name the key, the value
// and the range.
struct ResolvedSampling {
  SamplingParams params = {};
  std::vector<EffectiveParameter> effective = {};  // each parameter and who set it
};

Result<ResolvedSampling> resolve_sampling(const Metadata& meta, const GenerationSettings& settings);

// Who set `key`: what settings.origins says, else "request".
std::string origin_of(const GenerationSettings& settings, std::string_view key);

// "q8_0", or "q8_0,q4_0" for keys and values apart: the numbers that a cache may hold.
struct KvTypes {
  KvType k = KvType::kBF16, v = KvType::kBF16;
};

Result<KvTypes> parse_kv_types(std::string_view text);

}  // namespace wick
