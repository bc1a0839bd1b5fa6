// A composition (composition.h) as a Recognizer. A state is a set of threads; a thread is a step of
// the program and a place in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/composition.h"
#include "grammar/recognizer.h"

namespace wick::grammar {

class ComposedRecognizer final : public Recognizer {
 public:
  explicit ComposedRecognizer(Program program);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override;

  bool accepts(StateId state) const noexcept override {
    return state != kFailedState && states_[state].accepts;
  }

  Result<std::string> shortest(StateId state) override;
  StateId near_form(StateId state, std::size_t max_bytes) override;
  std::optional<PlainText> plain_text(StateId state) override;
  void begin(std::uint64_t fuel) override;
  void begin_walk() override;
  void end_walk() override;
  bool is_worn() const noexcept override;
  Error failure() const override;

 private:
  struct Thread {
    std::uint32_t step = 0;
    std::uint32_t place = 0;       // in the text, the document, or the triggers
    std::uint32_t bytes_left = 0;  // of free text with a limit
    friend auto operator<=>(const Thread&, const Thread&) = default;
  };

  using Threads = std::vector<Thread>;

  struct State {
    Threads threads = {};
    bool accepts = false;
    // Of the next bytes; kUnknown where it was not asked for.
    std::unique_ptr<std::array<StateId, 256>> next = {};
  };

  static constexpr StateId kUnknown = kFailedState - 1;

  void enter(std::uint32_t step, Threads& out, bool& accepts);
  bool advance(const Thread& thread, unsigned char byte, Threads& out, bool& accepts);
  StateId computed(StateId state, unsigned char byte);
  StateId state_of(Threads threads, bool accepts);

  Program program_;
  std::vector<State> states_ = {};
  std::map<std::pair<Threads, bool>, StateId> ids_ = {};
  std::vector<std::uint32_t> seen_ = {};  // by step: the round in which it was entered
  std::uint32_t round_ = 0;
  std::vector<std::pair<StateId, unsigned char>> walked_ = {};  // what a walk wrote into `next`
  std::size_t n_kept_ = 0, n_threads_ = 0;
  bool is_walking_ = false, is_full_ = false;
  const Recognizer* failed_ = nullptr;
  StateId start_ = kDeadState;
};

}  // namespace wick::grammar
