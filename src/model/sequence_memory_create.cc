// Sizes and memory of a SequenceMemory: checked before anything is allocated.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "model/limits.h"
#include "model/sequence_memory_state.h"

namespace wick {

namespace {

struct Sizes {
  int n_blocks = 0, stride = 0;
};

Error too_large(std::string_view what, std::int64_t seen, std::int64_t limit) {
  return Error{ErrorCode::kInvalid, "cache_too_large",
               cat("the cache was asked for ", seen, " ", what, ", possible are 1 to ", limit),
               "ask for a shorter context (-c) or fewer sequences"};
}

Result<Sizes> sizes_of(const MemoryOptions& options) {
  if (options.context < 1 || options.context > kMaxContext) {
    return too_large("positions in a sequence", options.context, kMaxContext);
  }
  if (options.max_seqs < 1 || options.max_seqs > kMaxModelSeqs) {
    return too_large("sequences", options.max_seqs, kMaxModelSeqs);
  }
  const int stride = blocks_for(options.context);
  const std::int64_t entries = std::int64_t{stride} * options.max_seqs;
  if (entries > kMaxTableEntries) {
    return too_large("positions in all sequences together", entries * kBlockTokens,
                     kMaxTableEntries * kBlockTokens);
  }
  const std::int64_t positions =
      options.positions == 0 ? entries * kBlockTokens : options.positions;
  const std::int64_t max_positions = std::int64_t{kMaxCacheBlocks} * kBlockTokens;
  if (positions < 1 || positions > max_positions) {
    return too_large("positions in all sequences together", positions, max_positions);
  }
  return Sizes{static_cast<int>(blocks_for(positions)), stride};
}

// Earlier prompts that can be resumed although their windows and states need room of their own.
constexpr int kSparePrefixes = 8;

// Each sequence may hold a window and the block it writes, one of them a whole batch more; a block
// begun at both ends of the window, and one to copy into.
std::int64_t window_slots(int window, const MemoryOptions& options) noexcept {
  const std::int64_t each = window / kBlockTokens + 3;
  return each * (options.max_seqs + kSparePrefixes) + options.max_batch_tokens / kBlockTokens + 1;
}

int snapshot_slots(const MemoryOptions& options) noexcept {
  return 2 * options.max_seqs + kSparePrefixes;
}

int n_states(const MemoryOptions& options) noexcept {
  return 2 * options.max_seqs + snapshot_slots(options);
}

std::size_t key_bytes(const KvShape& shape, const MemoryOptions& options) noexcept {
  return static_cast<std::size_t>(shape.n_heads) * kv_head_block_bytes(options.k_type, shape.k_dim);
}

std::size_t value_bytes(const KvShape& shape, const MemoryOptions& options) noexcept {
  if (shape.is_latent) return 0;
  return static_cast<std::size_t>(shape.n_heads) * kv_head_block_bytes(options.v_type, shape.v_dim);
}

std::size_t block_bytes(const KvShape& shape, const MemoryOptions& options) noexcept {
  return key_bytes(shape, options) + value_bytes(shape, options);
}

bool gives_back(const KvShape& shape, const MemoryOptions& options) noexcept {
  return shape.window > 0 && shape.window < options.context;
}

Result<void> check_granule(KvType type, int dim, std::string_view what) {
  if (dim % kv_granule(type) == 0) return {};
  return Error{
      .code = ErrorCode::kInvalid,
      .id = "kv_type_does_not_fit",
      .message = cat("a cache of type ", name(type), " wants heads of a multiple of ",
                     kv_granule(type), " features; the ", what, " of this model have ", dim),
      .hint = "take --kv-type bf16"};
}

Result<std::unique_ptr<Buffer>> allocate(SequenceMemory::State& state, int device,
                                         std::size_t bytes) {
  const auto at = static_cast<std::size_t>(device);
  WICK_TRY(auto buffer, state.placement.devices[at]->allocate(bytes));
  state.bytes_on[at] += buffer->bytes();
  return buffer;
}

Result<DeviceTable> make_table(SequenceMemory::State& state, int stride) {
  const auto entries =
      static_cast<std::size_t>(stride) * static_cast<std::size_t>(state.options.max_seqs);
  DeviceTable table{.stride = stride};
  for (std::size_t device = 0; device < state.placement.devices.size(); ++device) {
    WICK_TRY(table.on.emplace_back(),
             allocate(state, static_cast<int>(device), entries * sizeof(std::int32_t)));
  }
  return table;
}

// Binds a layer to memory of its own and to the tables of its group.
class LayerMaker {
 public:
  LayerMaker(SequenceMemory::State& state, int n_blocks)
      : options_(state.options), state_(state), n_blocks_(n_blocks) {}

