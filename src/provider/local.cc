#include "provider/local.h"

#include <algorithm>

#include "base/memory_door.h"
#include "base/strings.h"
#include "model/decoder.h"

namespace wick {

namespace {

// Rows of logits a step, besides one for each sequence: those of prompts.
constexpr int kScoredRows = 7;

// Until here all but the tokenizer is address space: nothing has been touched.
Result<void> check_limit(const LocalMemory& memory, std::uint64_t limit) {
  if (limit == 0 || memory.total() <= limit) return {};
  std::string parts =
      cat("weights ", human_bytes(memory.weight_bytes), ", cache ", human_bytes(memory.cache_bytes),
          ", scratch ", human_bytes(memory.scratch_bytes));
  if (memory.draft_bytes() > 0) parts += cat(", draft model ", human_bytes(memory.draft_bytes()));
  return Error{.code = ErrorCode::kNoMemory,
               .id = "memory_limit",
               .message = cat("the model may take ", human_bytes(memory.total()), " (", parts,
                              "), the limit is ", human_bytes(limit)),
               .hint =
                   "shorten the context (-c), lower --kv-limit, take --kv-type q8_0, or raise "
                   "the limit"};
}

}  // namespace

LocalModel::LocalModel(ModelFile file, std::unique_ptr<Backend> backend)
    : file_(std::move(file)), backend_(std::move(backend)) {}

LocalModel::~LocalModel() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

Result<std::unique_ptr<LocalModel>> LocalModel::open(const std::filesystem::path& path,
                                                     const LocalOptions& options) {
  return memory_door([&]() -> Result<std::unique_ptr<LocalModel>> {
    WICK_TRY(ModelFile file, ModelFile::open(path));
    WICK_TRY(auto backend, make_cpu_backend({.threads = options.threads}));
    std::unique_ptr<LocalModel> model(new LocalModel(std::move(file), std::move(backend)));
    WICK_DO(model->start(options));
    return model;
  });
}

Result<void> LocalModel::start(const LocalOptions& options) {
  EngineOptions engine = options.engine;
  const DecoderOptions sizes{
      .max_batch_tokens = std::max(engine.prefill_chunk, engine.max_seqs),
      .max_logit_rows = engine.max_seqs + std::max(kScoredRows, engine.draft_max),
      .context = engine.context,
      .max_seqs = engine.max_seqs};
  WICK_TRY(Decoder decoder, Decoder::load(file_, *backend_, sizes));
  WICK_TRY(auto tokenizer, Tokenizer::from(file_.metadata()));
  if (tokenizer->size() > decoder.spec().vocab) {
    return Error{
        .code = ErrorCode::kCorrupt,
        .id = "vocabulary_mismatch",
        .message = cat(printable(file_.path().string()), ": the tokenizer has ", tokenizer->size(),
                       " tokens, the model has ", decoder.spec().vocab)};
  }
  memory_.weight_bytes = decoder.weight_bytes();
  std::unique_ptr<DraftModel> draft;
  if (!options.draft_model.empty()) {
    WICK_TRY(draft, load_draft(options, decoder.spec(), *tokenizer));
    memory_.draft_weight_bytes = draft->weight_bytes();
    memory_.draft_cache_bytes = draft->cache_bytes();
    memory_.draft_scratch_bytes = draft->scratch_bytes();
  }
  WICK_TRY(engine_, Engine::create(std::move(decoder), *backend_, std::move(tokenizer), engine,
                                   std::move(draft)));
  memory_.cache_bytes = engine_->cache_bytes();
  memory_.scratch_bytes = engine_->scratch_bytes();
  WICK_DO(check_limit(memory_, options.memory_limit_bytes));
  kind_.k_type = engine.k_type;
  kind_.v_type = engine.v_type;
  templates_ = options.chat_template.empty()
                   ? std::make_unique<const ChatTemplates>(file_.metadata())
                   : std::make_unique<const ChatTemplates>(options.chat_template);
  thread_ = std::jthread([this](const std::stop_token& stop) { engine_->run(stop); });
  return {};
}

Result<std::unique_ptr<DraftModel>> LocalModel::load_draft(const LocalOptions& options,
                                                           const DecoderSpec& spec,
                                                           const Tokenizer& tokenizer) {
  WICK_TRY(draft_file_, ModelFile::open(options.draft_model));
  WICK_TRY(draft_backend_, make_cpu_backend({.threads = options.threads}));
  WICK_TRY(const auto draft_tokenizer, Tokenizer::from(draft_file_->metadata()));
  WICK_DO(check_same_vocabulary(tokenizer, *draft_tokenizer));
  const EngineOptions& engine = options.engine;
  const int context = plan_context(spec, engine);
  WICK_TRY(Decoder decoder, Decoder::load(*draft_file_, *draft_backend_,
                                          {.max_batch_tokens = engine.prefill_chunk,
                                           .max_logit_rows = 1,
                                           .context = context,
                                           .max_seqs = engine.max_seqs}));
  return DraftModel::create(
      std::move(decoder), *draft_backend_,
      {.max_seqs = engine.max_seqs, .context = context, .vocab = tokenizer.size()});
}

std::vector<ModelInfo> LocalModel::models() const {
  const auto title = file_.metadata().string("general.name");
  return {{.id = title ? std::string(*title) : file_.path().stem().string(),
           .context = engine_->context()}};
}

namespace {

// Hands the answer's text to `sink` until it is over, then its scores and its DoneEvent.
Result<void> drain(RunningAnswer& answer, const EventSink& sink, const std::stop_token& stop,
                   const GenerationSettings& settings) {
  {
    const std::stop_callback cancel(stop, [&answer] { answer.cancel(); });
    std::string text;
    while (answer.read(text)) {
      sink(TextEvent{text});
      text.clear();
    }
  }
  if (answer.done().stop == StopReason::kError) return answer.error();
  if (settings.top_logprobs >= 0) {
    ScoresEvent scores;
    answer.take_scores(scores.tokens);
    scores.prompt = answer.prompt_scores();
    sink(scores);
  }
  sink(answer.done());
  return {};
}

}  // namespace

Result<void> LocalModel::chat(const ChatRequest& request, const EventSink& sink,
                              std::stop_token stop) {
  WICK_TRY(const auto answer, begin(request));
  return drain(*answer, sink, stop, request.settings);
}

Result<void> LocalModel::complete(const CompletionRequest& request, const EventSink& sink,
                                  std::stop_token stop) {
  WICK_TRY(const auto answer, begin(request));
  return drain(*answer, sink, stop, request.settings);
}

Result<std::unique_ptr<RunningAnswer>> LocalModel::begin(const ChatRequest& request,
                                                         std::shared_ptr<LogitsEditor> editor) {
  WICK_TRY(GenerateRequest generate, prepare(request));
  return submit(std::move(generate), request.settings, std::move(editor));
}

Result<std::unique_ptr<RunningAnswer>> LocalModel::begin(const CompletionRequest& request,
                                                         std::shared_ptr<LogitsEditor> editor) {
  return submit(prepare(request), request.settings, std::move(editor));
}

Result<RequestPlan> LocalModel::plan(const ChatRequest& request) {
  WICK_TRY(GenerateRequest generate, prepare(request));
  return plan(std::move(generate), request.settings);
}

Result<RequestPlan> LocalModel::plan(const CompletionRequest& request) {
  return plan(prepare(request), request.settings);
}

Result<RequestPlan> LocalModel::plan(GenerateRequest generate, const GenerationSettings& settings) {
  generate.only_plans = true;
  WICK_TRY(const auto answer, submit(std::move(generate), settings, {}));
  for (std::string text; answer->read(text);) {
  }
  if (answer->done().stop == StopReason::kError) return answer->error();
  return answer->plan();
}

Result<GenerateRequest> LocalModel::prepare(const ChatRequest& request) const {
  GenerateRequest generate;
  WICK_TRY(generate.prompt, render(request.input));
  return generate;
}

GenerateRequest LocalModel::prepare(const CompletionRequest& request) const {
  GenerateRequest generate{.is_continuing = !request.prompt.empty()};
  const auto prefix = tokenizer().prefix();
  generate.prompt.assign(prefix.begin(), prefix.end());
  MarkedText text;
  text.append(request.prompt, false);
  tokenizer().encode(text, generate.prompt);
  return generate;
}

// The conversation as the model reads it.
Result<std::vector<TokenId>> LocalModel::render(Object context) const {
  if (templates_->is_empty()) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "no_chat_template",
                 .message = cat(printable(file_.path().string()), " carries no chat template"),
                 .hint = "complete plain text with: wick run -m MODEL -p TEXT"};
  }
  WICK_TRY(const ChatTemplate* const tmpl, templates_->pick("", has_tools(context)));
  add_defaults(&tokenizer(), context);
  WICK_TRY(const MarkedText prompt, tmpl->render(context));
  std::vector<TokenId> ids;
  tokenizer().encode(prompt, ids);
  return ids;
}

