// A loaded model. A Model is a handle: copies share the same weights, cache and engine thread. The
// model is unloaded when its last handle (Model, Session or Stream) is destroyed. Any thread.
// Concurrent requests share forward passes (continuous batching) without changing each other's
// results.
//
//   auto model = wick::Model::open("model.gguf");
//   if (!model) { std::cerr << wick::to_string(model.error()); return 1; }
//   auto answer = model->chat({{.content = "Why is the sky blue?"}}, {.max_tokens = 100});
//   if (answer) std::cout << answer->text;
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "wick/generation.h"
#include "wick/model_info.h"
#include "wick/estimate.h"
#include "wick/progress.h"
#include "wick/result.h"
#include "wick/session.h"
#include "wick/stream.h"

namespace wick {

WICK_API const char* version() noexcept;  // "0.1.0"

struct ModelOptions {
  int threads = 0;  // 0 = all that this process may use
  // "auto" = the first device that works; today "cpu" is the only one. A list ("a,b") places the
  // layers on several devices in this order, as many as fit into each device's free memory, or in
  // the ratio of tensor_split ("3,1"). Placement does not change the output.
  std::string device = "auto";
  std::string tensor_split = {};
  // Context size in tokens. 0: the model's, reduced to what cache_limit_bytes can hold. Otherwise
  // cache_limit_bytes is raised if it cannot hold one sequence of this size.
  int context = 0;
  // Maximum number of requests that run at the same time, 1 to 256; more are queued. vLLM:
  // max_num_seqs; llama.cpp: -np, n_parallel.
  int max_concurrent = 4;
  int max_queue = 256;     // queued requests, 1 to 65536; more are refused (id "queue_full")
  // Maximum size of the KV cache of all requests.
  std::uint64_t cache_limit_bytes = 1'000'000'000;
  // KV cache type: f32, bf16, f16, q8_0 or q4_0; "q8_0,q4_0" = keys, values.
  std::string cache_type = "bf16";
  std::string chat_template = {};   // replaces the model's own
  bool may_download = false;        // download the model if it is not on this machine
  // Speculative decoding: "none", "ngram" (prompt lookup decoding) or "draft". draft_model is the
  // path or name (see Model::open()) of a smaller model with the same vocabulary. The output is
  // identical.
  std::string speculation = "none";
  std::string draft_model = {};
  // Maximum number of draft tokens per step, up to 64; 0 = 16 with "ngram", 3 with "draft".
  int draft_max = 0;
  // LoRA adapters, "[NAME=]FILE[:SCALE]": a GGUF file of llama.cpp's convert_lora_to_gguf.py, or a
  // folder of PEFT's. The name is the file's without its extension, the scale 1. Requests may
  // choose among them (Generation::adapters).
  std::vector<std::string> adapters = {};
  // File of "hf:org/repo" to load: "Q4_K_M" is the same as the name "hf:org/repo:Q4_K_M". An error
  // for a path, catalog name or URL (id "bad_quantization").
  std::string quantization = {};
  ProgressSink progress = {};  // progress of download and load
  // Cancels download and load from any thread (kCancelled); a later download resumes.
  std::stop_token cancel = {};
};

class WICK_API Model {
 public:
  // Opens a GGUF file, a folder with safetensors, a name from `wick model list`, or
  // hf:org/repo[:file or quant].
  static Result<Model> open(std::string_view path_or_name, const ModelOptions& options = {});

  ModelInfo describe() const;  // empty if memory runs out

  // Text completion of text or token ids, and chat through the model's chat template. Token ids are
  // used as they are, without a BOS. Blocks until done. A prompt that does not fit the context is
  // refused (id "context_length_exceeded"), never truncated.
  Result<Completion> complete(std::string_view prompt, const Generation& generation = {},
                              const TextSink& sink = {}) const;
  Result<Completion> complete(const std::vector<TokenId>& prompt, const Generation& generation = {},
                              const TextSink& sink = {}) const;
  Result<Completion> chat(const std::vector<Message>& messages, const Generation& generation = {},
                          const TextSink& sink = {}) const;

  // Start the same requests and return when they are queued.
  Result<Stream> stream(std::string_view prompt, const Generation& generation = {}) const;
  Result<Stream> stream(const std::vector<TokenId>& prompt,
                        const Generation& generation = {}) const;
  Result<Stream> stream(const std::vector<Message>& messages,
                        const Generation& generation = {}) const;

  // Estimates the cost of complete() or chat() with the same arguments, without running it. Waits
  // for at most one engine step. Fails if the request itself would fail.
  Result<RequestEstimate> estimate(std::string_view prompt,
                                   const Generation& generation = {}) const;
  Result<RequestEstimate> estimate(const std::vector<TokenId>& prompt,
                           const Generation& generation = {}) const;
  Result<RequestEstimate> estimate(const std::vector<Message>& messages,
                           const Generation& generation = {}) const;

  // A conversation; an empty `system` means no system message. If memory runs out, the session's
  // first call fails.
  Session session(std::string_view system = {}) const;
  // Restores what Session::save() wrote. Errors: another model or KV cache type (kInvalid), a
  // changed file (kCorrupt).
  Result<Session> load_session(std::string_view path) const;

  // Embeddings: one vector per text, computed in one batch. They do not depend on other requests.
  // A text that does not fit the context is an error; it is never truncated.
  Result<std::vector<Embedding>> embed(const std::vector<std::string>& texts,
                                       const EmbedOptions& options = {}) const;

  // Removes a tenant (Generation::tenant): cancels its requests and drops its cached prefixes;
  // `wipe` also overwrites them with zeros. Waits for the current engine step. Returns the number
  // of dropped blocks of 16 tokens.
  Result<int> close_tenant(std::uint64_t tenant, bool wipe = false) const;

  // Text as user input: names of control tokens are ordinary text; no BOS or EOS is added.
  Result<std::vector<TokenId>> tokenize(std::string_view text) const;
  // Omits control tokens; invalid UTF-8 becomes U+FFFD. kInvalid: an id out of range.
  Result<std::string> detokenize(std::span<const TokenId> ids) const;
  // The prompt text that chat() makes of the messages, with control tokens by name.
  Result<std::string> apply_template(const std::vector<Message>& messages,
                                     const Generation& generation = {}) const;

  struct State;
  explicit Model(std::shared_ptr<State> state) noexcept;  // for the library only: use open()

 private:
  std::shared_ptr<State> state_;
};

}  // namespace wick
