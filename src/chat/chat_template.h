// A chat template: Jinja text compiled once, rendered for each conversation, byte for byte as
// Python's jinja2 renders it in the environment that transformers builds (trim_blocks,
// lstrip_blocks, loop controls, tojson without HTML escapes, raise_exception, strftime_now).
// Immutable after parse; any thread. Nothing in a template reaches anything outside its context:
// there are no attributes of the host, no imports, no files. Work, memory and depth are limited
// (chat/limits.h). A construct that the language here does not know is an error with line and
// column, at parse.
//
//   WICK_TRY(const ChatTemplate tmpl, ChatTemplate::parse(jinja));
//   WICK_TRY(const MarkedText prompt, tmpl.render(context));   // context: {"messages": […],
//   "add_generation_prompt": true, …}
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/result.h"
#include "chat/limits.h"
#include "chat/json_value.h"

namespace wick {

struct RenderOptions {
  std::int64_t now_seconds = -1;  // what strftime_now sees, Unix time in UTC; -1 = the clock
  RenderLimits limits = {};       // beyond, kInvalid with id "template_limit"
  std::stop_token stop = {};      // then kCancelled, within milliseconds
  RenderUsage* usage = nullptr;   // if given, what the render took, failed or not
};

class ChatTemplate {
 public:
  static Result<ChatTemplate> parse(std::string_view jinja);
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // What the template wrote itself is trusted, what came out of `context` is not: a text that a
  // person typed never turns into control tokens. Two things of the context count as the template's
  // own: the strings bos_token, eos_token, unk_token, pad_token, sep_token, cls_token and
  // mask_token at its top (a server must not let clients set these), and under the key "role" the
  // words of the protocol ("user", "assistant", …), because some templates build control tokens
  // from them. raise_exception('…') gives kInvalid with id "template_raised" and the template's own
  // message.
  Result<MarkedText> render(const Object& context, const RenderOptions& options = {}) const;

  // The variables of the context that the template reads ("messages", "tools", "enable_thinking",
  // …), sorted.
  const std::vector<std::string>& variables() const noexcept;

 private:
  struct State;
  explicit ChatTemplate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
