// OpenAI's chat completions, which vLLM, SGLang, Ollama, Groq, OpenRouter and many others speak.
#include "remote/openai.h"

#include <algorithm>

#include "base/strings.h"
#include "chat/python_text.h"
#include "remote/json_read.h"

namespace wick::remote {

namespace {

constexpr std::size_t kUsualBytes = 512;  // of a request's first fields

// `json`, behind a comma if it is not the first of an array.
void append_item(std::string& out, std::string_view json) {
  if (!out.empty() && out.back() != '[') out += ", ";
  out += json;
}

// `key` with what stands before and behind it: "\"text\": ".
void append_text(std::string& out, std::string_view key, std::string_view text) {
  out += key;
  append_json_string(out, text);
}

std::string content_parts(const Message& message) {
  std::string out = "[";
  for (const Part& part : message.content.parts) {
    if (const auto* const text = std::get_if<TextPart>(&part)) {
      append_item(out, R"({"type": "text")");
      append_text(out, R"(, "text": )", text->text);
      out += '}';
    } else if (const auto* const image = std::get_if<ImagePart>(&part)) {
      append_item(out, R"({"type": "image_url", "image_url": {)");
      append_text(out, R"("url": )", image->url);
      out += "}}";
    }
  }
  return out += ']';
}

void append_call(std::string& out, const ToolCall& call) {
  append_item(out, "{");
  append_text(out, R"("id": )", call.id);
  append_text(out, R"(, "type": "function", "function": {"name": )", call.name);
  append_text(out, R"(, "arguments": )", call.arguments);
  out += "}}";
}

void append_result(std::string& out, const ToolResult& result) {
  append_item(out, R"({"role": "tool")");
  append_text(out, R"(, "tool_call_id": )", result.call_id);
  append_text(out, R"(, "content": )", result.text);
  out += '}';
}

// A message of several tool results becomes several messages.
void append_message(std::string& out, const Kind& kind, const Message& message) {
  std::string calls;
  bool is_result = false, has_image = false;
  for (const Part& part : message.content.parts) {
    if (const auto* const call = std::get_if<ToolCall>(&part)) {
      append_call(calls, *call);
    } else if (const auto* const result = std::get_if<ToolResult>(&part)) {
      is_result = true;
      append_result(out, *result);
    } else if (std::holds_alternative<ImagePart>(part)) {
      has_image = true;
    }
  }
  const std::string text = has_image ? std::string() : message.content.text();
  const bool is_empty = !has_image && text.empty();
  if (is_result && is_empty) return;
  append_item(out, "{");
  append_text(out, R"("role": )", is_result ? "user" : message.role);
  out += R"(, "content": )";
  if (has_image) {
    out += content_parts(message);
  } else if (is_empty && !calls.empty()) {
    out += "null";
  } else {
    append_json_string(out, text);
  }
  const std::string reasoning = message.content.text<ReasoningPart>();
  if (kind.keeps_reasoning && !reasoning.empty())
    append_text(out, R"(, "reasoning_content": )", reasoning);
  if (!calls.empty()) out += cat(R"(, "tool_calls": [)", calls, "]");
  out += '}';
}

Result<void> add_tools(const Generation& generation, Object& body) {
  if (generation.tools.empty()) return {};
  Array tools;
  for (const Tool& tool : generation.tools) {
    Object function = json_object({{"name", tool.name}, {"description", tool.description}});
    WICK_TRY(function["parameters"], json_of(tool.parameters, "tool"));
    if (tool.is_strict) function["strict"] = true;
    tools.emplace_back(json_object({{"type", "function"}, {"function", std::move(function)}}));
  }
  body["tools"] = std::move(tools);
  if (!generation.parallel_tool_calls) body["parallel_tool_calls"] = false;
  const std::string& choice = generation.tool_choice;
  if (choice.empty()) return {};
  if (choice == "auto" || choice == "none" || choice == "required") {
    body["tool_choice"] = choice;
  } else {
    body["tool_choice"] =
        json_object({{"type", "function"}, {"function", json_object({{"name", choice}})}});
  }
  return {};
}

Result<void> add_format(const Endpoint& endpoint, const ResponseFormat& format, Object& body) {
  if (format.type == "text") return {};
  if (format.type == "json_object") {
    body["response_format"] = json_object({{"type", "json_object"}});
    return {};
  }
  const bool is_known = format.type == "regex" || format.type == "choice" ||
                        format.type == "grammar" || format.type == "structural_tag";
  if (endpoint.kind->has_structured_outputs && is_known) {
    JsonValue value = format.schema;
    if (format.type == "choice") {
      WICK_TRY(value, parse_json(format.schema));
    }
    body["structured_outputs"] = json_object({{format.type, std::move(value)}});
    return {};
  }
  if (format.type != "json_schema") return unsupported(endpoint, "grammar");
  WICK_TRY(JsonValue schema, json_of(format.schema, "schema"));
  body["response_format"] = json_object(
      {{"type", "json_schema"},
       {"json_schema",
        json_object({{"name", "answer"}, {"strict", true}, {"schema", std::move(schema)}})}});
  return {};
}

// All APIs call the effort the same.
void add_template_fields(const Kind& kind, const Generation& generation, Object& body) {
  Object fields;
  if (generation.thinking) fields["enable_thinking"] = *generation.thinking;
  for (const auto& [name, json] : generation.template_variables) {
    auto value = parse_json(json);
    if (!value) continue;  // it was checked where it came from
    (name == "reasoning_effort" ? body : fields)[name] = *std::move(value);
  }
  if (sends(kind, "chat_template_kwargs") && !fields.empty())
    body["chat_template_kwargs"] = std::move(fields);
}

template <class T>
Array array_of(const std::vector<T>& values) {
  Array out;
  for (const T& value : values)
    out.emplace_back(value);
  return out;
}

// What only some kinds take.
void add_more(const Kind& kind, const Generation& g, Object& body) {
  const auto add = [&](std::string_view name, bool is_set, auto make) {
    if (is_set && sends(kind, name)) body[name] = make();
  };
  add("stop_token_ids", !g.stop_token_ids.empty(), [&] { return array_of(g.stop_token_ids); });
  add("samplers", !g.samplers.empty(), [&] { return g.samplers; });
  add("dry_sequence_breakers", g.dry_sequence_breakers.has_value(),
      [&] { return array_of(*g.dry_sequence_breakers); });
  add("priority", g.priority != 0, [&] { return g.priority; });
  add("emit_tokens", g.emit_tokens > 0, [&] { return g.emit_tokens; });
  add("emit_ms", g.emit_ms > 0, [&] { return g.emit_ms; });
}

void add_sampling(const Endpoint& endpoint, const Generation& generation, Call& call) {
  const Kind& kind = *endpoint.kind;
  Object& body = call.body;
  add_numbers(kind, generation, body);
  if (generation.seed) body["seed"] = seed_of(*generation.seed);
  const int limit = max_tokens_of(endpoint, generation);
  if (limit > 0 && body.empty()) {  // often the last field
    append_text(call.begin, ", ", kind.max_tokens);
    call.begin += cat(": ", limit);
  } else if (limit > 0) {
    body[kind.max_tokens] = limit;
  }
  if (!generation.stop.empty()) body["stop"] = array_of(generation.stop);
  if (generation.logprobs) {
    body["logprobs"] = true;
    if (generation.top_logprobs > 0) body["top_logprobs"] = generation.top_logprobs;
  }
  if (!generation.logit_bias.empty()) {
    Object bias;
    for (const TokenBias& one : generation.logit_bias)
      bias[std::to_string(one.id)] = std::max(one.bias, -100.0);
    body["logit_bias"] = std::move(bias);
  }
  add_more(kind, generation, body);
  add_template_fields(kind, generation, body);
}

std::vector<std::string> headers(const Endpoint& endpoint) {
  if (endpoint.key.empty()) return {};
  return {cat("Authorization: Bearer ", endpoint.key.reveal())};
}

Result<Call> chat(const Endpoint& endpoint, const Request& request) {
  auto call = openai_call(endpoint, request);
  const bool is_text = std::holds_alternative<std::string>(request.prompt);
  if (call) call->path = is_text ? "/completions" : "/chat/completions";
  return call;
}

FinishReason finish_of(std::string_view name) {
  if (name == "length") return FinishReason::kLength;
  if (name == "tool_calls" || name == "function_call") return FinishReason::kToolCalls;
  if (name == "content_filter") return FinishReason::kContentFilter;
  return FinishReason::kEos;
}

// What lacks one of the two counts is none: it is estimated then. Some APIs leave reasoning out of
// completion_tokens; then it is more than these, or total_tokens has it.
std::optional<Usage> usage_of(Json usage) {
  const auto [prompt, of_prompt, generated, of_generated, total] =
      usage.find_all({"prompt_tokens", "prompt_tokens_details", "completion_tokens",
                      "completion_tokens_details", "total_tokens"});
  const auto n_prompt = to_count(prompt), n_generated = to_count(generated);
  if (!n_prompt || !n_generated) return std::nullopt;
  const int n_reasoning = count_of(of_generated, "reasoning_tokens");
  const int n_together = n_reasoning > *n_generated ? *n_generated + n_reasoning : *n_generated;
  return Usage{.prompt_tokens = *n_prompt,
               .cached_tokens = count_of(of_prompt, "cached_tokens"),
               .generated_tokens = std::max(n_together, to_count(total).value_or(0) - *n_prompt),
               .reasoning_tokens = n_reasoning};
}

TokenLogprob logprob_of(Json token) {
  TokenLogprob out{.bytes = text_of(token, "token")};
  out.logprob = find(token, "logprob").number().value_or(out.logprob);
  find(token, "top_logprobs").each([&](Json top) { out.top_logprobs.push_back(logprob_of(top)); });
  return out;
}

class OpenAiDecoder final : public Decoder {
 public:
  void add(Json frame, EventWriter& out) override {
    const auto [model, usage, x_groq, choices] =
        frame.find_all({"model", "usage", "x_groq", "choices"});
    if (out.model.empty()) out.model = view_of(model);
    choices.each([&](Json choice) { read_choice(choice, out); });
    auto counts = usage_of(usage);
    if (!counts) counts = usage_of(find(x_groq, "usage"));
    if (!counts) return;
    out.count(*counts);
    // Some keep the connection open without a [DONE]. Counts before the end are not the last ones.
    if (out.finish != FinishReason::kNone) out.is_over = true;
  }

