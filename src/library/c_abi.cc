// include/wick/wick.h over the C++ faces.
#include <algorithm>
#include <string>
#include <vector>

#include "library/c_convert.h"
#include "wick/log.h"

using wick::Result;
using wick::c_abi::fill;
using wick::c_abi::guarded;
using wick::c_abi::null_argument;
using wick::c_abi::out_of_memory;
using wick::c_abi::OwnedCompletion;
using wick::c_abi::OwnedError;
using wick::c_abi::to_c;
using wick::c_abi::to_cpp;

namespace {

// What call(prompt or messages, settings) gives, as C has it.
template <class Out, class Call>
Out* ask(const wick_model* model, const char* prompt, const wick_generation* generation,
         wick_error** error, const Call& call) {
  return guarded<Out*>(error, nullptr, [&]() -> Result<Out*> {
    if (model == nullptr || prompt == nullptr) return null_argument("the model or the prompt");
    WICK_TRY(auto settings, to_cpp(generation));
    return to_c(call(std::string_view(prompt), settings));
  });
}

template <class Out, class Call>
Out* ask(const wick_model* model, const wick_message* messages, size_t n_messages,
         const wick_generation* generation, wick_error** error, const Call& call) {
  return guarded<Out*>(error, nullptr, [&]() -> Result<Out*> {
    if (model == nullptr) return null_argument("model");
    WICK_TRY(auto settings, to_cpp(generation));
    WICK_TRY(auto list, to_cpp(messages, n_messages));
    return to_c(call(list, settings));
  });
}

template <class Out, class Call>
Out* ask_ids(const wick_model* model, const int32_t* ids, size_t n_ids,
             const wick_generation* generation, wick_error** error, const Call& call) {
  return guarded<Out*>(error, nullptr, [&]() -> Result<Out*> {
    if (model == nullptr || ids == nullptr) return null_argument("the model or ids");
    WICK_TRY(auto settings, to_cpp(generation));
    return to_c(call(std::vector<wick::TokenId>(ids, ids + n_ids), settings));
  });
}

template <class Out, class Call>
Out* ask_json(const wick_model* model, const char* messages, const wick_generation* generation,
              wick_error** error, const Call& call) {
  return guarded<Out*>(error, nullptr, [&]() -> Result<Out*> {
    if (model == nullptr || messages == nullptr) return null_argument("the model or messages");
    WICK_TRY(auto settings, to_cpp(generation));
    WICK_TRY(auto list, wick::messages_from_json(messages));
    return to_c(call(list, settings));
  });
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
  options->cache_limit_bytes = defaults.cache_limit_bytes;
}

wick_model* wick_model_open(const char* path_or_name, const wick_model_options* options,
                            wick_error** error) {
  return guarded<wick_model*>(error, nullptr, [&]() -> Result<wick_model*> {
    if (path_or_name == nullptr) return null_argument("path_or_name");
    WICK_TRY(auto settings, to_cpp(options));
    WICK_TRY(auto model, wick::Model::open(path_or_name, settings));
    return std::make_unique<wick_model>(wick_model{std::move(model)}).release();
  });
}

void wick_model_free(wick_model* model) {
  delete model;
}

int wick_model_context(const wick_model* model) {
  if (model == nullptr) return -1;
  return guarded<int>(nullptr, -1,
                      [&]() -> Result<int> { return model->model.describe().context; });
}

int wick_model_vocabulary(const wick_model* model) {
  if (model == nullptr) return -1;
  return guarded<int>(nullptr, -1,
                      [&]() -> Result<int> { return model->model.describe().vocabulary; });
}

int wick_model_close_tenant(const wick_model* model, uint64_t tenant, int wipes,
                            wick_error** error) {
  return guarded<int>(error, -1, [&]() -> Result<int> {
    if (model == nullptr) return null_argument("model");
    return model->model.close_tenant(tenant, wipes != 0);
  });
}

ptrdiff_t wick_tokenize(const wick_model* model, const char* text, size_t length, int32_t* ids,
                        size_t capacity, wick_error** error) {
  return guarded<ptrdiff_t>(error, -1, [&]() -> Result<ptrdiff_t> {
    if (model == nullptr) return null_argument("model");
    if (text == nullptr && length > 0) return null_argument("text");
    if (ids == nullptr && capacity > 0) return null_argument("ids");
    WICK_TRY(const auto all, model->model.tokenize({text, length}));
    std::copy_n(all.begin(), std::min(all.size(), capacity), ids);
    return static_cast<ptrdiff_t>(all.size());
  });
}

ptrdiff_t wick_detokenize(const wick_model* model, const int32_t* ids, size_t n_ids, char* text,
                          size_t capacity, wick_error** error) {
  return guarded<ptrdiff_t>(error, -1, [&]() -> Result<ptrdiff_t> {
    if (model == nullptr) return null_argument("model");
    if (ids == nullptr && n_ids > 0) return null_argument("ids");
    if (text == nullptr && capacity > 0) return null_argument("text");
    WICK_TRY(const auto all, model->model.detokenize({ids, n_ids}));
    std::copy_n(all.begin(), std::min(all.size(), capacity), text);
    return static_cast<ptrdiff_t>(all.size());
  });
}

ptrdiff_t wick_embed(const wick_model* model, const char* text, size_t length, const char* pooling,
                     float* values, size_t capacity, wick_error** error) {
  return guarded<ptrdiff_t>(error, -1, [&]() -> Result<ptrdiff_t> {
    if (model == nullptr) return null_argument("model");
    if (text == nullptr && length > 0) return null_argument("text");
    if (values == nullptr && capacity > 0) return null_argument("values");
    WICK_TRY(const auto all, model->model.embed({std::string(text == nullptr ? "" : text, length)},
                                                {.pooling = pooling == nullptr ? "" : pooling}));
    const std::vector<float>& vector = all.front().values;
    std::copy_n(vector.begin(), std::min(vector.size(), capacity), values);
    return static_cast<ptrdiff_t>(vector.size());
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
}

void wick_completion_free(wick_completion* completion) {
  delete static_cast<OwnedCompletion*>(completion);
}

wick_completion* wick_complete(const wick_model* model, const char* prompt,
                               const wick_generation* generation, wick_text_sink sink, void* user,
                               wick_error** error) {
  return ask<wick_completion>(model, prompt, generation, error,
                              [&](const auto& input, const auto& settings) {
                                return model->model.complete(input, settings, to_cpp(sink, user));
                              });
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
  return ask<wick_completion>(model, messages, n_messages, generation, error,
                              [&](const auto& input, const auto& settings) {
                                return model->model.chat(input, settings, to_cpp(sink, user));
                              });
}

wick_completion* wick_complete_ids(const wick_model* model, const int32_t* ids, size_t n_ids,
                                   const wick_generation* generation, wick_text_sink sink,
                                   void* user, wick_error** error) {
  return ask_ids<wick_completion>(
      model, ids, n_ids, generation, error, [&](const auto& input, const auto& settings) {
        return model->model.complete(input, settings, to_cpp(sink, user));
      });
}

wick_completion* wick_chat_json(const wick_model* model, const char* messages,
                                const wick_generation* generation, wick_text_sink sink, void* user,
                                wick_error** error) {
  return ask_json<wick_completion>(model, messages, generation, error,
                                   [&](const auto& input, const auto& settings) {
                                     return model->model.chat(input, settings, to_cpp(sink, user));
                                   });
}

wick_plan* wick_complete_plan(const wick_model* model, const char* prompt,
                              const wick_generation* generation, wick_error** error) {
  return ask<wick_plan>(
      model, prompt, generation, error,
      [&](const auto& input, const auto& settings) { return model->model.plan(input, settings); });
}

wick_plan* wick_chat_plan(const wick_model* model, const wick_message* messages, size_t n_messages,
                          const wick_generation* generation, wick_error** error) {
  return ask<wick_plan>(
      model, messages, n_messages, generation, error,
      [&](const auto& input, const auto& settings) { return model->model.plan(input, settings); });
}

void wick_plan_free(wick_plan* plan) {
  delete plan;
}

wick_stream* wick_complete_stream(const wick_model* model, const char* prompt,
                                  const wick_generation* generation, wick_error** error) {
  return ask<wick_stream>(model, prompt, generation, error,
                          [&](const auto& input, const auto& settings) {
                            return model->model.stream(input, settings);
                          });
}

wick_stream* wick_chat_stream(const wick_model* model, const wick_message* messages,
                              size_t n_messages, const wick_generation* generation,
                              wick_error** error) {
  return ask<wick_stream>(model, messages, n_messages, generation, error,
                          [&](const auto& input, const auto& settings) {
                            return model->model.stream(input, settings);
                          });
}

wick_stream* wick_complete_ids_stream(const wick_model* model, const int32_t* ids, size_t n_ids,
                                      const wick_generation* generation, wick_error** error) {
  return ask_ids<wick_stream>(model, ids, n_ids, generation, error,
                              [&](const auto& input, const auto& settings) {
                                return model->model.stream(input, settings);
                              });
}

wick_stream* wick_chat_json_stream(const wick_model* model, const char* messages,
                                   const wick_generation* generation, wick_error** error) {
  return ask_json<wick_stream>(model, messages, generation, error,
                               [&](const auto& input, const auto& settings) {
                                 return model->model.stream(input, settings);
                               });
}

const wick_event* wick_stream_next_event(wick_stream* stream, wick_error** error) {
  return guarded<const wick_event*>(error, nullptr, [&]() -> Result<const wick_event*> {
    if (stream == nullptr) return null_argument("stream");
    auto event = stream->stream.next_event();
    if (!event) return static_cast<const wick_event*>(nullptr);
    stream->event = *std::move(event);
    stream->c_event = to_c(stream->event);
    return &stream->c_event;
  });
}

const char* wick_stream_next(wick_stream* stream, size_t* length) {
  if (length != nullptr) *length = 0;
  return guarded<const char*>(nullptr, nullptr, [&]() -> Result<const char*> {
    // The piece is the end of the stream's whole text, so it ends in 0.
    const auto piece = stream == nullptr ? std::nullopt : stream->stream.next();
    if (!piece) return static_cast<const char*>(nullptr);
    if (length != nullptr) *length = piece->size();
    return piece->data();
  });
}

const wick_scored_token* wick_stream_scores(wick_stream* stream, size_t* n, wick_error** error) {
  if (n != nullptr) *n = 0;
  return guarded<const wick_scored_token*>(
      error, nullptr, [&]() -> Result<const wick_scored_token*> {
        if (stream == nullptr || n == nullptr) return null_argument("the stream or n");
        fill(stream->scored, stream->stream.scores());
        *n = stream->scored.tokens.size();
        return *n == 0 ? nullptr : stream->scored.tokens.data();
      });
}

wick_completion* wick_stream_finish(wick_stream* stream, wick_error** error) {
  return guarded<wick_completion*>(error, nullptr, [&]() -> Result<wick_completion*> {
    if (stream == nullptr) return null_argument("stream");
    return to_c(stream->stream.finish());
  });
}

void wick_stream_cancel(wick_stream* stream) {
  if (stream != nullptr) stream->stream.cancel();
}

void wick_stream_free(wick_stream* stream) {
  delete stream;
}

wick_session* wick_session_new(const wick_model* model, const char* system, wick_error** error) {
  return guarded<wick_session*>(error, nullptr, [&]() -> Result<wick_session*> {
    if (model == nullptr) return null_argument("model");
    auto session = model->model.session(system == nullptr ? "" : system);
    return std::make_unique<wick_session>(wick_session{std::move(session)}).release();
  });
}

wick_completion* wick_session_say(wick_session* session, const char* text,
                                  const wick_generation* generation, wick_text_sink sink,
                                  void* user, wick_error** error) {
  return guarded<wick_completion*>(error, nullptr, [&]() -> Result<wick_completion*> {
    if (session == nullptr || text == nullptr) return null_argument("the session or the text");
    WICK_TRY(auto settings, to_cpp(generation));
    return to_c(session->session.say(text, settings, to_cpp(sink, user)));
  });
}

wick_plan* wick_session_plan(const wick_session* session, const char* text,
                             const wick_generation* generation, wick_error** error) {
  return guarded<wick_plan*>(error, nullptr, [&]() -> Result<wick_plan*> {
    if (session == nullptr || text == nullptr) return null_argument("the session or the text");
    WICK_TRY(auto settings, to_cpp(generation));
    return to_c(session->session.plan(text, settings));
  });
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

}  // extern "C"
