// Hostile files of other libraries: SentencePiece's tokenizer.model, Mistral's tekken.json and
// files of tiktoken. The input is the file, 60 bytes of text, and choices, which are read from the
// end.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <string>

#include "base/check.h"
#include "fuzz/use_tokenizer.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kTextBytes = 60;
  FuzzedDataProvider in(data, size);
  wick::Metadata meta;
  const char* const key = in.PickValueInArray(
      {"tokenizer.sentencepiece.model", "tokenizer.tekken.json", "tokenizer.tiktoken.model"});
  meta.set_string("tokenizer.huggingface.config",
                  in.ConsumeBool() ? R"({"tokenizer_class": "TikTokenTokenizer"})"
                                   : R"({"added_tokens_decoder": {"7": {"content": "ab"}}})");
  const std::size_t rest = in.remaining_bytes();
  meta.set_string(key, in.ConsumeBytesAsString(rest - std::min(rest, kTextBytes)));
  const auto tokenizer = wick::Tokenizer::from(meta);
  if (!tokenizer) {
    WICK_CHECK(!tokenizer.error().message.empty(), "an error that says nothing");
    return 0;
  }
  wick::use_tokenizer(**tokenizer, in);
  return 0;
}
