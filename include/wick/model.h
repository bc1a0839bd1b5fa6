// A loaded model. A Model is a handle: copies share the same weights, cache and thread, and the
// last one to go unloads it. Every function may be called from any thread, many at once; requests
// share forward passes, and none changes what another yields.
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
  int threads = 0;  // 0 = what this process may use
  // "cpu" …; "auto" = the first one that starts. Several, "cuda:0,cpu": the model lies on them in
  // this order, on each as much as its free memory holds, or of its blocks the share that
  // tensor_split has for it, "3,1". No placement changes a bit of an answer.
  std::string device = "auto";
  std::string tensor_split = {};
  int context = 0;         // positions; 0 = the smaller of the model's and what the cache holds
  int max_concurrent = 4;  // answers under way at once, 1 to 256; more wait their turn
  int max_queue = 256;     // of these, 1 to 65536; then they are refused (id "queue_full")
  std::uint64_t cache_limit_bytes = 1'000'000'000;  // for all of them together, if context is 0
  std::string cache_type = "bf16";  // f32, bf16, f16, q8_0, q4_0; "q8_0,q4_0": keys, values
  std::string chat_template = {};   // instead of the model's own
  bool may_download = false;        // a model that is not on this machine may be fetched
  // Speculative decoding, as the program's --spec: "none", "ngram" (from the text so far) or
  // "draft" (by draft_model, a file or name as in Model::open() of a smaller model with the same
  // vocabulary). The model checks each drafted token: the answer is the same.
  std::string speculation = "none";
  std::string draft_model = {};
  int draft_max = 0;  // tokens drafted in a step at most, up to 64; 0 = 16, with a draft model 3
  // "Q4_K_M": which of the files of "hf:org/repo", as behind a second colon of the name. Any other
  // name stands for one file, whose weights are what they are: refused, id "bad_quantization".
  std::string quantization = {};
  ProgressSink progress = {};   // of the download and the load
  std::stop_token cancel = {};  // ends both, from any thread: kCancelled. Nothing good is lost.
};

class WICK_API Model {
 public:
  // A GGUF file, a folder of safetensors, a name from `wick model list`, or hf:org/repo[:file or
  // quant].
  static Result<Model> open(std::string_view path_or_name, const ModelOptions& options = {});

  ModelInfo describe() const;  // an empty one at the end of memory

  // Goes on from plain text or from tokens, or answers a conversation by the model's chat template.
  // Tokens are taken as they are, without a BOS before them. Blocks until done. A prompt that does
  // not fit is refused with the numbers (id "context_length_exceeded"), never cut.
  Result<Completion> complete(std::string_view prompt, const Generation& generation = {},
                              const TextSink& sink = {}) const;
  Result<Completion> complete(const std::vector<TokenId>& prompt, const Generation& generation = {},
                              const TextSink& sink = {}) const;
  Result<Completion> chat(const std::vector<Message>& messages, const Generation& generation = {},
                          const TextSink& sink = {}) const;

  // The same, to be pulled. They return once the request is queued.
  Result<Stream> stream(std::string_view prompt, const Generation& generation = {}) const;
  Result<Stream> stream(const std::vector<TokenId>& prompt,
                        const Generation& generation = {}) const;
  Result<Stream> stream(const std::vector<Message>& messages,
                        const Generation& generation = {}) const;

  // What complete() or chat() with the same arguments would take now; computes nothing of it, and
  // waits for the step under way at most. What cannot run is refused as it would be there.
  Result<RequestEstimate> estimate(std::string_view prompt,
                                   const Generation& generation = {}) const;
  Result<RequestEstimate> estimate(const std::vector<TokenId>& prompt,
                           const Generation& generation = {}) const;
  Result<RequestEstimate> estimate(const std::vector<Message>& messages,
                           const Generation& generation = {}) const;

  // A conversation that remembers; `system` empty: without a system message. One that there is no
  // memory for says so when it is asked.
  Session session(std::string_view system = {}) const;
  // One that Session::save() wrote. Refused, with nothing changed, when it was made with another
  // model or cache type (kInvalid) or is not byte for byte as it was written (kCorrupt).
  Result<Session> load_session(std::string_view path) const;

  // A vector for each text, computed together; what else runs changes no bit of them. A text that
  // does not fit the context is refused with the numbers, never cut.
  Result<std::vector<Embedding>> embed(const std::vector<std::string>& texts,
                                       const EmbedOptions& options = {}) const;

  // A tenant that is gone (Generation::tenant): its requests end as cancelled, what is cached of
  // its texts is dropped, and with `wipe` no byte of it stays in the cache. Waits for the step
  // that is under way. Returns how many blocks of 16 tokens were dropped.
  Result<int> close_tenant(std::uint64_t tenant, bool wipe = false) const;

  // A person's text: names of control tokens are ordinary text, no BOS or EOS.
  Result<std::vector<TokenId>> tokenize(std::string_view text) const;
  // Control tokens are left out, invalid UTF-8 becomes U+FFFD. kInvalid for an id out of range.
  Result<std::string> detokenize(std::span<const TokenId> ids) const;
  // The text that chat() would give the model, control tokens by their names.
  Result<std::string> apply_template(const std::vector<Message>& messages,
                                     const Generation& generation = {}) const;

  struct State;
  explicit Model(std::shared_ptr<State> state) noexcept;  // the library's

 private:
  std::shared_ptr<State> state_;
};

}  // namespace wick