 private:
  // A stream has "delta", a whole answer "message", a completion "text".
  void read_choice(Json choice, EventWriter& out) {
    const auto [index, logprobs, delta, message, text, finish] =
        choice.find_all({"index", "logprobs", "delta", "message", "text", "finish_reason"});
    if (to_count(index).value_or(0) != 0) return;
    read_logprobs(logprobs, out);
    const auto [reasoning_content, reasoning, content, refusal, calls] =
        (delta ? delta : message)
            .find_all({"reasoning_content", "reasoning", "content", "refusal", "tool_calls"});
    const std::string_view thought = view_of(reasoning_content);
    out.reasoning(thought.empty() ? view_of(reasoning) : thought);
    out.text(view_of(content));
    out.text(view_of(refusal));
    out.text(view_of(text));
    calls.each([&](Json call) { read_call(call, out); });
    if (view_of(finish).empty()) return;
    out.finish = finish_of(view_of(finish));
    if (out.finish == FinishReason::kEos && out.n_calls() > 0)
      out.finish = FinishReason::kToolCalls;
  }

  // Without an index, a new id is a new call, and a fragment without one goes on with the last.
  void read_call(Json call, EventWriter& out) {
    const std::string id = text_of(call, "id");
    const int index = count_of(call, "index", -1);
    if (index >= 0) {
      last_key_ = index;
    } else if (!id.empty() && id != last_id_) {
      last_key_ = kWithoutIndex + out.n_calls();
    }
    if (!id.empty()) last_id_ = id;
    const Json function = find(call, "function");
    const Json arguments = find(function, "arguments");
    std::string text = arguments.is_object() ? to_json(arguments) : text_of(arguments);
    out.call(last_key_, id, text_of(function, "name"), std::move(text));
  }

