// A persistent team of threads that runs phases. A phase is a number of chunks that the members
// claim in ascending order, so a late or preempted member costs only its current chunk; the caller
// computes too. Between phases members spin briefly, yield, then park on a futex: an idle team
// costs nothing. run() may be called by one thread at a time; it neither allocates nor locks.
//
//   team.run(n_chunks, [&](int chunk, int member) noexcept { … });
#pragma once

#include <memory>
#include <type_traits>

namespace wick {

class ThreadTeam {
 public:
  explicit ThreadTeam(int members);  // ≥ 1, the caller included
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const noexcept;

  // Calls work(chunk, member) once for each chunk in [0, n_chunks); returns when all are done. What
  // the chunks wrote is visible.
  template <class Work>
  void run(int n_chunks, const Work& work) noexcept {
    run_erased(
        n_chunks,
        [](const void* context, int chunk, int member) noexcept {
          (*static_cast<const Work*>(context))(chunk, member);
        },
        &work);
  }

 private:
  using Thunk = void (*)(const void* context, int chunk, int member) noexcept;
  void run_erased(int n_chunks, Thunk thunk, const void* context) noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

// Threads this process may use at once: CPU affinity and cgroup quota (v2 cpu.max, v1 cfs_quota),
// at least 1.
int usable_threads() noexcept;

}  // namespace wick
