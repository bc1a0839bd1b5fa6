// A persistent team of threads that runs phases. A phase is a number of chunks that the members
// claim in ascending order, so a late or preempted member costs only its current chunk; the caller
// computes too. Between phases members spin briefly, yield, then park on a futex: an idle team
// costs nothing. run() may be called by one thread at a time; it neither allocates nor locks.
//
//   WICK_TRY(ThreadTeam team, ThreadTeam::create(4));
//   team.run(n_chunks, [&](int chunk, int member) noexcept { … });
#pragma once

#include <memory>
#include <type_traits>

#include "base/result.h"

namespace wick {

class ThreadTeam {
 public:
  static constexpr int kMaxMembers = 1024;

  // members ≥ 1, the caller included. If a thread cannot be started, this fails (base/thread.h): a
  // smaller team would be slower without notice.
  static Result<ThreadTeam> create(int members);
  ThreadTeam(ThreadTeam&&) noexcept;
  ThreadTeam& operator=(ThreadTeam&&) noexcept;
  ~ThreadTeam();

  int size() const noexcept;

  // Cold: grows the team to at least this many members. Not while a phase runs.
  Result<void> grow(int members);

  // Calls work(chunk, member) once for each chunk in [0, n_chunks); returns when all are done. What
  // the chunks wrote is visible. Only members [0, most) take part.
  template <class Work>
  void run(int n_chunks, const Work& work, int most = kMaxMembers) noexcept {
    run_erased(
        n_chunks, most,
        [](const void* context, int chunk, int member) noexcept {
          (*static_cast<const Work*>(context))(chunk, member);
        },
        &work);
  }

 private:
  using Thunk = void (*)(const void* context, int chunk, int member) noexcept;
  void run_erased(int n_chunks, int most, Thunk thunk, const void* context) noexcept;

  struct State;
  explicit ThreadTeam(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

// Threads this process may use at once: CPU affinity and cgroup quota (v2 cpu.max, v1 cfs_quota),
// at least 1.
int usable_threads() noexcept;

}  // namespace wick
