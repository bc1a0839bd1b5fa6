// What the fuzz targets of tokenizers do: one that loads must encode any bytes to ids that it
// knows, and show them again; one that does not must say why.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "text/tokenizer.h"

namespace wick {

inline void use_tokenizer(const Tokenizer& tokenizer, FuzzedDataProvider& in) {
  MarkedText marked;
  const auto parts = in.ConsumeIntegralInRange<int>(1, 4);
  for (int i = 0; i < parts; ++i) {
    marked.append(in.ConsumeRandomLengthString(200), in.ConsumeBool());
  }
  std::vector<TokenId> ids;
  if (const auto encoded = tokenizer.encode(marked, ids); !encoded) {
    const std::string& id = encoded.error().id;
    WICK_CHECK(id == "tokenizer_work" || id == "tokenizer_growth", "an error of another kind");
    WICK_CHECK(ids.empty(), "an error leaves nothing behind");
    return;
  }
  std::string streamed;
  TextStream stream(tokenizer, false, {in.ConsumeRandomLengthString(6)});
  for (const TokenId id : ids) {
    WICK_CHECK(id >= 0 && id < tokenizer.size(), "an id out of the vocabulary");
    WICK_CHECK(!marked.trusted.empty() || tokenizer.kind(id) != TokenKind::kControl,
               "a control token out of a person's text");
    streamed += stream.push(id);
  }
  streamed += stream.finish();
  if (!stream.stopped()) {
    WICK_CHECK(streamed == tokenizer.decode(ids), "streamed and decoded text differ");
  }
}

inline void load_and_use(const Metadata& meta, FuzzedDataProvider& in) {
  const auto tokenizer = Tokenizer::from(meta);
  if (tokenizer) return use_tokenizer(**tokenizer, in);
  WICK_CHECK(!tokenizer.error().message.empty(), "an error that says nothing");
}

// The input is the file that becomes the metadata's `key`, then up to 255 bytes of text, and
// choices, which are read from the end.
inline void load_and_use_file(const char* key, FuzzedDataProvider& in) {
  Metadata meta;
  meta.set_string("tokenizer.huggingface.config",
                  in.ConsumeBool() ? R"({"tokenizer_class": "TikTokenTokenizer"})"
                                   : R"({"added_tokens_decoder": {"7": {"content": "ab"}}})");
  const auto text_bytes = in.ConsumeIntegralInRange<std::size_t>(0, 255);
  const std::size_t rest = in.remaining_bytes();
  meta.set_string(key, in.ConsumeBytesAsString(rest - std::min(rest, text_bytes)));
  load_and_use(meta, in);
}

}  // namespace wick
