#include "provider/local.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "base/ring.h"
#include "base/strings.h"
#include "chat/chat_template.h"
#include "format/model_file.h"
#include "model/decoder.h"

namespace wick {

namespace {

constexpr std::size_t kRingBytes = 1 << 16;

// Text on its way from the engine's thread to the one that waits in chat(). The last delta's facts
// are written before the ring is closed and read after it, which orders them.
class Stream final : public DeltaSink {
 public:
  bool offer(const TextDelta& delta) noexcept override {
    if (!delta.text.empty() && !ring_.write(delta.text)) return false;
    if (delta.stop == StopReason::kNone) return true;
    stop_ = delta.stop;
    usage_ = delta.usage;
    if (delta.error != nullptr) error_ = *delta.error;  // cold: the request has failed
    ring_.close();
    return true;
  }

  // Hands text to `sink` until the engine has closed the stream.
  void drain(const EventSink& sink) {
    std::string text;
    for (;;) {
      ring_.wait();
      text.clear();
      const bool goes_on = ring_.read(text);
      if (!text.empty()) sink(TextEvent{text});
      if (!goes_on) return;
    }
  }

  DoneEvent done() const { return {.stop = stop_, .usage = usage_}; }

  const Error& error() const { return error_; }

 private:
  ByteRing ring_{kRingBytes};
  StopReason stop_ = StopReason::kNone;
  Usage usage_ = {};
  Error error_ = {};
};

class LocalProvider final : public Provider {
 public:
  LocalProvider(ModelFile file, std::unique_ptr<Backend> backend)
      : file_(std::move(file)), backend_(std::move(backend)) {}

  ~LocalProvider() override {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }

  LocalProvider(const LocalProvider&) = delete;
  LocalProvider& operator=(const LocalProvider&) = delete;

  Result<void> start(const LocalOptions& options) {
    EngineOptions engine = options.engine;
    const DecoderOptions sizes{.max_batch_tokens = std::max(engine.prefill_chunk, engine.max_seqs),
                               .max_logit_rows = engine.max_seqs,
                               .context = engine.context,
                               .max_seqs = engine.max_seqs};
    WICK_TRY(Decoder decoder, Decoder::load(file_, *backend_, sizes));
    WICK_TRY(auto tokenizer, Tokenizer::from(file_.metadata()));
    if (tokenizer->size() > decoder.spec().vocab) {
      return Error{
          .code = ErrorCode::kCorrupt,
          .id = "vocabulary_mismatch",
          .message = cat(printable(file_.path().string()), ": the tokenizer has ",
                         tokenizer->size(), " tokens, the model has ", decoder.spec().vocab)};
    }
    WICK_TRY(engine_, Engine::create(std::move(decoder), *backend_, std::move(tokenizer), engine));
    template_text_ = options.chat_template;
    if (template_text_.empty()) {
      template_text_ = file_.metadata().string("tokenizer.chat_template").value_or("");
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { engine_->run(stop); });
    return {};
  }

  std::string_view name() const noexcept override { return "local"; }

  std::vector<ModelInfo> models() const override {
    const auto title = file_.metadata().string("general.name");
    return {{.id = title ? std::string(*title) : file_.path().stem().string(),
             .context = engine_->context()}};
  }

  Result<void> chat(const ChatRequest& request, const EventSink& sink,
                    std::stop_token stop) override {
    if (template_text_.empty()) {
      return Error{.code = ErrorCode::kUnsupported,
                   .id = "no_chat_template",
                   .message = cat(printable(file_.path().string()), " carries no chat template"),
                   .hint = "complete plain text with: wick run -m MODEL -p TEXT"};
    }
    WICK_TRY(const ChatTemplate* const tmpl, chat_template());
    Object context = request.input;
    add_special_tokens(context);
    if (context.find("add_generation_prompt") == nullptr) context["add_generation_prompt"] = true;
    WICK_TRY(const MarkedText prompt, tmpl->render(context));
    GenerateRequest generate;
    tokenizer().encode(prompt, generate.prompt);
    return answer(std::move(generate), request.settings, sink, std::move(stop));
  }

  Result<void> complete(const CompletionRequest& request, const EventSink& sink,
                        std::stop_token stop) override {
    GenerateRequest generate{.is_continuing = !request.prompt.empty()};
    const auto prefix = tokenizer().prefix();
    generate.prompt.assign(prefix.begin(), prefix.end());
    MarkedText text;
    text.append(request.prompt, false);
    tokenizer().encode(text, generate.prompt);
    return answer(std::move(generate), request.settings, sink, std::move(stop));
  }

 private:
  const Tokenizer& tokenizer() const noexcept { return engine_->tokenizer(); }

  // Compiled at the first chat: a completion does not need it, and a template that cannot be
  // compiled does not spoil one.
  Result<const ChatTemplate*> chat_template() {
    std::call_once(template_once_, [this] { template_ = ChatTemplate::parse(template_text_); });
    if (!*template_) return template_->error();
    return &**template_;
  }

  // bos_token and eos_token: the texts that templates expect under these names.
  void add_special_tokens(Object& context) const {
    const auto set = [&](std::string_view key, TokenId id) {
      if (context.find(key) == nullptr && id >= 0)
        context[key] = std::string(tokenizer().bytes(id));
    };
    set("bos_token", tokenizer().bos());
    set("eos_token", tokenizer().eos());
  }

  Result<void> answer(GenerateRequest generate, const GenerationSettings& settings,
                      const EventSink& sink, std::stop_token stop) {
    WICK_TRY(generate.sampling, resolve_sampling(file_.metadata(), settings));
    generate.max_tokens = settings.max_tokens;
    generate.stops = settings.stops;
    const auto stream = std::make_shared<Stream>();
    generate.sink = stream;
    WICK_TRY(const RequestId id, engine_->submit(std::move(generate)));
    {
      const std::stop_callback cancel(stop, [this, id] { engine_->cancel(id); });
      stream->drain(sink);
    }
    if (stream->done().stop == StopReason::kError) return stream->error();
    sink(stream->done());
    return {};
  }

  ModelFile file_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Engine> engine_;
  std::string template_text_;
  std::once_flag template_once_;
  std::optional<Result<ChatTemplate>> template_;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<Provider>> open_local(const std::filesystem::path& path,
                                             const LocalOptions& options) {
  WICK_TRY(ModelFile file, ModelFile::open(path));
  WICK_TRY(auto backend, make_cpu_backend({.threads = options.threads}));
  auto provider = std::make_unique<LocalProvider>(std::move(file), std::move(backend));
  WICK_DO(provider->start(options));
  return std::unique_ptr<Provider>(std::move(provider));
}

}  // namespace wick
