// A request as bytes: two requests with the same key have the same answer from a deterministic
// model. Pure.
#pragma once

#include <string>

#include "provider/provider.h"

namespace wick::route {

// All that decides on the answer or on who may read it: model, prompt, parameters, tenant, and the
// client's key and tag. Not: time limits, priority, how text is grouped into events.
std::string request_key(const Request& request);

// Temperature 0 or a seed, and no callback: a repetition means the same answer.
bool is_repeatable(const Generation& generation);

}  // namespace wick::route
