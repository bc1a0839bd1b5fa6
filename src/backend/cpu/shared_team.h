// One thread team for all models of a CPU. Models take turns, first come, first served: a turn is a
// forward pass or a time slice of a long one. So two busy models never oversubscribe the
// processors. A waiting model sleeps.
//
//   WICK_TRY(auto team, SharedTeam::create(4));
//   TeamShare share(team, 2);            // for one model with two threads
//   share.begin();
//   share.run(n_chunks, [&](int chunk, int member) noexcept { … });
//   share.end();
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/thread_team.h"

namespace wick {

class SharedTeam {
 public:
  static Result<std::shared_ptr<SharedTeam>> create(int members);

  explicit SharedTeam(ThreadTeam team) noexcept : team_(std::move(team)) {}

  // Grows the team to at least this many members, after waiting for a turn if needed. One thread at
  // a time.
  Result<void> grow(int members);

  // Hot: any thread.
  void begin_turn() noexcept;
  void end_turn() noexcept;

  bool is_awaited() const noexcept {  // for the model whose turn it is
    return next_.load(std::memory_order_relaxed) - now_.load(std::memory_order_relaxed) > 1;
  }

  // Between begin_turn() and end_turn().
  ThreadTeam& team() noexcept { return team_; }

 private:
  ThreadTeam team_;
  // A ticket lock: the next ticket, and the one whose turn it is. They may wrap around.
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<std::uint32_t> now_ = 0;
};

// A model's view of the team: its first `size` members, in turns. One thread.
class TeamShare {
 public:
  TeamShare(std::shared_ptr<SharedTeam> team, int size) noexcept
      : team_(std::move(team)), size_(size) {}

  int size() const noexcept { return size_; }

  // Hot:
  void begin() noexcept;
  void yield() noexcept;  // gives up the turn if another model waits and this turn was long enough

  void end() noexcept { team_->end_turn(); }

  template <class Work>
  void run(int n_chunks, const Work& work) noexcept {
    team_->team().run(n_chunks, work, size_);
  }

 private:
  std::shared_ptr<SharedTeam> team_;
  int size_;
  std::int64_t began_ns_ = 0;
};

}  // namespace wick
