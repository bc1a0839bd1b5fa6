// Google's Gemini API.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "net/url.h"
#include "remote/dialect.h"
#include "remote/json_read.h"

namespace wick::remote {

namespace {

constexpr std::string_view kPrefix = "models/";

constexpr SentNumber kNumbers[] = {{"temperature", "temperature"},
                                   {"top_p", "topP"},
                                   {"top_k", "topK", NumberForm::kInteger, 1},
                                   {"presence_penalty", "presencePenalty"},
                                   {"frequency_penalty", "frequencyPenalty"}};
constexpr std::string_view kOthers[] = {"seed",        "stop",
                                        "tools",       "response_format",
                                        "tool_choice", "reasoning.thinking"};

std::vector<std::string> headers(const Endpoint& endpoint) {
  if (endpoint.key.empty()) return {};
  return {cat("x-goog-api-key: ", endpoint.key.reveal())};
}

JsonValue text_part(const std::string& text) {
  return json_object({{"text", text}});
}

using CallNames = std::map<std::string, std::string>;  // by id: results have the name here

Result<Array> parts_of(const Endpoint& endpoint, const Message& message, CallNames& names) {
  Array parts;
  for (const Part& part : message.content.parts) {
    if (const auto* const text = std::get_if<TextPart>(&part)) {
      parts.push_back(text_part(text->text));
    } else if (const auto* const image = std::get_if<ImagePart>(&part)) {
      const auto data = image_data(image->url);
      if (!data) return unsupported(endpoint, "image by URL");
      parts.emplace_back(json_object(
          {{"inlineData", json_object({{"mimeType", data->type}, {"data", data->base64}})}}));
    } else if (const auto* const call = std::get_if<ToolCall>(&part)) {
      names[call->id] = call->name;
      WICK_TRY(JsonValue arguments, json_of(call->arguments, "tool call"));
      parts.emplace_back(json_object(
          {{"functionCall", json_object({{"name", call->name}, {"args", std::move(arguments)}})}}));
    } else if (const auto* const result = std::get_if<ToolResult>(&part)) {
      parts.emplace_back(
          json_object({{"functionResponse",
                        json_object({{"name", names[result->call_id]},
                                     {"response", json_object({{"result", result->text}})}})}}));
    }
  }
  return parts;
}

Result<void> add_messages(const Endpoint& endpoint, const std::vector<Message>& messages,
                          Object& body) {
  Array contents, system;
  CallNames names;
  for (const Message& message : messages) {
    if (message.role == "system" || message.role == "developer") {
      system.push_back(text_part(message.content.text()));
      continue;
    }
    WICK_TRY(Array parts, parts_of(endpoint, message, names));
    const std::string role = message.role == "assistant" ? "model" : "user";
    if (!contents.empty() && text_of(&contents.back(), "role") == role) {
      Array& before = *contents.back().object()->find("parts")->array();
      before.insert(before.end(), parts.begin(), parts.end());
    } else if (!parts.empty()) {
      contents.emplace_back(json_object({{"role", role}, {"parts", std::move(parts)}}));
    }
  }
  if (!system.empty()) body["systemInstruction"] = json_object({{"parts", std::move(system)}});
  body["contents"] = std::move(contents);
  return {};
}

Result<void> add_tools(const Endpoint& endpoint, const Generation& generation, Object& body) {
  if (generation.tools.empty()) return {};
  if (!generation.parallel_tool_calls) return unsupported(endpoint, "parallel_tool_calls: false");
  Array functions;
  for (const Tool& tool : generation.tools) {
    Object function = json_object({{"name", tool.name}, {"description", tool.description}});
    if (!tool.parameters.empty()) {
      WICK_TRY(function["parameters"], json_of(tool.parameters, "tool"));
    }
    functions.emplace_back(std::move(function));
  }
  Array tools;
  tools.emplace_back(json_object({{"functionDeclarations", std::move(functions)}}));
  body["tools"] = std::move(tools);
  const std::string& choice = generation.tool_choice;
  if (choice.empty() || choice == "auto") return {};
  Object config = json_object({{"mode", choice == "none" ? "NONE" : "ANY"}});
  if (choice != "none" && choice != "required")
    config["allowedFunctionNames"] = Array{JsonValue(choice)};
  body["toolConfig"] = json_object({{"functionCallingConfig", std::move(config)}});
  return {};
}

Result<Object> settings_of(const Endpoint& endpoint, const Generation& generation) {
  Object out;
  add_numbers(*endpoint.kind, generation, out);
  if (generation.seed) out["seed"] = static_cast<std::int64_t>(*generation.seed & 0x7FFFFFFFU);
  if (const int limit = max_tokens_of(endpoint, generation); limit > 0)
    out["maxOutputTokens"] = limit;
  Array stop;
  for (const std::string& text : generation.stop)
    stop.emplace_back(text);
  if (!stop.empty()) out["stopSequences"] = std::move(stop);
  const ResponseFormat& format = generation.response_format;
  const bool is_known = format.type == "text" || format.type.starts_with("json_");
  if (!is_known) return unsupported(endpoint, format.type);
  if (format.type != "text") out["responseMimeType"] = "application/json";
  if (format.type == "json_schema") {
    WICK_TRY(out["responseJsonSchema"], json_of(format.schema, "schema"));
  }
  if (generation.thinking)
    out["thinkingConfig"] = json_object({{"includeThoughts", *generation.thinking}});
  return out;
}

Result<Call> chat(const Endpoint& endpoint, const Request& request) {
  WICK_DO(check_request(endpoint, request));
  const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt);
  if (messages == nullptr) return unsupported(endpoint, "text without messages");
  if (request.generation.logprobs) return unsupported(endpoint, "logprobs");
  Object body;
  WICK_DO(add_messages(endpoint, *messages, body));
  WICK_DO(add_tools(endpoint, request.generation, body));
  WICK_TRY(Object settings, settings_of(endpoint, request.generation));
  if (!settings.empty()) body["generationConfig"] = std::move(settings);
  return Call{
      .path = cat("/models/", escape_path_part(request.model), ":streamGenerateContent?alt=sse"),
      .body = std::move(body)};
}

FinishReason finish_of(const std::string& name) {
  if (name == "STOP") return FinishReason::kEos;
  if (name == "MAX_TOKENS") return FinishReason::kLength;
  return FinishReason::kContentFilter;  // SAFETY, RECITATION, BLOCKLIST, …
}

class GeminiDecoder final : public Decoder {
 public:
  void add(Json frame, EventWriter& out) override {
    if (out.model.empty()) out.model = text_of(frame, "modelVersion");
    if (!text_of(find(frame, "promptFeedback"), "blockReason").empty())
      out.finish = FinishReason::kContentFilter;
    find(frame, "candidates").each([&](Json candidate) {
      if (count_of(candidate, "index") == 0) read_candidate(candidate, out);
    });
    read_usage(find(frame, "usageMetadata"), out);
  }

