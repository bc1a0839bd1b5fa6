// Limits of chat templates and conversations. Templates come from model files, which are untrusted.
// docs/templates.md has the resources that real templates use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

inline constexpr std::size_t kMaxTemplateBytes = 512 << 10;   // the largest we know has 40 kB
inline constexpr std::size_t kMaxTemplateTokens = 128 << 10;  // of the lexer
inline constexpr int kMaxTemplateDepth = 200;                 // nesting of statements, expressions
inline constexpr std::size_t kMaxArguments = 1000;  // named ones of a call; parameters of a macro
inline constexpr std::size_t kMaxAnalysisSteps = 512 << 10;  // work of resolving names

// Limits of one render: these values, plus the two factors below for each byte of input (texts, and
// kValueBytes for each value). A unit of work takes 2 to 12 ns at 2.5 GHz, so the default ends
// within 0.4 seconds.
struct RenderLimits {
  std::int64_t work = 32 << 20;
  std::size_t bytes = std::size_t{32} << 20;  // of memory, the output with it
};

// What one took.
struct RenderUsage {
  std::int64_t work = 0;
  std::size_t bytes = 0;  // the most at a time
};

inline constexpr std::int64_t kWorkPerInputByte = 4;
inline constexpr std::size_t kBytesPerInputByte = 16;
inline constexpr std::size_t kValueBytes = 32;

inline constexpr std::size_t kMaxItems = 1 << 20;  // of one list
inline constexpr int kMaxCallDepth =
    1200;  // expressions and statements in progress, through macros
inline constexpr std::size_t kLeastStack =
    64 << 10;  // left of the thread's, for a few levels and a filter at their end
inline constexpr int kMaxDataDepth = 120;  // lists in lists, of the context and of the template
inline constexpr std::int64_t kMaxRange = 100'000;  // as jinja2's sandbox

inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxJsonValues = 1 << 20;  // with the keys of objects

}  // namespace wick
