#include "model/placement.h"

#include <algorithm>
#include <numeric>

#include "backend/device_registry.h"
#include "model/decoder_state.h"
#include "model/memory_shape.h"

namespace wick {

namespace {

// Fraction of free memory left for activations and scratch, whose size is not known yet.
constexpr std::uint64_t kSpareShare = 10;

// Weights of each part, in their order.
Result<std::vector<std::uint64_t>> weights_of_parts(const ModelFile& file, const Arch& arch,
                                                    const DecoderSpec& spec,
                                                    std::span<const Adapter> adapters = {}) {
  Decoder::State model;
  model.spec = spec;
  model.placement.parts.resize(2 * spec.blocks.size() + 2);  // each on its own device
  std::iota(model.placement.parts.begin(), model.placement.parts.end(), 0);
  model.placement.devices.resize(model.placement.parts.size());
  WICK_DO(model.bind(file, arch, {.adapters = adapters}));
  return std::vector<std::uint64_t>(model.weights.bytes_on.begin(), model.weights.bytes_on.end());
}

// With their cache.
Result<std::vector<std::uint64_t>> bytes_of_parts(const ModelFile& file, const Arch& arch,
                                                  const DecoderSpec& spec,
                                                  const MemoryOptions& cache,
                                                  std::span<const Adapter> adapters) {
  WICK_TRY(std::vector<std::uint64_t> bytes, weights_of_parts(file, arch, spec, adapters));
  const std::int64_t all = std::int64_t{cache.max_seqs} * cache.context;
  const auto positions = static_cast<std::uint64_t>(cache.positions > 0 ? cache.positions : all);
  for (std::size_t layer = 0; layer < spec.blocks.size(); ++layer) {
    const MemoryCost cost = memory_cost(spec.blocks[layer], cache);
    bytes[1 + 2 * layer] += cost.fixed + cost.per_position * positions;
  }
  return bytes;
}

// Whether layer `block` of n is beyond the shares of devices [0, at].
bool is_behind(std::span<const DeviceShare> devices, std::size_t at, std::size_t block,
               std::size_t n) {
  const auto sum = [](std::span<const DeviceShare> some) {
    const auto add = [](double so_far, const DeviceShare& one) { return so_far + one.share; };
    return std::accumulate(some.begin(), some.end(), 0., add);
  };
  return sum(devices) * static_cast<double>(block) >=
         sum(devices.first(at + 1)) * static_cast<double>(n);
}

}  // namespace

void join_shared_caches(Placement& placement, const DecoderSpec& spec) {
  if (placement.parts.empty()) return;
  for (std::size_t layer = 0; layer < spec.blocks.size(); ++layer) {
    const int owner = std::visit([](const auto& shape) noexcept { return from_layer(shape); },
                                 memory_shape(spec.blocks[layer]));
    if (owner >= 0) placement.parts[1 + 2 * layer] = placement.mixer(owner);
  }
}

Result<PartBytes> part_bytes(const ModelFile& file, const Arch& arch) {
  WICK_TRY(const DecoderSpec spec, arch.spec(file));
  WICK_TRY(const auto bytes, weights_of_parts(file, arch, spec));
  PartBytes sums{.embedding = bytes.front(), .head = bytes.back()};
  // Each part has a device of its own here, so a tied head has a copy of the table.
  if (spec.is_tied && !spec.encoder) sums.head -= std::min(sums.head, sums.embedding);
  for (std::size_t part = 1; part + 1 < bytes.size(); ++part)
    (part % 2 == 1 ? sums.mixers : sums.feed_forwards) += bytes[part];
  return sums;
}

Result<Placement> place(const ModelFile& file, const Arch& arch, std::span<DeviceShare> devices,
                        const MemoryOptions& cache, std::span<const Adapter> adapters) {
  if (devices.size() == 1) return Placement(*devices[0].device);
  WICK_TRY(const DecoderSpec spec, arch.spec(file));
  WICK_TRY(const auto bytes, bytes_of_parts(file, arch, spec, cache, adapters));
  for (DeviceShare& one : devices)
    one.free_bytes -= one.free_bytes / kSpareShare;
  const bool has_shares = std::any_of(devices.begin(), devices.end(),
                                      [](const DeviceShare& one) { return one.share > 0; });
  Placement placement;
  std::size_t at = 0;
  for (std::size_t part = 0; part < bytes.size(); ++part) {
    const std::size_t block = part == 0 ? 0 : (part - 1) / 2;
    const auto needed = [&] {
      const bool has_table =
          part + 1 == bytes.size() && spec.is_tied && devices[at].device == placement.devices[0];
      return bytes[part] - (has_table ? bytes[0] : 0);
    };
    const auto is_full = [&] {
      return has_shares ? is_behind(devices, at, block, spec.blocks.size() + 1)
                        : needed() > devices[at].free_bytes;
    };
    const std::size_t before = at;
    while (at + 1 < devices.size() && is_full())
      ++at;
    if (part == 0 || at != before) placement.devices.push_back(devices[at].device);
    placement.parts.push_back(static_cast<int>(placement.devices.size()) - 1);
    devices[at].free_bytes -= std::min(devices[at].free_bytes, needed());
  }
  join_shared_caches(placement, spec);
  return placement;
}

}  // namespace wick
