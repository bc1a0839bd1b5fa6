// Reads many streams in one event loop: a file descriptor for poll() or epoll is readable when any
// stream has new data. One thread at a time; add(): any thread.
//
//   auto set = wick::StreamSet::create();
//   auto stream = model->stream(prompt, {.wake = *set->add(7)});
//   …                                    // poll set->fd() for reading; then
//   set->take([&](std::uint64_t key) { while (auto event = streams[key].poll_event()) … });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "wick/generation.h"
#include "wick/result.h"

namespace wick {

class WakeSet;

class WICK_API StreamSet {
 public:
  static Result<StreamSet> create();
  StreamSet(StreamSet&&) noexcept;
  StreamSet& operator=(StreamSet&&) noexcept;
  ~StreamSet();  // streams may outlive it

  int fd() const noexcept;  // readable when a stream has new data
  // The value for Generation::wake of a request. Error: out of memory.
  Result<std::shared_ptr<Wake>> add(std::uint64_t key) const;
  // Calls visit(key) for each stream with new data since the last take(), in the order of arrival.
  // If visit throws, the exception propagates, and the next take() begins with the same stream.
  void take(const std::function<void(std::uint64_t key)>& visit);

 private:
  explicit StreamSet(std::unique_ptr<WakeSet> set) noexcept;
  std::unique_ptr<WakeSet> set_;
};

}  // namespace wick
