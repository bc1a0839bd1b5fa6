#include "chat/template_facts.h"

#include <algorithm>

namespace wick {

namespace {

constexpr std::string_view kProbe = "probe4711";  // no template has this of its own
constexpr RenderLimits kProbeLimits = {.work = 1 << 20, .bytes = std::size_t{8} << 20};

Object message(std::string_view role, std::string_view content) {
  Object out;
  out["role"] = role;
  out["content"] = content;
  return out;
}

// Whether the probe in `context` reaches the prompt; a template that raises does not take it.
bool reaches(const ChatTemplate& tmpl, Object context) {
  context["bos_token"] = "<s>";
  context["eos_token"] = "</s>";
  context["add_generation_prompt"] = true;
  const auto prompt = tmpl.render(context, {.now_seconds = 0, .limits = kProbeLimits});
  return prompt && prompt->text.find(kProbe) != std::string::npos;
}

Object conversation(Array messages) {
  Object context;
  context["messages"] = std::move(messages);
  return context;
}

bool shows_system(const ChatTemplate& tmpl) {
  return reaches(tmpl, conversation({message("system", kProbe), message("user", "x")}));
}

bool shows_tools(const ChatTemplate& tmpl) {
  Object parameters;
  parameters["type"] = "object";
  parameters["properties"] = Object();
  Object function;
  function["name"] = kProbe;
  function["description"] = "x";
  function["parameters"] = std::move(parameters);
  Object tool;
  tool["type"] = "function";
  tool["function"] = std::move(function);
  for (const bool with_system : {false, true}) {  // some show tools only behind a system message
    Array messages;
    if (with_system) messages.push_back(message("system", "x"));
    messages.push_back(message("user", "x"));
    Object context = conversation(std::move(messages));
    context["tools"] = Array{tool};
    if (reaches(tmpl, std::move(context))) return true;
  }
  return false;
}

bool shows_reasoning(const ChatTemplate& tmpl) {
  Object answer = message("assistant", "x");
  answer["reasoning_content"] = kProbe;
  answer["thinking"] = kProbe;
  answer["reasoning"] = kProbe;
  return reaches(tmpl, conversation({message("user", "x"), answer}));
}

}  // namespace

TemplateFacts facts_of(const ChatTemplate& tmpl) {
  const auto& names = tmpl.variables();
  const auto reads = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return {.has_system = shows_system(tmpl),
          .has_tools = reads("tools") && shows_tools(tmpl),
          .has_documents = reads("documents"),
          .has_thinking = reads("enable_thinking") || reads("thinking") ||
                          reads("reasoning_effort") || shows_reasoning(tmpl)};
}

}  // namespace wick
