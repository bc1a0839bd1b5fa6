#include "config/switches.h"

#include <algorithm>
#include <optional>

#include "backend/backend.h"
#include "base/strings.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "hub/pull.h"
#include "sample/sampler.h"

namespace wick {

namespace {

// "local.threads" → "WICK_LOCAL_THREADS".
std::string own_variable(std::string_view key) {
  std::string name = cat("WICK_", key);
  for (char& c : name) {
    if (c == '.') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return name;
}

// "top_k" → "--top-k"; temperature keeps the name that users of llama.cpp type.
std::string flags_of(std::string_view key) {
  if (key == "temperature") return "--temp,--temperature";
  std::string flag = cat("--", key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

// Variables that other programs read for the same thing: llama.cpp (common/arg.cpp), Ollama,
// Hugging Face's libraries, and spnl with its Candle backend.
struct ForeignVariable {
  std::string_view key, variable;
  std::optional<std::int64_t> zero = {};  // what 0 means there, where it does not mean 0
};

std::span<const ForeignVariable> foreign_variables() {
  static constexpr ForeignVariable kRows[] = {
      {"local.model_path", "LLAMA_ARG_MODEL"},
      {"local.threads", "LLAMA_ARG_THREADS"},
      {"local.context", "LLAMA_ARG_CTX_SIZE"},
      {"local.context", "OLLAMA_CONTEXT_LENGTH"},
      {"cache.kv_type", "OLLAMA_KV_CACHE_TYPE"},
      {"cache.kv_reuse", "CANDLE_KV_CACHE_REUSE"},
      {"cache.kv_reuse", "CANDLE_CACHE_REUSE"},
      {"optimize.prefill_chunk", "LLAMA_ARG_UBATCH"},
      {"optimize.prefill_chunk", "CANDLE_PREFILL_CHUNK_SIZE", kMaxBatchTokens},  // no chunks
      {"optimize.draft_model", "LLAMA_ARG_SPEC_DRAFT_MODEL"},
      {"optimize.draft_max", "LLAMA_ARG_SPEC_DRAFT_N_MAX"},
      {"generation.temperature", "LLAMA_ARG_TEMPERATURE"},
      {"generation.top_k", "LLAMA_ARG_TOP_K"},
      {"generation.top_p", "LLAMA_ARG_TOP_P"},
      {"generation.min_p", "LLAMA_ARG_MIN_P"},
      {"generation.repeat_penalty", "LLAMA_ARG_REPEAT_PENALTY"},
      {"generation.presence_penalty", "LLAMA_ARG_PRESENCE_PENALTY"},
      {"generation.frequency_penalty", "LLAMA_ARG_FREQUENCY_PENALTY"},
      {"generation.repeat_window", "CANDLE_REPEAT_PENALTY_WINDOW", -1},  // all tokens
      {"hub.offline", "HF_HUB_OFFLINE"},
      {"hub.offline", "LLAMA_ARG_OFFLINE"},
  };
  return kRows;
}

std::vector<std::string> kv_type_names() {
  std::vector<std::string> names;
  for (const KvType type : kKvTypes)
    names.emplace_back(name(type));
  return names;
}

using enum SwitchKind;

void add_local(std::vector<Switch>& table) {
  table.push_back({.key = "local.model_path",
                   .kind = kText,
                   .fallback = std::string(kDefaultModel),
                   .flags = "-m,--model",
                   .help = "path, name (wick model list), or hf:org/repo[:file or quant]"});
  table.push_back(
      {.key = "local.device",
       .kind = kText,
       .fallback = std::string("auto"),
       .flags = "--device",
       .help = "device that computes, as in wick doctor; auto = the first that starts"});
  table.push_back({.key = "local.threads",
                   .kind = kInteger,
                   .fallback = std::int64_t{0},
                   .max = 1024,
                   .flags = "-t,--threads",
                   .help = "threads; 0 = what this process may use"});
  table.push_back({.key = "local.context",
                   .kind = kInteger,
                   .fallback = std::int64_t{0},
                   .max = kMaxContext,
                   .flags = "-c,--context",
                   .help = "positions; 0 = the model's, as far as cache.kv_limit holds"});
}

void add_memory_limit(std::vector<Switch>& table) {
  table.push_back({.key = "local.memory_limit",
                   .kind = kBytes,
                   .fallback = std::int64_t{0},
                   .max = 1e15,
                   .flags = "--memory-limit",
                   .help = "refuse a model that may need more, cache included; 0 = no limit"});
}

void add_cache(std::vector<Switch>& table) {
  table.push_back({.key = "cache.kv_type",
                   .kind = kChoice,
                   .fallback = std::string(name(EngineOptions{}.k_type)),
                   .max = 2,
                   .choices = kv_type_names(),
                   .flags = "--kv-type",
                   .help = "numbers of the cache; K,V sets keys and values apart"});
  table.push_back({.key = "cache.kv_limit",
                   .kind = kBytes,
                   .fallback = static_cast<std::int64_t>(EngineOptions{}.kv_limit_bytes),
                   .min = 1e6,
                   .max = 1e15,
                   .flags = "--kv-limit",
                   .help = "memory of the cache, unless one context needs more"});
  table.push_back({.key = "cache.kv_reuse",
                   .kind = kBoolean,
                   .fallback = EngineOptions{}.reuses_prefixes,
                   .flags = "--kv-reuse,!--no-kv-reuse",
                   .help = "keep what was computed for texts that begin alike"});
}

void add_optimize(std::vector<Switch>& table) {
  table.push_back({.key = "optimize.prefill_chunk",
                   .kind = kInteger,
                   .fallback = std::int64_t{EngineOptions{}.prefill_chunk},
                   .min = 1,
                   .max = kMaxBatchTokens,
                   .flags = "--prefill-chunk",
                   .help = "prompt tokens in one forward pass; changes no token"});
  table.push_back({.key = "optimize.speculation",
                   .kind = kChoice,
                   .fallback = std::string("none"),
                   .max = 1,
                   .choices = {"none", "ngram", "draft"},
                   .flags = "--spec",
                   .help = "guess tokens ahead by what the text said before, or by a draft model; "
                           "changes no token"});
  table.push_back({.key = "optimize.draft_model",
                   .kind = kText,
                   .flags = "--draft-model",
                   .help = "file or name of a smaller model of the same family"});
  table.push_back({.key = "optimize.draft_max",
                   .kind = kInteger,
                   .fallback = std::int64_t{0},
                   .max = kMaxDraft,
                   .flags = "--draft-max",
                   .help = "tokens guessed ahead at most; 0 = 16, with a draft model 3"});
}

bool is_whole(const SamplerParam& param) {
  SamplingParams params;
  param.set(params, 0.5);
  return param.get(params) != 0.5;
}

void add_samplers(std::vector<Switch>& table) {
  const SamplingParams defaults;
  for (const SamplerParam& param : sampler_params()) {
    const double value = param.get(defaults);
    Switch row{.key = cat("generation.", param.key),
               .kind = kReal,
               .fallback = as_written(static_cast<float>(value)),
               .min = param.min,
               .max = param.max,
               .flags = flags_of(param.key),
               .help = std::string(param.help)};
    if (param.is_switch) {
      row.kind = kBoolean;
      row.fallback = value != 0;
    } else if (is_whole(param)) {
      row.kind = kInteger;
      row.fallback = static_cast<std::int64_t>(value);
    }
    table.push_back(std::move(row));
  }
}

void add_generation(std::vector<Switch>& table) {
  add_samplers(table);
  table.push_back({.key = "generation.seed",
                   .kind = kUnsigned,
                   .flags = "--seed",
                   .help = "the same seed gives the same text; random unless set"});
  table.push_back({.key = "generation.samplers",
                   .kind = kText,
                   .fallback = to_string(SamplerOrder{}),
                   .flags = "--samplers",
                   .help = "which samplers work, in this order"});
  table.push_back({.key = "generation.max_tokens",
                   .kind = kInteger,
                   .fallback = std::int64_t{0},
                   .max = kMaxContext,
                   .flags = "-n,--max-tokens",
                   .help = "tokens to generate at most; 0 = to the context's end"});
  table.push_back({.key = "generation.stop",
                   .kind = kTexts,
                   .flags = "--stop",
                   .help = "text that ends the answer; may be given several times"});
  table.push_back({.key = "generation.stop_id",
                   .kind = kIntegers,
                   .max = 1 << 30,
                   .flags = "--stop-id",
                   .help = "token ids that end the answer"});
  table.push_back({.key = "generation.logit_bias",
                   .kind = kTexts,
                   .flags = "-l,--logit-bias",
                   .help = "15043+1, 15043-inf, or TEXT=-2: makes tokens likelier or less likely"});
  table.push_back({.key = "generation.dry_sequence_breaker",
                   .kind = kTexts,
                   .flags = "--dry-sequence-breaker",
                   .help = "a text that no repetition reaches past, or none; newline, colon, quote "
                           "and * unless set"});
}

void add_hub(std::vector<Switch>& table) {
  table.push_back({.key = "hub.offline",
                   .kind = kBoolean,
                   .fallback = false,
                   .flags = "--offline",
                   .help = "never touch the network"});
}

std::vector<Switch> make_table() {
  std::vector<Switch> table;
  add_local(table);
  add_memory_limit(table);
  add_cache(table);
  add_optimize(table);
  add_generation(table);
  add_hub(table);
  for (Switch& row : table) {
    row.environment = {own_variable(row.key)};
    for (const ForeignVariable& foreign : foreign_variables()) {
      if (foreign.key == row.key) row.environment.emplace_back(foreign.variable);
    }
  }
  return table;
}

}  // namespace

std::span<const Switch> switches() {
  static const std::vector<Switch> kTable = make_table();
  return kTable;
}

const Switch* find_switch(std::string_view key) {
  const auto table = switches();
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const Switch& s) { return s.key == key; });
  return row == table.end() ? nullptr : &*row;
}

Switch as_variable(const Switch& row, std::string_view name) {
  Switch read = row;
  for (const ForeignVariable& foreign : foreign_variables()) {
    if (foreign.variable == name && foreign.zero) read.min = 0;
  }
  return read;
}

Result<SettingValue> parse_variable(const Switch& row, std::string_view name,
                                    std::string_view text) {
  WICK_TRY(SettingValue value, parse_setting(as_variable(row, name), text));
  for (const ForeignVariable& foreign : foreign_variables()) {
    if (foreign.variable != name || !foreign.zero) continue;
    if (value == SettingValue(std::int64_t{0})) value = *foreign.zero;
  }
  return value;
}

std::string_view flag_name(const Switch& row) noexcept {
  const std::string_view all = row.flags;
  const std::size_t at = all.find("--");
  if (at == std::string_view::npos) return all;
  return all.substr(at, all.find(',', at) - at);
}

}  // namespace wick
