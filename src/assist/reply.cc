#include "assist/reply.h"

#include <algorithm>
#include <optional>

#include "assist/limits.h"
#include "base/strings.h"
#include "chat/json_value.h"

namespace wick::assist {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kAsk = "ask:";
constexpr int kMaxObjects = 64;  // braces of one answer that may begin an object

Error bad(std::string what) {
  return {.code = ErrorCode::kInvalid, .id = "bad_reply", .message = std::move(what)};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Reasoning stands before the answer; what is not closed has no answer behind it.
std::string_view behind_thoughts(std::string_view text) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  if (const std::size_t end = text.rfind(kClose); end != std::string_view::npos)
    return text.substr(end + kClose.size());
  return text.find(kOpen) == std::string_view::npos ? text : std::string_view();
}

// The end of the object that begins at `at`, which is a brace; npos if it is not closed. Braces in
// strings do not count.
std::size_t end_of_object(std::string_view text, std::size_t at) {
  int depth = 0;
  bool is_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (is_string) {
      if (c == '\\') ++at;
      if (c == '"') is_string = false;
      continue;
    }
    if (c == '"') is_string = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// A text of the key that is more than blanks; null counts as absent.
std::optional<std::string> text_at(const Object& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  if (value == nullptr || value->string() == nullptr) return std::nullopt;
  const std::string_view text = trimmed(*value->string());
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

std::optional<Reply> reply_of(const JsonValue& value) {
  const Object* const object = value.object();
  if (object == nullptr) return std::nullopt;
  auto command = text_at(*object, "cmd"), question = text_at(*object, "ask");
  if (command.has_value() == question.has_value()) return std::nullopt;
  if (question) return Reply{.is_question = true, .text = *std::move(question)};
  return Reply{.text = *std::move(command)};
}

Result<Reply> read_json_reply(std::string_view text) {
  std::optional<Reply> found;
  std::string problem = "there is no JSON object with \"cmd\" or \"ask\"";
  int n_tries = 0;
  for (std::size_t at = 0; (at = text.find('{', at)) != std::string_view::npos;) {
    if (++n_tries > kMaxObjects) return bad("there are too many braces");
    const std::size_t end = end_of_object(text, at);
    const auto value = end == std::string_view::npos
                           ? Result<JsonValue>(bad("the JSON object is not closed"))
                           : parse_json(text.substr(at, end - at), DuplicateKeys::kError);
    const auto reply = value ? reply_of(*value) : std::nullopt;
    if (!value) problem = value.error().message;
    if (!reply) {
      ++at;  // an object may stand within what is none
      continue;
    }
    if (found && (found->text != reply->text || found->is_question != reply->is_question))
      return bad("there are two answers");
    found = reply;
    at = end;
  }
  if (found) return *std::move(found);
  return bad(std::move(problem));
}

Result<Reply> read_line_reply(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return bad("the answer is empty");
  if (text.find('\n') != std::string_view::npos) return bad("the answer has more than one line");
  if (text.find("```") != std::string_view::npos) return bad("the answer is fenced");
  if (!text.starts_with(kAsk)) return Reply{.text = std::string(text)};
  const std::string_view question = trimmed(text.substr(kAsk.size()));
  if (question.empty()) return bad("the question is empty");
  return Reply{.is_question = true, .text = std::string(question)};
}

Result<Reply> read_fenced_reply(std::string_view text) {
  constexpr std::string_view kFence = "```";
  const std::size_t open = text.find(kFence);
  if (open == std::string_view::npos) {
    if (trimmed(text).starts_with(kAsk)) return read_line_reply(text);
    return bad("there is no fenced code block");
  }
  const std::size_t line = text.find('\n', open);
  const std::size_t close = line == std::string_view::npos ? line : text.find(kFence, line);
  if (close == std::string_view::npos) return bad("the fenced code block is not closed");
  const std::string_view command = trimmed(text.substr(line, close - line));
  if (command.empty()) return bad("the fenced code block is empty");
  if (text.find(kFence, close + kFence.size()) != std::string_view::npos)
    return bad("there are two fenced code blocks");
  return Reply{.text = std::string(command)};
}

}  // namespace

Result<Reply> read_reply(std::string_view text, Frame frame) {
  if (text.size() > kMaxReply)
    return bad(cat("the answer has ", text.size(), " bytes, the limit is ", kMaxReply));
  text = behind_thoughts(text);
  switch (frame) {
    case Frame::kJson:
      return read_json_reply(text);
    case Frame::kLine:
      return read_line_reply(text);
    case Frame::kFence:
      break;
  }
  return read_fenced_reply(text);
}

bool LoopFinder::add(std::string_view piece) {
  for (const char c : piece) {
    for (std::size_t p = 1; p <= kMaxLoopPeriod && p <= text_.size(); ++p) {
      same_[p] = text_[text_.size() - p] == c ? same_[p] + 1 : 0;
      is_found_ = is_found_ || same_[p] >= std::max(kMinLoop, 3 * p);
    }
    text_ += c;
  }
  return is_found_;
}

}  // namespace wick::assist
