// What a chat template may use up. A template comes out of a model file that somebody uploaded, so
// each of these bounds what a hostile one can do; real templates stay far below (the largest we
// know has 40 kB and takes some thousand steps for a message).
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

inline constexpr std::size_t kMaxTemplateBytes = 512 << 10;
inline constexpr int kMaxTemplateDepth = 200;              // nesting of statements and expressions
inline constexpr std::size_t kMaxAnalysisSteps = 8 << 20;  // work of resolving names
inline constexpr std::int64_t kMaxRenderSteps = 64 << 20;  // one for each node, one for 64 bytes
inline constexpr std::size_t kMaxRenderBytes = 512 << 20;  // all memory of one render
inline constexpr std::size_t kMaxTextBytes = 16 << 20;     // one text, the output too
inline constexpr std::size_t kMaxItems = 1 << 20;          // of one list
inline constexpr int kMaxCallDepth =
    1200;                                  // expressions and statements in progress, through macros
inline constexpr int kMaxDataDepth = 120;  // lists in lists, of the context and of the template
inline constexpr std::int64_t kMaxRange = 100'000;  // as jinja2's sandbox
inline constexpr int kMaxJsonDepth = 64;

}  // namespace wick
