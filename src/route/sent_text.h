// The text of a request that a provider would see, for rules with `contains`. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "provider/provider.h"
#include "wick/generation.h"
#include "wick/message.h"

namespace wick::route {

// Compatibility forms (NFKC), case folded, without invisible characters: of the rule's text and the
// request's, so that another spelling of the same is found.
std::string comparable(std::string_view text);

// Each is appended with a line of its own. Text in several parts of a message is one text.
void append_sent_text(const Message& message, std::string& out);
void append_sent_text(const Generation& generation, std::string& out);
void append_sent_text(const RemoteFields& fields, std::string& out);

}  // namespace wick::route
