// Conversions between the structs of include/wick/wick.h and the C++ types, for c_abi.cc. No
// exception may leave a C function: code that allocates runs inside guarded().
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "wick/fields.h"
#include "wick/model.h"
#include "wick/pool.h"
#include "wick/stream_set.h"
#include "wick/wick.h"

struct wick_model {
  wick::Model model;
};

struct wick_session {
  wick::Session session;
};

namespace wick::c_abi {

// Scored tokens as C has them, over C++ ones that must stay where they are.
struct ScoredList {
  std::vector<wick_token_logprob> tokens, top_logprobs;
};

}  // namespace wick::c_abi

struct wick_stream {
  wick::Stream stream;
  wick::c_abi::ScoredList scored = {};  // what wick_stream_logprobs() gave last
  wick::Event event = {};               // what wick_stream_next_event() gave last, and as C has it
  wick_event c_event = {};
};

struct wick_cancel {
  std::stop_source source;
};

struct wick_stream_set {
  wick::StreamSet set;
};

struct wick_pool {
  wick::ModelPool pool;
};

namespace wick::c_abi {

// Owns the memory that the plain C structs point into.
struct OwnedError : wick_error {
  std::string id_text, message_text, hint_text, partial;
};

struct OwnedCompletion : wick_completion {
  Completion whole;
  std::vector<wick_effective> effective_list;
  ScoredList scored, scored_prompt;
  std::vector<wick_tool_call> call_list;
};

struct OwnedInfo : wick_model_info {
  ModelInfo whole;
};

// The error that is returned if there is no memory to create an error.
extern wick_error out_of_memory;

wick_error* to_c(const Error& error);
Result<wick_model*> to_c(Result<Model> model);
wick_model_info* to_c(ModelInfo info);
Result<wick_completion*> to_c(Result<Completion> result);
void fill(ScoredList& list, std::span<const TokenLogprob> scored);
wick_event to_c(const Event& event);
Result<wick_stream*> to_c(Result<Stream> stream);
Result<wick_estimate*> to_c(const Result<RequestEstimate>& estimate);

Result<ModelOptions> to_cpp(const wick_model_options* given);
Result<Generation> to_cpp(const wick_generation* given);
Result<EmbedOptions> to_cpp(const wick_embed_options* given);
Result<PoolOptions> to_cpp(const wick_pool_options* given);
Result<std::vector<Message>> to_cpp(const wick_message* messages, std::size_t n);
TextSink to_cpp(wick_text_sink sink, void* user);
Result<void> take_constraints(const wick_generation& c, Generation& out);  // c_constraint.cc

Error null_argument(const char* what);
Error not_one(std::size_t n_messages);
Error bad_struct_size(std::size_t seen, std::size_t wanted, const char* init_name);

// Runs `body`, which returns a Result. Returns its value; on failure sets *error and returns
// `failed`.
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

// Copies a caller's struct, which may be that of an older header. Fields that the older header
// lacks keep their defaults.
template <class T>
Result<T> read_options(const T* from, void (*init)(T*), const char* init_name) {
  T options;
  init(&options);
  if (from == nullptr) return options;
  if (from->size < sizeof(std::size_t) || from->size > sizeof(T)) {
    return bad_struct_size(from->size, sizeof(T), init_name);
  }
  std::memcpy(&options, from, from->size);
  options.size = sizeof(T);
  return options;
}

}  // namespace wick::c_abi
