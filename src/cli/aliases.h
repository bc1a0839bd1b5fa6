// What users of llama.cpp and Ollama type, in wick's words: commands (`wick ps`, `wick help chat`),
// flags (`-hf`, `-ngl 99`) and values (`-n -1`). A flag that wick does not need is dropped with a
// note; a flag without a counterpart is an error whose hint names what wick has.
//
//   WICK_TRY(const OwnWords own, own_words({"wick", "run", "-hf", "a/b", "-ngl", "99"}));
//   own.words;   // wick run --model hf:a/b
//   own.notes;   // "-ngl is ignored: …"
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace wick {

struct OwnWords {
  std::vector<std::string> words = {};
  std::vector<std::string> notes = {};
};

Result<OwnWords> own_words(std::span<const std::string> words);

}  // namespace wick
