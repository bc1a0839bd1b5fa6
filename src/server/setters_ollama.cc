// What Ollama's fields say otherwise than OpenAI's.
#include "server/durations.h"
#include "server/errors.h"
#include "server/setters.h"

namespace wick::server {

// The older name of "model".
SetResult set_name(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  if (parsed.request.model.empty()) parsed.request.model = *value.string();
  return {};
}

SetResult set_text(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.prompts = {Prompt(*value.string())};
  return {};
}

SetResult set_raw(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.is_raw = *value.boolean();
  return {};
}

SetResult set_options(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  return read_fields(kOllamaOptions, *value.object(), parsed);
}

SetResult set_keep_alive(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  if (const auto seconds = real(value)) {
    parsed.keep_ms = keep_alive_ms(*seconds);
    return {};
  }
  if (value.string() == nullptr)
    return bad_field(field.name, "is ", seen(value), ", wanted are seconds, or a time like 5m");
  WICK_TRY(parsed.keep_ms, parse_keep_alive(*value.string()));
  return {};
}

SetResult set_source(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.source = *value.string();
  return {};
}

SetResult set_destination(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.destination = *value.string();
  return {};
}

SetResult set_reload(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.reloads = *value.boolean();
  return {};
}

SetResult set_images(const JsonValue& value, const Field& field, ParsedRequest& /*parsed*/) {
  if (value.array()->empty()) return {};
  return unsupported_field("images_unsupported", field.name,
                           "are set, the models here take text alone");
}

}  // namespace wick::server
