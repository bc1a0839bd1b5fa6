// How Python calls what a model runs. Everything that may wait goes through run(): the
// interpreter's lock is released, Ctrl-C and the interpreter's end stop it, and where it could only
// hang (in a hook of the same model, in a child of fork()) it is refused. Held is what Python's
// Model, Session and Stream own; a Session and its Streams serve one thread after the other.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "errors.h"
#include "gate.h"
#include "wick/generation.h"

namespace pywick {

inline constexpr std::chrono::milliseconds kSignalPoll(50);

// The models that wait for this thread: it runs their hook.
using ModelIds = std::vector<std::uint64_t>;
inline thread_local const ModelIds* waiting_models = nullptr;

inline ModelIds waiting_with(std::uint64_t model) {
  ModelIds all = waiting_models == nullptr ? ModelIds{} : *waiting_models;
  all.push_back(model);
  return all;
}

// What a Model, its Sessions and Streams share.
struct Origin {
  std::uint64_t model = 0;
  pid_t process = 0;
  std::shared_ptr<std::recursive_timed_mutex> one_at_a_time = nullptr;  // none of a Model

  static Origin of_new_model() {
    static std::atomic<std::uint64_t> last = 0;
    return {++last, getpid(), nullptr};
  }

  Origin with_lock() const {
    return {model, process, std::make_shared<std::recursive_timed_mutex>()};
  }
};

[[noreturn]] inline void raise_of_other_process(pid_t parent) {
  raise({.id = "model_of_other_process",
         .message = "the model was loaded by process " + std::to_string(parent) +
                    ", this is its child " + std::to_string(getpid()) +
                    ": os.fork() does not copy the threads that compute",
         .hint = "start the child by multiprocessing's 'spawn', and load the model there"});
}

inline void refuse_what_would_hang(const Origin& origin) {
  if (origin.process != getpid()) raise_of_other_process(origin.process);
  if (waiting_models != nullptr && std::find(waiting_models->begin(), waiting_models->end(),
                                             origin.model) != waiting_models->end()) {
    raise({.id = "called_in_hook",
           .message = "a logits hook cannot ask the model that calls it",
           .hint = "in a hook use tokenize(), detokenize() and properties only, or another model"});
  }
}

// What call() gives, which runs Python below the library. A child that it forks ends with it, as a
// program does: the library would wait there for threads that only the parent has.
template <class Call>
auto call_back(const Busy& busy, const Call& call) {
  try {
    auto answer = call();
    if (!busy.is_in_child()) return answer;
    const py::gil_scoped_acquire acquire;
    raise_of_other_process(busy.process());
  } catch (py::error_already_set& e) {
    if (!busy.is_in_child()) throw;
    const py::gil_scoped_acquire acquire;
    e.restore();
    PyErr_Print();  // ends the process if it is SystemExit
    Py_Exit(1);
  }
}

// Lets one thread after the other at a Session and its Streams; the same one again, too: what a
// call from its own on_text may do is the library's to say.
class Turn {
 public:
  explicit Turn(const Origin& origin) : mutex_(origin.one_at_a_time.get()) {
    if (mutex_ == nullptr || mutex_->try_lock()) return;
    refuse_what_would_hang(origin);
    const Busy busy;
    for (bool is_mine = false;;) {
      {
        const Unlocked unlocked;
        is_mine = mutex_->try_lock_for(kSignalPoll);
      }
      if (is_mine) return;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      refuse_what_would_hang(origin);  // a signal's handler may have forked
    }
  }

  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  ~Turn() {
    if (mutex_ != nullptr) mutex_->unlock();
  }

 private:
  std::recursive_timed_mutex* mutex_;
};

[[noreturn]] inline void raise_not_made() {
  throw std::runtime_error("the object is not made: its __init__() did not run, or failed");
}

// Where pybind11 takes memory for an object whose __init__ did not run: all its pointers are null.
struct ZeroedMemory {
  static void* operator new(std::size_t size) {
    if (void* const memory = std::calloc(1, size)) return memory;
    throw std::bad_alloc();
  }

  static void operator delete(void* memory) { std::free(memory); }
};

// A value of the library, whose end may wait for another thread, which may itself want the
// interpreter.
template <class T>
class Held : public ZeroedMemory {
 public:
  Held(T value, Origin origin)
      : content_(std::make_unique<Content>(std::move(value), std::move(origin))) {}

  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  ~Held() {
    if (content_ == nullptr) return;
    const Phase phase = gate().phase;
    const bool is_lost = content_->origin.process != getpid() || phase == Phase::kClosing ||
                         phase == Phase::kAbandoned || (phase == Phase::kOpen && !drop());
    if (is_lost) static_cast<void>(content_.release());  // with the process goes all it holds
  }

  T& operator*() { return content().value; }

  T* operator->() { return &content().value; }

  const Origin& origin() { return content().origin; }

 private:
  struct Content {
    Content(T v, Origin o) : value(std::move(v)), origin(std::move(o)) {}

    T value;
    Origin origin;
  };

  Content& content() {
    if (content_ == nullptr) raise_not_made();
    return *content_;
  }

