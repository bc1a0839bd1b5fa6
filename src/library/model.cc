#include "wick/model.h"

#include "base/strings.h"
#include "library/model_state.h"
#include "library/stream_state.h"
#include "sample/logprobs.h"

namespace wick {

const char* version() noexcept {
  return WICK_VERSION;
}

namespace {

// As OpenAI has it: how many of the likeliest says nothing without the switch.
Result<void> check_logprobs(const Generation& g) {
  const auto bad = [](std::string message) {
    return Error{
        .code = ErrorCode::kInvalid, .id = "bad_top_logprobs", .message = std::move(message)};
  };
  if (g.top_logprobs < 0 || g.top_logprobs > kMaxTopLogprobs) {
    return bad(cat("top_logprobs is ", g.top_logprobs, ", allowed are 0 to ", kMaxTopLogprobs));
  }
  if (g.top_logprobs > 0 && !g.logprobs && !g.prompt_logprobs) {
    return bad(
        cat("top_logprobs is ", g.top_logprobs, ", which needs logprobs or prompt_logprobs"));
  }
  return {};
}

}  // namespace

Result<GenerationSettings> to_settings(const Generation& generation) {
  WICK_DO(check_logprobs(generation));
  GenerationSettings settings{.sampling = generation.more,
                              .max_tokens = generation.max_tokens,
                              .stops = generation.stops,
                              .stop_ids = generation.stop_ids,
                              .scores_prompt = generation.prompt_logprobs,
                              .samplers = generation.samplers,
                              .tenant = generation.tenant,
                              .priority = generation.priority,
                              .time_limit_ms = generation.time_limit_ms};
  if (generation.logprobs || generation.prompt_logprobs) {
    settings.top_logprobs = generation.top_logprobs;
  }
  for (const auto& [id, bias] : generation.logit_bias)
    settings.logit_bias.push_back({.id = id, .bias = bias});
  const auto set = [&](const char* key, const auto& value) {
    if (value) settings.sampling.emplace_back(key, static_cast<double>(*value));
  };
  set("temperature", generation.temperature);
  set("top_k", generation.top_k);
  set("top_p", generation.top_p);
  set("min_p", generation.min_p);
  set("repeat_penalty", generation.repeat_penalty);
  set("seed", generation.seed);
  return settings;
}

Array to_array(const std::vector<Message>& messages) {
  Array list;
  for (const Message& message : messages) {
    Object object;
    object["role"] = message.role;
    object["content"] = message.content;
    list.emplace_back(std::move(object));
  }
  return list;
}

ChatRequest to_request(const std::vector<Message>& messages) {
  ChatRequest request;
  request.input["messages"] = to_array(messages);
  return request;
}

Model::Model(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<Model> Model::open(std::string_view path_or_name, const ModelOptions& options) {
  WICK_TRY(auto local, load_model(path_or_name, options));
  return Model(std::make_shared<State>(State{std::move(local)}));
}

ModelDescription Model::describe() const {
  const LocalModel& model = *state_->local;
  const LocalMemory memory = model.memory();
  return {.name = model.models().front().id,
          .architecture = std::string(model.metadata().string("general.architecture").value_or("")),
          .context = model.context(),
          .vocabulary = model.tokenizer().size(),
          .weight_bytes = memory.weight_bytes,
          .cache_bytes = memory.cache_bytes,
          .scratch_bytes = memory.scratch_bytes};
}

Result<Completion> Model::complete(std::string_view prompt, const Generation& generation,
                                   const TextSink& sink) const {
  WICK_TRY(Stream answer, stream(prompt, generation));
  return drain(answer, sink);
}

Result<Completion> Model::chat(const std::vector<Message>& messages, const Generation& generation,
                               const TextSink& sink) const {
  WICK_TRY(Stream answer, stream(messages, generation));
  return drain(answer, sink);
}

Result<Stream> Model::stream(std::string_view prompt, const Generation& generation) const {
  WICK_TRY(auto stream, begin_stream(state_->local,
                                     CompletionRequest{.prompt = std::string(prompt)}, generation));
  return Stream(std::move(stream));
}

Result<Stream> Model::stream(const std::vector<Message>& messages,
                             const Generation& generation) const {
  WICK_TRY(auto stream, begin_stream(state_->local, to_request(messages), generation));
  return Stream(std::move(stream));
}

Result<RequestPlan> Model::plan(std::string_view prompt, const Generation& generation) const {
  CompletionRequest request{.prompt = std::string(prompt)};
  WICK_TRY(request.settings, to_settings(generation));
  return state_->local->plan(request);
}

Result<RequestPlan> Model::plan(const std::vector<Message>& messages,
                                const Generation& generation) const {
  ChatRequest request = to_request(messages);
  WICK_TRY(request.settings, to_settings(generation));
  return state_->local->plan(request);
}

Session Model::session(std::string_view system) const {
  auto state = std::make_shared<Session::State>();
  state->model = state_->local;
  if (!system.empty()) {
    state->messages.push_back({.role = "system", .content = std::string(system)});
  }
  return Session(std::move(state));
}

Result<Session> Model::load_session(std::string_view path) const {
  WICK_TRY(const Array messages, state_->local->load_session(std::string(path)));
  auto state = std::make_shared<Session::State>();
  state->model = state_->local;
  for (const Value& value : messages) {
    const Object* message = value.object();
    const auto text = [&](std::string_view key) {
      const Value* found = message == nullptr ? nullptr : message->find(key);
      const std::string* string = found == nullptr ? nullptr : found->string();
      return string == nullptr ? std::string() : *string;
    };
    state->messages.push_back({.role = text("role"), .content = text("content")});
  }
  return Session(std::move(state));
}

Result<std::vector<Embedding>> Model::embed(const std::vector<std::string>& texts,
                                            const EmbedOptions& options) const {
  WICK_TRY(auto vectors, state_->local->embed(texts,
                                              {.pooling = options.pooling,
                                               .normalises = options.normalise,
                                               .tenant = options.tenant,
                                               .priority = options.priority,
                                               .time_limit_ms = options.time_limit_ms},
                                              options.cancel));
  std::vector<Embedding> out;
  for (auto& one : vectors)
    out.push_back({.values = std::move(one.values), .tokens = one.usage.prompt_tokens});
  return out;
}

int Model::close_tenant(std::uint64_t tenant, bool wipes) const {
  return state_->local->close_tenant(tenant, wipes);
}

std::vector<TokenId> Model::tokenize(std::string_view text) const {
  return state_->local->tokenizer().encode_plain(text);
}

Result<std::string> Model::detokenize(std::span<const TokenId> ids) const {
  const Tokenizer& tokenizer = state_->local->tokenizer();
  for (const TokenId id : ids) {
    if (id >= 0 && id < tokenizer.size()) continue;
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_token",
                 .message = cat("token ", id, " is outside the vocabulary of ", tokenizer.size())};
  }
  return tokenizer.decode(ids);
}

}  // namespace wick
