// Two conversations with one model. Their earlier turns stay in the KV cache, so a later turn
// computes only its new tokens.
//
//   sessions MODEL
#include <array>
#include <iostream>

#include "wick/model.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: sessions MODEL\n";
    return 2;
  }
  const auto model = wick::Model::open(argv[1]);
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\n";
    return 1;
  }
  std::array talks = {model->session("You talk about rivers."),
                      model->session("You talk about mountains.")};
  for (const char* question : {"Name one in Europe.", "And one in Asia?", "Which is longer?"}) {
    for (auto& talk : talks) {
      const auto answer = talk.say(question, {.temperature = 0, .max_tokens = 24});
      if (!answer) {
        std::cerr << wick::to_string(answer.error()) << "\n";
        return 1;
      }
      std::cout << question << " " << answer->text << "\n  [" << answer->usage.prompt_tokens
                << " tokens, " << answer->usage.cached_tokens << " of them cached]\n";
    }
  }
}
