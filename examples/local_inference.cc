// Goes on from a text, once, and says what it cost.
//
//   local_inference MODEL [PROMPT]
#include <iostream>
#include <string>

#include "wick/model.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: local_inference MODEL [PROMPT]\n";
    return 2;
  }
  const auto model = wick::Model::open(argv[1], {.max_concurrent = 1});
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\nhint: " << model.error().hint << "\n";
    return 1;
  }
  const std::string prompt = argc > 2 ? argv[2] : "The capital of France is";
  const auto answer = model->complete(prompt, {.temperature = 0, .max_tokens = 16});
  if (!answer) {
    std::cerr << wick::to_string(answer.error()) << "\n";
    return 1;
  }
  std::cout << prompt << answer->text << "\n";
  std::cerr << answer->usage.prompt_tokens << " tokens in, " << answer->usage.generated_tokens
            << " out\n";
}
