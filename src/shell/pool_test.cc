#include "shell/pool.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "shell/limits.h"
#include "shell/parse.h"
#include "support/instrumented.h"

namespace wick::shell {
namespace {

TEST(ShellPool, AFreedBlockIsTakenAgainForItsSize) {
  void* const block = take_block(100);
  give_block(block, 100);
  void* const again = take_block(112);
  EXPECT_TRUE(again == block || test::kIsInstrumented) << "the same multiple of 16";
  void* const other = take_block(112);
  EXPECT_NE(other, again);
  give_block(other, 112);
  give_block(again, 112);
}

TEST(ShellPool, BlocksBeyondTheLimitsGoToTheHeap) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kMaxPooledBlocks + 10; ++i)
    blocks.push_back(take_block(64));
  for (void* const block : blocks)
    give_block(block, 64);
  give_block(take_block(kMaxPooled + 1), kMaxPooled + 1);
}

TEST(ShellPool, ATreeMayBeFreedOnAnotherThreadAndWhileAThreadEnds) {
  const auto tree = [] { return parse("a=(1 2); f() { ls \"$a\" | wc; }", Dialect::kBash, {}); };
  Parsed made = tree();
  std::thread([&made, &tree] {
    made = tree();
    thread_local Parsed last;
    last = tree();  // freed behind the pool's blocks, or before
  }).join();
  EXPECT_TRUE(std::holds_alternative<Script>(made));
}

}  // namespace
}  // namespace wick::shell
