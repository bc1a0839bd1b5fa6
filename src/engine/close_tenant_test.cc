// A tenant that is closed: its requests end, its texts are forgotten, its bytes are gone.
#include <gtest/gtest.h>

#include "engine/engine_fixture_test.h"

namespace wick {
namespace {

constexpr std::uint64_t kAnn = 11, kBob = 12;

GenerateRequest of(std::uint64_t tenant, int n_prompt, int seed, int max_tokens) {
  GenerateRequest r = request(n_prompt, seed, max_tokens);
  r.tenant = tenant;
  return r;
}

int close(Fixture& f, std::uint64_t tenant, bool wipe) {
  return f.beside_steps([&] { return f.engine->close_tenant(tenant, wipe); });
}

// Bytes of keys and values, of all layers, that are not zero.
std::ptrdiff_t bytes_in_cache(const Fixture& f) {
  std::ptrdiff_t n = 0;
  for (Buffer* buffer : f.device->buffers) {
    const bool is_cache =
        std::any_of(f.device->caches.begin(), f.device->caches.end(), [&](const std::byte* keys) {
          return keys >= buffer->data() && keys < buffer->data() + buffer->bytes();
        });
    if (!is_cache) continue;
    std::vector<std::byte> bytes(buffer->bytes());
    buffer->read(0, bytes);
    n += std::count_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{}; });
  }
  return n;
}

TEST(CloseTenant, NoByteOfItsTextsStaysInTheCache) {
  Fixture f({.max_seqs = 2}, 1, 512, {.context = 512});
  f.alone(of(kAnn, 200, 1, 20));
  f.alone(of(kAnn, 77, 2, 5));
  EXPECT_GT(bytes_in_cache(f), 10'000);
  // 219 and 81 positions were computed: the last token of an answer never is.
  EXPECT_EQ(close(f, kAnn, true), 14 + 6);
  EXPECT_EQ(f.device->caches.size(), 2U) << "a layer each";
  EXPECT_EQ(bytes_in_cache(f), 0);
}

TEST(CloseTenant, WithoutAWishToWipeTheBlocksAreOnlyFree) {
  Fixture f({.max_seqs = 2}, 1, 512, {.context = 512});
  f.alone(of(kAnn, 200, 1, 20));
  EXPECT_EQ(close(f, kAnn, false), 14);
  EXPECT_GT(bytes_in_cache(f), 10'000);
  const auto again = f.submit(of(kAnn, 200, 1, 20));
  f.finish();
  EXPECT_EQ(again->last->usage.cached_tokens, 0);
  EXPECT_EQ(again->last->usage.miss.reason, MissReason::kNeverSeen);
}

TEST(CloseTenant, WhatOthersHaveStays) {
  Fixture f({.max_seqs = 2}, 1, 512, {.context = 512});
  const std::string answer = f.alone(of(kBob, 200, 1, 20));
  f.alone(of(kAnn, 200, 1, 20));
  close(f, kAnn, true);
  EXPECT_GT(bytes_in_cache(f), 10'000);
  const auto again = f.submit(of(kBob, 200, 1, 20));
  f.finish();
  EXPECT_EQ(again->last->usage.cached_tokens, 199);
  EXPECT_EQ(again->text, answer);
}

TEST(CloseTenant, ItsRequestsEndAndOthersGoOn) {
  Fixture f({.max_seqs = 2}, 1, 512, {.context = 512});
  const std::string alone = Fixture({}, 1, 512, {.context = 512}).alone(of(kBob, 40, 3, 60));
  const auto running = f.submit(of(kAnn, 100, 1, 200));
  const auto other = f.submit(of(kBob, 40, 3, 60));
  const auto waiting = f.submit(of(kAnn, 100, 2, 50));
  for (int i = 0; i < 10; ++i)
    f.engine->step();
  const auto arriving = f.submit(of(kAnn, 100, 4, 50));  // in the inbox still
  close(f, kAnn, true);
  f.finish();
  for (const auto& reader : {running, waiting, arriving}) {
    ASSERT_TRUE(reader->last);
    EXPECT_EQ(reader->last->finish, FinishReason::kCancelled);
  }
  EXPECT_FALSE(running->text.empty()) << "what was said stands";
  ASSERT_TRUE(other->last);
  EXPECT_EQ(other->last->finish, FinishReason::kLength);
  EXPECT_EQ(other->text, alone);
}

TEST(CloseTenant, WhatItLostEarlierIsGoneTooHoweverFullTheCacheIs) {
  // 14 blocks, all of them Ann's: Bob's text pushes one out, and fills it with 12 of 16 positions.
  Fixture f({.max_seqs = 1, .context = 200, .kv_limit_bytes = 1}, 1, 512, {.context = 512});
  f.alone(of(kAnn, 190, 1, 5));
  f.alone(of(kAnn, 10, 3, 3));
  f.alone(of(kBob, 10, 2, 3));
  close(f, kAnn, true);
  const std::ptrdiff_t with_ann = bytes_in_cache(f);
  Fixture g({.max_seqs = 1, .context = 200, .kv_limit_bytes = 1}, 1, 512, {.context = 512});
  g.alone(of(kBob, 10, 2, 3));
  EXPECT_EQ(with_ann, bytes_in_cache(g)) << "as if Ann had never been there";
  EXPECT_GT(with_ann, 0);
}

TEST(CloseTenant, OneThatNeverAskedIsNothing) {
  Fixture f;
  EXPECT_EQ(close(f, 99, true), 0);
}

}  // namespace
}  // namespace wick
