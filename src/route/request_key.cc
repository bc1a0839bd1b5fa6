#include "route/request_key.h"

#include <bit>

namespace wick::route {

namespace {

// Each value is written with its length or in a fixed size, so no two requests share a key.
class Writer {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      out.push_back(static_cast<char>(value >> shift & 0xFFU));
  }

  void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }

  void add(int value) { add(static_cast<std::int64_t>(value)); }

  void add(bool value) { add(std::int64_t{value}); }

  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }

  void add(const std::string& text) {
    add(std::uint64_t{text.size()});
    out += text;
  }

  void add(const TokenBias& bias) {
    add(bias.id);
    add(bias.bias);
    add(bias.text);
  }

  void add(const Tool& tool) {
    add(tool.name);
    add(tool.description);
    add(tool.parameters);
    add(tool.is_strict);
  }

  void add(const ResponseFormat& format) {
    add(format.type);
    add(format.schema);
  }

  void add(const TextPart& part) { add(part.text); }

  void add(const ReasoningPart& part) { add(part.text); }

  void add(const ImagePart& part) { add(part.url); }

  void add(const ToolCall& part) {
    add(part.id);
    add(part.name);
    add(part.arguments);
  }

  void add(const ToolResult& part) {
    add(part.call_id);
    add(part.text);
  }

  void add(const Message& message) {
    add(message.role);
    add(std::uint64_t{message.content.parts.size()});
    for (const Part& part : message.content.parts) {
      add(std::uint64_t{part.index()});
      std::visit([this](const auto& one) { add(one); }, part);
    }
  }

  template <class A, class B>
  void add(const std::pair<A, B>& both) {
    add(both.first);
    add(both.second);
  }

  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }

  template <class T>
  void add(const std::vector<T>& values) {
    add(std::uint64_t{values.size()});
    for (const T& value : values)
      add(value);
  }

  std::string out = {};
};

// The names of all fields stand here, so that a new one does not compile until it is placed.
void add_generation(const Generation& generation, Writer& to) {
  const auto& [temperature, top_k, top_p, min_p, repeat_penalty, seed, more, max_tokens, stop,
               stop_token_ids, logit_bias, samplers, logits, logprobs, prompt_logprobs,
               top_logprobs, cancel, wake, time_limit_ms, priority, adapters, tenant, client,
               emit_tokens, emit_ms, emit_bytes, tools, tool_choice, parallel_tool_calls, thinking,
               template_variables, response_format, recognizer, token_mask, predicate,
               dry_sequence_breakers, origins] = generation;
  to.add(temperature);
  to.add(top_k);
  to.add(top_p);
  to.add(min_p);
  to.add(repeat_penalty);
  to.add(seed);
  to.add(more);
  to.add(max_tokens);
  to.add(stop);
  to.add(stop_token_ids);
  to.add(logit_bias);
  to.add(samplers);
  to.add(logprobs);
  to.add(prompt_logprobs);
  to.add(top_logprobs);
  to.add(adapters);
  to.add(tenant);
  to.add(tools);
  to.add(tool_choice);
  to.add(parallel_tool_calls);
  to.add(thinking);
  to.add(template_variables);
  to.add(response_format);
  to.add(dry_sequence_breakers);
  to.add(origins);  // the answer names them
  // The callbacks: such a request is not repeatable. The others do not change the answer.
  static_cast<void>(std::tie(logits, recognizer, token_mask, predicate, cancel, wake, time_limit_ms,
                             priority, emit_tokens, emit_ms, emit_bytes));
}

}  // namespace

std::string request_key(const Request& request) {
  Writer to;
  to.add(request.model);
  to.add(request.key);
  to.add(request.tag);
  to.add(std::uint64_t{request.prompt.index()});
  std::visit([&](const auto& prompt) { to.add(prompt); },
             static_cast<const Prompt::Base&>(request.prompt));
  add_generation(request.generation, to);
  to.add(request.remote_fields);
  return std::move(to.out);
}

bool is_repeatable(const Generation& generation) {
  const bool is_fixed = generation.temperature == 0.0 || generation.seed.has_value();
  return is_fixed && !has_callbacks(generation);
}

}  // namespace wick::route
