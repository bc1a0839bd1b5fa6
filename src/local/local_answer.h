// An answer of a local model: the engine thread writes text into a ring and logprobs into a log,
// and sets the reader's Wake; the reader turns them into events. In a child of fork() reading fails
// (id "model_of_other_process").
#pragma once

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "local/counters.h"
#include "local/hook_editor.h"
#include "provider/answer.h"
#include "toolcalls/harmony.h"
#include "toolcalls/reasoning.h"
#include "toolcalls/tool_calls.h"

namespace wick {

Error model_of_other_process(pid_t owner);

// What an answer needs besides its request.
struct AnswerParts {
  std::shared_ptr<void> model = {};  // kept until the answer is gone; may be null
  std::shared_ptr<Counters> counters = {};
  std::shared_ptr<Wake> wake = {};        // may be null
  std::shared_ptr<HookEditor> hook = {};  // may be null
  std::vector<EffectiveParameter> parameters = {};
  ReasoningSplit split = ReasoningSplit::off();
  std::unique_ptr<ToolCallSplit> tools = {};
  std::unique_ptr<HarmonySplit> harmony = {};  // instead of the other two
  bool has_logprobs = false;
  bool has_prompt_logprobs = false;
  int emit_bytes = 0;  // of an event's text at most; 0 = no limit
};

class LocalAnswer final : public Answer {
 public:
  // Submits `request`, whose sink and editor are set here.
  static Result<std::unique_ptr<Answer>> begin(Engine& engine, GenerateRequest request,
                                               AnswerParts parts);
  ~LocalAnswer() override;

  void cancel() noexcept override;  // takes effect at the engine's next step

 protected:
  std::optional<Event> next() override;

 private:
  class Sink;
  LocalAnswer(Engine& engine, std::shared_ptr<Sink> sink, AnswerParts parts);
  void read();
  std::size_t split(bool is_end);
  void add_pieces();
  template <class Piece>
  void cut(Piece* piece);
  void add_scores(std::uint64_t text_end);
  void add_done();

  const pid_t process_ = ::getpid();
  AnswerParts parts_;
  Engine* engine_;
  std::shared_ptr<Sink> sink_;
  std::size_t scores_per_token_ = 1;
  RequestId id_ = 0;
  std::uint64_t n_read_ = 0;    // bytes of text
  std::vector<Event> pending_;  // read, but not told; the next one last
  std::string raw_, reasoning_, text_;
  std::vector<TokenId> prompt_;  // with tools: the ids of calls are made of it
  std::vector<ToolPiece> pieces_;
  int n_calls_ = 0;
  std::string last_arguments_;  // of the last call
};

}  // namespace wick
