// Anthropic's messages.
#include "base/strings.h"
#include "remote/dialect.h"
#include "remote/json_read.h"

namespace wick::remote {

namespace {

constexpr SentNumber kNumbers[] = {{.setting = "temperature", .field = "temperature", .max = 1},
                                   {"top_p", "top_p"},
                                   {"top_k", "top_k", NumberForm::kInteger, 1}};
constexpr std::string_view kOthers[] = {"stop", "tools", "tool_choice", "parallel_tool_calls"};

constexpr int kMaxTokens = 4096;  // the API asks for a limit; this one if nobody has set one

std::vector<std::string> headers(const Endpoint& endpoint) {
  std::vector<std::string> lines = {"anthropic-version: 2023-06-01"};
  if (!endpoint.key.empty()) lines.push_back(cat("x-api-key: ", endpoint.key.reveal()));
  return lines;
}

JsonValue image_of(const ImagePart& image) {
  Object source = json_object({{"type", "url"}, {"url", image.url}});
  if (const auto data = image_data(image.url)) {
    source = json_object({{"type", "base64"}, {"media_type", data->type}, {"data", data->base64}});
  }
  return json_object({{"type", "image"}, {"source", std::move(source)}});
}

// Reasoning is left out: the API takes it back only with its signature.
Result<Array> blocks_of(const Message& message) {
  Array blocks;
  for (const Part& part : message.content.parts) {
    if (const auto* const text = std::get_if<TextPart>(&part)) {
      blocks.emplace_back(json_object({{"type", "text"}, {"text", text->text}}));
    } else if (const auto* const image = std::get_if<ImagePart>(&part)) {
      blocks.push_back(image_of(*image));
    } else if (const auto* const call = std::get_if<ToolCall>(&part)) {
      WICK_TRY(JsonValue input, json_of(call->arguments, "tool call"));
      blocks.emplace_back(json_object({{"type", "tool_use"},
                                       {"id", call->id},
                                       {"name", call->name},
                                       {"input", std::move(input)}}));
    } else if (const auto* const result = std::get_if<ToolResult>(&part)) {
      blocks.emplace_back(json_object(
          {{"type", "tool_result"}, {"tool_use_id", result->call_id}, {"content", result->text}}));
    }
  }
  return blocks;
}

// System messages stand apart; neighbors of one role become one message.
Result<void> add_messages(const std::vector<Message>& messages, Object& body) {
  std::string system;
  Array out;
  for (const Message& message : messages) {
    if (message.role == "system" || message.role == "developer") {
      system += cat(system.empty() ? "" : "\n\n", message.content.text());
      continue;
    }
    WICK_TRY(Array blocks, blocks_of(message));
    const std::string role = message.role == "assistant" ? "assistant" : "user";
    if (!out.empty() && text_of(&out.back(), "role") == role) {
      Array& before = *out.back().object()->find("content")->array();
      before.insert(before.end(), blocks.begin(), blocks.end());
    } else if (!blocks.empty()) {
      out.emplace_back(json_object({{"role", role}, {"content", std::move(blocks)}}));
    }
  }
  if (!system.empty()) body["system"] = std::move(system);
  body["messages"] = std::move(out);
  return {};
}

Result<void> add_tools(const Generation& generation, Object& body) {
  if (generation.tools.empty()) return {};
  Array tools;
  for (const Tool& tool : generation.tools) {
    WICK_TRY(JsonValue schema, json_of(tool.parameters, "tool"));
    if (schema.object()->empty()) schema = json_object({{"type", "object"}});
    tools.emplace_back(json_object({{"name", tool.name},
                                    {"description", tool.description},
                                    {"input_schema", std::move(schema)}}));
  }
  body["tools"] = std::move(tools);
  const std::string& choice = generation.tool_choice;
  if (choice.empty() && generation.parallel_tool_calls) return {};
  Object how;
  if (choice.empty() || choice == "auto" || choice == "none") {
    how["type"] = choice.empty() ? "auto" : choice;
  } else if (choice == "required") {
    how["type"] = "any";
  } else {
    how = json_object({{"type", "tool"}, {"name", choice}});
  }
  if (!generation.parallel_tool_calls && choice != "none") how["disable_parallel_tool_use"] = true;
  body["tool_choice"] = std::move(how);
  return {};
}

Result<Call> chat(const Endpoint& endpoint, const Request& request) {
  WICK_DO(check_request(endpoint, request));
  const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt);
  if (messages == nullptr) return unsupported(endpoint, "text without messages");
  const Generation& generation = request.generation;
  if (generation.response_format.type != "text") return unsupported(endpoint, "response format");
  if (generation.logprobs) return unsupported(endpoint, "logprobs");
  const int limit = max_tokens_of(endpoint, generation);
  Object body = json_object(
      {{"model", request.model}, {"max_tokens", limit > 0 ? limit : kMaxTokens}, {"stream", true}});
  WICK_DO(add_messages(*messages, body));
  WICK_DO(add_tools(generation, body));
  add_numbers(*endpoint.kind, generation, body);
  if (!generation.stop.empty()) {
    Array stop;
    for (const std::string& text : generation.stop)
      stop.emplace_back(text);
    body["stop_sequences"] = std::move(stop);
  }
  return Call{.path = "/messages", .body = std::move(body)};
}

FinishReason finish_of(const std::string& name) {
  if (name == "max_tokens" || name == "model_context_window_exceeded") return FinishReason::kLength;
  if (name == "stop_sequence") return FinishReason::kStop;
  if (name == "tool_use") return FinishReason::kToolCalls;
  if (name == "refusal") return FinishReason::kContentFilter;
  return FinishReason::kEos;
}

class AnthropicDecoder final : public Decoder {
 public:
  void add(Json frame, EventWriter& out) override {
    const std::string type = text_of(frame, "type");
    if (type == "message_start") return read_message(find(frame, "message"), out);
    if (type == "message") return read_whole(frame, out);
    if (type == "content_block_start") {
      begin_block(count_of(frame, "index"), find(frame, "content_block"), out);
    } else if (type == "content_block_delta") {
      add_delta(count_of(frame, "index"), find(frame, "delta"), out);
    } else if (type == "message_delta") {
      count(find(frame, "usage"), out);
      read_finish(find(frame, "delta"), out);
    } else if (type == "message_stop") {
      out.is_over = true;
    }
  }

