// How chunks of a phase are distributed.
//
// Problem: a member that was preempted may wake in the middle of a later phase. It must neither
// take a chunk of a phase whose work it has not read, nor hold up phases it took no part in.
//
// Idea: one 64-bit word holds {generation, next chunk}. Opening a phase first closes the word (odd
// generation), then writes what the phase is, then opens it (even generation, chunk 0). A member
// claims by compare-and-swap of the whole word, so a claim succeeds only while the phase it read is
// still the current one. The description is stored with release and read with acquire: who sees
// any part of a later phase's description also sees that the word was closed, and its claim fails.
//
// Invariant: run() returns when the counts of finished chunks add up to n_chunks. A finished count
// is added only by members that claimed chunks of this phase, so nothing arrives late.
//
// Cost: one compare-and-swap a chunk, two shared counters a phase. A wait spins for kSpin, yields a
// few times, then parks on a futex; the other side makes the system call only if someone is parked.
#include "base/thread_team.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/hot_scope.h"
#include "base/thread.h"

namespace wick {
namespace {

constexpr std::chrono::microseconds kSpin{25};
constexpr int kYields = 4;
constexpr std::size_t kCacheLine = 64;

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A number that members wait for. set() and wait_while() agree by sequential consistency: either
// the waiter sees the new value, or the setter sees the waiter.
class Gate {
 public:
  std::uint32_t value() const noexcept { return value_.load(std::memory_order_acquire); }

  void set(std::uint32_t value) noexcept {
    value_.store(value);
    wake();
  }

  std::uint32_t add(std::uint32_t count) noexcept {
    const std::uint32_t sum = value_.fetch_add(count) + count;
    wake();
    return sum;
  }

  void reset() noexcept { value_.store(0, std::memory_order_relaxed); }  // no thread waits now

  // Returns once `is_reached(value)` holds.
  template <class Reached>
  void wait(const Reached& is_reached, std::chrono::microseconds spin) noexcept {
    if (is_reached(value())) return;
    const auto deadline = std::chrono::steady_clock::now() + spin;
    while (std::chrono::steady_clock::now() < deadline) {
      for (int i = 0; i < 16; ++i) {
        pause();
        if (is_reached(value())) return;
      }
    }
    for (int i = 0; i < kYields; ++i) {
      std::this_thread::yield();
      if (is_reached(value())) return;
    }
    parked_.fetch_add(1);
    for (std::uint32_t seen = value_.load(); !is_reached(seen); seen = value_.load()) {
      futex(FUTEX_WAIT_PRIVATE, seen);
    }
    parked_.fetch_sub(1);
  }

 private:
  static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "a futex is a plain 32-bit word");

  void wake() noexcept {
    if (parked_.load() != 0) futex(FUTEX_WAKE_PRIVATE, INT32_MAX);
  }

  void futex(int operation, std::uint32_t argument) noexcept {
    ::syscall(SYS_futex, &value_, operation, argument, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> parked_{0};
};

constexpr std::uint64_t word(std::uint32_t generation, std::uint32_t chunk) noexcept {
  return static_cast<std::uint64_t>(generation) << 32 | chunk;
}

}  // namespace

struct ThreadTeam::State {
  alignas(kCacheLine) std::atomic<std::uint64_t> next{0};  // {generation, next chunk}
  alignas(kCacheLine) Gate finished;                       // chunks of this phase that are done
  alignas(kCacheLine) Gate generation;                     // even; moves by 2 for each phase
  // The phase; see the top of the file for why these are atomic.
  alignas(kCacheLine) std::atomic<std::uint32_t> n_chunks{0};
  std::atomic<Thunk> thunk{nullptr};
  std::atomic<const void*> context{nullptr};
  std::atomic<int> most{0};  // members that take part
  std::atomic<bool> stop{false};
  std::atomic<std::chrono::microseconds> spin{kSpin};
  std::vector<std::jthread> helpers;

