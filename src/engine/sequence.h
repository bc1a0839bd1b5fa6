// One request under way. Made by submit() with everything it will ever need, so that the engine's
// thread allocates nothing for it; from then on the engine thread's alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "engine/engine.h"
#include "sample/sampler.h"
#include "text/tokenizer.h"

namespace wick {

struct Sequence {
  Sequence(RequestId request_id, GenerateRequest request, int most_tokens,
           const Tokenizer& tokenizer, int vocab)
      : id(request_id),
        tokens(std::move(request.prompt)),
        max_tokens(most_tokens),
        ignore_end(request.ignore_end),
        sampler(request.sampling, vocab, std::move(request.editor)),
        stream(tokenizer, request.is_continuing, std::move(request.stops)),
        sink(std::move(request.sink)) {
    usage.prompt_tokens = static_cast<int>(tokens.size());
    tokens.reserve(tokens.size() + static_cast<std::size_t>(max_tokens));
  }

  RequestId id = 0;
  SeqId slot = -1;
  std::vector<TokenId> tokens;  // prompt and answer
  int done = 0;                 // of these, in the cache
  int max_tokens = 0;           // of the answer
  bool ignore_end = false;
  SamplerChain sampler;
  TextStream stream;
  std::shared_ptr<DeltaSink> sink;
  Usage usage = {};
  std::int64_t started_ns = 0, first_token_ns = 0;

  std::string_view pending = {};  // text the reader has not taken yet; `stream` owns it
  bool has_pending = false;
  StopReason stop = StopReason::kNone;  // decided; the last delta may still be on its way
  bool is_flushed = false;              // `pending` is the stream's last text
  bool is_over = false;                 // the last delta is delivered
  const Error* error = nullptr;

  Sequence* inbox_next = nullptr;
};

}  // namespace wick
