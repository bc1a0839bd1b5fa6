// Which requests the loop's thread handles instead of a worker's.
//
// Refusals under load. While admission control refuses requests, a small one
// is read on the loop, and refused there if it would be refused now. So a refusal waits neither for
// a worker nor for the loop again: on a machine whose cores all compute, each costs up to a tick of
// the scheduler (4 ms at 250 Hz).
#pragma once

#include <optional>

#include "server/context.h"

namespace wick::server {

// Empty: a worker answers the request. `api`: of a route that generates.
std::optional<http::Response> refuse_early(Context& context, Api api, const http::Request& request);

// A small request for a model whose provider starts at once, such as a remote one without a price:
// without a worker it needs two wake-ups of a thread less.
bool is_quick(const Context& context, const http::Request& request);

}  // namespace wick::server
