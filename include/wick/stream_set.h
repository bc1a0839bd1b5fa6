// Many streams read by one loop, without a thread for each: one file descriptor, to be watched
// beside sockets, tells which of them have more. One thread at a time; add() from any.
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
  ~StreamSet();  // streams may outlive it; they then wake nobody

  int fd() const noexcept;  // readable once a stream has more
  // For Generation::wake of one request. Error: the end of memory.
  Result<std::shared_ptr<Wake>> add(std::uint64_t key) const;
  // Calls visit(key) for each stream that got more since the last take(), the earliest first. What
  // visit throws goes through; the next take() then begins with that stream.
  void take(const std::function<void(std::uint64_t key)>& visit);

 private:
  explicit StreamSet(std::unique_ptr<WakeSet> set) noexcept;
  std::unique_ptr<WakeSet> set_;
};

}  // namespace wick
