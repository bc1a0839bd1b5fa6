// Ollama's own API: lines of JSON, arguments of tool calls as objects.
#include "base/strings.h"
#include "remote/dialect.h"
#include "remote/json_read.h"

namespace wick::remote {

namespace {

constexpr SentNumber kNumbers[] = {{"temperature", "temperature"},
                                   {"top_k", "top_k", NumberForm::kInteger},
                                   {"top_p", "top_p"},
                                   {"min_p", "min_p"},
                                   {"typical_p", "typical_p"},
                                   {"repeat_penalty", "repeat_penalty"},
                                   {"repeat_last_n", "repeat_last_n", NumberForm::kInteger},
                                   {"presence_penalty", "presence_penalty"},
                                   {"frequency_penalty", "frequency_penalty"}};
constexpr std::string_view kOthers[] = {"seed",        "stop",
                                        "tools",       "response_format",
                                        "tool_choice", "reasoning.thinking"};

std::vector<std::string> headers(const Endpoint& endpoint) {
  if (endpoint.key.empty()) return {};
  return {cat("Authorization: Bearer ", endpoint.key.reveal())};
}

Result<void> add_message(const Endpoint& endpoint, const Message& message, Array& out) {
  Object object = json_object({{"role", message.role}, {"content", message.content.text()}});
  Array calls, images;
  bool is_result = false;
  for (const Part& part : message.content.parts) {
    if (const auto* const call = std::get_if<ToolCall>(&part)) {
      WICK_TRY(JsonValue arguments, json_of(call->arguments, "tool call"));
      calls.emplace_back(json_object(
          {{"function",
            json_object({{"name", call->name}, {"arguments", std::move(arguments)}})}}));
    } else if (const auto* const image = std::get_if<ImagePart>(&part)) {
      const auto data = image_data(image->url);
      if (!data) return unsupported(endpoint, "image by URL");
      images.emplace_back(data->base64);
    } else if (const auto* const result = std::get_if<ToolResult>(&part)) {
      is_result = true;
      out.emplace_back(json_object({{"role", "tool"}, {"content", result->text}}));
    }
  }
  if (is_result && message.content.text().empty()) return {};
  const std::string reasoning = message.content.text<ReasoningPart>();
  if (!reasoning.empty()) object["thinking"] = reasoning;
  if (!calls.empty()) object["tool_calls"] = std::move(calls);
  if (!images.empty()) object["images"] = std::move(images);
  out.emplace_back(std::move(object));
  return {};
}

Object options_of(const Endpoint& endpoint, const Generation& generation) {
  Object options;
  add_numbers(*endpoint.kind, generation, options);
  if (generation.seed) options["seed"] = seed_of(*generation.seed);
  if (const int limit = max_tokens_of(endpoint, generation); limit > 0)
    options["num_predict"] = limit;
  Array stop;
  for (const std::string& text : generation.stop)
    stop.emplace_back(text);
  if (!stop.empty()) options["stop"] = std::move(stop);
  return options;
}

Result<void> add_tools(const Endpoint& endpoint, const Generation& generation, Object& body) {
  if (generation.tools.empty() || generation.tool_choice == "none") return {};
  if (!generation.tool_choice.empty() && generation.tool_choice != "auto")
    return unsupported(endpoint, "tool choice");
  if (!generation.parallel_tool_calls) return unsupported(endpoint, "parallel_tool_calls: false");
  Array tools;
  for (const Tool& tool : generation.tools) {
    Object function = json_object({{"name", tool.name}, {"description", tool.description}});
    WICK_TRY(function["parameters"], json_of(tool.parameters, "tool"));
    tools.emplace_back(json_object({{"type", "function"}, {"function", std::move(function)}}));
  }
  body["tools"] = std::move(tools);
  return {};
}

Result<Call> chat(const Endpoint& endpoint, const Request& request) {
  WICK_DO(check_request(endpoint, request));
  const Generation& generation = request.generation;
  if (generation.logprobs) return unsupported(endpoint, "logprobs");
  Object body = json_object({{"model", request.model}, {"stream", true}});
  const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt);
  if (messages == nullptr) {
    body["prompt"] = std::get<std::string>(request.prompt);
    body["raw"] = true;
  } else {
    Array out;
    for (const Message& message : *messages)
      WICK_DO(add_message(endpoint, message, out));
    body["messages"] = std::move(out);
  }
  WICK_DO(add_tools(endpoint, generation, body));
  const ResponseFormat& format = generation.response_format;
  if (format.type == "json_object") body["format"] = "json";
  if (format.type == "json_schema") {
    WICK_TRY(body["format"], json_of(format.schema, "schema"));
  }
  const bool is_known = format.type == "text" || format.type.starts_with("json_");
  if (!is_known) return unsupported(endpoint, format.type);
  if (generation.thinking) body["think"] = *generation.thinking;
  body["options"] = options_of(endpoint, generation);
  return Call{.path = messages == nullptr ? "/generate" : "/chat", .body = std::move(body)};
}

class OllamaDecoder final : public Decoder {
 public:
  void add(Json frame, EventWriter& out) override {
    if (out.model.empty()) out.model = text_of(frame, "model");
    const Json message = find(frame, "message");
    out.reasoning(text_of(message, "thinking"));
    out.text(text_of(message, "content"));
    out.text(text_of(frame, "response"));
    find(message, "tool_calls").each([&](Json call) {
      const Json function = find(call, "function");
      const Json arguments = find(function, "arguments");
      out.call(out.n_calls(), text_of(call, "id"), text_of(function, "name"),
               arguments ? to_json(arguments) : "{}");
    });
    if (!find(frame, "done").is_true()) return;
    out.is_over = true;
    out.finish =
        text_of(frame, "done_reason") == "length" ? FinishReason::kLength : FinishReason::kEos;
    if (out.n_calls() > 0 && out.finish == FinishReason::kEos)
      out.finish = FinishReason::kToolCalls;
    const auto generated = count_at(frame, "eval_count");
    if (!generated) return;  // estimated
    out.count({.prompt_tokens = count_of(frame, "prompt_eval_count"),
               .generated_tokens = *generated});
  }
};

std::unique_ptr<Decoder> decoder() {
  return std::make_unique<OllamaDecoder>();
}

Result<Call> embed(const Endpoint&, const EmbedTexts& request) {
  Array input;
  for (const std::string& text : request.texts)
    input.emplace_back(text);
  Object body = json_object({{"model", request.model}, {"input", std::move(input)}});
  if (request.dimensions > 0) body["dimensions"] = request.dimensions;
  return Call{.path = "/embed", .body = std::move(body)};
}

Result<std::vector<Embedding>> read_embeddings(const JsonValue& answer) {
  std::vector<Embedding> out;
  for (const JsonValue& item : items_of(&answer, "embeddings"))
    out.push_back({.values = numbers_of(item)});
  if (!out.empty()) out.front().tokens = count_of(&answer, "prompt_eval_count");
  return out;
}

}  // namespace

const Dialect kOllama = {.framing = Framing::kNdjson,
                         .headers = headers,
                         .chat = chat,
                         .fields = {.numbers = kNumbers, .others = kOthers},
                         .decoder = decoder,
                         .embed = embed,
                         .read_embeddings = read_embeddings,
                         .models_path = "/tags",
                         .models_array = "models",
                         .models_field = "name"};

}  // namespace wick::remote
