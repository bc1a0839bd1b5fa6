// A remote API as a provider: one attempt for each request. Retries, fallbacks and money are the
// router's (route/). Any thread.
//
//   WICK_TRY(Endpoint endpoint, complete({.name = "openai", .kind = kind, .key = key}));
//   const auto provider = make_remote_provider(endpoint, transfers);
#pragma once

#include <memory>

#include "net/transfers.h"
#include "provider/provider.h"
#include "remote/endpoint.h"

namespace wick::remote {

// Several providers may share `transfers`.
std::shared_ptr<Provider> make_remote_provider(Endpoint endpoint,
                                               std::shared_ptr<Transfers> transfers);

}  // namespace wick::remote
