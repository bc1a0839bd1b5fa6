// Microseconds to render a chat template: a conversation of 20 messages with 8 tools, and the same
// without tools.
//
//   bench_template [--rounds 15] [TEMPLATE.jinja…]        without any: ChatML with tools
//
// One line a template: median and spread (MAD) of the rounds, for one render and its size, and what
// that is on a core of 5 GHz, by the clock measured before it; a template that raises for such a
// conversation is named. One thread; processor time.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/strings.h"
#include "bench/measure.h"
#include "chat/chat_template.h"

namespace {

using namespace wick;

constexpr const char* kChatMl =
    "{%- if tools %}<|im_start|>system\n# Tools\n<tools>{% for tool in tools %}\n"
    "{{ tool | tojson }}{% endfor %}\n</tools><|im_end|>\n{% endif %}"
    "{%- for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{%- for call in m.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>"
    "{%- endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

JsonValue tool(int i) {
  const auto parsed = parse_json(cat(
      R"({"type": "function", "function": {"name": "get_weather_)", i,
      R"(", "description": "The weather at a place, now and for some days.", "parameters": {)"
      R"("type": "object", "properties": {"city": {"type": "string", "description": "Its name"},)"
      R"("days": {"type": "integer"}, "unit": {"type": "string", "enum": ["c", "f"]}},)"
      R"("required": ["city"]}}})"));
  return *parsed;
}

// A system message, then questions, calls, results and answers in turn: 20 messages.
Object conversation(bool has_tools) {
  Array messages;
  const auto say = [&](const char* role, const char* text) -> Object& {
    Object message;
    message["role"] = role;
    message["content"] = text;
    messages.emplace_back(std::move(message));
    return *messages.back().object();
  };
  say("system", "You are a helpful assistant that answers in short sentences.");
  const auto call = parse_json(R"([{"id": "call00001", "type": "function", "function":
      {"name": "get_weather_1", "arguments": {"city": "Rome", "days": 2}}}])");
  while (messages.size() < 20) {
    say("user", "What is the weather like in Rome tomorrow, and what should I wear for it?");
    if (has_tools && messages.size() < 17) {
      say("assistant", "")["tool_calls"] = *call;
      Object& result = say("tool", R"({"temperature": 21.5, "sky": "clear", "wind": 4})");
      result["name"] = "get_weather_1";
      result["tool_call_id"] = "call00001";
    }
    if (messages.size() < 20) say("assistant", "It will be 21 degrees and sunny: a shirt will do.");
  }
  Object context;
  context["messages"] = std::move(messages);
  context["add_generation_prompt"] = true;
  context["bos_token"] = "<s>";
  context["eos_token"] = "</s>";
  Array tools;
  for (int i = 0; has_tools && i < 8; ++i)
    tools.push_back(tool(i));
  if (has_tools) context["tools"] = std::move(tools);
  return context;
}

void measure(const std::string& name, const std::string& jinja, bool has_tools, int rounds) {
  constexpr int kRenders = 200;
  const auto tmpl = ChatTemplate::parse(jinja);
  const Object context = conversation(has_tools);
  const RenderOptions options{.now_seconds = 0};
  const auto once = tmpl ? tmpl->render(context, options) : Result<MarkedText>(tmpl.error());
  const char* const kind = has_tools ? "8 tools" : "no tools";
  if (!once) {
    std::printf("%-44s %-9s raises: %s\n", name.c_str(), kind, once.error().message.c_str());
    return;
  }
  const double ghz = clock_ghz();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const double start = seconds();
    for (int i = 0; i < kRenders; ++i) {
      if (!tmpl->render(context, options)) return;
    }
    times.push_back((seconds() - start) * 1e6 / kRenders);
  }
  const Spread s = spread(std::move(times));
  std::printf("%-44s %-9s %8.1f us ± %.1f   at 5 GHz %6.1f  %6zu bytes\n", name.c_str(), kind,
              s.median, s.mad, s.median * ghz / 5.0, once->text.size());
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 15;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--rounds" && i + 1 < argc) {
      rounds = std::stoi(argv[++i]);
    } else {
      files.emplace_back(argv[i]);
    }
  }
  for (const bool has_tools : {true, false}) {
    if (files.empty()) measure("ChatML with tools", kChatMl, has_tools, rounds);
    for (const std::string& path : files) {
      std::ifstream in(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      measure(path.substr(path.rfind('/') + 1), text, has_tools, rounds);
    }
  }
}
