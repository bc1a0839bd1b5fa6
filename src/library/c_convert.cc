#include "library/c_convert.h"

#include <stdexcept>

#include "wick/log.h"

namespace wick::c_abi {

static_assert(static_cast<int>(ErrorCode::kInvalid) + 1 == WICK_INVALID);
static_assert(static_cast<int>(ErrorCode::kUnavailable) + 1 == WICK_UNAVAILABLE);
static_assert(static_cast<int>(FinishReason::kEnd) == WICK_FINISH_END);
static_assert(static_cast<int>(FinishReason::kCancelled) == WICK_FINISH_CANCELLED);
static_assert(static_cast<int>(FinishReason::kError) == WICK_FINISH_ERROR);
static_assert(std::variant_size_v<Event> == WICK_EVENT_DONE);
static_assert(static_cast<int>(LogLevel::kWarning) == WICK_LOG_WARNING);
static_assert(static_cast<int>(OpenPhase::kLoad) == WICK_PHASE_LOAD);
static_assert(static_cast<int>(MissReason::kNone) == WICK_MISS_NONE);
static_assert(static_cast<int>(MissReason::kOtherTenant) == WICK_MISS_OTHER_TENANT);
static_assert(static_cast<int>(MissReason::kOff) == WICK_MISS_OFF);

wick_error out_of_memory{
    WICK_NO_MEMORY, "out_of_memory", "there is not enough memory", "", nullptr, ""};

wick_error* to_c(const Error& error) {
  auto owned = std::make_unique<OwnedError>();
  owned->code = static_cast<wick_error_code>(static_cast<int>(error.code) + 1);
  owned->id_text = error.id;
  owned->message_text = error.message;
  owned->hint_text = error.hint;
  owned->id = owned->id_text.c_str();
  owned->message = owned->message_text.c_str();
  owned->hint = owned->hint_text.c_str();
  owned->partial = error.partial_text;
  owned->partial_text = owned->partial.c_str();
  owned->cause = error.cause == nullptr ? nullptr : to_c(*error.cause);
  return owned.release();
}

Error null_argument(const char* what) {
  return {.code = ErrorCode::kInvalid, .id = "null_argument", .message = cat(what, " is NULL")};
}

Error not_one(std::size_t n_messages) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_message",
          .message = cat("there are ", n_messages, " messages, wanted is one")};
}

Error bad_struct_size(std::size_t seen, std::size_t wanted, const char* init_name) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_struct_size",
          .message = cat("a struct says its size is ", seen, ", this one has ", wanted),
          .hint = cat("fill it with ", init_name,
                      "() first; a program must not be newer than its library")};
}

namespace {

// A field of wick/fields.h from C. What is NULL keeps its default.
template <class T>
void take(T from, T& to) {
  to = from;
}

void take(int from, bool& to) {
  to = from != 0;
}

void take(const char* from, std::string& to) {
  if (from != nullptr) to = from;
}

Result<std::vector<std::string>> texts(const char* const* from, std::size_t n, const char* what) {
  if (n > 0 && from == nullptr) return null_argument(what);
  for (std::size_t i = 0; i < n; ++i)
    if (from[i] == nullptr) return null_argument(what);
  return std::vector<std::string>(from, from + n);
}

Result<void> take_biases(const wick_generation& g, Generation& out) {
  if (g.n_logit_bias > 0 && g.logit_bias == nullptr) return null_argument("logit_bias");
  for (const wick_token_bias& bias : std::span(g.logit_bias, g.n_logit_bias)) {
    if (bias.id < 0 && bias.text == nullptr) return null_argument("the text of a bias without id");
    out.logit_bias.push_back(
        {.id = bias.id, .bias = bias.bias, .text = bias.text == nullptr ? "" : bias.text});
  }
  return {};
}

}  // namespace

Result<ModelOptions> to_cpp(const wick_model_options* given) {
  WICK_TRY(const wick_model_options c,
           read_options(given, wick_model_options_init, "wick_model_options_init"));
  ModelOptions out;
#define WICK_TAKE(name) take(c.name, out.name);
  WICK_MODEL_FIELDS(WICK_TAKE)
  if (c.cancel != nullptr) out.cancel = c.cancel->source.get_token();
  if (c.progress == nullptr) return out;
  out.progress = [sink = c.progress, user = c.progress_user](const OpenProgress& p) {
    const std::string what(p.what);
    const wick_progress progress{.phase = static_cast<wick_phase>(p.phase),
                                 .what = what.c_str(),
                                 .done = p.done,
                                 .total = p.total};
    return sink(user, &progress) == 0;
  };
  return out;
}

