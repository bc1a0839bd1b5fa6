#include <iostream>

#include "wick/model.h"
#include "wick/pool.h"
#include "wick/wick.h"

int main(int, char** argv) {
  wick::ModelPool pool({.budget_bytes = 4'000'000'000});
  const auto model = pool.get(argv[1]);
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\n";
    return 1;
  }
  auto session = model->session();
  auto stream = session.stream("What is the capital of Japan?", {.temperature = 0});
  if (!stream) return 1;
  for (const std::string_view piece : *stream)
    std::cout << piece;
  std::cout << "\n";
  return stream->finish() && session.messages().size() == 2 && wick_abi() == WICK_ABI ? 0 : 1;
}
