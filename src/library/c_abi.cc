// Implements include/wick/wick.h over the C++ API.
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "library/c_convert.h"
#include "wick/architecture.h"
#include "wick/log.h"

using wick::Generation;
using wick::Result;
using wick::c_abi::fill;
using wick::c_abi::guarded;
using wick::c_abi::null_argument;
using wick::c_abi::out_of_memory;
using wick::c_abi::OwnedCompletion;
using wick::c_abi::OwnedError;
using wick::c_abi::OwnedInfo;
using wick::c_abi::to_c;
using wick::c_abi::to_cpp;

namespace {

// What is asked, read from C: a function that gives it, or why it is none.
auto from_text(const char* text) {
  return [text]() -> Result<std::string_view> {
    if (text == nullptr) return null_argument("the text");
    return std::string_view(text);
  };
}

auto from_ids(const int32_t* ids, size_t n) {
  return [ids, n]() -> Result<std::vector<wick::TokenId>> {
    if (ids == nullptr) return null_argument("ids");
    return std::vector<wick::TokenId>(ids, ids + n);
  };
}

auto from_list(const wick_message* messages, size_t n) {
  return [messages, n] { return to_cpp(messages, n); };
}

auto from_json(const char* messages) {
  return [messages]() -> Result<std::vector<wick::Message>> {
    if (messages == nullptr) return null_argument("messages");
    return wick::messages_from_json(messages);
  };
}

// What is done with it.
auto completes(wick_text_sink sink, void* user) {
  return [=]<class Input>(const wick_model& model, const Input& input, const Generation& with) {
    if constexpr (std::is_same_v<Input, std::vector<wick::Message>>) {
      return model.model.chat(input, with, to_cpp(sink, user));
    } else {
      return model.model.complete(input, with, to_cpp(sink, user));
    }
  };
}

constexpr auto kStreams = [](const wick_model& model, const auto& input, const Generation& with) {
  return model.model.stream(input, with);
};

constexpr auto kPlans = [](const wick_model& model, const auto& input, const Generation& with) {
  return model.model.estimate(input, with);
};

// The answer as C has it: of a model, or of a session.
template <class Out, class Handle, class Read, class Verb>
Out* ask(Handle* handle, const wick_generation* generation, wick_error** error, const Read& read,
         const Verb& verb) {
  return guarded<Out*>(error, nullptr, [&]() -> Result<Out*> {
    if (handle == nullptr) return null_argument("the model or session");
    WICK_TRY(const Generation settings, to_cpp(generation));
    WICK_TRY(const auto input, read());
    return to_c(verb(*handle, input, settings));
  });
}

// body(*handle), or `failed` with *error set.
template <class Out, class Handle, class Body>
Out on(Handle* handle, wick_error** error, Out failed, const Body& body) {
  return guarded<Out>(error, failed, [&]() -> Result<Out> {
    if (handle == nullptr) return null_argument("the handle");
    return body(*handle);
  });
}

// As much of `all` as there is room for, and how much it is.
template <class All, class T>
Result<ptrdiff_t> copied(const Result<All>& all, T* out, size_t capacity) {
  if (!all) return all.error();
  if (out == nullptr && capacity > 0) return null_argument("what is written to");
  std::copy_n(all->begin(), std::min(all->size(), capacity), out);
  return static_cast<ptrdiff_t>(all->size());
}

const wick_event* event_of(wick_stream* stream, wick_error** error,
                           std::optional<wick::Event> (wick::Stream::*read)()) {
  return on<const wick_event*>(stream, error, nullptr,
                               [&](wick_stream& s) -> Result<const wick_event*> {
                                 auto event = (s.stream.*read)();
                                 if (!event) return static_cast<const wick_event*>(nullptr);
                                 s.event = *std::move(event);
                                 s.c_event = to_c(s.event);
                                 return &s.c_event;
                               });
}

// The piece is the end of the stream's whole text, so it ends in 0.
const char* piece_of(wick_stream* stream, size_t* length,
                     std::optional<std::string_view> (wick::Stream::*read)()) {
  const auto piece = stream == nullptr ? std::nullopt : (stream->stream.*read)();
  if (length != nullptr) *length = piece ? piece->size() : 0;
  return piece ? piece->data() : nullptr;
}

}  // namespace

