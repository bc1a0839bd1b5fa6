// Progress of opening a model. Plain data.
//
//   wick::Model::open("smollm2-135m", {.may_download = true, .progress = [](const auto& p) {
//     std::cerr << wick::name(p.phase) << " " << p.done << " of " << p.total << "\r";
//     return true;
//   }});
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "wick/result.h"

namespace wick {

enum class OpenPhase : std::uint8_t {
  kDownload,
  kCheck,  // hashing downloaded data, including a partial download from before
  kLoad,   // loading weights to their devices; reported again for the draft model
};

// "download", "check", "load".
WICK_API std::string_view name(OpenPhase phase) noexcept;

struct OpenProgress {
  OpenPhase phase = OpenPhase::kLoad;
  std::string_view what = {};         // the file or its source; valid during the call
  std::uint64_t done = 0, total = 0;  // bytes; total 0 = not yet known
};

// Called on the thread that opens the model, in order, at most a few times per second. Return false
// to cancel (kCancelled). An exception ends the opening with an error (id "callback_failed").
using ProgressSink = std::function<bool(const OpenProgress& progress)>;

}  // namespace wick
