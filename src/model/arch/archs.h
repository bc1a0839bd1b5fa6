// The rows of the architecture table, one from each file of this folder; registry.cc lists them.
#pragma once

#include "model/spec.h"

namespace wick {

Arch bert_arch() noexcept;
Arch cohere2_arch() noexcept;
Arch command_r_arch() noexcept;
Arch deepseek2_arch() noexcept;
Arch gemma_arch() noexcept;
Arch gemma2_arch() noexcept;
Arch gemma3_arch() noexcept;
Arch gemma4_arch() noexcept;
Arch gemma_embedding_arch() noexcept;
Arch glm4_arch() noexcept;
Arch glm4moe_arch() noexcept;
Arch gpt_oss_arch() noexcept;
Arch granite_arch() noexcept;
Arch llama_arch() noexcept;
Arch mistral3_arch() noexcept;
Arch nomic_bert_arch() noexcept;
Arch olmo2_arch() noexcept;
Arch phi2_arch() noexcept;
Arch phi3_arch() noexcept;
Arch qwen2_arch() noexcept;
Arch qwen2moe_arch() noexcept;
Arch qwen3_arch() noexcept;
Arch qwen3moe_arch() noexcept;
Arch qwen35_arch() noexcept;
Arch qwen35moe_arch() noexcept;
Arch smollm3_arch() noexcept;
Arch stablelm_arch() noexcept;
Arch starcoder2_arch() noexcept;

}  // namespace wick
