// Adds an architecture: a known one with differences. Call this before the first model is opened;
// one thread.
//
//   wick::add_architecture(R"({"name": "acme", "like": "llama", "activation": "gelu_tanh",
//                              "model_type": "acme_lm",
//                              "tensors": {"trunk.{}.wq": "blk.{}.attn_q.weight"}})");
//   auto model = wick::Model::open("acme-7b.gguf");   // general.architecture is "acme"
#pragma once

#include <string_view>

#include "wick/result.h"

namespace wick {

// A JSON object:
//   name                 general.architecture of GGUF files, and the prefix of their keys
//   like                 the known architecture ("llama"); absent fields have its values
//   model_type           model_type of config.json
//   defaults             values of fields that config.json may omit
//   tensors              checkpoint names → GGUF names; {} is the layer's number
//   activation           silu, gelu, gelu_tanh, relu2
//   rotation             RoPE type: halves (llama.cpp: NEOX), pairs (NORM), none
//   parallel             true: attention and feed-forward read the same norm
//   embedding_scale, residual_scale, attention_scale, logit_scale: factors
// Errors (kInvalid, id "bad_architecture"): an unknown field or value, a name that exists, a call
// after a model was opened.
WICK_API Result<void> add_architecture(std::string_view json);

}  // namespace wick
