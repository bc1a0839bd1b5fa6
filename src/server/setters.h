// Setters of request fields, for the table in fields_data.cc. `value` has the field's kind and
// range. Pure functions.
#pragma once

#include "base/result.h"
#include "chat/json_value.h"
#include "server/fields.h"

namespace wick::server {

using SetResult = Result<void>;

// The request has set `key`, over the server's default.
void forget_origin(Generation& generation, std::string_view key);

// Of the sampler, by Field::key.
SetResult set_sampler(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_sampler_switch(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_seed(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_samplers(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_breakers(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_logit_bias(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of the answer's end.
SetResult set_max_tokens(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_max_completion_tokens(const JsonValue& value, const Field& field,
                                    ParsedRequest& parsed);
// Of /v1/rerank.
SetResult set_query(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_documents(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_top_n(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_return_documents(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_raw_scores(const JsonValue& value, const Field& field, ParsedRequest& parsed);

SetResult set_lora(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_stop(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_stop_ids(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of what is told.
SetResult set_n(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_best_of(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_stream(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_stream_options(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_logprobs(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_logprob_count(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_top_logprobs(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_include(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_echo(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_timings(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_wick(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of the prompt.
SetResult set_remote(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_model(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_messages(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_prompt(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_tools(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_tool_choice(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_parallel_tool_calls(const JsonValue& value, const Field& field,
                                  ParsedRequest& parsed);
SetResult set_reasoning_effort(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_think(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_template_variables(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of a gap between two texts.
SetResult set_suffix(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_gap_prefix(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_gap_begun(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_gap_files(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of structured output.
SetResult set_response_format(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_structured(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_guide(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_format(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_text_form(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of Anthropic's and Ollama's requests.
SetResult set_blocks(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_system(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_thinking(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_name(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_text(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_raw(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_options(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_keep_alive(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_source(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_destination(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_reload(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_images(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of /v1/responses.
SetResult set_items(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_instructions(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_previous(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_store(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_reasoning(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of API keys (setters_keys.cc).
SetResult set_key_alias(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_scope(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_models(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_budget(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_budget_duration(const JsonValue& value, const Field& field,
                                  ParsedRequest& parsed);
SetResult set_key_rpm(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_tpm(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_parallel(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_duration(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key_blocked(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_key(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_keys(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of embeddings.
SetResult set_encoding(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_dimensions(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_pooling(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// Of tokens.
SetResult set_content(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_add_special(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_parse_special(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_pieces(const JsonValue& value, const Field& field, ParsedRequest& parsed);
SetResult set_ids(const JsonValue& value, const Field& field, ParsedRequest& parsed);

// A number of Generation.
template <auto Member>
SetResult set_integer(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.request.generation.*Member = static_cast<int>(*whole(value));
  return {};
}

}  // namespace wick::server