  // False if this has to stay. A model's own thread cannot wait for its own end: another does.
  bool drop() noexcept {
    try {
      const Busy busy;
      if (waiting_models == nullptr) {
        const Unlocked unlocked;
        end(std::move(content_));
        return true;
      }
      Gate& counted = gate();
      auto later = std::make_shared<std::unique_ptr<Content>>(std::move(content_));
      try {
        std::thread([later, &counted] {
          end(std::move(*later));
          Busy::leave(counted, 1);
        }).detach();
      } catch (const std::system_error&) {
        content_ = std::move(*later);
        return false;
      }
      Busy::leave(counted, -1);
      return true;
    } catch (const std::exception&) {
      return content_ == nullptr;
    }
  }

  static void end(std::unique_ptr<Content> content) {
    const auto mutex = content->origin.one_at_a_time;
    if (mutex == nullptr) return;
    while (!mutex->try_lock_for(kSignalPoll)) {  // whoever has it may be kept in Unlocked
      if (gate().phase == Phase::kOpen) continue;
      static_cast<void>(content.release());
      return;
    }
    content.reset();
    mutex->unlock();
  }

  std::unique_ptr<Content> content_;
};

// A call on the main thread, where Python handles signals: another thread computes, and this one
// looks for Ctrl-C and calls on_text for it.
class Relay {
 public:
  // Of the computing thread.
  bool tell(std::string_view piece) {
    std::unique_lock lock(mutex_);
    piece_ = piece;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !piece_; });
    return wants_more_;
  }

  // Of the computing thread: its last word.
  void end() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }

  // Of the calling one: returns after end(); raises what a signal's handler or the sink raised. In
  // a child that one of them forked it leaves at once.
  void serve(const Busy& busy, const std::function<void()>& stop, const wick::TextSink& sink) {
    std::exception_ptr raised;
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      {
        const Unlocked unlocked;
        changed_.wait_for(lock, kSignalPoll, [&] { return is_over_ || piece_; });
      }
      try {
        if (!raised && PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (piece_ && !busy.is_in_child()) answer(lock, !raised && sink(*piece_));
        if (busy.is_in_child()) raise_of_other_process(busy.process());
      } catch (...) {
        if (busy.is_in_child()) throw;
        raised = std::current_exception();
        stop();
        if (piece_) answer(lock, false);
      }
    }
    lock.unlock();
    if (raised) std::rethrow_exception(raised);
  }

 private:
  void answer(const std::unique_lock<std::mutex>&, bool wants_more) {
    wants_more_ = wants_more;
    piece_.reset();
    changed_.notify_all();
  }

  std::mutex mutex_ = {};
  std::condition_variable changed_ = {};
  std::optional<std::string_view> piece_ = {};
  bool wants_more_ = true;
  bool is_over_ = false;
};

// body(sink), without the interpreter's lock, and what it returned. stop() makes it end early, from
// any thread.
template <class Body>
auto run(const Origin& origin, const std::function<void()>& stop, const Body& body,
         const wick::TextSink& sink) {
  refuse_what_would_hang(origin);
  const Busy busy;
  const std::stop_callback at_exit(gate().stop.get_token(), stop);
  const wick::TextSink direct = [&](std::string_view piece) {
    return call_back(busy, [&] { return sink(piece); });
  };
  if (PyThread_get_thread_ident() != gate().main_thread) {
    const Unlocked unlocked;
    return body(direct);
  }

  struct Job {
    std::optional<decltype(body(sink))> result = {};
    std::exception_ptr failed = nullptr;
    Relay relay = {};
    std::thread computing = {};
  };

  auto job = std::make_unique<Job>();
  try {
    job->computing = std::thread([&body, job = job.get()] {
      try {
        job->result.emplace(body([job](std::string_view piece) { return job->relay.tell(piece); }));
      } catch (...) {
        job->failed = std::current_exception();
      }
      job->relay.end();
    });
  } catch (const std::system_error&) {  // no further thread: then without Ctrl-C
    const Unlocked unlocked;
    return body(direct);
  }
  try {
    job->relay.serve(busy, stop, sink);
  } catch (...) {
    if (busy.is_in_child())
      static_cast<void>(job.release());  // its thread is not there to be joined
    else
      job->computing.join();
    throw;
  }
  job->computing.join();
  if (job->failed) std::rethrow_exception(job->failed);
  return *std::move(job->result);
}

// The same, which `cancel` stops, too; the body finds there what either asks.
template <class Body>
auto run(const Origin& origin, std::stop_token& cancel, const Body& body,
         const wick::TextSink& sink = {}) {
  std::stop_source source;
  const std::function<void()> stop = [source]() mutable { source.request_stop(); };
  const std::stop_callback by_caller(cancel, stop);
  cancel = source.get_token();
  return run(origin, stop, body, sink);
}

// For what takes no time to speak of, so that nobody has to look for Ctrl-C.
template <class Body>
auto run_here(const Origin& origin, const Body& body) {
  refuse_what_would_hang(origin);
  const Busy busy;
  const Unlocked unlocked;
  return body();
}

template <class Body>
auto run(const Origin& origin, const Body& body) {
  return run(
      origin, [] {}, [&](const wick::TextSink&) { return body(); }, {});
}

}  // namespace pywick
