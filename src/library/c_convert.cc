#include "library/c_convert.h"

#include <stdexcept>

namespace wick::c_abi {

static_assert(static_cast<int>(ErrorCode::kInvalid) + 1 == WICK_INVALID);
static_assert(static_cast<int>(ErrorCode::kUnavailable) + 1 == WICK_UNAVAILABLE);
static_assert(static_cast<int>(FinishReason::kEnd) == WICK_FINISH_END);
static_assert(static_cast<int>(FinishReason::kCancelled) == WICK_FINISH_CANCELLED);
static_assert(static_cast<int>(FinishReason::kError) == WICK_FINISH_ERROR);
static_assert(std::variant_size_v<Event> == WICK_EVENT_DONE);
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

Error bad_struct_size(std::size_t seen, std::size_t wanted, const char* init_name) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_struct_size",
          .message = cat("a struct says its size is ", seen, ", this one has ", wanted),
          .hint = cat("fill it with ", init_name,
                      "() first; a program must not be newer than its library")};
}

Result<Generation> to_cpp(const wick_generation* given) {
  auto read = read_options(given, wick_generation_init, "wick_generation_init");
  if (!read) return read.error();
  const wick_generation& g = *read;
  Generation out{.max_tokens = g.max_tokens,
                 .logprobs = g.logprobs != 0,
                 .prompt_logprobs = g.prompt_logprobs != 0,
                 .top_logprobs = g.top_logprobs,
                 .time_limit_ms = g.time_limit_ms,
                 .priority = g.priority,
                 .tenant = g.tenant};
  if (g.n_parameters > 0 && g.parameters == nullptr) return null_argument("parameters");
  for (std::size_t i = 0; i < g.n_parameters; ++i) {
    if (g.parameters[i].key == nullptr) return null_argument("the key of a parameter");
    out.more.emplace_back(g.parameters[i].key, g.parameters[i].value);
  }
  if (g.n_stops > 0 && g.stops == nullptr) return null_argument("stops");
  for (std::size_t i = 0; i < g.n_stops; ++i) {
    if (g.stops[i] == nullptr) return null_argument("a stop text");
    out.stops.emplace_back(g.stops[i]);
  }
  if (g.logits != nullptr) {
    out.logits = [hook = g.logits, user = g.logits_user](std::span<float> logits,
                                                         std::span<const TokenId> history) {
      const int status = hook(user, logits.data(), logits.size(), history.data(), history.size());
      if (status != 0) throw std::runtime_error(cat("it returned ", status));
    };
  }
  if (g.cancel != nullptr) out.cancel = g.cancel->source.get_token();
  if (g.has_seed != 0) out.seed = g.seed;
  if (g.tool_choice != nullptr) out.tool_choice = g.tool_choice;
  if (g.thinking != WICK_THINKING_DEFAULT) out.thinking = g.thinking == WICK_THINKING_ON;
  if (g.tools != nullptr) {
    WICK_TRY(out.tools, tools_from_json(g.tools));
  }
  if (g.template_variables != nullptr) {
    WICK_TRY(out.template_variables, variables_from_json(g.template_variables));
  }
  return out;
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

Result<wick_completion*> to_c(Result<Completion> result) {
  if (!result) return std::move(result).error();
  auto owned = std::make_unique<OwnedCompletion>();
  owned->whole = *std::move(result);
  const Completion& whole = owned->whole;
  owned->text = whole.text.c_str();
  owned->length = whole.text.size();
  owned->finish = static_cast<wick_finish>(whole.finish);
  owned->prompt_tokens = whole.usage.prompt_tokens;
  owned->cached_tokens = whole.usage.cached_tokens;
  owned->generated_tokens = whole.usage.generated_tokens;
  owned->queue_ms = whole.usage.queue_ms;
  owned->prompt_ms = whole.usage.prompt_ms;
  owned->generate_ms = whole.usage.generate_ms;
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
  owned->draft_tokens = whole.usage.draft_tokens;
  owned->accepted_tokens = whole.usage.accepted_tokens;
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
  return std::make_unique<wick_plan>(wick_plan{.prompt_tokens = plan->prompt_tokens,
                                               .max_tokens = plan->max_tokens,
                                               .cached_tokens = plan->cached_tokens,
                                               .miss = static_cast<wick_miss>(plan->miss.reason),
                                               .miss_position = plan->miss.position,
                                               .miss_wanted = plan->miss.wanted,
                                               .miss_cached = plan->miss.cached,
                                               .blocks = plan->blocks,
                                               .free_blocks = plan->free_blocks,
                                               .cache_bytes = plan->cache_bytes,
                                               .requests_before = plan->requests_before,
                                               .ttft_ms = plan->ttft_ms.value_or(-1)})
      .release();
}

}  // namespace wick::c_abi
