// Fields of how long an answer is and of what is told of it.
#include <limits>

#include "server/errors.h"
#include "server/limits.h"
#include "server/lora.h"
#include "server/setters.h"

namespace wick::server {

namespace {

Result<int> length_of(const JsonValue& value, const Field& field, const ParsedRequest& parsed) {
  const auto n = static_cast<int>(*whole(value));
  if (n != 0 || parsed.api == kCompletions || parsed.api == kOllamaOptions) return n;
  return bad_field(field.name, "is 0, allowed are 1 to ", field.max, ", and -1 for no limit");
}

}  // namespace

SetResult set_max_tokens(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  WICK_TRY(parsed.max_tokens, length_of(value, field, parsed));
  return {};
}

SetResult set_max_completion_tokens(const JsonValue& value, const Field& field,
                                    ParsedRequest& parsed) {
  WICK_TRY(parsed.max_completion_tokens, length_of(value, field, parsed));
  return {};
}

SetResult set_stop(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  std::vector<std::string>& stops = parsed.request.generation.stop;
  stops.clear();
  if (const std::string* const text = value.string()) {
    stops.push_back(*text);
    return {};
  }
  const Array* const array = value.array();
  if (array == nullptr) {
    return bad_field(field.name, "is ", seen(value), ", wanted is a string or an array of them");
  }
  if (field.max > 0 && static_cast<double>(array->size()) > field.max) {
    return bad_field(field.name, "has ", array->size(), " strings, allowed are ", field.max);
  }
  for (const JsonValue& one : *array) {
    if (one.string() == nullptr) return bad_field(field.name, "has an item that is no string");
    stops.push_back(*one.string());
  }
  return {};
}

SetResult set_lora(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  WICK_TRY(parsed.request.generation.adapters, lora_texts(*value.array(), field.name));
  return {};
}

SetResult set_stop_ids(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  std::vector<TokenId>& ids = parsed.request.generation.stop_token_ids;
  ids.clear();
  for (const JsonValue& one : *value.array()) {
    const auto id = whole(one);
    if (!id || *id < 0 || *id > std::numeric_limits<TokenId>::max()) {
      return bad_field(field.name, "has the item ", seen(one), ", wanted is a token's id");
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  return {};
}

SetResult set_n(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.n = static_cast<int>(*whole(value));
  return {};
}

SetResult set_best_of(const JsonValue& value, const Field& field, ParsedRequest& /*parsed*/) {
  if (*whole(value) == 1) return {};
  return unsupported_field("best_of_unsupported", field.name, "is ", seen(value),
                           ", supported is 1: answers are not ranked");
}

SetResult set_stream(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.streams = *value.boolean();
  return {};
}

SetResult set_stream_options(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  for (const auto& [name, option] : *value.object()) {
    if (name != "include_usage") continue;
    if (option.boolean() == nullptr) {
      return bad_field(cat(field.name, ".include_usage"), "is ", seen(option),
                       ", wanted is true or false");
    }
    parsed.includes_usage = *option.boolean();
  }
  return {};
}

SetResult set_logprobs(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.request.generation.logprobs = *value.boolean();
  return {};
}

SetResult set_logprob_count(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.request.generation.logprobs = true;
  parsed.request.generation.top_logprobs = static_cast<int>(*whole(value));
  return {};
}

SetResult set_top_logprobs(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  Generation& g = parsed.request.generation;
  g.top_logprobs = static_cast<int>(*whole(value));
  // This API has no field "logprobs".
  if (parsed.api == kResponses && g.top_logprobs > 0) g.logprobs = true;
  return {};
}

// /v1/responses: what else is told. Values about tools that are not here have no effect.
SetResult set_include(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  for (const JsonValue& one : *value.array()) {
    if (one.string() == nullptr) return bad_field(field.name, "has an item that is no string");
    if (*one.string() == "message.output_text.logprobs") parsed.request.generation.logprobs = true;
  }
  return {};
}

SetResult set_echo(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.echoes = *value.boolean();
  return {};
}

SetResult set_timings(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.wants_timings = *value.boolean();
  return {};
}

SetResult set_wick(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  for (const auto& [name, option] : *value.object()) {
    bool* const target = name == "timings"      ? &parsed.wants_timings
                         : name == "parameters" ? &parsed.wants_parameters
                                                : nullptr;
    if (target == nullptr) {
      if (parsed.ignored.size() < kMaxIgnoredNames) parsed.ignored.push_back(cat("wick.", name));
    } else if (option.boolean() == nullptr) {
      return bad_field(cat(field.name, ".", name), "is ", seen(option),
                       ", wanted is true or false");
    } else {
      *target = *option.boolean();
    }
  }
  return {};
}

SetResult set_encoding(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  parsed.embed.is_base64 = *value.string() == "base64";
  if (parsed.embed.is_base64 || *value.string() == "float") return {};
  return bad_field(field.name, "is '", printable(*value.string(), 40),
                   "', known are float and base64");
}

SetResult set_dimensions(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.embed.dimensions = static_cast<int>(*whole(value));
  return {};
}

SetResult set_pooling(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.embed.pooling = *value.string();
  return {};
}

}  // namespace wick::server
