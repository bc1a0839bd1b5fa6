// Which device computes what of a model: the embedding, the mixer and the feed-forward of each
// block, and the head. Where two that follow each other differ, the hidden state goes over whole,
// so that no placement changes a bit of the results. Plain data; any thread.
//
//   WICK_TRY(OpenDevices open, process_devices().open_all("cuda,cpu"));
//   WICK_TRY(const Placement placement, place(file, *arch, open.devices, cache));
//   WICK_TRY(Decoder decoder, Decoder::load(file, *arch, placement, {.context = 4096}));
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/device.h"
#include "base/result.h"

namespace wick {

struct Arch;
struct DeviceShare;
struct MemoryOptions;

struct Placement {
  std::vector<Device*> devices = {};  // those in use, each once
  // An index into `devices` for each part in the order of a pass: the embedding, mixer and
  // feed-forward of each block, the head. Empty: all on the first device.
  std::vector<int> parts = {};

  Placement() = default;

  Placement(Device& device) : devices{&device} {}  // implicit

  int embedding() const noexcept { return on(0); }

  int mixer(int layer) const noexcept { return on(1 + 2 * static_cast<std::size_t>(layer)); }

  int ffn(int layer) const noexcept { return on(2 + 2 * static_cast<std::size_t>(layer)); }

  int head() const noexcept { return parts.empty() ? 0 : parts.back(); }

 private:
  int on(std::size_t part) const noexcept { return parts.empty() ? 0 : parts[part]; }
};

// Part after part to the devices in their order: by their shares of the blocks, as which the head
// counts, too; else each takes what its free memory holds of weights and of the cache, and the last
// one the rest. What was placed is taken off their free bytes.
Result<Placement> place(const ModelFile& file, const Arch& arch, std::span<DeviceShare> devices,
                        const MemoryOptions& cache);

}  // namespace wick
