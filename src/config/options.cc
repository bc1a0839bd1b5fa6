#include "config/options.h"

#include <algorithm>
#include <optional>

#include "backend/backend.h"
#include "base/strings.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "hub/pull.h"
#include "model/limits.h"
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
  std::optional<std::int64_t> zero = {};  // the value that 0 stands for there, if not 0
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
      {"generation.repeat_last_n", "CANDLE_REPEAT_PENALTY_WINDOW", -1},  // all tokens
      {"server.host", "LLAMA_ARG_HOST"},
      {"server.port", "LLAMA_ARG_PORT"},
      {"server.parallel", "LLAMA_ARG_N_PARALLEL"},
      {"server.keep_alive", "OLLAMA_KEEP_ALIVE"},
      {"server.max_models", "OLLAMA_MAX_LOADED_MODELS", 32},  // as many as have room
      {"server.max_queue", "OLLAMA_MAX_QUEUE"},
      {"server.otlp_endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"},
      {"server.tls_cert", "LLAMA_ARG_SSL_CERT_FILE"},
      {"server.tls_key", "LLAMA_ARG_SSL_KEY_FILE"},
      {"server.webui", "LLAMA_ARG_UI"},
      {"server.webui", "LLAMA_ARG_WEBUI"},
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

using enum OptionKind;

void add_local(std::vector<Option>& table) {
  table.push_back({.key = "local.model_path",
                   .kind = kText,
                   .fallback = std::string(kDefaultModel),
                   .flags = "-m,--model",
                   .help = "path, name (wick model list) or hf:org/repo[:file or quant]"});
  table.push_back({.key = "local.device",
                   .kind = kText,
                   .fallback = std::string("auto"),
                   .flags = "--device",
                   .help = "device, or a list of them (wick doctor); auto = the first that works"});
  table.push_back({.key = "local.tensor_split",
                   .kind = kText,
                   .fallback = std::string(),
                   .flags = "--tensor-split",
                   .help = "ratio of layers on several devices: 3,1; empty = by free memory"});
  table.push_back({.key = "local.threads",
                   .kind = kInteger,
                   .fallback = std::int64_t{0},
                   .max = 1024,
                   .flags = "-t,--threads",
                   .help = "CPU threads; 0 = as many as this process may use"});
  table.push_back(
      {.key = "local.context",
       .kind = kInteger,
       .fallback = std::int64_t{0},
       .max = kMaxContext,
       .flags = "-c,--context,--ctx-size",
       .help = "context size in tokens; 0 = the model's, reduced to what --kv-limit holds"});
}

void add_memory_limit(std::vector<Option>& table) {
  table.push_back(
      {.key = "local.memory_limit",
       .kind = kBytes,
       .fallback = std::int64_t{0},
       .max = 1e15,
       .flags = "--memory-limit",
       .help = "refuse a model that needs more memory, KV cache included (wick serve: all loaded "
               "models together); 0 = no limit"});
}

void add_cache(std::vector<Option>& table) {
  table.push_back({.key = "cache.kv_type",
                   .kind = kChoice,
                   .fallback = std::string(name(EngineOptions{}.k_type)),
                   .max = 2,
                   .choices = kv_type_names(),
                   .flags = "--kv-type",
                   .help = "KV cache type"});
  table.push_back(
      {.key = "cache.kv_limit",
       .kind = kBytes,
       .fallback = static_cast<std::int64_t>(EngineOptions{}.kv_limit_bytes),
       .min = 1e6,
       .max = 1e15,
       .flags = "--kv-limit",
       .help = "maximum memory of the KV cache; a context size (-c) that needs more raises it"});
  table.push_back({.key = "cache.kv_reuse",
                   .kind = kBoolean,
                   .fallback = EngineOptions{}.enable_prefix_caching,
                   .flags = "--kv-reuse,!--no-kv-reuse",
                   .help = "prefix caching: reuse the KV cache of shared prompt prefixes"});
}

void add_adapters(std::vector<Option>& table) {
  table.push_back({.key = "local.adapters",
                   .kind = kTexts,
                   .max_items = kMaxAdapters,
                   .flags = "--lora,--lora-scaled",
                   .help = "LoRA adapter, [NAME=]FILE[:SCALE]; may be repeated"});
}

