// Placement: the device of each part of a model (embedding, mixer and feed-forward of each layer,
// LM head). Between parts on different devices the whole hidden state is copied, so placement
// changes no bit. Plain data; any thread.
//
//   WICK_TRY(OpenDevices open, process_devices().open_all("cuda,cpu"));
//   WICK_TRY(const Placement placement, place(file, *arch, open.devices, cache));
//   WICK_TRY(Decoder decoder, Decoder::load(file, *arch, placement, {.context = 4096}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/device.h"
#include "base/result.h"

namespace wick {

class Adapter;
struct Arch;
struct DecoderSpec;
struct DeviceShare;
struct MemoryOptions;

struct Placement {
  std::vector<Device*> devices = {};  // the devices in use, each once
  // An index into `devices` for each part in the order of the pass: embedding, mixer and
  // feed-forward of each layer, LM head. Empty: all on the first device.
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

struct PartBytes {  // of a model's weights
  std::uint64_t embedding = 0, mixers = 0, feed_forwards = 0;
  std::uint64_t head = 0;  // with the last norm; a tied one counts in `embedding`
};

// Moves the mixer of each layer that reads another layer's keys and values to that layer's device.
void join_shared_caches(Placement& placement, const DecoderSpec& spec);

// Binds a file's tensors without a device; so it fails where a load would.
Result<PartBytes> part_bytes(const ModelFile& file, const Arch& arch);

// Assigns parts to the devices in order: by `share` (ratio of layers, the LM head counts as one),
// else as many as fit a device's free memory with their KV cache; the last device gets the rest.
// Subtracts the placed bytes from their free_bytes.
Result<Placement> place(const ModelFile& file, const Arch& arch, std::span<DeviceShare> devices,
                        const MemoryOptions& cache, std::span<const Adapter> adapters = {});

}  // namespace wick
