// Structured output of a local model: response formats compiled for its vocabulary, and the filter
// of one answer.
//
// A compiled format is shared by the requests that name it: the caller's threads compile it, then
// only the engine thread uses it.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/token_filter.h"
#include "grammar/recognizer.h"
#include "local/limits.h"
#include "text/tokenizer.h"
#include "wick/constraint.h"
#include "wick/generation.h"

namespace wick {

namespace grammar {
class SharedStrings;
}

struct CompiledFormat;  // output_formats.cc

// What a filter is for.
struct FilterPlan {
  std::string key = {};  // of the language: equal keys have equal languages; empty: not shared
  std::function<Result<std::unique_ptr<grammar::Recognizer>>()> make = {};
  std::string_view subject = "the response format";  // in errors
  std::string_view reasoning_end = {};  // the text begins behind it; empty: at once
  int max_tokens = 0;                   // of the answer
  bool is_limited = false;              // the request says max_tokens; else the context does
  TokenMaskHook mask = {};              // of the caller
};

class OutputFormats {
 public:
  // `max_bytes`: of the formats that are kept, with their masks. The last one used is always kept.
  explicit OutputFormats(std::size_t max_bytes = kMaxFormatBytes) : max_bytes_(max_bytes) {}

  // The filter of one answer. Refused besides bad formats: a shortest text that does not fit into
  // max_tokens (id "max_tokens_too_small"), and a format whose end the search does not find if the
  // request has max_tokens (id "no_short_end").
  Result<std::shared_ptr<TokenFilter>> filter(const Tokenizer& tokenizer, const FilterPlan& plan);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<CompiledFormat> compiled;
  };

  Result<std::shared_ptr<CompiledFormat>> compiled(const Tokenizer& tokenizer,
                                                   const FilterPlan& plan);

  void keep(const std::string& key, const std::shared_ptr<CompiledFormat>& made);

  std::size_t max_bytes_;
  std::mutex mutex_;
  std::shared_ptr<grammar::SharedStrings> strings_;  // with the tokenizer's trie, once it is needed
  std::list<Entry> entries_;                         // the last one used first
};

}  // namespace wick
