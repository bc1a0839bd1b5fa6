// [remote], [fallback] and [performance]: short forms of one [[provider]], one [[route]], [budget]
// and [response_cache].
//
//   [remote]
//   provider = "huggingface"     # name and kind of the [[provider]]
//   [fallback]
//   strategy = "local_first"     # to = ["local", "huggingface"]
//   monthly_budget = 5.0         # [budget] monthly = "5 USD"
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "config/toml_file.h"

namespace wick {

// The tables with the long forms added, behind those that are there; their places are those of the
// presets. kInvalid, ids "unknown_setting" and "bad_setting".
Result<TomlTables> expand_presets(const TomlTables& tables);

// Keys of [local] and the settings that they mean.
inline constexpr std::pair<std::string_view, std::string_view> kPresetKeys[] = {
    {"local.gpu_memory_limit", "local.memory_limit"},
    {"local.max_concurrent_requests", "server.parallel"}};
inline constexpr std::string_view kPresetDevice = "local.gpu_enabled";

// The same for keys of [local]: gpu_enabled = false is device = "cpu", gpu_memory_limit is
// memory_limit, max_concurrent_requests is server.parallel. False: the entry says nothing.
bool expand_preset(TomlEntry& entry);

}  // namespace wick
