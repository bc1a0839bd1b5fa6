// A grammar between fixed texts, for tool calls: `inner` is the schema of a call, the texts are the
// markers of the model's format.
//
//   prefix inner suffix                            if `again` is empty
//   prefix inner suffix (again inner suffix)*      else
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "grammar/recognizer.h"

namespace wick::grammar {

struct Frame {
  std::string prefix = {}, suffix = {}, again = {};
};

// Where the inner text may end or go on with the first byte of `suffix`, it ends.
class FramedRecognizer final : public Recognizer {
 public:
  FramedRecognizer(std::unique_ptr<Recognizer> inner, Frame frame)
      : inner_(std::move(inner)), frame_(std::move(frame)) {}

  StateId start() const noexcept override;
  StateId step(StateId state, unsigned char byte) override;
  bool accepts(StateId state) const noexcept override;
  Result<std::string> shortest(StateId state) override;
  StateId near_form(StateId state, std::size_t max_bytes) override;

  std::optional<PlainText> plain_text(StateId state) override;

  void begin(std::uint64_t fuel) override { inner_->begin(fuel); }

  void begin_walk() override { inner_->begin_walk(); }

  void end_walk() override { inner_->end_walk(); }

  bool is_worn() const noexcept override { return inner_->is_worn(); }

  Error failure() const override { return inner_->failure(); }

 private:
  // A state is dead, a place in one of the three texts, or one of inner's, moved up.
  StateId again_at() const noexcept { return 1 + size(frame_.prefix); }

  StateId suffix_at() const noexcept { return again_at() + size(frame_.again); }

  StateId inner_at() const noexcept { return suffix_at() + size(frame_.suffix) + 1; }

  static StateId size(const std::string& text) noexcept {
    return static_cast<StateId>(text.size());
  }

  StateId of_inner(StateId state) const noexcept;

  StateId enter() const noexcept { return of_inner(inner_->start()); }

  StateId step_ends(StateId state, unsigned char byte) const noexcept;

  std::unique_ptr<Recognizer> inner_;
  Frame frame_;
};

}  // namespace wick::grammar
