// The chat templates of a model: one, or several by name ("default", "tool_use", "rag"). Each is
// compiled at first use, so an unsupported one does not affect the others. Any thread.
//
//   ChatTemplates templates(file.metadata());
//   WICK_TRY(const ChatTemplate* const tmpl, templates.pick("", has_tools(context)));
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_template.h"
#include "format/metadata.h"
#include "text/tokenizer.h"
#include "toolcalls/learned_format.h"
#include "toolcalls/reasoning.h"
#include "toolcalls/tool_format.h"

namespace wick {

class ChatTemplates {
 public:
  explicit ChatTemplates(const Metadata& meta);  // tokenizer.chat_template and its kin
  explicit ChatTemplates(std::string jinja);     // this one alone

  bool is_empty() const noexcept { return entries_.empty(); }

  std::vector<std::string> names() const;  // "default" first, where there is one

  // The one of that name. Without a name, as transformers chooses: "tool_use" if there is one and
  // the request has tools, else "default". kNotFound, id "no_chat_template", names those there are.
  Result<const ChatTemplate*> pick(std::string_view name, bool has_tools) const;
  // The name pick() would choose; nullopt if none.
  std::optional<std::string> picked_name(std::string_view name, bool has_tools) const;

  // How the template that pick("", true) chooses shows tools to the model.
  struct ToolUse {
    bool shows_tools = false, has_system = false;
    const ToolFormat* format = nullptr;  // of the calls that it teaches; null: unknown
  };

  Result<ToolUse> tool_use() const;

  // Whether answers to the template that pick("", has_tools) chooses are in Harmony.
  bool is_harmony(bool has_tools) const;

  // How that template's model marks its reasoning.
  const ReasoningMarks& reasoning_marks(bool has_tools) const;

 private:
  struct Entry {
    std::string name, text;
    std::once_flag once = {};
    std::optional<Result<ChatTemplate>> compiled = {};
    std::once_flag tool_once = {};
    ToolUse tool_use = {};
    std::unique_ptr<const LearnedFormat> learned = {};  // that tool_use may refer to
  };

  void add(std::string_view name, std::string_view text);
  Entry* find(std::string_view name) const noexcept;

  std::vector<std::unique_ptr<Entry>> entries_ = {};
};

// Whether a template's context asks for tools: the key is there and not null.
bool has_tools(const Object& context) noexcept;

// Adds the template variables of the tokenizer (bos_token, eos_token) and add_generation_prompt,
// unless the context sets them.
void add_defaults(const Tokenizer* tokenizer, Object& context);

}  // namespace wick
