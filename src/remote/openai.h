// The parts of OpenAI's chat API that Azure's has too. Pure functions.
#pragma once

#include "remote/dialect.h"

namespace wick::remote {

Result<Object> openai_body(const Endpoint& endpoint, const Request& request);
std::unique_ptr<Decoder> openai_decoder();
Result<std::vector<Embedding>> read_openai_embeddings(const JsonValue& answer);

}  // namespace wick::remote
