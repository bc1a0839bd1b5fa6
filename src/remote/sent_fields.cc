#include "remote/sent_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "remote/dialect.h"

namespace wick::remote {

namespace {

using Number = std::pair<std::string_view, double>;

std::array<SentFields, 2> tables(const Kind& kind) noexcept {
  return {kind.dialect->fields, kind.fields};
}

const SentNumber* find_number(const Kind& kind, std::string_view setting) noexcept {
  for (const SentFields& table : tables(kind)) {
    for (const SentNumber& row : table.numbers) {
      if (row.setting == setting) return &row;
    }
  }
  return nullptr;
}

// Each setting once, with its last value; the fields override `more`, as in a local model.
std::vector<Number> numbers_of(const Generation& generation) {
  std::vector<Number> out;
  const auto add = [&](std::string_view name, auto value) {
    if (!value) return;
    const auto found =
        std::find_if(out.begin(), out.end(), [&](const Number& one) { return one.first == name; });
    if (found != out.end()) {
      found->second = static_cast<double>(*value);
    } else {
      out.emplace_back(name, static_cast<double>(*value));
    }
  };
  for (const auto& [name, value] : generation.more)
    add(name, std::optional(value));
  add("temperature", generation.temperature);
  add("top_k", generation.top_k);
  add("top_p", generation.top_p);
  add("min_p", generation.min_p);
  add("repeat_penalty", generation.repeat_penalty);
  return out;
}

// "none" goes to APIs that have no other field that switches reasoning off.
bool takes_no_effort(const Kind& kind) noexcept {
  return sends(kind, "reasoning.effort") && !sends(kind, "reasoning.thinking");
}

bool is_effort_field(std::string_view name) noexcept {
  return name == "reasoning_effort";
}

// The names of all fields stand here, so that a new one does not compile until it is placed.
std::vector<std::string> other_settings(const Request& request) {
  const auto& [temperature, top_k, top_p, min_p, repeat_penalty, seed, more, max_tokens, stop,
               stop_token_ids, logit_bias, samplers, logits, logprobs, prompt_logprobs,
               top_logprobs, cancel, wake, time_limit_ms, priority, adapters, tenant, client,
               emit_tokens, emit_ms, emit_bytes, tools, tool_choice, parallel_tool_calls, thinking,
               template_variables, response_format, recognizer, token_mask, predicate,
               dry_sequence_breakers, origins] = request.generation;
  std::vector<std::string> out;
  const auto add = [&](std::string_view name, bool is_set) {
    if (is_set) out.emplace_back(name);
  };
  add("seed", seed.has_value());
  add("stop", !stop.empty());
  add("stop_token_ids", !stop_token_ids.empty());
  add("logit_bias", !logit_bias.empty());
  add("samplers", !samplers.empty());
  add("dry_sequence_breakers", dry_sequence_breakers.has_value());
  add("logprobs", logprobs);
  add("top_logprobs", logprobs && top_logprobs > 0);
  add("priority", priority != 0);
  add("lora", !adapters.empty());
  add("emit_tokens", emit_tokens > 0);
  add("emit_ms", emit_ms > 0);
  add("tools", !tools.empty());
  add("tools.strict", std::any_of(tools.begin(), tools.end(),
                                  [](const Tool& tool) { return tool.is_strict; }));
  add("tool_choice", !tools.empty() && !tool_choice.empty() && tool_choice != "auto");
  add("parallel_tool_calls", !tools.empty() && !parallel_tool_calls);
  add("response_format", response_format.type != "text");
  const auto is_effort = [](const auto& one) { return is_effort_field(one.first); };
  const auto n_efforts =
      std::count_if(template_variables.begin(), template_variables.end(), is_effort);
  const auto n_variables = static_cast<std::ptrdiff_t>(template_variables.size());
  add("reasoning.effort", n_efforts > 0);
  // An effort switches reasoning on, too.
  add("reasoning.thinking", thinking.has_value() && (n_efforts == 0 || !*thinking));
  add("chat_template_kwargs", n_variables > n_efforts);
  for (const auto& [name, json] : request.remote_fields)
    add(name, !is_effort_field(name));  // "reasoning.thinking" has it
  // The first five and `more` are numbers. The others are wick's own: limits of this side,
  // callbacks and prompt logprobs (check_request() refuses them), tenants, and the size of events.
  static_cast<void>(std::tie(temperature, top_k, top_p, min_p, repeat_penalty, more, max_tokens,
                             logits, prompt_logprobs, cancel, wake, time_limit_ms, tenant, client,
                             emit_bytes, recognizer, token_mask, predicate, origins));
  return out;
}

JsonValue value_of(double value, NumberForm form) {
  if (form == NumberForm::kSwitch) return value != 0;
  if (form == NumberForm::kInteger) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

bool sends(const Kind& kind, std::string_view setting) noexcept {
  for (const SentFields& table : tables(kind)) {
    if (std::find(table.others.begin(), table.others.end(), setting) != table.others.end())
      return true;
  }
  return false;
}

void add_numbers(const Kind& kind, const Generation& generation, Object& out) {
  for (const auto& [setting, value] : numbers_of(generation)) {
    const SentNumber* const row = find_number(kind, setting);
    if (row == nullptr || value < row->min) continue;
    out[row->field] = value_of(std::min(value, row->max), row->form);
  }
}

void add_remote_fields(const Kind& kind, const RemoteFields& fields, Object& out) {
  for (const auto& [name, json] : fields) {
    if (is_effort_field(name) ? !takes_no_effort(kind) : !sends(kind, name)) continue;
    if (auto value = parse_json(json)) out[name] = *std::move(value);
  }
}

std::vector<std::string> ignored_settings(const Kind& kind, const Request& request) {
  std::vector<std::string> out;
  for (const auto& [setting, value] : numbers_of(request.generation)) {
    const SentNumber* const row = find_number(kind, setting);
    if (row == nullptr || value < row->min || value > row->max) out.emplace_back(setting);
  }
  const RemoteFields& fields = request.remote_fields;
  const bool has_no_effort = std::any_of(fields.begin(), fields.end(), [](const auto& one) {
                               return is_effort_field(one.first);
                             }) && takes_no_effort(kind);
  for (std::string& setting : other_settings(request)) {
    const bool is_sent = sends(kind, setting) || (has_no_effort && setting == "reasoning.thinking");
    if (!is_sent) out.push_back(std::move(setting));
  }
  return out;
}

std::string setting_of(const Kind& kind, std::string_view field) {
  for (const SentFields& table : tables(kind)) {
    for (const SentNumber& row : table.numbers) {
      if (row.field == field) return std::string(row.setting);
    }
  }
  return field == "reasoning_effort" ? "reasoning.effort" : std::string(field);
}

}  // namespace wick::remote
