// Adds an architecture: a model file whose general.architecture is "acme2" runs as "llama".
//
//   custom_arch MODEL [PROMPT]
#include <iostream>

#include "wick/architecture.h"
#include "wick/model.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: custom_arch MODEL [PROMPT]\n";
    return 2;
  }
  // Before a model is opened. wick/architecture.h lists all fields.
  const auto added = wick::add_architecture(R"({
    "name": "acme2",
    "like": "llama",
    "model_type": "acme_lm",
    "defaults": {"rms_norm_eps": 1e-5, "rope_theta": 100000, "hidden_act": "silu"},
    "tensors": {"trunk.{}.mix.q.weight": "blk.{}.attn_q.weight"}
  })");
  if (!added) {
    std::cerr << wick::to_string(added.error()) << "\n";
    return 1;
  }
  const auto model = wick::Model::open(argv[1], {.max_concurrent = 1});
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\n";
    return 1;
  }
  const auto answer = model->complete(argc > 2 ? argv[2] : "The capital of France is",
                                      {.temperature = 0, .max_tokens = 16});
  if (!answer) {
    std::cerr << wick::to_string(answer.error()) << "\n";
    return 1;
  }
  std::cout << answer->text << "\n";
  return 0;
}
