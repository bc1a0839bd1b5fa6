// Continuous batching: several prompts share forward passes. Each answer is the same as without
// the others.
//
//   batch MODEL
#include <iostream>
#include <string>
#include <vector>

#include "wick/model.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: batch MODEL\n";
    return 2;
  }
  const auto model = wick::Model::open(argv[1], {.max_concurrent = 4});
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\n";
    return 1;
  }
  const std::vector<std::string> prompts = {"One, two, three,", "Red, green,",
                                            "Monday, Tuesday,", "A, B, C,",
                                            "Do, re, mi,",      "January, February,"};
  const wick::Generation generation{.temperature = 0, .max_tokens = 12};
  std::vector<wick::Stream> streams;
  for (const std::string& prompt : prompts) {  // more than max_concurrent are queued
    auto stream = model->stream(prompt, generation);
    if (!stream) {
      std::cerr << wick::to_string(stream.error()) << "\n";
      return 1;
    }
    streams.push_back(*std::move(stream));
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto together = streams[i].finish();
    const auto alone = model->complete(prompts[i], generation);
    if (!together || !alone) return 1;
    std::cout << prompts[i] << together->text << "\n";
    if (together->text != alone->text) {
      std::cerr << "without the others the answer is: " << alone->text << "\n";
      return 1;
    }
  }
}