  // Claims and runs chunks of the phase `current` until none is left or it is over.
  void work(std::uint32_t current, int member) noexcept;
  void help(int member) noexcept;

  ~State();  // ends the helpers, also those of a team that could not be completed
};

void ThreadTeam::State::work(std::uint32_t current, int member) noexcept {
  std::uint64_t claim = next.load(std::memory_order_acquire);
  const std::uint32_t total = n_chunks.load(std::memory_order_acquire);
  const Thunk call = thunk.load(std::memory_order_acquire);
  const void* const with = context.load(std::memory_order_acquire);
  if (member >= most.load(std::memory_order_acquire)) return;
  std::uint32_t done = 0;
  while (static_cast<std::uint32_t>(claim >> 32) == current) {
    const auto chunk = static_cast<std::uint32_t>(claim);
    if (chunk >= total) break;
    if (!next.compare_exchange_weak(claim, claim + 1, std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      continue;
    }
    call(with, static_cast<int>(chunk), member);
    ++done;
    claim = next.load(std::memory_order_acquire);
  }
  if (done != 0) finished.add(done);
}

void ThreadTeam::State::help(int member) noexcept {
  const HotScope hot;
  std::uint32_t seen = 0;
  for (;;) {
    generation.wait([&](std::uint32_t value) { return value != seen; }, spin);
    // Read before `stop`: the generation of the end, if it is seen here, has `stop` set.
    seen = generation.value();
    if (stop.load(std::memory_order_acquire)) return;
    work(seen, member);
  }
}

ThreadTeam::State::~State() {
  stop.store(true, std::memory_order_release);
  generation.set(generation.value() + 2);
  for (std::jthread& helper : helpers)
    helper.join();
}

Result<ThreadTeam> ThreadTeam::create(int members) {
  WICK_CHECK(members >= 1, "a team has at least its caller");
  ThreadTeam team(std::make_unique<State>());
  WICK_DO(team.grow(members));
  return team;
}

Result<void> ThreadTeam::grow(int members) {
  State& state = *state_;
  // Spinning helps only while every member has a processor of its own.
  if (members > usable_threads()) state.spin = std::chrono::microseconds{0};
  // Reserve first: if push_back threw, a running helper would never end.
  state.helpers.reserve(static_cast<std::size_t>(members) - 1);
  for (int member = size(); member < members; ++member) {
    WICK_TRY(std::jthread helper, start_thread([s = &state, member] { s->help(member); }));
    state.helpers.push_back(std::move(helper));
  }
  return {};
}

ThreadTeam::ThreadTeam(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

ThreadTeam::ThreadTeam(ThreadTeam&&) noexcept = default;
ThreadTeam& ThreadTeam::operator=(ThreadTeam&&) noexcept = default;
ThreadTeam::~ThreadTeam() = default;

int ThreadTeam::size() const noexcept {
  return static_cast<int>(state_->helpers.size()) + 1;
}

void ThreadTeam::run_erased(int n_chunks, int most, Thunk thunk, const void* context) noexcept {
  State& state = *state_;
  if (state.helpers.empty() || n_chunks <= 1 || most <= 1) {
    for (int chunk = 0; chunk < n_chunks; ++chunk)
      thunk(context, chunk, 0);
    return;
  }
  const auto total = static_cast<std::uint32_t>(n_chunks);
  const std::uint32_t current = state.generation.value() + 2;
  state.next.store(word(current - 1, 0), std::memory_order_release);  // closed
  state.n_chunks.store(total, std::memory_order_release);
  state.thunk.store(thunk, std::memory_order_release);
  state.context.store(context, std::memory_order_release);
  state.most.store(most, std::memory_order_release);
  state.finished.reset();
  state.next.store(word(current, 0), std::memory_order_release);  // open
  state.generation.set(current);
  state.work(current, 0);
  state.finished.wait([total](std::uint32_t done) { return done == total; }, state.spin);
}

}  // namespace wick
