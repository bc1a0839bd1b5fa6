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

#include "base/result.h"
#include "chat/json_value.h"
#include "config/toml_file.h"

namespace wick {

// The tables with the long forms added, behind those that are there. kInvalid, ids
// "unknown_setting" and "bad_setting".
Result<Object> expand_presets(const Object& tables);

// The same for keys of [local]: gpu_enabled = false is device = "cpu", gpu_memory_limit is
// memory_limit, max_concurrent_requests is server.parallel. False: the entry says nothing.
bool expand_preset(TomlEntry& entry);

}  // namespace wick
