#include "library/c_convert.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "wick/log.h"

namespace wick::c_abi {

static_assert(static_cast<int>(ErrorCode::kInvalid) + 1 == WICK_INVALID);
static_assert(static_cast<int>(ErrorCode::kUnavailable) + 1 == WICK_UNAVAILABLE);
static_assert(static_cast<int>(FinishReason::kEos) == WICK_FINISH_EOS);
static_assert(static_cast<int>(FinishReason::kCancelled) == WICK_FINISH_CANCELLED);
static_assert(static_cast<int>(FinishReason::kError) == WICK_FINISH_ERROR);
static_assert(std::variant_size_v<Event> == WICK_EVENT_DONE);
static_assert(static_cast<int>(LogLevel::kWarning) == WICK_LOG_WARNING);
static_assert(static_cast<int>(OpenPhase::kLoad) == WICK_PHASE_LOAD);
static_assert(static_cast<int>(MissReason::kNone) == WICK_MISS_NONE);
static_assert(static_cast<int>(MissReason::kOtherTenant) == WICK_MISS_OTHER_TENANT);
static_assert(static_cast<int>(MissReason::kOff) == WICK_MISS_OFF);

wick_error out_of_memory{
    WICK_NO_MEMORY, "out_of_memory", "there is not enough memory", "", nullptr, "", 0, -1};

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
  owned->retry_after_s = error.retry_after_s;
  owned->offset = error.offset;
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

// To C: objects that are pointed at must not move.
template <class From, class To>
void give(From from, To& to) {
  to = from;
}

void give(bool from, int& to) {
  to = from ? 1 : 0;
}

void give(const std::string& from, const char*& to) {
  to = from.c_str();
}

template <class Out>
void give_miss(const CacheMiss& miss, Out& out) {
  out.miss = static_cast<wick_miss>(miss.reason);
  out.miss_position = miss.position;
  out.miss_wanted = miss.wanted;
  out.miss_cached = miss.cached;
}

template <class T>
Result<std::span<T>> list(T* from, std::size_t n, const char* what) {
  if (n > 0 && from == nullptr) return null_argument(what);
  return std::span(from, n);
}

Result<std::vector<std::string>> texts(const char* const* from, std::size_t n, const char* what) {
  WICK_TRY(const auto all, list(from, n, what));
  if (std::count(all.begin(), all.end(), nullptr) > 0) return null_argument(what);
  return std::vector<std::string>(all.begin(), all.end());
}

// What a request has as lists.
Result<void> take_lists(const wick_generation& g, Generation& out) {
  WICK_TRY(const auto parameters, list(g.parameters, g.n_parameters, "parameters"));
  for (const wick_parameter& one : parameters) {
    if (one.key == nullptr) return null_argument("the key of a parameter");
    out.more.emplace_back(one.key, one.value);
  }
  WICK_TRY(out.stop, texts(g.stop, g.n_stop, "a stop sequence, or stops,"));
  WICK_TRY(out.adapters, texts(g.adapters, g.n_adapters, "an adapter, or adapters,"));
  if (g.dry_sequence_breakers != nullptr) {
    WICK_TRY(out.dry_sequence_breakers,
             texts(g.dry_sequence_breakers, g.n_dry_breakers, "a text of dry_sequence_breakers"));
  }
  WICK_TRY(const auto ids, list(g.stop_token_ids, g.n_stop_token_ids, "stop_token_ids"));
  out.stop_token_ids.assign(ids.begin(), ids.end());
  WICK_TRY(const auto biases, list(g.logit_bias, g.n_logit_bias, "logit_bias"));
  for (const wick_token_bias& bias : biases) {
    if (bias.id < 0 && bias.text == nullptr) return null_argument("the text of a bias without id");
    out.logit_bias.push_back(
        {.id = bias.id, .bias = bias.bias, .text = bias.text == nullptr ? "" : bias.text});
  }
  WICK_TRY(const auto origins, list(g.origins, g.n_origins, "origins"));
  for (const wick_origin& one : origins) {
    if (one.key == nullptr || one.origin == nullptr) return null_argument("a text of origins");
    out.origins.emplace_back(one.key, one.origin);
  }
  return {};
}

// A caller in C may have put any number there, which is no value of a C++ enum.
Result<std::optional<bool>> thinking_of(const wick_generation& g) {
  int value = 0;
  static_assert(sizeof value == sizeof g.thinking);
  std::memcpy(&value, &g.thinking, sizeof value);
  if (value == WICK_THINKING_DEFAULT) return std::optional<bool>();
  if (value == WICK_THINKING_ON || value == WICK_THINKING_OFF)
    return std::optional<bool>(value == WICK_THINKING_ON);
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_thinking",
               .message = cat("thinking is ", value, ", allowed are 0, 1 and 2")};
}

}  // namespace

