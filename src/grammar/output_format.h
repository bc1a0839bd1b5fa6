// The language of a response format (wick/generation.h) as a Recognizer.
#pragma once

#include <memory>

#include "base/result.h"
#include "grammar/recognizer.h"
#include "grammar/special_tokens.h"
#include "wick/generation.h"

namespace wick::grammar {

// Refused: an unknown type (id "response_format_unsupported"), a schema where none belongs or none
// where one does ("schema_without_format", "format_without_schema"), whatever the kind's parser
// refuses, and a language without any text ("no_document").
// `names`: of control tokens that a grammar or structural tag may want; without it they want the
// text of the name.
Result<std::unique_ptr<Recognizer>> make_recognizer(const ResponseFormat& format,
                                                    const TokenNames& names = {});

}  // namespace wick::grammar