  Result<LayerMemory> operator()(const KvShape& shape) const {
    if (shape.from_layer >= 0) return state_.layers[static_cast<std::size_t>(shape.from_layer)];
    WICK_DO(check_granule(options_.k_type, shape.k_dim, "keys"));
    const KvType v_type = shape.is_latent ? options_.k_type : options_.v_type;
    WICK_DO(check_granule(v_type, shape.v_dim, "values"));
    if (!gives_back(shape, options_)) {
      return add(shape, state_.slabs, state_.table, n_blocks_);
    }
    const auto is_its = [&](const WindowGroup& group) { return group.window == shape.window; };
    WindowGroup& group = *std::find_if(state_.windows.begin(), state_.windows.end(), is_its);
    return add(shape, group.slabs, group.table, group.slots.total());
  }

  Result<LayerMemory> operator()(const StateShape& shape) const {
    StateSlab slab{.memory = nullptr, .bytes = shape.floats * sizeof(float)};
    const auto n = static_cast<std::size_t>(n_states(options_));
    WICK_TRY(slab.memory, allocate(state_, device(), n * slab.bytes));
    LayerMemory layer;
    layer.state = {.state = reinterpret_cast<float*>(slab.memory->data()), .stride = shape.floats};
    state_.states->slabs.push_back(std::move(slab));
    return layer;
  }

 private:
  int next() const noexcept { return static_cast<int>(state_.layers.size()); }  // layer

  int device() const noexcept { return state_.placement.mixer(next()); }

  Result<LayerMemory> add(const KvShape& shape, std::vector<KvSlab>& slabs,
                          const DeviceTable& table, int n_slots) const {
    KvSlab slab{.layer = next()};
    const auto n = static_cast<std::size_t>(n_slots);
    slab.k_bytes = key_bytes(shape, options_);
    slab.v_bytes = value_bytes(shape, options_);
    slab.values_at = (n * slab.k_bytes + 63) / 64 * 64;
    WICK_TRY(slab.memory, allocate(state_, device(), slab.values_at + n * slab.v_bytes));
    std::byte* const ids = table.on[static_cast<std::size_t>(device())]->data();
    LayerMemory layer;
    layer.kv = {.k = slab.memory->data(),
                .v = shape.is_latent ? nullptr : slab.memory->data() + slab.values_at,
                .k_type = options_.k_type,
                .v_type = shape.is_latent ? options_.k_type : options_.v_type,
                .n_kv_heads = shape.n_heads,
                .k_dim = shape.k_dim,
                .v_dim = shape.v_dim,
                .tables = reinterpret_cast<const std::int32_t*>(ids),
                .table_stride = table.stride};
    slabs.push_back(std::move(slab));
    return layer;
  }