void add_optimize(std::vector<Option>& table) {
  table.push_back({.key = "optimize.prefill_chunk",
                   .kind = kInteger,
                   .fallback = std::int64_t{EngineOptions{}.prefill_chunk},
                   .min = 1,
                   .max = kMaxBatchTokens,
                   .flags = "--prefill-chunk",
                   .help = "prompt tokens in one forward pass (ubatch)"});
  table.push_back({.key = "optimize.speculation",
                   .kind = kChoice,
                   .fallback = std::string("none"),
                   .max = 1,
                   .choices = {"none", "ngram", "draft"},
                   .flags = "--spec",
                   .help = "speculative decoding; the output is identical"});
  table.push_back({.key = "optimize.draft_model",
                   .kind = kText,
                   .flags = "--draft-model",
                   .help = "path or name of a smaller model with the same vocabulary"});
  table.push_back(
      {.key = "optimize.draft_max",
       .kind = kInteger,
       .fallback = std::int64_t{0},
       .max = kMaxDraft,
       .flags = "--draft-max",
       .help = "maximum number of draft tokens per step; 0 = 16 with ngram, 3 with draft"});
}

bool is_whole(const SamplerParam& param) {
  SamplingParams params;
  param.set(params, 0.5);
  return param.get(params) != 0.5;
}

