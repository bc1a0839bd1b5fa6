// A chat template: Jinja text compiled once, rendered for each conversation, byte for byte as
// Python's jinja2 renders it in the environment that transformers builds (trim_blocks,
// lstrip_blocks, loop controls, tojson without HTML escapes, raise_exception, strftime_now).
// Immutable after parse; any thread. A template reads only its context: it has no imports, no files
// and no access to the program. Work, memory and depth are limited (chat/limits.h). An unsupported
// construct is an error of parse(), with line and column.
//
//   WICK_TRY(const ChatTemplate tmpl, ChatTemplate::parse(jinja));
//   WICK_TRY(const MarkedText prompt, tmpl.render(context));  // {"messages": […], …}
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/marked_text.h"
#include "base/result.h"
#include "chat/json_value.h"
#include "chat/limits.h"

namespace wick {

namespace jinja {
struct Ast;
}

struct RenderOptions {
  std::int64_t now_seconds = -1;  // what strftime_now sees, Unix time in UTC; -1 = the clock
  RenderLimits limits = {};       // beyond, kInvalid with id "template_limit"
  std::stop_token stop = {};      // then kCancelled, within milliseconds
  RenderUsage* usage = nullptr;   // if given, what the render took, failed or not
};

class ChatTemplate {
 public:
  static Result<ChatTemplate> parse(std::string_view jinja);

  // Text of the template is trusted, text from `context` is not: a user's text never becomes
  // control tokens. Two parts of the context are trusted: the top-level strings bos_token,
  // eos_token, unk_token, pad_token, sep_token, cls_token and mask_token (a server must not let
  // clients set these), and the role names ("user", "assistant", …) under the key "role", because
  // some templates build control tokens from them. raise_exception('…') is kInvalid, id
  // "template_raised", with the template's message.
  Result<MarkedText> render(const Object& context, const RenderOptions& options = {}) const;

  // The variables of the context that the template reads ("messages", "tools", "enable_thinking",
  // …), sorted.
  const std::vector<std::string>& variables() const noexcept;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Ast> ast) : ast_(std::move(ast)) {}

  std::shared_ptr<const jinja::Ast> ast_;
};

// The features of a chat template, determined without model names: which variables it reads, and
// which parts of a conversation reach the prompt. Pure function, any thread.
struct TemplateFacts {
  bool has_system = false;     // a system message reaches the prompt
  bool has_tools = false;      // the template reads "tools", and a tool's name reaches the prompt
  bool has_documents = false;  // it reads "documents"
  bool has_thinking = false;   // it reads a switch for thinking, or keeps a message's reasoning
};

TemplateFacts facts_of(const ChatTemplate& tmpl);

}  // namespace wick
