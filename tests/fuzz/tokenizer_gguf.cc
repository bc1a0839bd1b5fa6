// Tokenizers out of hostile GGUF metadata. The input is read from its end by FuzzedDataProvider:
// the vocabulary, the keys, and texts to encode.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/use_tokenizer.h"

namespace {

using wick::Metadata;
using wick::TokenId;

constexpr const char* kPres[] = {"gpt-2",  "smollm", "llama-bpe",   "qwen2",
                                 "gpt-4o", "tekken", "deepseek-v3", "deepseek-coder",
                                 "falcon", "qwen35", "deepseek-llm"};
constexpr const char* kIdKeys[] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                                   "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.eot_token_id",
                                   "tokenizer.ggml.eom_token_id"};
constexpr const char* kFlagKeys[] = {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token",
                                     "tokenizer.ggml.add_space_prefix"};

void fill_gguf(FuzzedDataProvider& in, Metadata& meta) {
  const std::string model = in.PickValueInArray({"gpt2", "llama", "gemma4", "t5", "bert"});
  const bool is_byte_level = model == "gpt2";
  meta.set_string("tokenizer.ggml.model", model);
  meta.set_string("tokenizer.ggml.pre",
                  in.ConsumeBool() ? in.PickValueInArray(kPres) : in.ConsumeRandomLengthString(12));
  std::vector<std::string> tokens;
  if (in.ConsumeBool()) {  // bytes come first, so that merges have something to start with
    for (char c = '!'; c <= '~'; ++c) {
      tokens.emplace_back(1, c);
    }
    tokens.insert(tokens.end(), {"Ġ", "Ċ", "▁", "<0x0A>", "<unk>"});
  }
  const auto n = in.ConsumeIntegralInRange<std::size_t>(0, 64);
  for (std::size_t i = 0; i < n; ++i) {
    tokens.push_back(in.ConsumeRandomLengthString(24));
  }
  const std::size_t wrong = in.ConsumeIntegralInRange<std::size_t>(0, 50) == 0 ? 1 : 0;
  std::vector<std::int64_t> types(tokens.size() + wrong, 1);
  std::vector<double> scores(tokens.size() + wrong, 0);
  for (std::size_t i = tokens.size() - n; i < tokens.size(); ++i) {
    types[i] = in.ConsumeIntegralInRange<int>(-1, 8);
    scores[i] = in.ConsumeIntegralInRange<int>(-9, 9);
  }
  if (!scores.empty() && in.ConsumeBool()) scores.back() = in.ConsumeFloatingPoint<double>();
  std::vector<std::string> merges;
  const auto n_merges = in.ConsumeIntegralInRange<std::size_t>(0, 64);
  for (std::size_t i = 0; i < n_merges; ++i) {
    merges.push_back(in.ConsumeRandomLengthString(24));
  }
  meta.set_strings("tokenizer.ggml.tokens", tokens);
  if (in.ConsumeBool()) meta.set_integers("tokenizer.ggml.token_type", types);
  if (!is_byte_level || in.ConsumeBool()) meta.set_numbers("tokenizer.ggml.scores", scores);
  meta.set_strings("tokenizer.ggml.merges", merges);
  if (model == "t5") {  // the size of an array of 256 units, those units, and replacements
    std::vector<std::int64_t> charsmap = {0, 4, 0, 0};
    for (int i = 0; i < 1024 + 16; ++i) {
      charsmap.push_back(in.ConsumeIntegral<std::uint8_t>());
    }
    if (in.ConsumeBool()) meta.set_integers("tokenizer.ggml.precompiled_charsmap", charsmap);
    meta.set_boolean("tokenizer.ggml.remove_extra_whitespaces", in.ConsumeBool());
  }
  for (const char* const key : kIdKeys) {
    if (in.ConsumeBool()) meta.set_integer(key, in.ConsumeIntegralInRange<int>(-2, 200));
  }
  for (const char* const key : kFlagKeys) {
    if (in.ConsumeBool()) meta.set_boolean(key, in.ConsumeBool());
  }
  if (in.ConsumeBool())
    meta.set_string("general.architecture", in.ConsumeBool() ? "gemma" : "phi3");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider in(data, size);
  Metadata meta;
  fill_gguf(in, meta);
  wick::load_and_use(meta, in);
  return 0;
}