 private:
  static void read_candidate(Json candidate, EventWriter& out) {
    find(find(candidate, "content"), "parts").each([&](Json part) { read_part(part, out); });
    const std::string finish = text_of(candidate, "finishReason");
    if (finish.empty()) return;
    out.finish = finish_of(finish);
    if (out.finish == FinishReason::kEos && out.n_calls() > 0)
      out.finish = FinishReason::kToolCalls;
  }

  static void read_part(Json part, EventWriter& out) {
    if (find(part, "thought").is_true()) {
      out.reasoning(text_of(part, "text"));
    } else {
      out.text(text_of(part, "text"));
    }
    const Json call = find(part, "functionCall");
    if (!call) return;
    const Json arguments = find(call, "args");
    out.call(out.n_calls(), text_of(call, "id"), text_of(call, "name"),
             arguments ? to_json(arguments) : "{}");
  }

  // Thoughts are no part of the candidates' count; the total has both.
  static void read_usage(Json usage, EventWriter& out) {
    const auto prompt = count_at(usage, "promptTokenCount");
    if (!prompt) return;  // estimated
    const auto candidates = count_at(usage, "candidatesTokenCount");
    if (!candidates && out.n_bytes > 0) return;
    const int thoughts = count_of(usage, "thoughtsTokenCount");
    out.count({.prompt_tokens = *prompt,
               .cached_tokens = count_of(usage, "cachedContentTokenCount"),
               .generated_tokens = std::max(candidates.value_or(0) + thoughts,
                                            count_of(usage, "totalTokenCount") - *prompt),
               .reasoning_tokens = thoughts});
  }
};

std::unique_ptr<Decoder> decoder() {
  return std::make_unique<GeminiDecoder>();
}

Result<Call> embed(const Endpoint&, const EmbedTexts& asked) {
  Array requests;
  for (const std::string& text : asked.texts) {
    Object one = json_object({{"model", cat(kPrefix, asked.model)},
                              {"content", json_object({{"parts", Array{text_part(text)}}})}});
    if (asked.dimensions > 0) one["outputDimensionality"] = asked.dimensions;
    requests.emplace_back(std::move(one));
  }
  return Call{.path = cat("/models/", escape_path_part(asked.model), ":batchEmbedContents"),
              .body = json_object({{"requests", std::move(requests)}})};
}

Result<std::vector<Embedding>> read_embeddings(const JsonValue& answer) {
  std::vector<Embedding> out;
  for (const JsonValue& item : items_of(&answer, "embeddings")) {
    const JsonValue* const values = find(&item, "values");
    out.push_back({.values = values == nullptr ? std::vector<float>() : numbers_of(*values)});
  }
  if (!out.empty())
    out.front().tokens = count_of(find(&answer, "usageMetadata"), "promptTokenCount");
  return out;
}

}  // namespace

const Dialect kGemini = {.framing = Framing::kSse,
                         .headers = headers,
                         .chat = chat,
                         .fields = {.numbers = kNumbers, .others = kOthers},
                         .decoder = decoder,
                         .embed = embed,
                         .read_embeddings = read_embeddings,
                         .max_texts = 100,
                         .models_path = "/models",
                         .models_array = "models",
                         .models_field = "name",
                         .models_prefix = kPrefix};

}  // namespace wick::remote
