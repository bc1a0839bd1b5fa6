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

// A message with several results of tools becomes as many. An image is its url.
Array to_array(std::span<const Message> messages);
// kInvalid, id "bad_message", with the number of the message that makes no sense.
Result<std::vector<Message>> to_messages(const Array& array);

// What a chat template gets of a request: messages, tools, and the variables that it sets. Refused:
// images, a tool choice or response format that is not supported, a variable that is not JSON or
// would pass for the tokenizer's own.
Result<Object> template_context(std::span<const Message> messages, const Generation& generation);

// The assistant's message that an answer is. `text` is the answer's.
Message to_message(const Completion& completion);

}  // namespace wick
