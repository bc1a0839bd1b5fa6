// The limits that foreign vocabularies and texts are held to. Each is far above what real models
// use, and low enough that a small hostile file can neither fill the memory nor keep a core busy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

inline constexpr std::size_t kMaxTokens = 1U << 21U;         // real models: 262,144 (Gemma)
inline constexpr std::size_t kMaxIdsPerToken = 8;            // ids may have gaps: 8 for each token,
inline constexpr std::size_t kMaxFreeIds = 1U << 16U;        // plus this number
inline constexpr std::size_t kMaxMerges = 1U << 22U;         // Llama 3: 280,147
inline constexpr std::size_t kMaxTokenBytes = 1U << 16U;     // real models: a few hundred
inline constexpr std::size_t kMaxVocabBytes = 1U << 28U;     // all tokens together; Gemma: 2 MB
inline constexpr std::size_t kMaxAddedTokenBytes = 256;      // control and user-defined tokens
inline constexpr std::size_t kMaxPutAround = 1024;           // before or after a text; BERT: 1
inline constexpr std::size_t kMaxTokenizerFile = 1U << 27U;  // Gemma 3: 33 MB
inline constexpr std::size_t kMaxPatternBytes = 4096;        // one regular expression
// Bytes that patterns may read outside of matches, for each byte of the searched text.
inline constexpr std::size_t kMaxVainBytes = 256;
inline constexpr std::size_t kMinVainBytes = 1U << 23U;  // always allowed
// Bytes that the search for added tokens may read outside of matches, for each byte of the text.
inline constexpr std::size_t kMaxAddedVainBytes = 32;
inline constexpr std::size_t kMinAddedVainBytes = 1U << 16U;  // always allowed
// Bytes of a normalized text for each byte of the original. Real files reach 11, for a letter that
// NFKC decomposes.
inline constexpr std::size_t kMaxNormalizedGrowth = 32;
inline constexpr std::size_t kMinNormalizedBytes = 1U << 16U;  // always allowed
inline constexpr std::size_t kMaxStages = 16;           // normalizer steps or splits in a row
inline constexpr std::size_t kMaxNormalizerBytes = 64;  // what a normalizer step may insert
inline constexpr int kMaxFixedLength = 64;              // characters of a piece cut by length
inline constexpr std::size_t kMaxProbes = 1024;  // steps to a hash slot; honest words need < 64
inline constexpr std::size_t kMaxRankWork =
    1U << 30U;  // bytes compared to find merges; tekken: 3 million
inline constexpr std::size_t kMaxTrieNodes = 1U << 24U;     // XLM-R: 700,000
inline constexpr std::size_t kMaxViterbiBytes = 1U << 24U;  // a longer piece is cut up in parts
inline constexpr std::size_t kMaxGrowth =
    1024;  // how many times longer a text may become; ALBERT: 726
inline constexpr std::size_t kMaxCharsmapBytes = 1U << 24U;  // nmt_nfkc: 240,000
inline constexpr std::size_t kMaxPieceBytes = 1U << 28U;     // a longer piece is merged in parts

}  // namespace wick
