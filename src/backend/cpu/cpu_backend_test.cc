// What the backend says of its memory.
#include "backend/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include "support/address_space.h"

namespace wick {
namespace {

// Limits under which each buffer is larger than all that is rounded and left out of the sum: pages,
// and the blocks of the heap.
TEST(CpuBackend, ScratchBytesAreTheAddressSpaceThatCreationTakes) {
  constexpr std::int64_t kSlack = 1 << 20;
  MemoryAccount account;
  const TeamShare team(*SharedTeam::create(4), 4);
  const RopeParams rope{.dim = 128};
  const std::int64_t before = test::address_space_bytes();
  const auto backend = CpuBackend::create(Isa::kScalar, team, account,
                                          {.max_batch_tokens = 64,
                                           .max_cols = 1 << 18,
                                           .max_heads = 64,
                                           .max_head_dim = 128,
                                           .max_context = 1 << 16},
                                          std::span(&rope, 1));
  ASSERT_TRUE(backend);
  const std::int64_t taken = test::address_space_bytes() - before;
  EXPECT_NEAR(static_cast<double>((*backend)->scratch_bytes()), static_cast<double>(taken), kSlack);
  EXPECT_EQ(account.bytes(), (*backend)->scratch_bytes());
}

}  // namespace
}  // namespace wick