Result<ModelOptions> to_cpp(const wick_model_options* given) {
  WICK_TRY(const wick_model_options c,
           read_options(given, wick_model_options_init, "wick_model_options_init"));
  ModelOptions out;
#define WICK_TAKE(name) take(c.name, out.name);
  WICK_MODEL_FIELDS(WICK_TAKE)
  WICK_TRY(out.adapters, texts(c.adapters, c.n_adapters, "an adapter, or adapters,"));
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
  WICK_DO(take_lists(c, out));
  if (c.logits != nullptr) {
    out.logits = [hook = c.logits, user = c.logits_user](std::span<float> logits,
                                                         std::span<const TokenId> history) {
      const int status = hook(user, logits.data(), logits.size(), history.data(), history.size());
      if (status != 0) throw std::runtime_error(cat("it returned ", status));
    };
  }
  WICK_DO(take_constraints(c, out));
  if (c.cancel != nullptr) out.cancel = c.cancel->source.get_token();
  if (c.stream_set != nullptr) {
    WICK_TRY(out.wake, c.stream_set->set.add(c.stream_key));
  }
  if (c.has_seed != 0) out.seed = c.seed;
  WICK_TRY(out.thinking, thinking_of(c));
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
  if (c.cancel != nullptr) out.cancel = c.cancel->source.get_token();
  return out;
}

Result<PoolOptions> to_cpp(const wick_pool_options* given) {
  WICK_TRY(const wick_pool_options c,
           read_options(given, wick_pool_options_init, "wick_pool_options_init"));
  WICK_TRY(ModelOptions model, to_cpp(c.model));
  PoolOptions out;
  WICK_POOL_FIELDS(WICK_TAKE)
#undef WICK_TAKE
  out.model = std::move(model);
  return out;
}

Result<std::vector<Message>> to_cpp(const wick_message* messages, std::size_t n) {
  WICK_TRY(const auto given, list(messages, n, "messages"));
  std::vector<Message> out;
  for (const wick_message& one : given) {
    if (one.role == nullptr || one.content == nullptr) {
      return null_argument("the role or the content of a message");
    }
    out.push_back({.role = one.role, .content = one.content});
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

wick_token_logprob to_c(const TokenLogprob& token) {
  return {.id = token.id,
          .bytes = token.bytes.c_str(),
          .length = token.bytes.size(),
          .logprob = token.logprob,
          .top_logprobs = nullptr,
          .n_top_logprobs = 0};
}

}  // namespace

void fill(ScoredList& list, std::span<const TokenLogprob> scored) {
  std::size_t n_top_logprobs = 0;
  for (const TokenLogprob& token : scored)
    n_top_logprobs += token.top_logprobs.size();
  list.tokens.clear();
  list.top_logprobs.clear();
  list.tokens.reserve(scored.size());
  list.top_logprobs.reserve(n_top_logprobs);  // so that the pointers stay valid
  for (const TokenLogprob& token : scored) {
    wick_token_logprob out = to_c(token);
    out.top_logprobs = list.top_logprobs.data() + list.top_logprobs.size();
    out.n_top_logprobs = token.top_logprobs.size();
    for (const TokenLogprob& likely : token.top_logprobs)
      list.top_logprobs.push_back(to_c(likely));
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
#define WICK_GIVE(name) give(owned->whole.name, owned->name);
  WICK_INFO_FIELDS(WICK_GIVE)
#undef WICK_GIVE
#define WICK_GIVE(name) give(owned->whole.memory.name, owned->name);
  WICK_MEMORY_FIELDS(WICK_GIVE)
#undef WICK_GIVE
  owned->draft_bytes = owned->whole.memory.draft_bytes();
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
  give_miss(whole.usage.miss, *owned);
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

Result<wick_estimate*> to_c(const Result<RequestEstimate>& estimate) {
  if (!estimate) return estimate.error();
  auto out = std::make_unique<wick_estimate>();
#define WICK_GIVE(name) out->name = estimate->name;
  WICK_ESTIMATE_FIELDS(WICK_GIVE)
#undef WICK_GIVE
  give_miss(estimate->miss, *out);
  out->ttft_ms = estimate->ttft_ms.value_or(-1);
  return out.release();
}

}  // namespace wick::c_abi
