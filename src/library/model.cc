#include "wick/model.h"

#include "base/catch_bad_alloc.h"
#include "library/model_state.h"
#include "library/stream_state.h"
#include "local/local.h"
#include "provider/openers.h"

namespace wick {

const char* version() noexcept {
  return WICK_VERSION;
}

Model::Model(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<Model> Model::open(std::string_view path_or_name, const ModelOptions& options) {
  return catch_bad_alloc([&]() -> Result<Model> {
    State state;
    if (const FoundOpener found = find_opener(path_or_name); found.open != nullptr) {
      WICK_TRY(state.provider, (*found.open)(found.name));
    } else {
      WICK_TRY(state.provider, load_model(path_or_name, options));
    }
    return Model(std::make_shared<State>(std::move(state)));
  });
}

ModelInfo Model::describe() const {
  auto told = catch_bad_alloc([&]() -> Result<ModelInfo> {
    const auto models = state_->provider->models();
    if (models && !models->empty()) return models->front();
    return ModelInfo{.name = std::string(state_->provider->name())};
  });
  return told ? *std::move(told) : ModelInfo{};
}

Result<Completion> Model::complete(std::string_view prompt, const Generation& generation,
                                   const TextSink& sink) const {
  WICK_TRY(Stream answer, stream(prompt, generation));
  return drain(answer, sink);
}

Result<Completion> Model::complete(const std::vector<TokenId>& prompt, const Generation& generation,
                                   const TextSink& sink) const {
  WICK_TRY(Stream answer, stream(prompt, generation));
  return drain(answer, sink);
}

Result<Completion> Model::chat(const std::vector<Message>& messages, const Generation& generation,
                               const TextSink& sink) const {
  WICK_TRY(Stream answer, stream(messages, generation));
  return drain(answer, sink);
}

namespace {

Result<Stream> begin(const std::shared_ptr<Provider>& provider, Prompt prompt,
                     const Generation& generation) {
  WICK_TRY(auto state, begin_stream(provider, std::move(prompt), generation));
  return Stream(std::move(state));
}

}  // namespace

Result<Stream> Model::stream(std::string_view prompt, const Generation& generation) const {
  return catch_bad_alloc([&] { return begin(state_->provider, std::string(prompt), generation); });
}

Result<Stream> Model::stream(const std::vector<TokenId>& prompt,
                             const Generation& generation) const {
  return catch_bad_alloc([&] { return begin(state_->provider, prompt, generation); });
}

Result<Stream> Model::stream(const std::vector<Message>& messages,
                             const Generation& generation) const {
  return catch_bad_alloc([&] { return begin(state_->provider, messages, generation); });
}

Result<RequestEstimate> Model::estimate(std::string_view prompt,
                                        const Generation& generation) const {
  return catch_bad_alloc([&] {
    return state_->provider->estimate({.prompt = std::string(prompt), .generation = generation});
  });
}

Result<RequestEstimate> Model::estimate(const std::vector<TokenId>& prompt,
                                        const Generation& generation) const {
  return catch_bad_alloc(
      [&] { return state_->provider->estimate({.prompt = prompt, .generation = generation}); });
}

Result<RequestEstimate> Model::estimate(const std::vector<Message>& messages,
                                        const Generation& generation) const {
  return catch_bad_alloc(
      [&] { return state_->provider->estimate({.prompt = messages, .generation = generation}); });
}

Session Model::session(std::string_view system) const {
  auto made = catch_bad_alloc([&]() -> Result<Session> {
    auto state = std::make_shared<Session::State>();
    state->provider = state_->provider;
    state->conversation.set_system(system);
    return Session(std::move(state));
  });
  return made ? *std::move(made) : Session(nullptr);  // which says so when it is asked
}

Result<Session> Model::load_session(std::string_view path) const {
  return catch_bad_alloc([&]() -> Result<Session> {
    auto state = std::make_shared<Session::State>();
    state->provider = state_->provider;
    WICK_TRY(std::vector<Message> messages, state_->provider->load_session(std::string(path)));
    state->conversation.set_messages(std::move(messages));
    return Session(std::move(state));
  });
}

Result<std::vector<Embedding>> Model::embed(const std::vector<std::string>& texts,
                                            const EmbedOptions& options) const {
  return catch_bad_alloc(
      [&] { return state_->provider->embed({.texts = texts, .options = options}); });
}

Result<int> Model::close_tenant(std::uint64_t tenant, bool wipe) const {
  return catch_bad_alloc([&] { return state_->provider->close_tenant(tenant, wipe); });
}

Result<std::vector<TokenId>> Model::tokenize(std::string_view text) const {
  return catch_bad_alloc([&] { return state_->provider->tokenize({}, text); });
}

Result<std::string> Model::detokenize(std::span<const TokenId> ids) const {
  return catch_bad_alloc([&] { return state_->provider->detokenize({}, ids); });
}

Result<std::string> Model::apply_template(const std::vector<Message>& messages,
                                          const Generation& generation) const {
  return catch_bad_alloc([&] {
    return state_->provider->apply_template({.prompt = messages, .generation = generation});
  });
}

}  // namespace wick
