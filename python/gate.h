// Who may take the interpreter's lock, and until when. A thread that asks for it once the
// interpreter has ended is ended on the spot, and with it the process: C++ below it cannot be
// unwound. So whoever is in a call of the library, or in Python because the library called back, is
// counted (Busy); at exit close() stops the requests, waits for the count to be zero, and from then
// on such threads are refused or kept waiting (Unlocked). Any thread.
#pragma once

#include <pthread.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

namespace pywick {

namespace py = pybind11;

// kAbandoned: somebody did not come back in time. What belongs to models is then left as it is.
enum class Phase : int { kOpen, kClosing, kClosed, kAbandoned };

struct Gate {
  const pid_t process = getpid();
  std::mutex mutex = {};
  std::condition_variable changed = {};
  int busy = 0;
  std::atomic<Phase> phase = Phase::kOpen;
  std::stop_source stop = {};                      // of all that runs when the interpreter ends
  unsigned long main_thread = 0;                   // where Python handles signals
  inline static std::atomic<Gate*> all = nullptr;  // never freed: threads may outlive the module
};

inline Gate& gate() {
  return *Gate::all.load();
}

// At import. A child of fork() has none of the threads that were counted.
inline void open_gate() {
  if (Gate::all != nullptr) return;
  Gate::all = new Gate;
  const py::object main = py::module_::import("threading").attr("main_thread")();
  gate().main_thread = py::cast<unsigned long>(main.attr("ident"));
  pthread_atfork(nullptr, nullptr, [] {
    Gate::all = new Gate;
    gate().main_thread = PyThread_get_thread_ident();
  });
}

// One thread, or one job in the background, that close() waits for.
class Busy {
 public:
  Busy() : gate_(gate()) {
    const std::lock_guard lock(gate_.mutex);
    if (gate_.phase != Phase::kOpen) throw std::runtime_error("the interpreter is closing");
    ++gate_.busy;
    ++held_;
  }

  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  ~Busy() {
    --held_;
    leave(gate_, 1);
  }

  // In a child of fork() nobody is counted there, and the mutex may be a lost thread's.
  static void leave(Gate& gate, int n) {
    if (&gate != &pywick::gate()) return;
    const std::lock_guard lock(gate.mutex);
    gate.busy -= n;
    gate.changed.notify_all();
  }

  static int held() { return held_; }

  // Whether this is, since the Busy began, a child of fork() that has no other thread.
  bool is_in_child() const { return &gate_ != &gate(); }

  pid_t process() const { return gate_.process; }

 private:
  Gate& gate_;
  inline static thread_local int held_ = 0;  // by this thread
};

// Within a Busy: gives up the interpreter's lock and takes it again. A thread that comes back too
// late stays here, as Python 3.14 has it; one below which Python still runs is waited for.
class Unlocked {
 public:
  Unlocked() : thread_(PyEval_SaveThread()) {}

  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  ~Unlocked() {
    const Phase phase = gate().phase;
    if (phase == Phase::kOpen || (phase == Phase::kClosing && Busy::held() > 1)) {
      PyEval_RestoreThread(thread_);
      return;
    }
    Busy::leave(gate(), Busy::held());
    for (;;)
      std::this_thread::sleep_for(std::chrono::hours(1));
  }

 private:
  PyThreadState* thread_;
};

// For atexit.
inline void close_gate() {
  constexpr std::chrono::seconds kLongest(5);
  const py::gil_scoped_release release;
  Gate& g = gate();
  {
    const std::lock_guard lock(g.mutex);
    g.phase = Phase::kClosing;
  }
  g.stop.request_stop();
  std::unique_lock lock(g.mutex);
  const bool is_empty = g.changed.wait_for(lock, kLongest, [&] { return g.busy == 0; });
  g.phase = is_empty ? Phase::kClosed : Phase::kAbandoned;
}

}  // namespace pywick
