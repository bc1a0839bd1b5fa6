// How far the opening of a model has come. Plain data.
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
  kCheck,  // the hash of what was fetched, and of what an earlier download left
  kLoad,   // weights find their place on the device; twice with a draft model
};

// "download", "check", "load".
WICK_API std::string_view name(OpenPhase phase) noexcept;

struct OpenProgress {
  OpenPhase phase = OpenPhase::kLoad;
  std::string_view what = {};         // the file, or where it comes from; valid during the call
  std::uint64_t done = 0, total = 0;  // bytes; total 0 = not known yet
};

// Called on the thread that opens, in order, several times a second at most while a download runs.
// False, or a throw, ends the opening: with kCancelled, or an error of id "callback_failed".
using ProgressSink = std::function<bool(const OpenProgress& progress)>;

}  // namespace wick
