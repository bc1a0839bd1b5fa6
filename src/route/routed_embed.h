// Embeddings by one of the candidates of a decision. Vectors of two models do not compare, so after
// a failure only providers with the same model are asked (equal deployments), each once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "route/routed_answer.h"

namespace wick::route {

Result<std::vector<Embedding>> embed_routed(Core& core, const Decision& decision,
                                            std::span<const std::string> texts,
                                            const EmbedOptions& options);

}  // namespace wick::route