  const MemoryOptions& options_;
  SequenceMemory::State& state_;
  int n_blocks_;
};

bool has_state(const DecoderSpec& spec) noexcept {
  return std::any_of(spec.blocks.begin(), spec.blocks.end(), [](const BlockSpec& block) {
    return std::visit([](const auto& shape) { return is_state(shape); }, memory_shape(block));
  });
}

}  // namespace

Result<SequenceMemory> SequenceMemory::create(const Placement& placement, const DecoderSpec& spec,
                                              const MemoryOptions& options) {
  WICK_TRY(const Sizes sizes, sizes_of(options));
  const std::vector<int> windows = windows_of(spec, options.context);
  if (windows.size() > kMaxWindows) {
    return Error{ErrorCode::kUnsupported, "too_many_windows",
                 cat("the model's layers have ", windows.size(),
                     " different attention windows, wick takes up to ", kMaxWindows)};
  }
  auto state = std::make_unique<State>(
      State{.placement = placement,
            .options = options,
            .pages = PagedGroup(sizes.n_blocks, options.max_seqs, sizes.stride),
            .bytes_on = std::vector<std::size_t>(placement.devices.size())});
  WICK_TRY(state->table, make_table(*state, sizes.stride));
  const auto n_seqs = static_cast<std::size_t>(options.max_seqs);
  for (const int window : windows) {
    const auto slots = std::min<std::int64_t>(window_slots(window, options), sizes.n_blocks);
    WICK_TRY(DeviceTable of_window, make_table(*state, sizes.stride));
    state->windows.push_back({.window = window,
                              .slots = SlotMap(static_cast<int>(slots), sizes.n_blocks),
                              .table = std::move(of_window),
                              .slabs = {},
                              .first = std::vector<int>(n_seqs),
                              .end = std::vector<int>(n_seqs)});
  }
  if (has_state(spec)) {
    state->states = StateGroup{.snapshots = SlotMap(snapshot_slots(options), sizes.n_blocks),
                               .slabs = {},
                               .max_seqs = options.max_seqs,
                               .at = std::vector<Pos>(n_seqs),
                               .marked = std::vector<Pos>(n_seqs, -1),
                               .last_passing = std::vector<int>(n_seqs, -1)};
  }
  const LayerMaker make(*state, sizes.n_blocks);
  for (const BlockSpec& block : spec.blocks) {
    WICK_TRY(LayerMemory layer, std::visit(make, memory_shape(block)));
    state->layers.push_back(layer);
  }
  return SequenceMemory(std::move(state));
}

namespace {

struct CostOf {
  const MemoryOptions& options;

  MemoryCost operator()(const KvShape& shape) const noexcept {
    if (shape.from_layer >= 0) return {};
    const std::size_t bytes = block_bytes(shape, options);
    if (!gives_back(shape, options)) return {.per_position = bytes / kBlockTokens};
    const std::int64_t all = std::int64_t{blocks_for(options.context)} * options.max_seqs;
    const std::int64_t n_blocks = options.positions > 0 ? blocks_for(options.positions) : all;
    const std::int64_t slots = std::min(window_slots(shape.window, options), n_blocks);
    return {.fixed = static_cast<std::size_t>(slots) * bytes};
  }

  MemoryCost operator()(const StateShape& shape) const noexcept {
    return {.fixed = static_cast<std::size_t>(n_states(options)) * shape.floats * sizeof(float)};
  }
};

}  // namespace

std::size_t kv_bytes_per_position(const DecoderSpec& spec, KvType k_type, KvType v_type) noexcept {
  // A context of one position: no window is shorter, so every layer is paged.
  return memory_cost(spec, {.k_type = k_type, .v_type = v_type, .context = 1}).per_position;
}

MemoryCost memory_cost(const BlockSpec& block, const MemoryOptions& options) noexcept {
  return std::visit(CostOf{options}, memory_shape(block));
}

MemoryCost memory_cost(const DecoderSpec& spec, const MemoryOptions& options) noexcept {
  MemoryCost all;
  for (const BlockSpec& block : spec.blocks) {
    const MemoryCost cost = memory_cost(block, options);
    all.per_position += cost.per_position;
    all.fixed += cost.fixed;
  }
  return all;
}

}  // namespace wick
