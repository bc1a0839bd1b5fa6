// The limits that foreign vocabularies and texts are held to. Each is far above what real models
// use, and low enough that a small hostile file can neither fill the memory nor keep a core busy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

inline constexpr std::size_t kMaxTokens = 1U << 21U;         // real models: 262,144 (Gemma)
inline constexpr std::size_t kMaxIdsPerToken = 8;            // ids may have holes: so many of them,
inline constexpr std::size_t kMaxFreeIds = 1U << 16U;        // besides these
inline constexpr std::size_t kMaxMerges = 1U << 22U;         // Llama 3: 280,147
inline constexpr std::size_t kMaxTokenBytes = 1U << 16U;     // real models: a few hundred
inline constexpr std::size_t kMaxVocabBytes = 1U << 28U;     // all tokens together; Gemma: 2 MB
inline constexpr std::size_t kMaxAddedTokenBytes = 256;      // control and user-defined tokens
inline constexpr std::size_t kMaxPutAround = 1024;           // before or behind a text; BERT: 1
inline constexpr std::size_t kMaxTokenizerJson = 1U << 27U;  // Gemma 3: 33 MB
inline constexpr std::size_t kMaxPatternBytes = 4096;        // one regular expression
// What a pattern may cost in one text: bytes read in vain by wick's own automaton, for each
// byte of the text; steps of PCRE2 (60 to 200 ns each) that are more than a start of a match has
// free.
inline constexpr std::size_t kMaxVainBytes = 256;
inline constexpr std::uint64_t kMaxPatternSteps = 1U << 21U;  // besides so many for each byte:
inline constexpr std::uint64_t kMaxPatternStepsPerByte = 16;
// Bytes read to find added tokens that belong to none, for each byte of the text.
inline constexpr std::size_t kMaxAddedVainBytes = 32;
inline constexpr std::size_t kMinAddedVainBytes = 1U << 16U;  // always allowed
inline constexpr std::size_t kMaxPatternCharacters = 2048;    // with {n} times each; jais-2: 1,040
// How many times longer than the text it may become: real ones 11, a letter that NFKC spells out.
inline constexpr std::size_t kMaxNormalisedGrowth = 32;
inline constexpr std::size_t kMinNormalisedBytes = 1U << 16U;  // always allowed
// What wick's own automaton takes of a pattern; PCRE2 runs larger ones.
inline constexpr int kMaxRegexDepth = 32;  // groups in groups
inline constexpr int kMaxRegexRepeat = 64;
inline constexpr std::size_t kMaxRegexNodes = 1024;     // real patterns: about 100
inline constexpr std::size_t kMaxRegexBorders = 512;    // code points that a pattern names itself
inline constexpr std::size_t kMaxNfaNodes = 2048;       // real patterns: about 100
inline constexpr std::size_t kMaxDfaStates = 512;       // real patterns: about 30
inline constexpr std::size_t kMaxDfaWork = 1U << 20U;   // steps of building; real patterns: 20,000
inline constexpr std::size_t kMaxStages = 16;           // normalizer steps or splits in a row
inline constexpr std::size_t kMaxNormaliserBytes = 64;  // what a normalizer step may insert
inline constexpr int kMaxJsonNesting = 64;
inline constexpr int kMaxFixedLength = 64;       // characters of a piece cut by length
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
