// Embeddings by one of the candidates of a decision, in the attempts of routed_answer.h: the same
// retries, limits, reservations and circuit breakers as an answer's. Vectors of two models do not
// compare, so after a failure only providers with the same model are asked (equal deployments).
#pragma once

#include <memory>
#include <vector>

#include "route/routed_answer.h"

namespace wick::route {

// Waits, also for the pauses between attempts.
Result<std::vector<Embedding>> embed_routed(std::shared_ptr<Core> core, Decision decision,
                                            const EmbedTexts& request);

}  // namespace wick::route
