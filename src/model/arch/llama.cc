// Llama 1 to 3, SmolLM2, Mistral, Yi, TinyLlama, and what is built like them. GGUF files of this
// family rotate adjacent pairs: their q and k rows are permuted at conversion, so checkpoints in
// Hugging Face's order are read through the same permutation and sum in the same order.
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

Result<DecoderSpec> llama_spec(const ModelFile& file) {
  return plain_decoder(file, RopeParams::kPairs, permuted_names());
}

}  // namespace

Arch llama_arch() noexcept {
  return {.gguf_name = "llama", .spec = llama_spec, .names = permuted_names()};
}

}  // namespace wick