 private:
  void read_message(Json message, EventWriter& out) {
    out.model = text_of(message, "model");
    read_prompt(find(message, "usage"));
  }

  // An answer that is no stream.
  void read_whole(Json message, EventWriter& out) {
    read_message(message, out);
    int index = 0;
    find(message, "content").each([&](Json block) {
      begin_block(index, block, out);
      ++index;
    });
    count(find(message, "usage"), out);
    read_finish(message, out);
  }

  static void begin_block(int index, Json block, EventWriter& out) {
    const std::string type = text_of(block, "type");
    if (type == "text") out.text(text_of(block, "text"));
    if (type == "thinking") out.reasoning(text_of(block, "thinking"));
    if (type != "tool_use") return;
    const Json input = find(block, "input");
    std::string arguments = input.is_object() ? to_json(input) : std::string();
    if (arguments == "{}") arguments.clear();  // they follow
    out.call(index, text_of(block, "id"), text_of(block, "name"), std::move(arguments));
  }

  static void add_delta(int index, Json delta, EventWriter& out) {
    out.text(text_of(delta, "text"));
    out.reasoning(text_of(delta, "thinking"));
    if (std::string json = text_of(delta, "partial_json"); !json.empty())
      out.call(index, "", "", std::move(json));
  }

  static void read_finish(Json delta, EventWriter& out) {
    const std::string reason = text_of(delta, "stop_reason");
    if (!reason.empty()) out.finish = finish_of(reason);
  }

  // Counts of the prompt come at the start, and from some again at the end, perhaps as 0. Tokens
  // that are read from or written to a cache are no part of input_tokens.
  void read_prompt(Json usage) {
    const auto prompt = count_at(usage, "input_tokens");
    if (!prompt) return;
    const int cached = count_of(usage, "cache_read_input_tokens");
    const int all = *prompt + cached + count_of(usage, "cache_creation_input_tokens");
    if (prompt_ && all < prompt_->prompt_tokens) return;
    prompt_ = Usage{.prompt_tokens = all, .cached_tokens = cached};
  }

  // Those of the answer come at the end; output_tokens of the start are the first few.
  void count(Json usage, EventWriter& out) {
    read_prompt(usage);
    const auto generated = count_at(usage, "output_tokens");
    if (!prompt_ || !generated) return;  // estimated
    Usage counts = *prompt_;
    counts.generated_tokens = *generated;
    out.count(counts);
  }

  std::optional<Usage> prompt_ = {};  // its counts
};

std::unique_ptr<Decoder> decoder() {
  return std::make_unique<AnthropicDecoder>();
}

}  // namespace

const Dialect kAnthropic = {.framing = Framing::kSse,
                            .headers = headers,
                            .chat = chat,
                            .fields = {.numbers = kNumbers, .others = kOthers},
                            .decoder = decoder,
                            .models_path = "/models",
                            .models_array = "data",
                            .models_field = "id"};

}  // namespace wick::remote
