// Documents of a JSON recognizer in another notation: as raw text, in Python's syntax, or in
// Gemma's. Tool calls of these formats are held to their JSON schema by it.
//
//   NotationRecognizer value(SchemaRecognizer of {"type": "string"}, raw_text("</parameter>"));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/recognizer.h"

namespace wick::grammar {

// Translates bytes of a notation to JSON, one after another. A mode is all it remembers.
class Notation {
 public:
  using Mode = std::uint64_t;

  virtual ~Notation() = default;

  // What JSON has before the first byte, and behind the last.
  virtual std::string_view before() const noexcept { return {}; }

  virtual std::string_view behind() const noexcept { return {}; }

  virtual Mode start() const noexcept { return 0; }

  // Appends the JSON of `byte`, perhaps none. False: the byte cannot be here.
  virtual bool read(Mode& mode, unsigned char byte, std::string& json) const = 0;

  virtual bool may_end(Mode mode) const noexcept = 0;

  // The rest of a document, `json`, in this notation; nullopt if it cannot be written.
  virtual std::optional<std::string> write(Mode mode, std::string_view json) const = 0;
};

// A JSON string as its content, which does not hold `end`.
std::unique_ptr<Notation> raw_text(std::string end);

// True, False and None for true, false and null.
std::unique_ptr<Notation> python_value();

// An object as {name:value}, strings between `quote`.
std::unique_ptr<Notation> gemma_object(std::string quote);

class NotationRecognizer final : public Recognizer {
 public:
  NotationRecognizer(std::unique_ptr<Recognizer> json, std::unique_ptr<Notation> notation);

  StateId start() const noexcept override { return start_; }

  StateId step(StateId state, unsigned char byte) override;

  bool accepts(StateId state) const noexcept override {
    return state != kFailedState && states_[state].accepts;
  }

  Result<std::string> shortest(StateId state) override;

  void begin(std::uint64_t fuel) override { json_->begin(fuel); }

  void begin_walk() override;
  void end_walk() override;
  std::size_t used_bytes() const noexcept override;
  bool is_worn() const noexcept override;
  Error failure() const override;

 private:
  struct State {
    StateId json = kDeadState;
    Notation::Mode mode = 0;
    bool accepts = false;
  };

  StateId read(StateId json, std::string_view bytes);
  StateId state_of(StateId json, Notation::Mode mode);

  std::unique_ptr<Recognizer> json_;
  std::unique_ptr<Notation> notation_;
  std::vector<State> states_ = {State{}};  // the first is kDeadState
  std::unordered_map<StateId, std::unordered_map<Notation::Mode, StateId>> ids_ = {};
  std::size_t n_kept_ = 0;
  StateId start_ = kDeadState;
  bool is_full_ = false;
};

}  // namespace wick::grammar
