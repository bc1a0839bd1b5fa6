// One row for each kind of remote provider: its dialect, where it is, and what it does its own way.
#include "remote/dialect.h"

namespace wick::remote {

namespace {

using enum NumberForm;

constexpr SentNumber kOpenRouterNumbers[] = {{"top_k", "top_k", kInteger},
                                             {"min_p", "min_p"},
                                             {"repeat_penalty", "repetition_penalty"}};
// vLLM's and SGLang's.
constexpr SentNumber kVllmNumbers[] = {{"top_k", "top_k", kInteger},
                                       {"min_p", "min_p"},
                                       {"repeat_penalty", "repetition_penalty"},
                                       {"min_tokens", "min_tokens", kInteger},
                                       {"ignore_eos", "ignore_eos", kSwitch}};
constexpr SentNumber kWickNumbers[] = {{"top_k", "top_k", kInteger},
                                       {"min_p", "min_p"},
                                       {"typical_p", "typical_p"},
                                       {"top_n_sigma", "top_n_sigma"},
                                       {"repeat_penalty", "repeat_penalty"},
                                       {"repeat_last_n", "repeat_last_n", kInteger},
                                       {"dry_multiplier", "dry_multiplier"},
                                       {"dry_base", "dry_base"},
                                       {"dry_allowed_length", "dry_allowed_length", kInteger},
                                       {"dry_penalty_last_n", "dry_penalty_last_n", kInteger},
                                       {"xtc_probability", "xtc_probability"},
                                       {"xtc_threshold", "xtc_threshold"},
                                       {"dynatemp_range", "dynatemp_range"},
                                       {"dynatemp_exponent", "dynatemp_exponent"},
                                       {"mirostat", "mirostat", kInteger},
                                       {"mirostat_tau", "mirostat_tau"},
                                       {"mirostat_eta", "mirostat_eta"},
                                       {"adaptive_target", "adaptive_target"},
                                       {"adaptive_decay", "adaptive_decay"},
                                       {"min_tokens", "min_tokens", kInteger},
                                       {"ignore_eos", "ignore_eos", kSwitch}};

constexpr std::string_view kOpenAiMore[] = {"user", "safety_identifier", "prompt_cache_key",
                                            "prompt_cache_retention", "verbosity"};
constexpr std::string_view kUser[] = {"user"};
constexpr std::string_view kVllmMore[] = {"stop_token_ids", "chat_template_kwargs",
                                          "reasoning.thinking", "user"};
constexpr std::string_view kWickMore[] = {"stop_token_ids",
                                          "chat_template_kwargs",
                                          "reasoning.thinking",
                                          "samplers",
                                          "dry_sequence_breakers",
                                          "priority",
                                          "emit_tokens",
                                          "emit_ms",
                                          "user",
                                          "safety_identifier",
                                          "prompt_cache_key",
                                          "prompt_cache_retention",
                                          "verbosity",
                                          "metadata",
                                          "service_tier",
                                          "store",
                                          "modalities"};

}  // namespace

std::span<const Kind> kinds() {
  static const Kind kKinds[] = {
      {.name = "openai",
       .dialect = &kOpenAi,
       .url = "https://api.openai.com/v1",
       .variable = "OPENAI_API_KEY",
       .max_tokens = "max_completion_tokens",
       .fields = {.others = kOpenAiMore}},
      {.name = "azure",
       .dialect = &kAzure,
       .variable = "AZURE_OPENAI_API_KEY",
       .max_tokens = "max_completion_tokens",
       .fields = {.others = kUser}},
      {.name = "anthropic",
       .dialect = &kAnthropic,
       .url = "https://api.anthropic.com/v1",
       .variable = "ANTHROPIC_API_KEY"},
      {.name = "gemini",
       .dialect = &kGemini,
       .url = "https://generativelanguage.googleapis.com/v1beta",
       .variable = "GEMINI_API_KEY"},
      {.name = "ollama", .dialect = &kOllama, .url = "http://127.0.0.1:11434/api"},
      {.name = "ollama-v1", .dialect = &kOpenAi, .url = "http://127.0.0.1:11434/v1"},
      {.name = "groq",
       .dialect = &kOpenAi,
       .url = "https://api.groq.com/openai/v1",
       .variable = "GROQ_API_KEY",
       .max_tokens = "max_completion_tokens",
       .fields = {.others = kUser}},
      {.name = "openrouter",
       .dialect = &kOpenAi,
       .url = "https://openrouter.ai/api/v1",
       .variable = "OPENROUTER_API_KEY",
       .fields = {.numbers = kOpenRouterNumbers, .others = kUser},
       .has_completions = true},
      {.name = "huggingface",
       .dialect = &kOpenAi,
       .url = "https://router.huggingface.co/v1",
       .variable = "HF_TOKEN"},
      {.name = "vllm",
       .dialect = &kOpenAi,
       .fields = {.numbers = kVllmNumbers, .others = kVllmMore},
       .has_structured_outputs = true,
       .keeps_reasoning = true,
       .has_completions = true},
      {.name = "sglang",
       .dialect = &kOpenAi,
       .fields = {.numbers = kVllmNumbers, .others = kVllmMore},
       .keeps_reasoning = true,
       .has_completions = true},
      {.name = "wick",
       .dialect = &kOpenAi,
       .fields = {.numbers = kWickNumbers, .others = kWickMore},
       .has_structured_outputs = true,
       .keeps_reasoning = true,
       .has_completions = true},
      {.name = "openai-compatible", .dialect = &kOpenAi, .has_completions = true},
  };
  return kKinds;
}

}  // namespace wick::remote
