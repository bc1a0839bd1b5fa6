// Fields of how long an answer is and of what is told of it.
#include <limits>

#include "server/errors.h"
#include "server/limits.h"
#include "server/take.h"

namespace wick::server {

namespace {

Result<int> length_of(const JsonValue& value, const Field& field, const Ask& ask) {
  const auto n = static_cast<int>(*whole(value));
  if (n != 0 || ask.api == kCompletions || ask.api == kOllamaOptions) return n;
  return bad_field(field.name, "is 0, allowed are 1 to ", field.max, ", and -1 for no limit");
}

}  // namespace

Taken take_max_tokens(const JsonValue& value, const Field& field, Ask& ask) {
  WICK_TRY(ask.max_tokens, length_of(value, field, ask));
  return {};
}

Taken take_max_completion_tokens(const JsonValue& value, const Field& field, Ask& ask) {
  WICK_TRY(ask.max_completion_tokens, length_of(value, field, ask));
  return {};
}

Taken take_stop(const JsonValue& value, const Field& field, Ask& ask) {
  std::vector<std::string>& stops = ask.request.generation.stop;
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

Taken take_stop_ids(const JsonValue& value, const Field& field, Ask& ask) {
  std::vector<TokenId>& ids = ask.request.generation.stop_token_ids;
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

Taken take_n(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.n = static_cast<int>(*whole(value));
  return {};
}

Taken take_best_of(const JsonValue& value, const Field& field, Ask& /*ask*/) {
  if (*whole(value) == 1) return {};
  return unsupported_field("best_of_unsupported", field.name, "is ", seen(value),
                           ", supported is 1: answers are not ranked");
}

Taken take_stream(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.streams = *value.boolean();
  return {};
}

Taken take_stream_options(const JsonValue& value, const Field& field, Ask& ask) {
  for (const auto& [name, option] : *value.object()) {
    if (name != "include_usage") continue;
    if (option.boolean() == nullptr) {
      return bad_field(cat(field.name, ".include_usage"), "is ", seen(option),
                       ", wanted is true or false");
    }
    ask.includes_usage = *option.boolean();
  }
  return {};
}

Taken take_logprobs(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.request.generation.logprobs = *value.boolean();
  return {};
}

Taken take_logprob_count(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.request.generation.logprobs = true;
  ask.request.generation.top_logprobs = static_cast<int>(*whole(value));
  return {};
}

Taken take_top_logprobs(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.request.generation.top_logprobs = static_cast<int>(*whole(value));
  return {};
}

Taken take_echo(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.echoes = *value.boolean();
  return {};
}

Taken take_timings(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.wants_timings = *value.boolean();
  return {};
}

Taken take_wick(const JsonValue& value, const Field& field, Ask& ask) {
  for (const auto& [name, option] : *value.object()) {
    bool* const target = name == "timings"      ? &ask.wants_timings
                         : name == "parameters" ? &ask.wants_parameters
                                                : nullptr;
    if (target == nullptr) {
      if (ask.ignored.size() < kMaxIgnoredNames) ask.ignored.push_back(cat("wick.", name));
    } else if (option.boolean() == nullptr) {
      return bad_field(cat(field.name, ".", name), "is ", seen(option),
                       ", wanted is true or false");
    } else {
      *target = *option.boolean();
    }
  }
  return {};
}

Taken take_encoding(const JsonValue& value, const Field& field, Ask& ask) {
  ask.embed.is_base64 = *value.string() == "base64";
  if (ask.embed.is_base64 || *value.string() == "float") return {};
  return bad_field(field.name, "is '", printable(*value.string(), 40),
                   "', known are float and base64");
}

Taken take_dimensions(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.embed.dimensions = static_cast<int>(*whole(value));
  return {};
}

Taken take_pooling(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.embed.pooling = *value.string();
  return {};
}

}  // namespace wick::server
