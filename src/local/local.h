// The local provider: a model file, its tokenizer and chat template, and the engine with its
// thread. All functions may be called from several threads at once; concurrent answers share
// forward passes and never change each other. A model owned by a shared_ptr is kept alive by its
// answers; any other must outlive them.
//
//   WICK_TRY(const std::shared_ptr<LocalModel> model, LocalModel::open("model.gguf", {}));
//   WICK_TRY(const auto answer, model->start({.prompt = "Once"}));
#pragma once

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "backend/device_registry.h"
#include "engine/engine.h"
#include "format/metadata.h"
#include "format/model_file.h"
#include "local/adapters.h"
#include "local/chat_templates.h"
#include "local/counters.h"
#include "local/infill.h"
#include "local/output_formats.h"
#include "local/session_file.h"
#include "provider/provider.h"
#include "sample/sampler.h"
#include "wick/progress.h"

namespace wick {

struct LocalOptions {
  int threads = 0;  // 0 = all that this process may use
  // Devices of `devices` by name, "cuda:0,cpu", or "auto": the first one that starts. Layers are
  // placed on them in order, as many as fit each; or by tensor_split: "3,1".
  std::string device = "auto", tensor_split = {};
  DeviceRegistry* devices = nullptr;  // null = the shared devices of this process
  EngineOptions engine = {};
  std::filesystem::path draft_model = {};    // empty = none
  std::vector<AdapterOption> adapters = {};  // LoRA
  std::vector<FileId> inputs = {};           // further files that this program reads, for files()

  std::string chat_template = {};  // replaces the model's own
  // A model that may need more memory is refused before loading (id "memory_limit"). 0 = no limit.
  std::uint64_t memory_limit_bytes = 0;
  ProgressSink progress = {};  // of kLoad; may be empty, and must not throw
};

class LocalModel final : public Provider, public std::enable_shared_from_this<LocalModel> {
 public:
  // Loads and starts. The model's general.sampling.* hints become defaults. A model without a chat
  // template completes text and tokens; messages fail with id "no_chat_template". The last owner
  // may release it on any thread, also on the model's own (in a hook). A child of fork() has none
  // of the model's threads: there all requests fail (id "model_of_other_process"), and the model is
  // never destroyed.
  static Result<std::shared_ptr<LocalModel>> open(const std::filesystem::path& path,
                                                  const LocalOptions& options);
  ~LocalModel() override;  // cancels running answers
  LocalModel(const LocalModel&) = delete;
  LocalModel& operator=(const LocalModel&) = delete;

  std::string_view name() const noexcept override { return "local"; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake = {}) override;
  Result<RequestEstimate> estimate(const Request& request) override;
  Result<std::vector<ModelInfo>> models() override;
  Result<std::vector<AdapterInfo>> adapters(const std::string& model) override;
  Result<void> set_adapters(const std::string& model, std::span<const std::string> wanted) override;
  Result<std::vector<TokenId>> tokenize(const std::string& model, std::string_view text) override;
  Result<std::string> detokenize(const std::string& model, std::span<const TokenId> ids) override;
  Result<std::string> apply_template(const Request& request) override;
  Result<std::vector<TokenId>> prompt_tokens(const Request& request) override;
  Result<InfillPrompt> infill_prompt(const std::string& model, const Infill& gap) override;
  // BOS and EOS stand around a text where the model has them.
  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override;
  Result<std::vector<Embedding>> embed_tokens(const std::string& model,
                                              std::span<const std::vector<TokenId>> prompts,
                                              const EmbedOptions& options) override;
  Result<Statistics> statistics(const std::string& model) override;
  // provider/messages.h and local/session_file.h. A file that does not fit this model and its cache
  // types, or is damaged, is refused. The next answer then computes only what is new.
  Result<void> save_session(const std::string& path, std::span<const Message> messages) override;
  Result<std::vector<Message>> load_session(const std::string& path) override;
  // A session file that was written stays.
  Result<int> close_tenant(std::uint64_t tenant, bool wipe) override;