extern "C" {

int wick_abi(void) {
  return WICK_ABI;
}

const char* wick_version(void) {
  return wick::version();
}

void wick_set_log(wick_log_sink sink, void* user) {
  if (sink == nullptr) return wick::set_log({});
  wick::set_log([sink, user](wick::LogLevel level, std::string_view message) {
    sink(user, static_cast<wick_log_level>(level), std::string(message).c_str());
  });
}

int wick_add_architecture(const char* json, wick_error** error) {
  return guarded<int>(error, 1, [&]() -> Result<int> {
    if (json == nullptr) return null_argument("the description");
    WICK_DO(wick::add_architecture(json));
    return 0;
  });
}

void wick_error_free(wick_error* error) {
  if (error == nullptr || error == &out_of_memory) return;
  wick_error_free(const_cast<wick_error*>(error->cause));
  delete static_cast<OwnedError*>(error);
}

void wick_model_options_init(wick_model_options* options) {
  if (options == nullptr) return;
  const wick::ModelOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->max_concurrent = defaults.max_concurrent;
  options->max_queue = defaults.max_queue;
  options->cache_limit_bytes = defaults.cache_limit_bytes;
}

wick_model* wick_model_open(const char* path_or_name, const wick_model_options* options,
                            wick_error** error) {
  return guarded<wick_model*>(error, nullptr, [&]() -> Result<wick_model*> {
    if (path_or_name == nullptr) return null_argument("path_or_name");
    WICK_TRY(const wick::ModelOptions settings, to_cpp(options));
    return to_c(wick::Model::open(path_or_name, settings));
  });
}

void wick_model_free(wick_model* model) {
  delete model;
}

int wick_model_context(const wick_model* model) {
  return on(model, nullptr, -1, [](auto& m) { return m.model.describe().context; });
}

int wick_model_vocabulary(const wick_model* model) {
  return on(model, nullptr, -1, [](auto& m) { return m.model.describe().vocabulary; });
}

int wick_model_close_tenant(const wick_model* model, uint64_t tenant, int wipe,
                            wick_error** error) {
  return on(model, error, -1, [&](auto& m) { return m.model.close_tenant(tenant, wipe != 0); });
}

wick_model_info* wick_model_describe(const wick_model* model, wick_error** error) {
  return on<wick_model_info*>(model, error, nullptr,
                              [](auto& m) { return to_c(m.model.describe()); });
}

void wick_model_info_free(wick_model_info* info) {
  delete static_cast<OwnedInfo*>(info);
}

ptrdiff_t wick_tokenize(const wick_model* model, const char* text, size_t length, int32_t* ids,
                        size_t capacity, wick_error** error) {
  return on<ptrdiff_t>(model, error, -1, [&](auto& m) -> Result<ptrdiff_t> {
    if (text == nullptr && length > 0) return null_argument("text");
    return copied(m.model.tokenize({text, length}), ids, capacity);
  });
}

const char* wick_token_bytes(const wick_token_place* place, int32_t id, size_t* length) {
  if (place == nullptr || length == nullptr) return nullptr;
  using Bytes = decltype(wick::TokenPlace::bytes);
  const std::string_view bytes = (*static_cast<const Bytes*>(place->bytes))(id);
  *length = bytes.size();
  return bytes.data();
}

ptrdiff_t wick_detokenize(const wick_model* model, const int32_t* ids, size_t n_ids, char* text,
                          size_t capacity, wick_error** error) {
  return on<ptrdiff_t>(model, error, -1, [&](auto& m) -> Result<ptrdiff_t> {
    if (ids == nullptr && n_ids > 0) return null_argument("ids");
    return copied(m.model.detokenize({ids, n_ids}), text, capacity);
  });
}

ptrdiff_t wick_apply_template(const wick_model* model, const char* messages,
                              const wick_generation* generation, char* text, size_t capacity,
                              wick_error** error) {
  return on<ptrdiff_t>(model, error, -1, [&](auto& m) -> Result<ptrdiff_t> {
    WICK_TRY(const Generation settings, to_cpp(generation));
    WICK_TRY(const auto list, from_json(messages)());
    return copied(m.model.apply_template(list, settings), text, capacity);
  });
}

void wick_embed_options_init(wick_embed_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->size = sizeof(*options);
  options->normalize = 1;
}

ptrdiff_t wick_embed(const wick_model* model, const char* text, size_t length, const char* pooling,
                     float* values, size_t capacity, wick_error** error) {
  wick_embed_options options;
  wick_embed_options_init(&options);
  options.pooling = pooling;
  return wick_embed_all(model, &text, &length, 1, &options, values, capacity, error);
}

ptrdiff_t wick_embed_all(const wick_model* model, const char* const* texts, const size_t* lengths,
                         size_t n_texts, const wick_embed_options* options, float* values,
                         size_t capacity, wick_error** error) {
  return on<ptrdiff_t>(model, error, -1, [&](auto& m) -> Result<ptrdiff_t> {
    if (n_texts > 0 && (texts == nullptr || lengths == nullptr)) return null_argument("texts");
    std::vector<std::string> given;
    for (size_t i = 0; i < n_texts; ++i) {
      if (texts[i] == nullptr && lengths[i] > 0) return null_argument("a text");
      given.emplace_back(texts[i] == nullptr ? "" : texts[i], lengths[i]);
    }
    WICK_TRY(const wick::EmbedOptions settings, to_cpp(options));
    WICK_TRY(const auto vectors, m.model.embed(given, settings));
    std::vector<float> all;
    for (const wick::Embedding& one : vectors)
      all.insert(all.end(), one.values.begin(), one.values.end());
    return copied(Result(std::move(all)), values, capacity);
  });
}

wick_cancel* wick_cancel_new(void) {
  return guarded<wick_cancel*>(nullptr, nullptr, []() -> Result<wick_cancel*> {
    return std::make_unique<wick_cancel>().release();
  });
}

void wick_cancel_request(wick_cancel* cancel) {
  if (cancel != nullptr) cancel->source.request_stop();
}

void wick_cancel_free(wick_cancel* cancel) {
  delete cancel;
}

void wick_generation_init(wick_generation* generation) {
  if (generation == nullptr) return;
  *generation = {};
  generation->size = sizeof(*generation);
  generation->parallel_tool_calls = 1;
}

void wick_completion_free(wick_completion* completion) {
  delete static_cast<OwnedCompletion*>(completion);
}

wick_completion* wick_complete(const wick_model* model, const char* prompt,
                               const wick_generation* generation, wick_text_sink sink, void* user,
                               wick_error** error) {
  return ask<wick_completion>(model, generation, error, from_text(prompt), completes(sink, user));
}

wick_completion* wick_complete_ids(const wick_model* model, const int32_t* ids, size_t n_ids,
                                   const wick_generation* generation, wick_text_sink sink,
                                   void* user, wick_error** error) {
  return ask<wick_completion>(model, generation, error, from_ids(ids, n_ids),
                              completes(sink, user));
}

wick_completion* wick_chat(const wick_model* model, const char* question,
                           const wick_generation* generation, wick_text_sink sink, void* user,
                           wick_error** error) {
  const wick_message message{"user", question};
  return wick_chat_messages(model, &message, 1, generation, sink, user, error);
}

wick_completion* wick_chat_messages(const wick_model* model, const wick_message* messages,
                                    size_t n_messages, const wick_generation* generation,
                                    wick_text_sink sink, void* user, wick_error** error) {
  return ask<wick_completion>(model, generation, error, from_list(messages, n_messages),
                              completes(sink, user));
}

wick_completion* wick_chat_json(const wick_model* model, const char* messages,
                                const wick_generation* generation, wick_text_sink sink, void* user,
                                wick_error** error) {
  return ask<wick_completion>(model, generation, error, from_json(messages), completes(sink, user));
}

wick_estimate* wick_complete_estimate(const wick_model* model, const char* prompt,
                                      const wick_generation* generation, wick_error** error) {
  return ask<wick_estimate>(model, generation, error, from_text(prompt), kPlans);
}

wick_estimate* wick_complete_ids_estimate(const wick_model* model, const int32_t* ids, size_t n_ids,
                                          const wick_generation* generation, wick_error** error) {
  return ask<wick_estimate>(model, generation, error, from_ids(ids, n_ids), kPlans);
}

wick_estimate* wick_chat_estimate(const wick_model* model, const wick_message* messages,
                                  size_t n_messages, const wick_generation* generation,
                                  wick_error** error) {
  return ask<wick_estimate>(model, generation, error, from_list(messages, n_messages), kPlans);
}

wick_estimate* wick_chat_json_estimate(const wick_model* model, const char* messages,
                                       const wick_generation* generation, wick_error** error) {
  return ask<wick_estimate>(model, generation, error, from_json(messages), kPlans);
}

void wick_estimate_free(wick_estimate* estimate) {
  delete estimate;
}

wick_stream* wick_complete_stream(const wick_model* model, const char* prompt,
                                  const wick_generation* generation, wick_error** error) {
  return ask<wick_stream>(model, generation, error, from_text(prompt), kStreams);
}

wick_stream* wick_complete_ids_stream(const wick_model* model, const int32_t* ids, size_t n_ids,
                                      const wick_generation* generation, wick_error** error) {
  return ask<wick_stream>(model, generation, error, from_ids(ids, n_ids), kStreams);
}

wick_stream* wick_chat_stream(const wick_model* model, const wick_message* messages,
                              size_t n_messages, const wick_generation* generation,
                              wick_error** error) {
  return ask<wick_stream>(model, generation, error, from_list(messages, n_messages), kStreams);
}

wick_stream* wick_chat_json_stream(const wick_model* model, const char* messages,
                                   const wick_generation* generation, wick_error** error) {
  return ask<wick_stream>(model, generation, error, from_json(messages), kStreams);
}

const wick_event* wick_stream_next_event(wick_stream* stream, wick_error** error) {
  return event_of(stream, error, &wick::Stream::next_event);
}

const wick_event* wick_stream_poll_event(wick_stream* stream, wick_error** error) {
  return event_of(stream, error, &wick::Stream::poll_event);
}

const char* wick_stream_next(wick_stream* stream, size_t* length) {
  return piece_of(stream, length, &wick::Stream::next);
}

const char* wick_stream_poll(wick_stream* stream, size_t* length) {
  return piece_of(stream, length, &wick::Stream::poll);
}

int wick_stream_is_over(const wick_stream* stream) {
  return stream == nullptr || stream->stream.is_over() ? 1 : 0;
}

const wick_token_logprob* wick_stream_logprobs(wick_stream* stream, size_t* n, wick_error** error) {
  if (n != nullptr) *n = 0;
  return guarded<const wick_token_logprob*>(
      error, nullptr, [&]() -> Result<const wick_token_logprob*> {
        if (stream == nullptr || n == nullptr) return null_argument("the stream or n");
        fill(stream->scored, stream->stream.logprobs());
        *n = stream->scored.tokens.size();
        return *n == 0 ? nullptr : stream->scored.tokens.data();
      });
}

wick_completion* wick_stream_finish(wick_stream* stream, wick_error** error) {
  return on<wick_completion*>(stream, error, nullptr,
                              [](wick_stream& s) { return to_c(s.stream.finish()); });
}

void wick_stream_cancel(wick_stream* stream) {
  if (stream != nullptr) stream->stream.cancel();
}

void wick_stream_free(wick_stream* stream) {
  delete stream;
}

wick_stream_set* wick_stream_set_new(wick_error** error) {
  return guarded<wick_stream_set*>(error, nullptr, []() -> Result<wick_stream_set*> {
    WICK_TRY(auto set, wick::StreamSet::create());
    return std::make_unique<wick_stream_set>(wick_stream_set{std::move(set)}).release();
  });
}

void wick_stream_set_free(wick_stream_set* set) {
  delete set;
}

int wick_stream_set_fd(const wick_stream_set* set) {
  return set == nullptr ? -1 : set->set.fd();
}

void wick_stream_set_take(wick_stream_set* set, void (*visit)(void* user, uint64_t key),
                          void* user) {
  if (set == nullptr || visit == nullptr) return;
  set->set.take([visit, user](std::uint64_t key) { visit(user, key); });
}

wick_session* wick_session_new(const wick_model* model, const char* system, wick_error** error) {
  return on<wick_session*>(model, error, nullptr, [&](auto& m) {
    auto session = m.model.session(system == nullptr ? "" : system);
    return std::make_unique<wick_session>(wick_session{std::move(session)}).release();
  });
}

wick_completion* wick_session_say(wick_session* session, const char* text,
                                  const wick_generation* generation, wick_text_sink sink,
                                  void* user, wick_error** error) {
  return ask<wick_completion>(
      session, generation, error, from_text(text),
      [&](wick_session& s, std::string_view question, const Generation& settings) {
        return s.session.say(question, settings, to_cpp(sink, user));
      });
}

wick_stream* wick_session_stream(wick_session* session, const char* text,
                                 const wick_generation* generation, wick_error** error) {
  return ask<wick_stream>(
      session, generation, error, from_text(text),
      [](wick_session& s, std::string_view question, const Generation& settings) {
        return s.session.stream(question, settings);
      });
}

wick_stream* wick_session_send(wick_session* session, const char* message,
                               const wick_generation* generation, wick_error** error) {
  return ask<wick_stream>(session, generation, error, from_json(message),
                          [](wick_session& s, const std::vector<wick::Message>& messages,
                             const Generation& settings) -> Result<wick::Stream> {
                            if (messages.size() != 1) return wick::c_abi::not_one(messages.size());
                            return s.session.send(messages.front(), settings);
                          });
}

wick_estimate* wick_session_estimate(const wick_session* session, const char* text,
                                     const wick_generation* generation, wick_error** error) {
  return ask<wick_estimate>(
      session, generation, error, from_text(text),
      [](const wick_session& s, std::string_view question, const Generation& settings) {
        return s.session.estimate(question, settings);
      });
}

ptrdiff_t wick_session_messages(const wick_session* session, char* json, size_t capacity,
                                wick_error** error) {
  return on<ptrdiff_t>(session, error, -1, [&](auto& s) {
    return copied(Result(wick::messages_to_json(s.session.messages())), json, capacity);
  });
}

int wick_session_undo(wick_session* session) {
  return session != nullptr && session->session.undo() ? 1 : 0;
}

int wick_session_save(const wick_session* session, const char* path, wick_error** error) {
  return guarded<int>(error, 1, [&]() -> Result<int> {
    if (session == nullptr || path == nullptr) return null_argument("the session or the path");
    WICK_DO(session->session.save(path));
    return 0;
  });
}

wick_session* wick_session_load(const wick_model* model, const char* path, wick_error** error) {
  return guarded<wick_session*>(error, nullptr, [&]() -> Result<wick_session*> {
    if (model == nullptr || path == nullptr) return null_argument("the model or the path");
    WICK_TRY(auto session, model->model.load_session(path));
    return std::make_unique<wick_session>(wick_session{std::move(session)}).release();
  });
}

void wick_session_reset(wick_session* session) {
  if (session != nullptr) session->session.reset();
}

void wick_session_free(wick_session* session) {
  delete session;
}

void wick_pool_options_init(wick_pool_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->size = sizeof(*options);
  options->max_models = wick::PoolOptions{}.max_models;
}

wick_pool* wick_pool_new(const wick_pool_options* options, wick_error** error) {
  return guarded<wick_pool*>(error, nullptr, [&]() -> Result<wick_pool*> {
    WICK_TRY(const wick::PoolOptions settings, to_cpp(options));
    return std::make_unique<wick_pool>(wick_pool{wick::ModelPool(settings)}).release();
  });
}

void wick_pool_free(wick_pool* pool) {
  delete pool;
}

wick_model* wick_pool_get(wick_pool* pool, const char* path_or_name, wick_error** error) {
  return guarded<wick_model*>(error, nullptr, [&]() -> Result<wick_model*> {
    if (pool == nullptr || path_or_name == nullptr) return null_argument("the pool or the name");
    return to_c(pool->pool.get(path_or_name));
  });
}

wick_model* wick_pool_replace(wick_pool* pool, const char* name, const char* source,
                              wick_error** error) {
  return guarded<wick_model*>(error, nullptr, [&]() -> Result<wick_model*> {
    if (pool == nullptr || name == nullptr || source == nullptr)
      return null_argument("the pool, the name or the source");
    return to_c(pool->pool.replace(name, source));
  });
}

int wick_pool_unload(wick_pool* pool, const char* name) {
  return pool != nullptr && name != nullptr && pool->pool.unload(name) ? 1 : 0;
}

int wick_pool_pin(wick_pool* pool, const char* name, int is_pinned) {
  return pool != nullptr && name != nullptr && pool->pool.pin(name, is_pinned != 0) ? 1 : 0;
}

wick_model_info* wick_pool_describe(const wick_pool* pool, size_t index, wick_error** error) {
  return on<wick_model_info*>(pool, error, nullptr, [&](auto& p) -> Result<wick_model_info*> {
    auto list = p.pool.list();
    if (index >= list.size()) return static_cast<wick_model_info*>(nullptr);
    return to_c(std::move(list[index]));
  });
}

}  // extern "C"
