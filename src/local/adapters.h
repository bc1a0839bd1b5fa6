// The LoRA adapters of a local model by name, with the scales of requests that choose none. Any
// thread.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "model/adapter.h"
#include "provider/adapter_info.h"

namespace wick {

struct AdapterOption {
  std::string name = {};
  std::filesystem::path path = {};
  float scale = 1;
};

// "[NAME=]FILE[:SCALE]"; the name is the file's, or its folder's, without its extension.
Result<AdapterOption> parse_adapter(std::string_view text);

// All that are loaded with a model; two of one name are refused.
Result<std::vector<AdapterOption>> parse_adapters(std::span<const std::string> texts);

class Adapters {
 public:
  static Result<std::unique_ptr<Adapters>> open(std::span<const AdapterOption> options);

  std::span<const Adapter> all() const noexcept { return all_; }

  std::vector<AdapterInfo> list() const;
  // Those that a request uses: "NAME[:SCALE]", or its number for the name; {"none"} = none, nothing
  // = all of them at their current scales. kInvalid, id "bad_adapter".
  Result<std::vector<AdapterUse>> uses(std::span<const std::string> wanted) const;
  // Changes the current scales: those of `wanted`, 0 for others.
  Result<void> set(std::span<const std::string> wanted);

 private:
  Result<std::vector<float>> scales_of(std::span<const std::string> wanted) const;

  std::vector<Adapter> all_ = {};
  std::vector<std::string> names_ = {};
  mutable std::mutex mutex_;
  std::vector<float> scales_ = {};
};

}  // namespace wick
