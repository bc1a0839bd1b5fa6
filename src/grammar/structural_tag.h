// vLLM's and xgrammar's structural tags: free text with tagged parts that are held to a schema, a
// regular expression or a grammar.
//
//   {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<function="],
//    "tags": [{"type": "tag", "begin": "<function=f>", "content": {"type": "json_schema",
//    "json_schema": {…}}, "end": "</function>"}]}}
//
// and the older form {"structures": [{"begin", "schema", "end"}], "triggers": […]}.
//
// Formats: const_string, any_text, json_schema, regex, grammar, sequence, or, optional, plus, star,
// repeat, tag, triggered_tags, tags_with_separator, token. any_text takes wick's "max_bytes". A
// `token` is a control token.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "grammar/recognizer.h"
#include "grammar/special_tokens.h"

namespace wick::grammar {

// Errors name the place (id "bad_structural_tag").
Result<std::unique_ptr<Recognizer>> structural_tag(std::string_view json, const TokenNames& names);

}  // namespace wick::grammar
