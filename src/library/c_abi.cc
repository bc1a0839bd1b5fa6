// include/wick/wick.h over the C++ faces. Nothing may be thrown past this file: what allocates runs
// inside guarded(), one of the doors where exceptions of libraries end.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "base/strings.h"
#include "wick/model.h"
#include "wick/wick.h"

struct wick_model {
  wick::Model model;
};

struct wick_session {
  wick::Session session;
};

struct wick_stream {
  wick::Stream stream;
};

struct wick_cancel {
  std::stop_source source;
};

namespace {

using wick::cat;
using wick::Error;
using wick::ErrorCode;
using wick::Result;

// What the plain structs of the header point into lies behind them.
struct OwnedError : wick_error {
  std::string id_text, message_text, hint_text;
};

struct OwnedCompletion : wick_completion {
  std::string storage;
  std::vector<wick::EffectiveParameter> effective;
  std::vector<wick_effective> effective_list;
};

static_assert(static_cast<int>(ErrorCode::kInvalid) + 1 == WICK_INVALID);
static_assert(static_cast<int>(ErrorCode::kUnavailable) + 1 == WICK_UNAVAILABLE);
static_assert(static_cast<int>(wick::FinishReason::kEnd) == WICK_FINISH_END);
static_assert(static_cast<int>(wick::FinishReason::kCancelled) == WICK_FINISH_CANCELLED);

// For when there is no memory even for an error.
wick_error out_of_memory{WICK_NO_MEMORY, "out_of_memory", "there is not enough memory", "",
                         nullptr};

wick_error* to_c(const Error& error) {
  auto owned = std::make_unique<OwnedError>();
  owned->code = static_cast<wick_error_code>(static_cast<int>(error.code) + 1);
  owned->id_text = error.id;
  owned->message_text = error.message;
  owned->hint_text = error.hint;
  owned->id = owned->id_text.c_str();
  owned->message = owned->message_text.c_str();
  owned->hint = owned->hint_text.c_str();
  owned->cause = error.cause == nullptr ? nullptr : to_c(*error.cause);
  return owned.release();
}

// Runs `body`, which gives a Result; its value, or `failed` with *error set.
template <class T, class Body>
T guarded(wick_error** error, T failed, const Body& body) noexcept {
  try {
    try {
      Result<T> result = body();
      if (result) return std::move(*result);
      if (error != nullptr) *error = to_c(result.error());
    } catch (const std::bad_alloc&) {
      if (error != nullptr) *error = &out_of_memory;
    } catch (const std::exception& e) {
      if (error != nullptr) {
        *error = to_c({.code = ErrorCode::kDevice, .id = "unexpected", .message = e.what()});
      }
    }
  } catch (...) {  // the error could not be made
    if (error != nullptr) *error = &out_of_memory;
  }
  return failed;
}

Error invalid(std::string id, std::string message, std::string hint = {}) {
  return {.code = ErrorCode::kInvalid,
          .id = std::move(id),
          .message = std::move(message),
          .hint = std::move(hint)};
}

Error null_argument(const char* what) {
  return invalid("null_argument", cat(what, " is NULL"));
}

// A caller's struct as this library knows it: fields that the caller's header does not have keep
// their defaults.
template <class T>
Result<T> read_options(const T* from, void (*init)(T*), const char* init_name) {
  T options;
  init(&options);
  if (from == nullptr) return options;
  if (from->size < sizeof(std::size_t) || from->size > sizeof(T)) {
    return invalid("bad_struct_size",
                   cat("a struct says its size is ", from->size, ", this one has ", sizeof(T)),
                   cat("fill it with ", init_name,
                       "() first; a program must not be newer than its "
                       "library"));
  }
  std::memcpy(&options, from, from->size);
  options.size = sizeof(T);
  return options;
}

Result<wick::Generation> to_cpp(const wick_generation* given) {
  auto read = read_options(given, wick_generation_init, "wick_generation_init");
  if (!read) return read.error();
  const wick_generation& g = *read;
  wick::Generation out{.max_tokens = g.max_tokens,
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
                                                         std::span<const wick::TokenId> history) {
      const int status = hook(user, logits.data(), logits.size(), history.data(), history.size());
      if (status != 0) throw std::runtime_error(cat("it returned ", status));
    };
  }
  if (g.cancel != nullptr) out.cancel = g.cancel->source.get_token();
  return out;
}

Result<std::vector<wick::Message>> to_cpp(const wick_message* messages, std::size_t n) {
  if (n > 0 && messages == nullptr) return null_argument("messages");
  std::vector<wick::Message> out;
  for (std::size_t i = 0; i < n; ++i) {
    if (messages[i].role == nullptr || messages[i].content == nullptr) {
      return null_argument("the role or the content of a message");
    }
    out.push_back({.role = messages[i].role, .content = messages[i].content});
  }
  return out;
}

wick::TextSink to_cpp(wick_text_sink sink, void* user) {
  if (sink == nullptr) return {};
  return [sink, user](std::string_view piece) {
    const std::string text(piece);  // ends in 0
    return sink(user, text.data(), text.size()) == 0;
  };
}

