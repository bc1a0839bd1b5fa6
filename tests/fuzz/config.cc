// Any texts as the files beside safetensors: an error, or keys that can be read. The input is
// config.json, generation_config.json, tokenizer_config.json and chat_template.json with a NUL byte
// between them; those at the end may be absent.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "format/hf_config.h"
#include "fuzz/touch.h"
#include "model/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::optional<std::string_view>, 4> texts;
  for (auto& text : texts) {
    const std::size_t end = rest.find('\0');
    text = rest.substr(0, end);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  const auto meta = wick::hf_metadata({.folder = "fuzz",
                                       .config = *texts[0],
                                       .generation_config = texts[1],
                                       .tokenizer = texts[2],
                                       .tokenizer_config = texts[2],
                                       .chat_template_json = texts[3],
                                       .families = wick::hf_families()});
  if (!meta) {
    WICK_CHECK(!meta.error().id.empty() && !meta.error().message.empty(), "an error says why");
    return 0;
  }
  wick::test::touch(*meta);
  return 0;
}
