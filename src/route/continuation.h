// An answer that broke off in the middle goes on at a local model: its prompt is what the local
// model would have been asked, and behind it the text that the reader has already.
#pragma once

#include <string>

#include "provider/provider.h"

namespace wick::route {

// Whether such an answer is text alone: no tools, no structured output, no logprobs.
bool may_continue(const Request& request) noexcept;

// What `provider` is asked for. Its max_tokens are those that are left. kUnsupported for a provider
// without a tokenizer; "context_length_exceeded" and the like come from start().
Result<Request> continuation_of(Provider& provider, const Request& request,
                                const std::string& model, const std::string& text);

}  // namespace wick::route