  static void read_logprobs(Json logprobs, EventWriter& out) {
    LogprobsEvent event;
    find(logprobs, "content").each([&](Json token) {
      event.tokens.push_back(logprob_of(token));
    });
    if (!event.tokens.empty()) out.events.emplace_back(std::move(event));
  }

  static constexpr std::int64_t kWithoutIndex = std::int64_t{1} << 32;
  std::int64_t last_key_ = 0;
  std::string last_id_ = {};
};

Result<Call> embed(const Endpoint&, const EmbedTexts& request) {
  Array input;
  for (const std::string& text : request.texts)
    input.emplace_back(text);
  Object body = json_object(
      {{"model", request.model}, {"input", std::move(input)}, {"encoding_format", "float"}});
  if (request.dimensions > 0) body["dimensions"] = request.dimensions;
  return Call{.path = "/embeddings", .body = std::move(body)};
}

}  // namespace

Result<Call> openai_call(const Endpoint& endpoint, const Request& request) {
  WICK_DO(check_request(endpoint, request));
  const Generation& generation = request.generation;
  Call call;
  std::string& begin = call.begin;
  Object& body = call.body;
  begin.reserve(kUsualBytes);
  append_text(begin, R"({"model": )", request.model);
  if (const auto* const text = std::get_if<std::string>(&request.prompt)) {
    if (!endpoint.kind->has_completions) return unsupported(endpoint, "text without messages");
    append_text(begin, R"(, "prompt": )", *text);
  } else {
    begin += R"(, "messages": [)";
    for (const Message& message : std::get<std::vector<Message>>(request.prompt))
      append_message(begin, *endpoint.kind, message);
    begin += ']';
  }
  begin += R"(, "stream": true)";
  if (endpoint.kind->has_stream_usage) begin += R"(, "stream_options": {"include_usage": true})";
  WICK_DO(add_tools(generation, body));
  WICK_DO(add_format(endpoint, generation.response_format, body));
  add_sampling(endpoint, generation, call);
  add_remote_fields(*endpoint.kind, request.remote_fields, body);
  return call;
}

std::unique_ptr<Decoder> openai_decoder() {
  return std::make_unique<OpenAiDecoder>();
}

Result<std::vector<Embedding>> read_openai_embeddings(const JsonValue& answer) {
  const Array& data = items_of(&answer, "data");
  std::vector<Embedding> out(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto index = static_cast<std::size_t>(count_of(&data[i], "index", static_cast<int>(i)));
    const JsonValue* const values = find(&data[i], "embedding");
    if (values != nullptr && index < out.size()) out[index].values = numbers_of(*values);
  }
  // The API counts all texts together.
  if (!out.empty()) out.front().tokens = count_of(find(&answer, "usage"), "prompt_tokens");
  return out;
}

const Dialect kOpenAi = {.framing = Framing::kSse,
                         .end_frame = "[DONE]",
                         .headers = headers,
                         .chat = chat,
                         .fields = kOpenAiFields,
                         .decoder = openai_decoder,
                         .embed = embed,
                         .read_embeddings = read_openai_embeddings,
                         .models_path = "/models",
                         .models_array = "data",
                         .models_field = "id"};

}  // namespace wick::remote
