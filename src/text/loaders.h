// One loader for each kind of file that holds a tokenizer. Load time only.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/pipeline.h"

namespace wick {

// tokenizer.ggml.* of a GGUF file.
Result<TokenizerParts> load_gguf_tokenizer(const Metadata& meta);
// Hugging Face's tokenizer.json.
Result<TokenizerParts> load_huggingface_tokenizer(std::string_view json, const Metadata& meta);
// SentencePiece's tokenizer.model.
Result<TokenizerParts> load_sentencepiece_tokenizer(std::string_view bytes, const Metadata& meta);
// Mistral's tekken.json.
Result<TokenizerParts> load_tekken_tokenizer(std::string_view json, const Metadata& meta);
// Whether a file consists of such lines, by the first one.
bool is_tiktoken_file(std::string_view bytes);
// Lines of a token in base64 and its rank (tiktoken.model, tokenizer.model of Llama 3).
Result<TokenizerParts> load_tiktoken_tokenizer(std::string_view lines, const Metadata& meta);

}  // namespace wick
