// Messages as JSON of the shape that wick/message.h shows, which files hold and chat templates
// read. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "chat/json_value.h"
#include "wick/generation.h"
#include "wick/message.h"

namespace wick {

// A message with several tool results becomes several messages. An image becomes its URL.
Array to_array(std::span<const Message> messages);
// kInvalid, id "bad_message", with the index of the faulty message.
Result<std::vector<Message>> to_messages(const Array& array);

// The chat template context of a request: messages, tools, and its template variables. Refused:
// images, an unsupported tool choice or response format, variables that are not JSON or have a name
// of the tokenizer's.
Result<Object> template_context(std::span<const Message> messages, const Generation& generation);

// An answer as the assistant's message. `text` is the answer's.
Message to_message(const Completion& completion);

}  // namespace wick
