// Limits of model files, which are untrusted. Each limit is far above the values of real models,
// and so low that a small hostile file can neither exhaust memory nor keep a core busy. Counts are
// also compared with the size of the file before memory is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

inline constexpr std::uint64_t kMaxMetaKeys = 4096;      // real files: about 40
inline constexpr std::uint64_t kMaxKeyBytes = 65535;     // the GGUF specification's own limit
inline constexpr std::uint64_t kMaxTensors = 1U << 20U;  // DeepSeek-V3 as safetensors: 92,000
inline constexpr std::uint64_t kMaxTensorNameBytes = 256;
inline constexpr std::uint32_t kMaxRank = 4;
inline constexpr std::int64_t kMinAlignment = 8;  // GGUF: a multiple of 8
inline constexpr std::int64_t kMaxAlignment = 65536;
inline constexpr std::int64_t kMaxParts = 4096;  // files of one model

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;  // the format's own limit
inline constexpr int kMaxHeaderJsonDepth = 64;
inline constexpr std::uint64_t kMaxJsonFile = 64U << 20U;  // config.json and its siblings
inline constexpr std::int64_t kMaxConfigLayers = 16384;    // for lists with one item a layer
inline constexpr std::size_t kMaxEndTokens = 1024;
inline constexpr std::size_t kMaxChatTemplates = 64;

}  // namespace wick
