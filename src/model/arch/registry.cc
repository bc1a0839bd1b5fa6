#include <array>
#include <vector>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/described.h"
#include "model/tensors.h"
#include "wick/architecture.h"

namespace wick {

std::span<const Arch> archs() noexcept {
  static const std::array rows{bert_arch(),       cohere2_arch(), command_r_arch(),
                               deepseek2_arch(),  gemma_arch(),   gemma2_arch(),
                               gemma3_arch(),     gemma4_arch(),  gemma_embedding_arch(),
                               glm4_arch(),       glm4moe_arch(), gpt_oss_arch(),
                               granite_arch(),    llama_arch(),   mistral3_arch(),
                               nomic_bert_arch(), olmo2_arch(),   phi2_arch(),
                               phi3_arch(),       qwen2_arch(),   qwen2moe_arch(),
                               qwen3_arch(),      qwen35_arch(),  qwen35moe_arch(),
                               qwen3moe_arch(),   smollm3_arch(), stablelm_arch(),
                               starcoder2_arch()};
  return rows;
}

std::span<const HfFamily> hf_families() {
  static const std::vector<HfFamily> families = [] {
    std::vector<HfFamily> all;
    for (const auto rows : {archs(), described_archs()}) {
      for (const Arch& arch : rows) {
        for (HfFamily family : arch.families) {
          family.gguf = arch.gguf_name;
          all.push_back(family);
        }
      }
    }
    return all;
  }();
  return families;
}

Result<void> add_architecture(std::string_view json) {
  return describe_arch(json, archs());
}

Result<ModelFile> open_model(const std::filesystem::path& path) {
  return ModelFile::open(path, hf_families());
}

Result<const Arch*> find_arch(const ModelFile& file) {
  auto name = file.metadata().need_string("general.architecture");
  if (!name) {
    const std::string doing = cat(file.path().string(), ": find its architecture");
    Error error = wrap(std::move(name).error(), doing);
    if (error.hint.empty()) error.hint = kVerifyHint;
    return error;
  }
  std::string known;
  for (const Arch& arch : described_archs()) {
    if (arch.gguf_name == *name) return &arch;
  }
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