Result<Generation> to_cpp(const wick_generation* given) {
  WICK_TRY(const wick_generation c,
           read_options(given, wick_generation_init, "wick_generation_init"));
  Generation out;
  WICK_GENERATION_FIELDS(WICK_TAKE)
  take(c.response_format, out.response_format.type);
  take(c.response_schema, out.response_format.schema);
  if (c.n_parameters > 0 && c.parameters == nullptr) return null_argument("parameters");
  for (std::size_t i = 0; i < c.n_parameters; ++i) {
    if (c.parameters[i].key == nullptr) return null_argument("the key of a parameter");
    out.more.emplace_back(c.parameters[i].key, c.parameters[i].value);
  }
  WICK_TRY(out.stops, texts(c.stops, c.n_stops, "a stop text, or stops,"));
  if (c.dry_breakers != nullptr) {
    WICK_TRY(out.dry_breakers, texts(c.dry_breakers, c.n_dry_breakers, "a text of dry_breakers"));
  }
  if (c.n_stop_ids > 0 && c.stop_ids == nullptr) return null_argument("stop_ids");
  out.stop_ids.assign(c.stop_ids, c.stop_ids + c.n_stop_ids);
  WICK_DO(take_biases(c, out));
  if (c.logits != nullptr) {
    out.logits = [hook = c.logits, user = c.logits_user](std::span<float> logits,
                                                         std::span<const TokenId> history) {
      const int status = hook(user, logits.data(), logits.size(), history.data(), history.size());
      if (status != 0) throw std::runtime_error(cat("it returned ", status));
    };
  }
  if (c.cancel != nullptr) out.cancel = c.cancel->source.get_token();
  if (c.has_seed != 0) out.seed = c.seed;
  if (c.thinking != WICK_THINKING_DEFAULT) out.thinking = c.thinking == WICK_THINKING_ON;
  if (c.tools != nullptr) {
    WICK_TRY(out.tools, tools_from_json(c.tools));
  }
  if (c.template_variables != nullptr) {
    WICK_TRY(out.template_variables, variables_from_json(c.template_variables));
  }
  return out;
}

Result<EmbedOptions> to_cpp(const wick_embed_options* given) {
  WICK_TRY(const wick_embed_options c,
           read_options(given, wick_embed_options_init, "wick_embed_options_init"));
  EmbedOptions out;
  WICK_EMBED_FIELDS(WICK_TAKE)
#undef WICK_TAKE
  if (c.cancel != nullptr) out.cancel = c.cancel->source.get_token();
  return out;
}

Result<PoolOptions> to_cpp(const wick_pool_options* given) {
  WICK_TRY(const wick_pool_options c,
           read_options(given, wick_pool_options_init, "wick_pool_options_init"));
  WICK_TRY(ModelOptions model, to_cpp(c.model));
  return PoolOptions{.budget_bytes = c.budget_bytes,
                     .max_models = c.max_models,
                     .warm_up = c.warm_up != 0,
                     .model = std::move(model)};
}

Result<std::vector<Message>> to_cpp(const wick_message* messages, std::size_t n) {
  if (n > 0 && messages == nullptr) return null_argument("messages");
  std::vector<Message> out;
  for (std::size_t i = 0; i < n; ++i) {
    if (messages[i].role == nullptr || messages[i].content == nullptr) {
      return null_argument("the role or the content of a message");
    }
    out.push_back({.role = messages[i].role, .content = messages[i].content});
  }
  return out;
}

TextSink to_cpp(wick_text_sink sink, void* user) {
  if (sink == nullptr) return {};
  return [sink, user](std::string_view piece) {
    const std::string text(piece);  // ends in 0
    return sink(user, text.data(), text.size()) == 0;
  };
}

namespace {

wick_scored_token to_c(const ScoredToken& token) {
  return {.id = token.id,
          .bytes = token.bytes.c_str(),
          .length = token.bytes.size(),
          .logprob = token.logprob,
          .likeliest = nullptr,
          .n_likeliest = 0};
}

}  // namespace

void fill(ScoredList& list, std::span<const ScoredToken> scored) {
  std::size_t n_likeliest = 0;
  for (const ScoredToken& token : scored)
    n_likeliest += token.likeliest.size();
  list.tokens.clear();
  list.likeliest.clear();
  list.tokens.reserve(scored.size());
  list.likeliest.reserve(n_likeliest);  // so that what is pointed at never moves
  for (const ScoredToken& token : scored) {
    wick_scored_token out = to_c(token);
    out.likeliest = list.likeliest.data() + list.likeliest.size();
    out.n_likeliest = token.likeliest.size();
    for (const ScoredToken& likely : token.likeliest)
      list.likeliest.push_back(to_c(likely));
    list.tokens.push_back(out);
  }
}

Result<wick_model*> to_c(Result<Model> model) {
  if (!model) return std::move(model).error();
  return std::make_unique<wick_model>(wick_model{*std::move(model)}).release();
}

