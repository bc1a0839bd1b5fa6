// A parsed request of any of the APIs, before it goes to the provider. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/keys.h"
#include "provider/provider.h"
#include "server/api_keys.h"

namespace wick::server {

struct Field;

// Bits: a field belongs to several.
enum Api : std::uint32_t {
  kChat = 1,
  kCompletions = 2,
  kEmbeddings = 4,
  kResponses = 8,
  kMessages = 16,  // Anthropic's
  kOllamaChat = 32,
  kOllamaGenerate = 64,
  kOllamaOptions = 128,  // the object "options" of both
  kTokens = 256,         // /tokenize, /detokenize, /apply-template
  kOllamaShow = 512,
  kModels = 1024,       // /v1/models/load and /unload
  kOllamaFiles = 2048,  // /api/pull and /api/delete
  kOllamaCopy = 4096,
  kInfill = 8192,
  kRerank = 16384,
  kKeys = 32768,  // /v1/keys and LiteLLM's routes
};

// Those that generate.
inline constexpr std::uint32_t kGenerating =
    kChat | kCompletions | kResponses | kMessages | kOllamaOptions | kInfill;

// What embeddings ask for beside their texts.
struct EmbedFields {
  bool is_base64 = false;
  std::optional<int> dimensions = {};
  std::string pooling = {};
};

// What /v1/rerank asks for; its documents are ParsedRequest::prompts.
struct RerankFields {
  std::string query = {};
  std::optional<int> top_n = {};
  bool returns_documents = true;
  bool wants_raw = false;  // scores before the sigmoid
};

// What /tokenize and /detokenize ask for.
struct TokensFields {
  std::optional<std::string> content = {};
  std::optional<bool> adds_special = {};
  bool has_pieces = false;
  std::optional<std::vector<TokenId>> ids = {};
};

// What the routes of keys ask for.
struct KeyFields {
  http::KeyRules rules = {};
  std::string max_budget = {}, duration = {};  // of the budget
  std::string key = {};                        // to change
  std::vector<std::string> keys = {};          // to revoke
  std::vector<std::string> given = {};         // words of copy_rule()
};

// How an answer is written; kept until its end, so without the prompt.
struct AnswerShape {
  int n = 1;  // answers to each prompt
  bool streams = false;
  bool includes_usage = false;  // of a stream
  bool wants_timings = false, wants_parameters = false;
  bool is_scored_only = false;  // max_tokens 0: only the prompt's logprobs are wanted
};

struct ParsedRequest : AnswerShape {
  Api api = kChat;
  // The model's name as the client says it; `prompt` of APIs with one, of chats the messages.
  Request request = {};
  std::vector<Prompt> prompts = {};  // of completions; else empty
  bool echoes = false;
  std::string system = {};                    // where it is no message
  std::optional<Infill> gap = {};             // the prompt is what stands before it
  bool is_raw = false;                        // Ollama's: the prompt goes through no chat template
  std::string source = {}, destination = {};  // of a copy
  bool reloads = false;                       // a model that is there, too
  std::optional<std::int64_t> keep_ms = {};   // Ollama's keep_alive; negative: for ever
  std::string previous_id = {};               // previous_response_id
  std::string text_format = {};               // JSON of text.format, which the response repeats
  bool is_stored = true;
  std::optional<int> max_tokens = {}, max_completion_tokens = {};  // -1 = to the context's end
  std::string request_id = {}, trace_parent = {};                  // of the transport, for traces
  EmbedFields embed = {};
  RerankFields rerank = {};
  TokensFields tokens = {};
  KeyFields keys = {};
  std::shared_ptr<KeyPass> pass = {};     // null: its key has no limit of tokens
  std::vector<std::string> ignored = {};  // names of unknown fields
  std::vector<const Field*> given = {};   // the known ones
};

}  // namespace wick::server
