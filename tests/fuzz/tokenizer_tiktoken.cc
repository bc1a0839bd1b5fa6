// Hostile files of tiktoken.
#include "fuzz/use_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider in(data, size);
  wick::load_and_use_file("tokenizer.tiktoken.model", in);
  return 0;
}
