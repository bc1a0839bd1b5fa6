#include "remote/dialect.h"

#include "base/strings.h"
#include "remote/limits.h"

namespace wick::remote {

void EventWriter::text(std::string_view text) {
  if (text.empty()) return;
  n_bytes += text.size();
  events.emplace_back(TextEvent{std::string(text)});
}

void EventWriter::reasoning(std::string_view text) {
  if (text.empty()) return;
  n_bytes += text.size();
  events.emplace_back(ReasoningEvent{std::string(text)});
}

void EventWriter::call(std::int64_t key, const std::string& id, const std::string& name,
                       std::string arguments) {
  const auto found = calls_.find(key);
  if (found == calls_.end() && calls_.size() >= kMaxToolCalls) {
    refusal = bad_answer(cat("the answer has more than ", kMaxToolCalls, " tool calls"));
    return;
  }
  Open& open = found != calls_.end() ? found->second
                                     : calls_.emplace(key, Open{.index = n_calls()}).first->second;
  if (open.id.empty()) open.id = id;
  open.waiting += arguments;
  n_bytes += arguments.size();
  if (!open.is_begun && !name.empty()) {
    open.is_begun = true;
    if (open.id.empty()) open.id = cat("call_", open.index);
    events.emplace_back(ToolCallEvent{.index = open.index, .id = open.id, .name = name});
  }
  if (!open.is_begun || open.waiting.empty()) return;
  events.emplace_back(ArgumentsEvent{.index = open.index, .text = std::move(open.waiting)});
  open.waiting.clear();
}

Error unsupported(const Endpoint& endpoint, std::string_view what) {
  return {.code = ErrorCode::kUnsupported,
          .id = "not_supported",
          .message = cat("the provider '", printable(endpoint.name), "' takes no ", what)};
}

Result<void> check_request(const Endpoint& endpoint, const Request& request) {
  const Generation& generation = request.generation;
  if (std::holds_alternative<std::vector<TokenId>>(request.prompt))
    return unsupported(endpoint, "token ids");
  if (generation.logits) return unsupported(endpoint, "logits hook");
  if (has_callbacks(generation)) return unsupported(endpoint, "constraint of the caller's code");
  if (generation.prompt_logprobs) return unsupported(endpoint, "logprobs of the prompt");
  for (const TokenBias& bias : generation.logit_bias) {
    if (bias.id < 0) return unsupported(endpoint, "logit bias of a text");
  }
  return {};
}

Result<JsonValue> json_of(const std::string& text, std::string_view what) {
  if (text.empty()) return JsonValue(Object());
  auto parsed = parse_json(text);
  if (parsed && parsed->object() != nullptr) return parsed;
  return Error{.code = ErrorCode::kInvalid,
               .id = what == "tool" ? "bad_tool" : "bad_message",
               .message = cat("the JSON of a ", what, " is no object: ", printable(text))};
}

int max_tokens_of(const Endpoint& endpoint, const Generation& generation) {
  return generation.max_tokens > 0 ? generation.max_tokens : endpoint.max_tokens;
}

std::optional<ImageData> image_data(std::string_view url) {
  constexpr std::string_view kHead = "data:", kMiddle = ";base64,";
  const std::size_t middle = url.find(kMiddle);
  if (!url.starts_with(kHead) || middle == std::string_view::npos) return std::nullopt;
  return ImageData{.type = std::string(url.substr(kHead.size(), middle - kHead.size())),
                   .base64 = std::string(url.substr(middle + kMiddle.size()))};
}

}  // namespace wick::remote
