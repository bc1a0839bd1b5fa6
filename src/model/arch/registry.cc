#include <array>

#include "base/strings.h"
#include "model/arch/archs.h"

namespace wick {

std::span<const Arch> archs() noexcept {
  static const std::array rows{llama_arch(), qwen2_arch(), qwen3_arch()};
  return rows;
}

Result<const Arch*> find_arch(const ModelFile& file) {
  auto name = file.metadata().need_string("general.architecture");
  if (!name) {
    return wrap(std::move(name).error(), cat(file.path().string(), ": find its architecture"));
  }
  std::string known;
  for (const Arch& arch : archs()) {
    if (arch.gguf_name == *name) return &arch;
    known += cat(known.empty() ? "" : ", ", arch.gguf_name);
  }
  return Error{ErrorCode::kUnsupported, "unsupported_architecture",
               cat(file.path().string(), ": the architecture is '", printable(*name),
                   "', wick knows ", known),
               "`wick model list` names models that work"};
}

}  // namespace wick