Result<std::unique_ptr<RunningAnswer>> LocalModel::submit(GenerateRequest generate,
                                                          const GenerationSettings& settings,
                                                          std::shared_ptr<LogitsEditor> editor) {
  WICK_TRY(ResolvedSampling resolved, resolve_sampling(file_.metadata(), settings));
  generate.sampling = std::move(resolved.params);
  const int room = engine_->context() - static_cast<int>(generate.prompt.size());
  resolved.effective.push_back(
      {"max_tokens", static_cast<double>(settings.max_tokens > 0 ? settings.max_tokens : room),
       settings.max_tokens > 0 ? origin_of(settings, "max_tokens") : "default"});
  generate.max_tokens = settings.max_tokens;
  generate.stops = settings.stops;
  generate.tenant = settings.tenant;
  generate.priority = settings.priority;
  generate.time_limit_ms = settings.time_limit_ms;
  generate.stop_ids = settings.stop_ids;
  generate.top_logprobs = settings.top_logprobs;
  generate.scores_prompt = settings.scores_prompt;
  WICK_DO(resolve_tokens(tokenizer(), settings, generate.sampling));
  generate.editor = std::move(editor);
  return RunningAnswer::begin(*engine_, std::move(generate), std::move(resolved.effective));
}

}  // namespace wick