Result<wick_completion*> to_c(Result<wick::Completion> result) {
  if (!result) return std::move(result).error();
  auto owned = std::make_unique<OwnedCompletion>();
  owned->storage = std::move(result->text);
  owned->text = owned->storage.c_str();
  owned->length = owned->storage.size();
  owned->finish = static_cast<wick_finish>(result->finish);
  owned->prompt_tokens = result->usage.prompt_tokens;
  owned->cached_tokens = result->usage.cached_tokens;
  owned->generated_tokens = result->usage.generated_tokens;
  owned->queue_ms = result->usage.queue_ms;
  owned->prompt_ms = result->usage.prompt_ms;
  owned->generate_ms = result->usage.generate_ms;
  owned->effective = std::move(result->parameters);
  for (const wick::EffectiveParameter& one : owned->effective) {
    const auto* const number = std::get_if<double>(&one.value);
    const auto* const text = std::get_if<std::string>(&one.value);
    owned->effective_list.push_back({.key = one.key.c_str(),
                                     .value = number == nullptr ? 0 : *number,
                                     .text = text == nullptr ? nullptr : text->c_str(),
                                     .origin = one.origin.c_str()});
  }
  owned->parameters = owned->effective_list.data();
  owned->n_parameters = owned->effective_list.size();
  return owned.release();
}

Result<wick_stream*> to_c(Result<wick::Stream> stream) {
  if (!stream) return std::move(stream).error();
  return std::make_unique<wick_stream>(wick_stream{*std::move(stream)}).release();
}

}  // namespace

extern "C" {

int wick_abi(void) {
  return WICK_ABI;
}

const char* wick_version(void) {
  return wick::version();
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
    auto read = read_options(options, wick_model_options_init, "wick_model_options_init");
    if (!read) return read.error();
    wick::ModelOptions out{.threads = read->threads,
                           .context = read->context,
                           .max_concurrent = read->max_concurrent,
                           .cache_limit_bytes = read->cache_limit_bytes,
                           .may_download = read->may_download != 0};
    if (read->cache_type != nullptr) out.cache_type = read->cache_type;
    if (read->chat_template != nullptr) out.chat_template = read->chat_template;
    auto model = wick::Model::open(path_or_name, out);
    if (!model) return std::move(model).error();
    return std::make_unique<wick_model>(wick_model{*std::move(model)}).release();
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
    const auto all = model->model.tokenize({text, length});
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
    const auto all = model->model.detokenize({ids, n_ids});
    if (!all) return all.error();
    std::copy_n(all->begin(), std::min(all->size(), capacity), text);
    return static_cast<ptrdiff_t>(all->size());
  });
}

ptrdiff_t wick_embed(const wick_model* model, const char* text, size_t length, const char* pooling,
                     float* values, size_t capacity, wick_error** error) {
  return guarded<ptrdiff_t>(error, -1, [&]() -> Result<ptrdiff_t> {
    if (model == nullptr) return null_argument("model");
    if (text == nullptr && length > 0) return null_argument("text");
    if (values == nullptr && capacity > 0) return null_argument("values");
    const auto all = model->model.embed({std::string(text == nullptr ? "" : text, length)},
                                        {.pooling = pooling == nullptr ? "" : pooling});
    if (!all) return all.error();
    const std::vector<float>& vector = all->front().values;
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
  return guarded<wick_completion*>(error, nullptr, [&]() -> Result<wick_completion*> {
    if (model == nullptr || prompt == nullptr) return null_argument("the model or the prompt");
    auto settings = to_cpp(generation);
    if (!settings) return settings.error();
    return to_c(model->model.complete(prompt, *settings, to_cpp(sink, user)));
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
  return guarded<wick_completion*>(error, nullptr, [&]() -> Result<wick_completion*> {
    if (model == nullptr) return null_argument("model");
    auto settings = to_cpp(generation);
    if (!settings) return settings.error();
    auto list = to_cpp(messages, n_messages);
    if (!list) return list.error();
    return to_c(model->model.chat(*list, *settings, to_cpp(sink, user)));
  });
}

wick_stream* wick_complete_stream(const wick_model* model, const char* prompt,
                                  const wick_generation* generation, wick_error** error) {
  return guarded<wick_stream*>(error, nullptr, [&]() -> Result<wick_stream*> {
    if (model == nullptr || prompt == nullptr) return null_argument("the model or the prompt");
    auto settings = to_cpp(generation);
    if (!settings) return settings.error();
    return to_c(model->model.stream(std::string_view(prompt), *settings));
  });
}

wick_stream* wick_chat_stream(const wick_model* model, const wick_message* messages,
                              size_t n_messages, const wick_generation* generation,
                              wick_error** error) {
  return guarded<wick_stream*>(error, nullptr, [&]() -> Result<wick_stream*> {
    if (model == nullptr) return null_argument("model");
    auto settings = to_cpp(generation);
    if (!settings) return settings.error();
    auto list = to_cpp(messages, n_messages);
    if (!list) return list.error();
    return to_c(model->model.stream(*list, *settings));
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
    auto settings = to_cpp(generation);
    if (!settings) return settings.error();
    return to_c(session->session.say(text, *settings, to_cpp(sink, user)));
  });
}

int wick_session_save(const wick_session* session, const char* path, wick_error** error) {
  return guarded<int>(error, 1, [&]() -> Result<int> {
    if (session == nullptr || path == nullptr) return null_argument("the session or the path");
    auto saved = session->session.save(path);
    if (!saved) return saved.error();
    return 0;
  });
}

wick_session* wick_session_load(const wick_model* model, const char* path, wick_error** error) {
  return guarded<wick_session*>(error, nullptr, [&]() -> Result<wick_session*> {
    if (model == nullptr || path == nullptr) return null_argument("the model or the path");
    auto session = model->model.load_session(path);
    if (!session) return session.error();
    return std::make_unique<wick_session>(wick_session{*std::move(session)}).release();
  });
}

void wick_session_reset(wick_session* session) {
  if (session != nullptr) session->session.reset();
}

void wick_session_free(wick_session* session) {
  delete session;
}

}  // extern "C"
