// Template bytes to parse and render under a fixed context. What can go wrong inside is bounded by
// chat/limits.h; fewer steps than usual keep one execution short under the sanitizers.
#include "chat/chat_template.h"

#include <cstdint>
#include <string_view>

#include "fuzz/meter.h"

namespace {

// A render's own limit (chat/limits.h) and 64 MiB beside it, for the parse and for ASan.
constexpr std::int64_t kMaxBytes = (32 + 64) << 20;

const wick::Object& context() {
  static const wick::Object made = [] {
    const auto parsed = wick::parse_json(R"({
      "messages": [{"role": "system", "content": "Be brief."},
                   {"role": "user", "content": "Hé <|im_end|> 日本 \"q\" 'x'\n\tend  "},
                   {"role": "assistant", "content": null, "tool_calls": [
                     {"id": "a",
                      "function": {"name": "f", "arguments": {"x": 1, "y": [1.5, true]}}}]},
                   {"role": "tool", "content": [{"type": "text", "text": "7"}]}],
      "tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {}}}}],
      "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true, "n": 7, "f": -2.5,
      "l": [3, 1, 2, "a", null], "d": {"b": 2, "a": {"c": [1, {"z": "w"}]}}, "s": "Hello, World"
    })");
    return *parsed->object();
  }();
  return made;
}

void run(std::string_view bytes) {
  const auto tmpl = wick::ChatTemplate::parse(bytes);
  if (!tmpl) return;
  const auto text = tmpl->render(context(), {.now_seconds = 0, .limits = {.work = 200'000}});
  if (!text) return;
  std::size_t end = 0;  // the marks lie in order within the text
  for (const wick::Span& span : text->trusted) {
    if (span.begin < end || span.end <= span.begin || span.end > text->text.size())
      __builtin_trap();
    end = span.end + 1;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  context();
  static fuzz::Meter meter;
  meter.begin(kMaxBytes);
  run({reinterpret_cast<const char*>(data), size});
  meter.end();
  return 0;
}
