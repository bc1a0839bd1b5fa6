// What Ollama's fields say otherwise than OpenAI's.
#include "server/durations.h"
#include "server/errors.h"
#include "server/take.h"

namespace wick::server {

// The older name of "model".
Taken take_name(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  if (ask.request.model.empty()) ask.request.model = *value.string();
  return {};
}

Taken take_text(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.prompts = {Prompt(*value.string())};
  return {};
}

Taken take_raw(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.is_raw = *value.boolean();
  return {};
}

// "", "json", or a JSON schema.
Taken take_format(const JsonValue& value, const Field& field, Ask& ask) {
  ResponseFormat& format = ask.request.generation.response_format;
  if (value.object() != nullptr) {
    format = {.type = "json_schema", .schema = to_json(value)};
  } else if (value.string() != nullptr && *value.string() == "json") {
    format.type = "json_object";
  } else if (value.string() == nullptr || !value.string()->empty()) {
    return bad_field(field.name, "is ", seen(value), ", wanted is 'json' or a schema");
  }
  return {};
}

Taken take_options(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  return read_fields(kOllamaOptions, *value.object(), ask);
}

Taken take_keep_alive(const JsonValue& value, const Field& field, Ask& ask) {
  if (const auto seconds = real(value)) {
    ask.keep_ms = keep_alive_ms(*seconds);
    return {};
  }
  if (value.string() == nullptr)
    return bad_field(field.name, "is ", seen(value), ", wanted are seconds, or a time like 5m");
  WICK_TRY(ask.keep_ms, parse_keep_alive(*value.string()));
  return {};
}

Taken take_source(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.source = *value.string();
  return {};
}

Taken take_destination(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.destination = *value.string();
  return {};
}

Taken take_reload(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.reloads = *value.boolean();
  return {};
}

Taken take_images(const JsonValue& value, const Field& field, Ask& /*ask*/) {
  if (value.array()->empty()) return {};
  return unsupported_field("images_unsupported", field.name,
                           "are set, the models here take text alone");
}

}  // namespace wick::server
