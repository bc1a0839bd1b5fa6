// Setters of request fields, for the table in fields_data.cc. `value` has the field's kind and
// range. Pure functions.
#pragma once

#include "base/result.h"
#include "chat/json_value.h"
#include "server/fields.h"

namespace wick::server {

using Taken = Result<void>;

// Of the sampler, by Field::key.
Taken take_sampler(const JsonValue& value, const Field& field, Ask& ask);
Taken take_sampler_switch(const JsonValue& value, const Field& field, Ask& ask);
Taken take_seed(const JsonValue& value, const Field& field, Ask& ask);
Taken take_samplers(const JsonValue& value, const Field& field, Ask& ask);
Taken take_breakers(const JsonValue& value, const Field& field, Ask& ask);
Taken take_logit_bias(const JsonValue& value, const Field& field, Ask& ask);

// Of the answer's end.
Taken take_max_tokens(const JsonValue& value, const Field& field, Ask& ask);
Taken take_max_completion_tokens(const JsonValue& value, const Field& field, Ask& ask);
Taken take_stop(const JsonValue& value, const Field& field, Ask& ask);
Taken take_stop_ids(const JsonValue& value, const Field& field, Ask& ask);

// Of what is told.
Taken take_n(const JsonValue& value, const Field& field, Ask& ask);
Taken take_best_of(const JsonValue& value, const Field& field, Ask& ask);
Taken take_stream(const JsonValue& value, const Field& field, Ask& ask);
Taken take_stream_options(const JsonValue& value, const Field& field, Ask& ask);
Taken take_logprobs(const JsonValue& value, const Field& field, Ask& ask);
Taken take_logprob_count(const JsonValue& value, const Field& field, Ask& ask);
Taken take_top_logprobs(const JsonValue& value, const Field& field, Ask& ask);
Taken take_echo(const JsonValue& value, const Field& field, Ask& ask);
Taken take_timings(const JsonValue& value, const Field& field, Ask& ask);
Taken take_wick(const JsonValue& value, const Field& field, Ask& ask);

// Of what is asked.
Taken take_model(const JsonValue& value, const Field& field, Ask& ask);
Taken take_messages(const JsonValue& value, const Field& field, Ask& ask);
Taken take_prompt(const JsonValue& value, const Field& field, Ask& ask);
Taken take_suffix(const JsonValue& value, const Field& field, Ask& ask);
Taken take_tools(const JsonValue& value, const Field& field, Ask& ask);
Taken take_tool_choice(const JsonValue& value, const Field& field, Ask& ask);
Taken take_response_format(const JsonValue& value, const Field& field, Ask& ask);
Taken take_reasoning_effort(const JsonValue& value, const Field& field, Ask& ask);
Taken take_think(const JsonValue& value, const Field& field, Ask& ask);
Taken take_template_variables(const JsonValue& value, const Field& field, Ask& ask);

// Of Anthropic's and Ollama's requests.
Taken take_blocks(const JsonValue& value, const Field& field, Ask& ask);
Taken take_system(const JsonValue& value, const Field& field, Ask& ask);
Taken take_thinking(const JsonValue& value, const Field& field, Ask& ask);
Taken take_name(const JsonValue& value, const Field& field, Ask& ask);
Taken take_text(const JsonValue& value, const Field& field, Ask& ask);
Taken take_raw(const JsonValue& value, const Field& field, Ask& ask);
Taken take_format(const JsonValue& value, const Field& field, Ask& ask);
Taken take_options(const JsonValue& value, const Field& field, Ask& ask);
Taken take_keep_alive(const JsonValue& value, const Field& field, Ask& ask);
Taken take_source(const JsonValue& value, const Field& field, Ask& ask);
Taken take_destination(const JsonValue& value, const Field& field, Ask& ask);
Taken take_reload(const JsonValue& value, const Field& field, Ask& ask);
Taken take_images(const JsonValue& value, const Field& field, Ask& ask);

// Of /v1/responses.
Taken take_items(const JsonValue& value, const Field& field, Ask& ask);
Taken take_instructions(const JsonValue& value, const Field& field, Ask& ask);
Taken take_previous(const JsonValue& value, const Field& field, Ask& ask);
Taken take_store(const JsonValue& value, const Field& field, Ask& ask);
Taken take_text_form(const JsonValue& value, const Field& field, Ask& ask);
Taken take_reasoning(const JsonValue& value, const Field& field, Ask& ask);

// Of embeddings.
Taken take_encoding(const JsonValue& value, const Field& field, Ask& ask);
Taken take_dimensions(const JsonValue& value, const Field& field, Ask& ask);
Taken take_pooling(const JsonValue& value, const Field& field, Ask& ask);

// Of tokens.
Taken take_content(const JsonValue& value, const Field& field, Ask& ask);
Taken take_add_special(const JsonValue& value, const Field& field, Ask& ask);
Taken take_parse_special(const JsonValue& value, const Field& field, Ask& ask);
Taken take_pieces(const JsonValue& value, const Field& field, Ask& ask);
Taken take_ids(const JsonValue& value, const Field& field, Ask& ask);

// A number of Generation.
template <auto Member>
Taken take_integer(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.request.generation.*Member = static_cast<int>(*whole(value));
  return {};
}

}  // namespace wick::server
