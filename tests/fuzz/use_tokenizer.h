// What the fuzz targets of tokenizers do with one that loads: it must encode any bytes to ids that
// it knows, and show them again.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

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
  tokenizer.encode(marked, ids);
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

}  // namespace wick
