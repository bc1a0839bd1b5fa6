// One thread team for all models of a CPU. Models take turns: a turn is a forward pass, or a slice
// of a long one, so that two busy models never have more threads computing than the team has
// members. Turns are given in the order of arrival; who waits sleeps.
//
//   WICK_TRY(auto team, SharedTeam::create(4));
//   TeamShare share(team, 2);            // of one model, which asked for two threads
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

  // At least so many members; waits for its turn if these are more. One thread at a time.
  Result<void> grow(int members);

  // Hot: any thread.
  void begin_turn() noexcept;
  void end_turn() noexcept;

  bool is_awaited() const noexcept {  // asked by whose turn it is
    return next_.load(std::memory_order_relaxed) - now_.load(std::memory_order_relaxed) > 1;
  }

  // Between begin_turn() and end_turn().
  ThreadTeam& team() noexcept { return team_; }

 private:
  ThreadTeam team_;
  // Tickets: the next one to be given out, and the one whose turn it is. They may wrap around.
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<std::uint32_t> now_ = 0;
};

// A model's part of the team: its first `size` members, in turns. One thread.
class TeamShare {
 public:
  TeamShare(std::shared_ptr<SharedTeam> team, int size) noexcept
      : team_(std::move(team)), size_(size) {}

  int size() const noexcept { return size_; }

  // Hot:
  void begin() noexcept;
  void yield() noexcept;  // lets the next one go first if it waits and this turn was long enough

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
