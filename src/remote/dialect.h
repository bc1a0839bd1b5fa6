// The wire formats of remote APIs. A dialect is one file and one constant: it writes requests, and
// converts the frames of a stream to events. Pure functions; a decoder belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/json_value.h"
#include "provider/provider.h"
#include "remote/endpoint.h"
#include "remote/json_view.h"
#include "remote/refusal.h"
#include "remote/stream_reader.h"

namespace wick::remote {

// A request body, sent to the endpoint's URL followed by `path`.
struct Call {
  std::string path = {};
  std::string begin = {};  // of the body, written already: {"model": "m"
  Object body = {};        // its fields, or its other fields
};

// Collects the events of an answer. Drops empty texts; begins each tool call once, and puts its
// arguments after that, even if the API repeats ids and names.
class EventWriter {
 public:
  std::vector<Event> events = {};
  FinishReason finish = FinishReason::kNone;
  std::optional<Usage> usage = {};  // by count()
  std::string model = {};  // as the API calls it
  std::optional<Refusal> refusal = {};
  bool is_over = false;     // the API said so
  std::size_t n_bytes = 0;  // of text, reasoning and arguments

  // Behind the content of the same frame: counts that come before other content are not the last.
  void count(const Usage& counts) {
    usage = counts;
    n_counted_bytes_ = n_bytes;
  }

  // Whether the API has counted all of the answer.
  bool is_counted() const noexcept {
    return usage && n_counted_bytes_ == n_bytes && (usage->generated_tokens > 0 || n_bytes == 0);
  }

  void text(std::string_view text);
  void reasoning(std::string_view text);
  // A piece of the call that the API numbers `key`; id and name count the first time.
  void call(std::int64_t key, const std::string& id, const std::string& name,
            std::string arguments);

  int n_calls() const noexcept { return static_cast<int>(calls_.size()); }

 private:
  struct Open {
    int index = 0;
    bool is_begun = false;
    std::string id = {}, waiting = {};  // arguments before the name
  };

  std::map<std::int64_t, Open> calls_ = {};
  std::size_t n_counted_bytes_ = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // A frame of the stream, or the whole of an answer that is none.
  virtual void add(Json frame, EventWriter& out) = 0;
};

struct Dialect {
  Framing framing = Framing::kSse;
  std::string_view end_frame = {};  // "[DONE]", which is no JSON
  // "Authorization: Bearer KEY" and what else the API wants of each request.
  std::vector<std::string> (*headers)(const Endpoint& endpoint) = nullptr;
  Result<Call> (*chat)(const Endpoint& endpoint, const Request& request) = nullptr;
  SentFields fields = {};  // that chat() sends
  std::unique_ptr<Decoder> (*decoder)() = nullptr;
  // Embeddings; null: the API has none.
  Result<Call> (*embed)(const Endpoint& endpoint, const EmbedTexts& request) = nullptr;
  Result<std::vector<Embedding>> (*read_embeddings)(const JsonValue& answer) = nullptr;
  // Of one request for embeddings; more are sent in several. Answers of so many vectors with 4,096
  // numbers are shorter than kMaxWholeBytes.
  std::size_t max_texts = 256;
  std::string_view models_path = {};                      // "" = the API lists none
  std::string_view models_array = {}, models_field = {};  // data[].id
  std::string_view models_prefix = {};                    // of each name, taken off
};

// One for each file.
extern const Dialect kOpenAi, kAnthropic, kOllama, kGemini, kAzure;

// For the dialects' files:
Error unsupported(const Endpoint& endpoint, std::string_view what);
// kUnsupported for what no remote API takes: token ids, logit hooks, prompt logprobs.
Result<void> check_request(const Endpoint& endpoint, const Request& request);
// {} for an empty text; kInvalid, id "bad_tool" or "bad_message", for what is no JSON object.
Result<JsonValue> json_of(const std::string& text, std::string_view what);
int max_tokens_of(const Endpoint& endpoint, const Generation& generation);

// JSON's integers have a sign here.
inline std::int64_t seed_of(std::uint64_t seed) noexcept {
  return static_cast<std::int64_t>(seed & std::uint64_t{INT64_MAX});
}

// "data:image/png;base64,iVBO…"
struct ImageData {
  std::string type = {}, base64 = {};
};

std::optional<ImageData> image_data(std::string_view url);

}  // namespace wick::remote