  ModelInfo info() const;

  const Tokenizer& tokenizer() const noexcept { return engine_->tokenizer(); }

  const Metadata& metadata() const noexcept { return file_.metadata(); }

  // The files that answers read, those of the draft model too, and LocalOptions::inputs: a session
  // must not replace them.
  std::vector<FileId> files() const;

  int context() const noexcept { return engine_->context(); }

  const ModelMemory& memory() const noexcept { return memory_; }

  std::vector<DeviceBytes> device_bytes() const { return engine_->device_bytes(); }

 private:
  struct Prepared;

  explicit LocalModel(ModelFile file) : file_(std::move(file)) {}

  static void release(LocalModel* model) noexcept;
  Result<void> check_caller() const;
  Result<void> check_files() const;
  Result<void> load_parts(const LocalOptions& options, std::vector<DeviceShare> devices);
  Result<MarkedText> render(Object context, std::stop_token stop = {}) const;
  Result<SessionKind> session_kind(std::span<const AdapterUse> uses);
  template <class Text, class Tokens>
  Result<std::vector<Embedding>> embed_all(std::span<const Text> texts, const EmbedOptions& options,
                                           const Tokens& tokens_of);
  Result<Prepared> prepare(const Request& request) const;
  // `must_fit`: into the context; a text that is far too long is then refused untokenized.
  Result<void> read_prompt(const Request& request, bool must_fit, Prepared& prepared) const;
  Result<void> check_length(std::string_view text) const;
  Result<void> prepare_split(const Generation& g, Prepared& prepared) const;
  Result<void> add_filter(const Generation& g, int max_tokens, Prepared& prepared) const;

  const pid_t process_ = ::getpid();
  ModelFile file_;
  std::optional<ModelFile> draft_file_;
  std::unique_ptr<Adapters> adapters_;
  std::vector<FileId> inputs_;
  std::unique_ptr<Engine> engine_;
  ModelMemory memory_ = {};
  std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  std::once_flag kind_once_;
  SessionKind kind_ = {};
  std::once_flag infill_once_;
  InfillTokens infill_tokens_ = {};
  std::unique_ptr<const ChatTemplates> templates_;
  mutable OutputFormats formats_;
  std::jthread thread_;
};

// Sampling settings that depend on the vocabulary: logit bias of texts, DRY sequence breakers.
Result<void> resolve_tokens(const Tokenizer& tokenizer, const Generation& settings,
                            SamplingParams& params);

// The sampling parameters of a request: its own settings, else the model file's, else
// SamplingParams{}; the seed is random unless it is set ("seed" is a key like the others). Errors
// name the key, the value and the range.
struct ResolvedSampling {
  SamplingParams params = {};
  std::vector<EffectiveParameter> effective = {};  // each parameter and its origin
};

Result<ResolvedSampling> resolve_sampling(const Metadata& meta, const Generation& settings);

// The origin of `key`: settings.origins, else "request", or "default" if nobody has set it.
std::string origin_of(const Generation& settings, std::string_view key, bool is_set = true);

// Parses a KV cache type: "q8_0", or "q8_0,q4_0" for keys and values.
struct KvTypes {
  KvType k = KvType::kBF16, v = KvType::kBF16;
};

Result<KvTypes> parse_kv_types(std::string_view text);

// Speculative decoding as program and library name it: "none", "ngram" or "draft". The draft model
// is a path or a name, which the caller finds.
struct Speculation {
  std::string_view kind = "none", draft_model = {};
  int draft_max = 0;  // 0 = 16, with a draft model 3
};

Result<void> set_speculation(const Speculation& wanted, EngineOptions& options);

// kInvalid, id "no_embedding_model": the file says neither by its architecture (an encoder) nor by
// pooling_type (llama.cpp's, or 1_Pooling of sentence-transformers) that its model embeds texts.
Result<void> check_embedding_model(const std::filesystem::path& path);

}  // namespace wick
