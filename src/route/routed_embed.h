// Embeddings by one of the candidates of a decision. Vectors of two models do not compare, so after
// a failure only providers with the same model are asked (equal deployments), each once.
#pragma once

#include <vector>

#include "route/routed_answer.h"

namespace wick::route {

Result<std::vector<Embedding>> embed_routed(Core& core, const Decision& decision,
                                            const EmbedTexts& request);

}  // namespace wick::route
