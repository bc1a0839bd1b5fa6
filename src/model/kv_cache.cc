// The cache is one slab for each layer (its keys, then its values), cut into blocks of 16
// positions, and one PagedGroup that says which block belongs to whom. Layers of the same kind form
// a group and share its tables; today every layer keeps all its positions, so there is one.
#include "model/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "model/limits.h"
#include "model/paged_group.h"

namespace wick {

namespace {

struct KvDims {  // of one layer
  int n_heads = 0, k_dim = 0, v_dim = 0;
};

KvDims dims_of(const BlockSpec& block) noexcept {
  return std::visit(
      [](const GqaSpec& gqa) {
        return KvDims{gqa.n_kv_heads, gqa.head_dim, gqa.v_dim > 0 ? gqa.v_dim : gqa.head_dim};
      },
      block.mixer);
}

struct Slab {
  std::unique_ptr<Buffer> memory;
  KvView view = {};
  std::size_t k_block_bytes = 0, v_block_bytes = 0;  // of all heads
};

struct Sizes {
  int n_blocks = 0, stride = 0;
};

Error too_large(std::string_view what, std::int64_t seen, std::int64_t limit) {
  return Error{ErrorCode::kInvalid, "cache_too_large",
               cat("the cache was asked for ", seen, " ", what, ", possible are 1 to ", limit),
               "ask for a shorter context (--ctx) or fewer sequences"};
}

Result<Sizes> plan(const KvOptions& options) {
  if (options.context < 1 || options.context > kMaxContext) {
    return too_large("positions in a sequence", options.context, kMaxContext);
  }
  if (options.max_seqs < 1 || options.max_seqs > kMaxSeqs) {
    return too_large("sequences", options.max_seqs, kMaxSeqs);
  }
  const int stride = (options.context + kBlockTokens - 1) / kBlockTokens;
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
  return Sizes{static_cast<int>((positions + kBlockTokens - 1) / kBlockTokens), stride};
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

Result<Slab> make_slab(Backend& backend, const KvDims& dims, const KvOptions& options,
                       int n_blocks) {
  WICK_DO(check_granule(options.k_type, dims.k_dim, "keys"));
  WICK_DO(check_granule(options.v_type, dims.v_dim, "values"));
  Slab slab;
  const auto heads = static_cast<std::size_t>(dims.n_heads);
  slab.k_block_bytes = heads * kv_head_block_bytes(options.k_type, dims.k_dim);
  slab.v_block_bytes = heads * kv_head_block_bytes(options.v_type, dims.v_dim);
  const auto blocks = static_cast<std::size_t>(n_blocks);
  const std::size_t k_bytes = (blocks * slab.k_block_bytes + 63) / 64 * 64;
  WICK_TRY(slab.memory, backend.allocate(k_bytes + blocks * slab.v_block_bytes));
  slab.view = {.k = slab.memory->data(),
               .v = slab.memory->data() + k_bytes,
               .k_type = options.k_type,
               .v_type = options.v_type,
               .n_kv_heads = dims.n_heads,
               .k_dim = dims.k_dim,
               .v_dim = dims.v_dim};
  return slab;
}

void copy_block(const Slab& slab, const PagedGroup::Copy& copy) noexcept {
  const auto from = static_cast<std::size_t>(copy.from);
  const auto to = static_cast<std::size_t>(copy.to);
  const KvView& view = slab.view;
  std::memcpy(view.k + to * slab.k_block_bytes, view.k + from * slab.k_block_bytes,
              slab.k_block_bytes);
  std::memcpy(view.v + to * slab.v_block_bytes, view.v + from * slab.v_block_bytes,
              slab.v_block_bytes);
}

void zero_block(const Slab& slab, std::int32_t block) noexcept {
  const auto at = static_cast<std::size_t>(block);
  std::memset(slab.view.k + at * slab.k_block_bytes, 0, slab.k_block_bytes);
  std::memset(slab.view.v + at * slab.v_block_bytes, 0, slab.v_block_bytes);
}

}  // namespace

std::size_t kv_bytes_per_position(const DecoderSpec& spec, KvType k_type, KvType v_type) noexcept {
  std::size_t bytes = 0;  // of one block of every layer
  for (const BlockSpec& block : spec.blocks) {
    const KvDims dims = dims_of(block);
    bytes += static_cast<std::size_t>(dims.n_heads) *
             (kv_head_block_bytes(k_type, dims.k_dim) + kv_head_block_bytes(v_type, dims.v_dim));
  }
  return bytes / kBlockTokens;
}

struct KvCache::State {
  KvOptions options;
  std::unique_ptr<Buffer> tables;
  PagedGroup pages;
  std::vector<Slab> slabs;  // by layer
};

Result<KvCache> KvCache::create(Backend& backend, const DecoderSpec& spec,
                                const KvOptions& options) {
  WICK_TRY(const Sizes sizes, plan(options));
  const auto entries =
      static_cast<std::size_t>(sizes.stride) * static_cast<std::size_t>(options.max_seqs);
  WICK_TRY(std::unique_ptr<Buffer> tables, backend.allocate(entries * sizeof(std::int32_t)));
  const std::span<std::int32_t> ids(reinterpret_cast<std::int32_t*>(tables->data()), entries);
  auto state = std::make_unique<State>(State{.options = options,
                                             .tables = std::move(tables),
                                             .pages = {sizes.n_blocks, options.max_seqs, ids},
                                             .slabs = {}});
  state->slabs.reserve(spec.blocks.size());
  for (const BlockSpec& block : spec.blocks) {
    WICK_TRY(Slab slab, make_slab(backend, dims_of(block), options, sizes.n_blocks));
    slab.view.tables = state->pages.tables();
    slab.view.table_stride = state->pages.stride();
    state->slabs.push_back(std::move(slab));
  }
  return KvCache(std::move(state));
}

KvCache::KvCache(std::unique_ptr<State> state) : state_(std::move(state)) {}

KvCache::KvCache(KvCache&&) noexcept = default;
KvCache& KvCache::operator=(KvCache&&) noexcept = default;
KvCache::~KvCache() = default;

int KvCache::context() const noexcept {
  return state_->options.context;
}

int KvCache::max_seqs() const noexcept {
  return state_->options.max_seqs;
}

bool KvCache::reserve(SeqId seq, int n_tokens) noexcept {
  PagedGroup& pages = state_->pages;
  if (n_tokens > context() || pages.blocks_needed(seq, n_tokens) > pages.pool().free()) {
    return false;
  }
  const std::int32_t fresh = pages.pool().first_fresh();
  const std::size_t n_before = pages.blocks(seq).size();
  const PagedGroup::Copy copy = pages.reserve(seq, n_tokens);
  const auto added = pages.blocks(seq).subspan(n_before);
  for (const Slab& slab : state_->slabs) {
    if (copy.from >= 0) copy_block(slab, copy);
    for (const std::int32_t block : added) {
      if (block < fresh) zero_block(slab, block);
    }
  }
  return true;
}

void KvCache::truncate(SeqId seq, Pos end) noexcept {
  state_->pages.truncate(seq, std::max(end, 0));
}

void KvCache::release(SeqId seq) noexcept {
  truncate(seq, 0);
}

int KvCache::free_blocks() const noexcept {
  return state_->pages.pool().free();
}

int KvCache::total_blocks() const noexcept {
  return state_->pages.pool().total();
}

int KvCache::blocks_needed(SeqId seq, int n_tokens) const noexcept {
  return state_->pages.blocks_needed(seq, n_tokens);
}

std::span<const std::int32_t> KvCache::blocks(SeqId seq) const noexcept {
  return state_->pages.blocks(seq);
}

void KvCache::borrow(SeqId seq, std::int32_t block, int n) noexcept {
  state_->pages.borrow(seq, block, n);
}

void KvCache::replace(SeqId seq, int index, std::int32_t block) noexcept {
  state_->pages.replace(seq, index, block);
}

void KvCache::keep(std::int32_t block) noexcept {
  state_->pages.pool().keep(block);
}

void KvCache::unkeep(std::int32_t block) noexcept {
  state_->pages.pool().unkeep(block);
}

bool KvCache::is_idle(std::int32_t block) const noexcept {
  const BlockPool& pool = state_->pages.pool();
  return pool.is_kept(block) && pool.references(block) == 1;
}

int KvCache::idle_blocks() const noexcept {
  return state_->pages.pool().idle();
}

KvView KvCache::view(int layer) const noexcept {
  return state_->slabs[static_cast<std::size_t>(layer)].view;
}

void KvCache::wipe_free() noexcept {
  const BlockPool& pool = state_->pages.pool();
  for (std::int32_t block = 0; block < pool.first_fresh(); ++block) {
    if (pool.references(block) > 0) continue;
    for (const Slab& slab : state_->slabs)
      zero_block(slab, block);
  }
}

std::size_t KvCache::bytes() const noexcept {
  std::size_t bytes = state_->tables->bytes();
  for (const Slab& slab : state_->slabs)
    bytes += slab.memory->bytes();
  return bytes;
}

std::size_t KvCache::block_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Slab& slab : state_->slabs)
    bytes += slab.k_block_bytes + slab.v_block_bytes;
  return bytes;
}

void KvCache::read_block(std::int32_t block, std::span<std::byte> out) const noexcept {
  WICK_CHECK(out.size() == block_bytes(), "room for one block");
  std::byte* to = out.data();
  for (const Slab& slab : state_->slabs) {
    const auto at = static_cast<std::size_t>(block);
    std::memcpy(to, slab.view.k + at * slab.k_block_bytes, slab.k_block_bytes);
    std::memcpy(to + slab.k_block_bytes, slab.view.v + at * slab.v_block_bytes, slab.v_block_bytes);
    to += slab.k_block_bytes + slab.v_block_bytes;
  }
}

void KvCache::write_block(std::int32_t block, std::span<const std::byte> bytes) noexcept {
  WICK_CHECK(bytes.size() == block_bytes(), "the content of one block");
  const std::byte* from = bytes.data();
  for (const Slab& slab : state_->slabs) {
    const auto at = static_cast<std::size_t>(block);
    std::memcpy(slab.view.k + at * slab.k_block_bytes, from, slab.k_block_bytes);
    std::memcpy(slab.view.v + at * slab.v_block_bytes, from + slab.k_block_bytes,
                slab.v_block_bytes);
    from += slab.k_block_bytes + slab.v_block_bytes;
  }
}

}  // namespace wick