wick_model_info* to_c(ModelInfo info) {
  auto owned = std::make_unique<OwnedInfo>();
  owned->whole = std::move(info);
  const ModelInfo& whole = owned->whole;
  owned->name = whole.name.c_str();
  owned->architecture = whole.architecture.c_str();
  owned->source = whole.source.c_str();
  owned->context = whole.context;
  owned->vocabulary = whole.vocabulary;
  owned->weight_bytes = whole.memory.weight_bytes;
  owned->cache_bytes = whole.memory.cache_bytes;
  owned->scratch_bytes = whole.memory.scratch_bytes;
  owned->draft_bytes = whole.memory.draft_bytes();
  owned->is_pinned = whole.is_pinned ? 1 : 0;
  owned->is_used = whole.is_used ? 1 : 0;
  return owned.release();
}

Result<wick_completion*> to_c(Result<Completion> result) {
  if (!result) return std::move(result).error();
  auto owned = std::make_unique<OwnedCompletion>();
  owned->whole = *std::move(result);
  const Completion& whole = owned->whole;
  owned->text = whole.text.c_str();
  owned->length = whole.text.size();
  owned->finish = static_cast<wick_finish>(whole.finish);
#define WICK_GIVE(name) owned->name = whole.usage.name;
  WICK_USAGE_FIELDS(WICK_GIVE)
#undef WICK_GIVE
  for (const EffectiveParameter& one : whole.parameters) {
    const auto* const number = std::get_if<double>(&one.value);
    const auto* const text = std::get_if<std::string>(&one.value);
    const auto* const whole_number = std::get_if<std::uint64_t>(&one.value);
    if (one.key == "seed" && whole_number != nullptr) owned->seed = *whole_number;
    owned->effective_list.push_back({.key = one.key.c_str(),
                                     .value = number != nullptr ? *number
                                              : whole_number != nullptr
                                                  ? static_cast<double>(*whole_number)
                                                  : 0,
                                     .text = text == nullptr ? nullptr : text->c_str(),
                                     .origin = one.origin.c_str()});
  }
  owned->parameters = owned->effective_list.data();
  owned->n_parameters = owned->effective_list.size();
  fill(owned->scored, whole.logprobs);
  owned->logprobs = owned->scored.tokens.data();
  owned->n_logprobs = owned->scored.tokens.size();
  fill(owned->scored_prompt, whole.prompt_logprobs);
  owned->prompt_logprobs = owned->scored_prompt.tokens.data();
  owned->n_prompt_logprobs = owned->scored_prompt.tokens.size();
  owned->reasoning = whole.reasoning.c_str();
  for (const ToolCall& call : whole.tool_calls)
    owned->call_list.push_back({call.id.c_str(), call.name.c_str(), call.arguments.c_str()});
  owned->tool_calls = owned->call_list.data();
  owned->n_tool_calls = owned->call_list.size();
  return owned.release();
}

wick_event to_c(const Event& event) {
  wick_event out = {};
  out.kind = static_cast<wick_event_kind>(event.index() + 1);
  out.text = out.id = out.name = "";
  const auto say = [&](const std::string& text) {
    out.text = text.c_str();
    out.length = text.size();
  };
  const auto count = [&](const Usage& usage) {
    out.prompt_tokens = usage.prompt_tokens;
    out.generated_tokens = usage.generated_tokens;
  };
  if (const auto* const piece = std::get_if<TextEvent>(&event)) say(piece->text);
  if (const auto* const thought = std::get_if<ReasoningEvent>(&event)) say(thought->text);
  if (const auto* const call = std::get_if<ToolCallEvent>(&event)) {
    out.index = call->index;
    out.id = call->id.c_str();
    out.name = call->name.c_str();
  }
  if (const auto* const more = std::get_if<ArgumentsEvent>(&event)) {
    out.index = more->index;
    say(more->text);
  }
  if (const auto* const used = std::get_if<UsageEvent>(&event)) count(used->usage);
  if (const auto* const done = std::get_if<DoneEvent>(&event)) {
    count(done->usage);
    out.finish = static_cast<wick_finish>(done->finish);
  }
  return out;
}

Result<wick_stream*> to_c(Result<Stream> stream) {
  if (!stream) return std::move(stream).error();
  return std::make_unique<wick_stream>(wick_stream{.stream = *std::move(stream)}).release();
}

Result<wick_plan*> to_c(const Result<RequestPlan>& plan) {
  if (!plan) return plan.error();
  auto out = std::make_unique<wick_plan>();
#define WICK_GIVE(name) out->name = plan->name;
  WICK_PLAN_FIELDS(WICK_GIVE)
#undef WICK_GIVE
  out->miss = static_cast<wick_miss>(plan->miss.reason);
  out->miss_position = plan->miss.position;
  out->miss_wanted = plan->miss.wanted;
  out->miss_cached = plan->miss.cached;
  out->ttft_ms = plan->ttft_ms.value_or(-1);
  return out.release();
}

}  // namespace wick::c_abi