void add_samplers(std::vector<Option>& table) {
  const SamplingParams defaults;
  for (const SamplerParam& param : sampler_params()) {
    const double value = param.get(defaults);
    Option row{.key = cat("generation.", param.key),
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

void add_generation(std::vector<Option>& table) {
  add_samplers(table);
  table.push_back({.key = "generation.seed",
                   .kind = kUnsigned,
                   .flags = "--seed",
                   .help = "random seed; the same seed gives the same text; random if not set"});
  table.push_back({.key = "generation.samplers",
                   .kind = kText,
                   .fallback = to_string(SamplerOrder{}),
                   .flags = "--samplers",
                   .help = "samplers to apply, in this order"});
  table.push_back({.key = "generation.max_tokens",
                   .kind = kInteger,
                   .fallback = std::int64_t{0},
                   .max = kMaxContext,
                   .flags = "-n,--max-tokens,--predict,--n-predict",
                   .help = "maximum tokens to generate; 0 = until the context is full"});
  table.push_back({.key = "generation.stop",
                   .kind = kTexts,
                   .max_items = kMaxStops,
                   .max_text = kMaxStopBytes,
                   .flags = "--stop",
                   .help = "stop sequence; may be repeated"});
  table.push_back({.key = "generation.stop_id",
                   .kind = kIntegers,
                   .max = 1 << 30,
                   .max_items = kMaxStopIds,
                   .flags = "--stop-id",
                   .help = "ids of tokens that end the answer"});
  table.push_back({.key = "generation.logit_bias",
                   .kind = kTexts,
                   .flags = "-l,--logit-bias",
                   .help = "logit bias: 15043+1, 15043-inf (a ban), or TEXT=-2; may be repeated"});
  table.push_back({.key = "generation.dry_sequence_breaker",
                   .kind = kTexts,
                   .flags = "--dry-sequence-breaker",
                   .help =
                       "DRY sequence breaker, or none; default newline, colon, quote and *; may be "
                       "repeated"});
}

void add_hub(std::vector<Option>& table) {
  table.push_back({.key = "hub.offline",
                   .kind = kBoolean,
                   .fallback = false,
                   .flags = "--offline",
                   .help = "never use the network"});
}

void add_addresses(std::vector<Option>& table) {
  table.push_back({.key = "server.host",
                   .kind = kTexts,
                   .flags = "--host",
                   .help = "address to listen on; default 127.0.0.1; may be repeated"});
  table.push_back({.key = "server.port",
                   .kind = kInteger,
                   .fallback = std::int64_t{8080},
                   .max = 65535,
                   .flags = "--port",
                   .help = "port to listen on; 0 = any free port"});
  table.push_back(
      {.key = "server.unix",
       .kind = kTexts,
       .flags = "--unix",
       .help = "Unix socket to listen on; without --host the server does not listen on TCP"});
  table.push_back({.key = "server.tls_cert",
                   .kind = kText,
                   .flags = "--tls-cert",
                   .help = "PEM file with the certificate chain; enables TLS (1.2 and later)"});
  table.push_back({.key = "server.tls_key",
                   .kind = kText,
                   .flags = "--tls-key",
                   .help = "PEM file with the private key"});
}

void add_protection(std::vector<Option>& table) {
  table.push_back({.key = "server.api_key_file",
                   .kind = kText,
                   .flags = "--api-key-file",
                   .help = "file with API keys (wick key create)"});
  table.push_back({.key = "server.insecure",
                   .kind = kBoolean,
                   .fallback = false,
                   .flags = "--insecure",
                   .help = "allow a network address without API keys"});
  table.push_back({.key = "server.open_admin",
                   .kind = kBoolean,
                   .fallback = false,
                   .flags = "--open-admin",
                   .help = "without API keys, allow everyone to load and unload models"});
  table.push_back({.key = "server.allow_origin",
                   .kind = kTexts,
                   .flags = "--allow-origin",
                   .help = "allow web pages of this origin (CORS); may be repeated"});
  table.push_back(
      {.key = "server.allow_host",
       .kind = kTexts,
       .flags = "--allow-host",
       .help = "allow this Host name, too (localhost is always allowed); may be repeated"});
}

void add_server(std::vector<Option>& table) {
  add_addresses(table);
  add_protection(table);
  table.push_back({.key = "server.models",
                   .kind = kTexts,
                   .flags = "--models",
                   .help = "models to serve if --model is not given; may be repeated"});
  table.push_back({.key = "server.keep_alive",
                   .kind = kText,
                   .fallback = std::string("-1"),
                   .flags = "--keep-alive",
                   .help = "how long an unused model stays loaded: 5m, or seconds; -1 = forever"});
  table.push_back(
      {.key = "server.max_models",
       .kind = kInteger,
       .fallback = std::int64_t{32},
       .min = 1,
       .max = 1024,
       .flags = "--max-models",
       .help = "maximum number of loaded models; the least recently used one is unloaded"});
  table.push_back({.key = "server.max_queue",
                   .kind = kInteger,
                   .fallback = std::int64_t{256},
                   .min = 1,
                   .max = kMaxQueue,
                   .flags = "--max-queue",
                   .help = "maximum number of queued requests per model; more get 503"});
  table.push_back(
      {.key = "server.max_wait_ms",
       .kind = kInteger,
       .fallback = std::int64_t{60'000},
       .max = kMaxMilliseconds,
       .flags = "--max-wait-ms",
       .help = "reject a request whose estimated queue time exceeds this; 0 = no limit"});
  table.push_back({.key = "server.parallel",
                   .kind = kInteger,
                   .fallback = std::int64_t{16},
                   .min = 1,
                   .max = kMaxSeqs,
                   .flags = "--parallel",
                   .help = "concurrent requests per model (slots); more are queued"});
  table.push_back({.key = "server.max_connections",
                   .kind = kInteger,
                   .fallback = std::int64_t{1024},
                   .min = 1,
                   .max = 1 << 16,
                   .flags = "--max-connections",
                   .help = "concurrent connections; more get 503"});
  table.push_back({.key = "server.max_connections_per_address",
                   .kind = kInteger,
                   .fallback = std::int64_t{256},
                   .min = 1,
                   .max = 1 << 16,
                   .flags = "--max-connections-per-address",
                   .help = "concurrent connections per client address"});
}

void add_server_extras(std::vector<Option>& table) {
  table.push_back({.key = "server.access_log",
                   .kind = kBoolean,
                   .fallback = true,
                   .flags = "--access-log,!--no-access-log",
                   .help = "log each request on standard error"});
  table.push_back({.key = "server.audit_log",
                   .kind = kText,
                   .flags = "--audit-log",
                   .help = "append a line of JSON for each answer to this file; without prompts "
                           "and answers"});
  table.push_back({.key = "server.webui",
                   .kind = kBoolean,
                   .fallback = true,
                   .flags = "--webui,!--no-webui",
                   .help = "serve the web UI at /"});
  table.push_back({.key = "server.otlp_endpoint",
                   .kind = kText,
                   .flags = "--otlp-endpoint",
                   .help = "URL of an OpenTelemetry collector for traces (OTLP/HTTP)"});
  table.push_back({.key = "server.metrics_compat",
                   .kind = kChoice,
                   .fallback = std::string("none"),
                   .max = 1,
                   .choices = {"none", "vllm"},
                   .flags = "--metrics-compat",
                   .help = "additional metric names in /metrics"});
}

void add_safety(std::vector<Option>& table) {
  table.push_back({.key = "safety.level",
                   .kind = kChoice,
                   .fallback = std::string("moderate"),
                   .max = 1,
                   .choices = {"strict", "moderate", "permissive"},
                   .flags = "--safety-level",
                   .help = "confirmation before wick ask runs a command (docs/ask.md)"});
  table.push_back({.key = "safety.rules",
                   .kind = kTexts,
                   .flags = "--rules",
                   .help = "file of rules about commands; default rules.toml beside the user's "
                           "config file; may be repeated"});
  table.push_back({.key = "safety.sandbox",
                   .kind = kBoolean,
                   .fallback = false,
                   .flags = "--sandbox,!--no-sandbox",
                   .help = "run a command in a sandbox first and show its changes"});
  table.push_back({.key = "safety.max_command_length",
                   .kind = kInteger,
                   .fallback = std::int64_t{4096},
                   .min = 1,
                   .max = 65536,
                   .flags = "--max-command-length",
                   .help = "maximum number of bytes of a command"});
}

void add_shell(std::vector<Option>& table) {
  table.push_back({.key = "shell.default",
                   .kind = kText,
                   .fallback = std::string("auto"),
                   .flags = "--shell",
                   .help = "shell of the commands; auto = the shell that started wick"});
  table.push_back({.key = "shell.key",
                   .kind = kText,
                   .fallback = std::string("alt-w"),
                   .flags = "--key",
                   .help = "key of the widget of wick init: alt-LETTER or ctrl-LETTER"});
  table.push_back({.key = "shell.confirm_default",
                   .kind = kChoice,
                   .fallback = std::string("n"),
                   .max = 1,
                   .choices = {"n", "y"},
                   .flags = "--confirm-default",
                   .help = "what the Enter key does at the prompt: n = quit, y = run the command "
                           "if it is safe"});
  table.push_back({.key = "shell.frame",
                   .kind = kChoice,
                   .fallback = std::string("auto"),
                   .max = 1,
                   .choices = {"auto", "json", "line", "fence"},
                   .flags = "--frame",
                   .help = "format of the model's answer"});
  table.push_back({.key = "shell.keep_sentence",
                   .kind = kBoolean,
                   .fallback = false,
                   .flags = "--keep-sentence",
                   .help = "the widget appends the sentence to the command, as a comment"});
  table.push_back({.key = "shell.history",
                   .kind = kBoolean,
                   .fallback = true,
                   .flags = "--history,!--no-history",
                   .help = "record sentences and commands for wick history, without secrets"});
  table.push_back(
      {.key = "shell.context",
       .kind = kTexts,
       .flags = "--facts",
       .help = "facts for a local model (default: platform, tools, listing, git and input); may be "
               "repeated"});
  table.push_back(
      {.key = "shell.remote_context",
       .kind = kTexts,
       .flags = "--remote-facts",
       .help = "facts for a remote model; default platform and tools; may be repeated"});
}

std::string_view group_of(std::string_view key) {
  static constexpr std::pair<std::string_view, std::string_view> kGroups[] = {
      {"generation.max_tokens", "Output"},
      {"generation.stop", "Output"},
      {"generation.", "Sampling"},
      {"local.memory_limit", "Memory"},
      {"local.context", "Memory"},
      {"cache.", "Memory"},
      {"optimize.", "Speed"},
      {"safety.", "Shell"},
      {"shell.", "Shell"},
      {"server.", "Server"}};
  for (const auto& [beginning, group] : kGroups) {
    if (key.starts_with(beginning)) return group;
  }
  return "Model";
}

// Flags of --help; --help-all shows all.
bool is_common(std::string_view key) {
  static constexpr std::string_view kCommon[] = {
      "local.model_path",     "hub.offline",
      "local.device",         "local.threads",
      "local.context",        "cache.kv_type",
      "optimize.speculation", "generation.temperature",
      "generation.top_k",     "generation.top_p",
      "generation.min_p",     "generation.repeat_penalty",
      "generation.seed",      "generation.max_tokens",
      "generation.stop",      "server.host",
      "server.port",          "server.tls_cert",
      "server.tls_key",       "server.api_key_file",
      "safety.level",         "safety.sandbox",
      "shell.default"};
  return std::find(std::begin(kCommon), std::end(kCommon), key) != std::end(kCommon);
}

std::vector<Option> make_table() {
  std::vector<Option> table;
  add_local(table);
  add_memory_limit(table);
  add_adapters(table);
  add_cache(table);
  add_optimize(table);
  add_generation(table);
  add_hub(table);
  add_server(table);
  add_server_extras(table);
  add_safety(table);
  add_shell(table);
  for (Option& row : table) {
    row.group = group_of(row.key);
    row.is_common = is_common(row.key);
    row.environment = {own_variable(row.key)};
    for (const ForeignVariable& foreign : foreign_variables()) {
      if (foreign.key == row.key) row.environment.emplace_back(foreign.variable);
    }
  }
  return table;
}

}  // namespace

std::span<const Option> options() {
  static const std::vector<Option> kTable = make_table();
  return kTable;
}

const Option* find_option(std::string_view key) {
  const auto table = options();
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const Option& s) { return s.key == key; });
  return row == table.end() ? nullptr : &*row;
}

Option as_variable(const Option& row, std::string_view name) {
  Option read = row;
  for (const ForeignVariable& foreign : foreign_variables()) {
    if (foreign.variable == name && foreign.zero) read.min = 0;
  }
  return read;
}

Result<OptionValue> parse_variable(const Option& row, std::string_view name,
                                   std::string_view text) {
  WICK_TRY(OptionValue value, parse_option(as_variable(row, name), text));
  for (const ForeignVariable& foreign : foreign_variables()) {
    if (foreign.variable != name || !foreign.zero) continue;
    if (value == OptionValue(std::int64_t{0})) value = *foreign.zero;
  }
  return value;
}

std::string_view flag_name(const Option& row) noexcept {
  const std::string_view all = row.flags;
  const std::size_t at = all.find("--");
  if (at == std::string_view::npos) return all;
  return all.substr(at, all.find(',', at) - at);
}

}  // namespace wick
