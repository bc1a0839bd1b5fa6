#include "http/outbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>

namespace wick::http {
namespace {

// Takes `n_now` bytes of each write_now(); a write() ends when the test calls `done`.
struct TakingStream final : Stream {
  std::size_t n_now = 0;
  std::string taken = {}, written = {};
  Done done = {};

  void open(Done) override {}

  void read(std::span<char>, Done) override {}

  void write(std::string_view bytes, Done its_done) override {
    written = bytes;
    done = std::move(its_done);
  }

  std::size_t write_now(std::string_view bytes) override {
    const std::size_t n = std::min(n_now, bytes.size());
    taken += bytes.substr(0, n);
    return n;
  }

  void end(Done) override {}

  void close() override {}
};

TEST(HttpOutbox, WhatTheSocketDoesNotTakeAtOnceIsWrittenLater) {
  for (std::size_t n_now = 0; n_now <= 6; ++n_now) {
    Outbox outbox(1000);
    TakingStream stream;
    stream.n_now = n_now;
    outbox.tail() += "abcdef";
    const bool is_all = outbox.flush_now(stream);
    EXPECT_EQ(is_all, n_now == 6);
    EXPECT_EQ(outbox.pending(), 6 - n_now);
    EXPECT_EQ(outbox.stalled_since(), 0);
    if (is_all) continue;
    int n_done = 0;
    outbox.flush(stream, [&](bool is_ok) { n_done += is_ok ? 1 : 0; });
    EXPECT_NE(outbox.stalled_since(), 0);
    EXPECT_EQ(stream.taken + stream.written, "abcdef");
    outbox.tail() += "g";
    EXPECT_FALSE(outbox.may_flush()) << "one write is under way";
    const auto done = std::move(stream.done);
    done(true, stream.written.size());
    EXPECT_EQ(n_done, 1);
    EXPECT_EQ(outbox.pending(), 1);
  }
}

TEST(HttpOutbox, MuchIsNotWrittenAtOnce) {
  Outbox outbox(1 << 20);
  TakingStream stream;
  stream.n_now = 1 << 20;
  outbox.tail().assign((64 << 10) + 1, 'x');
  EXPECT_FALSE(outbox.flush_now(stream));
  EXPECT_EQ(stream.taken, "");
  outbox.tail().resize(64 << 10);
  EXPECT_TRUE(outbox.flush_now(stream));
  EXPECT_EQ(outbox.pending(), 0);
}

}  // namespace
}  // namespace wick::http
