// Limits of this module.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::grammar {

inline constexpr std::size_t kMaxTrieTokenBytes = 4096;  // longer tokens are never allowed
inline constexpr std::size_t kMaxMaskCacheBytes = 24U << 20U;
inline constexpr std::size_t kMaxSharedStringBytes = 8U << 20U;  // masks that formats share
inline constexpr std::size_t kMaxSharedExprBytes = 4U << 20U;    // and their expressions
inline constexpr std::size_t kMaxPlainStates = 200'000;  // that PlainReach remembers
inline constexpr std::size_t kMaxSparseIds = 1024;       // allowed tokens of a mask that is a list
// Most parts of a concatenation or union for near_form(), which clamps their counters.
inline constexpr std::size_t kMaxClampedParts = 64;
inline constexpr long kMaxBoundDigits = 400;           // of a number that another is compared with
inline constexpr std::uint64_t kMaskFuel = 4'000'000;  // steps for one mask
inline constexpr std::size_t kMaxShortestBytes = 1U << 20U;  // of a document's end
inline constexpr std::size_t kMaxSteppedBytes = 1U << 18U;   // of those of a schema
inline constexpr std::uint64_t kShortestFuel = 1'000'000;    // steps for one of a schema
// Steps of LifeSearch for it, each of about 2 ns.
inline constexpr std::uint64_t kShortestLifeFuel = 40'000'000;
inline constexpr std::uint64_t kMaxShortestNodes = 20'000;  // values and rests that it looks into
inline constexpr int kMaxShortestPieces = 100'000;
inline constexpr std::size_t kMaxJsonStringStates = 200'000;

// Grammars.
inline constexpr std::size_t kMaxGrammarBytes = 4U << 20U;
inline constexpr int kMaxGrammarDepth = 200;  // of parentheses
inline constexpr std::size_t kMaxGrammarNodes = 200'000;
inline constexpr std::uint32_t kMaxGrammarCount = 1'000'000;  // in {m,n}
inline constexpr std::size_t kMaxGrammarSymbols = 200'000;    // of all productions
inline constexpr std::size_t kMaxEarleyItems = 2'000'000;     // of all states together
inline constexpr std::size_t kMaxEarleyStateItems = 20'000;   // of one state

// A caller's constraints.
inline constexpr std::size_t kMaxCustomStates = 2'000'000;  // of one answer, with those of a walk
inline constexpr std::uint64_t kCustomEndSteps = 100'000;   // steps of a search for a short end

// Compositions.
inline constexpr std::size_t kMaxCompositionSteps = 50'000;
inline constexpr std::size_t kMaxComposedThreads = 1'000'000;  // of all states together
inline constexpr std::size_t kMaxTriggerBytes = 1024;

// Schemas (grammar/schema/).
inline constexpr std::size_t kMaxSchemaBytes = 8U << 20U;
inline constexpr std::size_t kMaxSchemaValues = 200'000;  // of one document
inline constexpr std::size_t kMaxSchemaDepth = 400;
inline constexpr std::size_t kMaxSchemaDocuments = 64;
inline constexpr std::size_t kMaxSchemas = 100'000;  // schemas within a schema, by dynamic scope
inline constexpr std::uint32_t kMaxSchemaCount = 1'000'000'000;  // counts above are this one
inline constexpr std::size_t kMaxScopes = 256;                   // of dynamic anchors
inline constexpr std::size_t kMaxEvaluated = 4'000;              // schemas beside unevaluated*
inline constexpr std::size_t kMaxEvaluatedParts = 1'000'000;     // of all of these in a schema
inline constexpr std::size_t kMaxOverlaps = 100'000;  // pairs of schemas that oneOf compares
inline constexpr std::size_t kMaxFormulaBytes = 16U << 20U;
inline constexpr int kMaxFormulaDepth = 1'500;
// Visits of formulas (each about 100 ns) for one document, and more for each byte of the document.
inline constexpr std::uint64_t kDocumentFuel = 6'000'000;
inline constexpr std::uint64_t kDocumentFuelForByte = 4;
inline constexpr std::size_t kPartsForStep = 8;          // that cost as much as one visit
inline constexpr int kMaxBranchDepth = 2'000;            // choices of one branch
inline constexpr std::size_t kMaxDistinctValues = 1'000;  // of items that must differ, one by one
inline constexpr std::uint32_t kMaxNumberDigits = 20;    // before and behind the point, in masks
inline constexpr std::uint64_t kSchemaFuel = 2'000'000;  // steps of regexes while compiling
inline constexpr std::size_t kMaxSchemaStates = 1'000'000;
inline constexpr std::size_t kMaxSchemaSteps = 24'000;    // that are remembered
inline constexpr std::size_t kMaxSchemaGrowth = 2U << 20U;  // by documents; then it is worn
inline constexpr std::size_t kMaxMachineCells = 500'000;  // lists, texts and frames of documents
inline constexpr std::size_t kMaxValueBytes = 16U << 20U;  // texts of values that are compared
inline constexpr std::size_t kNumbersForCell = 8;         // that take as much memory as a cell

}  // namespace wick::grammar
