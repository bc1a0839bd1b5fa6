// A custom sampler: a logits hook changes the logits before each token is sampled. This one bans
// all tokens that contain the letter "e".
//
//   custom_sampler MODEL [PROMPT]
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "wick/model.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: custom_sampler MODEL [PROMPT]\n";
    return 2;
  }
  const auto model = wick::Model::open(argv[1], {.max_concurrent = 1});
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\n";
    return 1;
  }
  std::vector<wick::TokenId> banned;
  for (wick::TokenId id = 0; id < model->describe().vocabulary; ++id) {
    const auto text = model->detokenize(std::vector{id});
    if (text && text->find_first_of("eE") != std::string::npos) banned.push_back(id);
  }
  // The engine thread calls this once per token, so the list of tokens is computed before.
  const auto without_e = [&banned](std::span<float> logits, std::span<const wick::TokenId>) {
    for (const wick::TokenId id : banned)
      logits[static_cast<std::size_t>(id)] = -std::numeric_limits<float>::infinity();
  };
  const auto answer = model->complete(argc > 2 ? argv[2] : "On a sunny day,",
                                      {.temperature = 0, .max_tokens = 32, .logits = without_e});
  if (!answer) {
    std::cerr << wick::to_string(answer.error()) << "\n";
    return 1;
  }
  std::cout << answer->text << "\n";
  return answer->text.find_first_of("eE") == std::string::npos ? 0 : 1;
}
