// A conversation with a model about one command: the first proposal, alternatives, revisions. The
// first answer is greedy. If it cannot be used, a local model is asked the same question again,
// sampled with fixed seeds, so the same prompt always gets the same command. (Small models that
// read their own loop repeat it, and copy the text of an error into the command.) A remote model is
// asked once more, with its answer and the error. A cut answer is never a command, because the
// beginning of a command is another command. The caller judges a proposal (AskSetup::judge in
// cli/ask.h). One thread.
//
//   Conversation talk(*provider, settings, make_prompt(machine, ask, facts, frame));
//   WICK_TRY(const Proposal first, talk.propose());
//   WICK_TRY(const Proposal next, talk.revise("only the big ones"));
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "assist/prompt.h"
#include "base/result.h"
#include "provider/provider.h"
#include "shell/verdict.h"
#include "wick/message.h"
#include "wick/usage.h"

namespace wick::assist {

struct ProposeSettings {
  shell::Dialect dialect = shell::Dialect::kBash;
  shell::Mode mode = shell::Mode::kScript;
  shell::Profile profile = {};
  Frame frame = Frame::kJson;
  bool is_remote = false;
  std::string model = {};  // of a provider that has several
  std::size_t max_command = 4096;
  std::stop_token cancel = {};
};

struct Proposal {
  std::string command = {};   // empty if there is a question
  std::string question = {};  // the model needs an answer first
  Usage usage = {};  // of the answer that was used
  double ms = 0;     // of all answers
  int retries = 0;
};

// Whether the parser knows the dialect: in others every command is kHigh.
bool is_parsed(shell::Dialect dialect);

class Conversation {
 public:
  Conversation(Provider& provider, ProposeSettings settings, std::vector<Message> prompt)
      : provider_(provider), settings_(std::move(settings)), messages_(std::move(prompt)) {}

  // Errors: the provider's; kUnavailable "no_usable_reply" after kMaxRetries (remote: one);
  // kInvalid "command_too_long"; kCancelled.
  Result<Proposal> propose();

  // The next turn of the user: a change, or the answer to a question. `command` is the one that the
  // user has now, if it was edited.
  Result<Proposal> revise(const std::string& sentence, const std::string& command = "");

  // At most `n` further commands that differ from `first` and from each other: sampled, so there
  // may be fewer.
  Result<std::vector<Proposal>> alternatives(const Proposal& first, int n);

  // The model's words about a command; text, not proved.
  Result<std::string> explain(const std::string& command);

  // For the next turn.
  void set_cancel(std::stop_token cancel) { settings_.cancel = std::move(cancel); }

  const std::vector<Message>& messages() const noexcept { return messages_; }

 private:
  struct Turn {
    std::string text = {};  // the model's answer
    Usage usage = {};
    bool is_cut = false;   // at max_tokens, or because of a loop
    bool is_loop = false;  // cut because it repeated itself
  };

  Result<Turn> answer(const std::vector<Message>& messages, int seed, int max_tokens,
                      bool is_retry);
  Result<Proposal> used(const Turn& turn) const;
  Result<Proposal> answered(const std::vector<Message>& messages, int seed);

  Provider& provider_;
  ProposeSettings settings_;
  std::vector<Message> messages_;  // the last one is the user's, or the answer that was used
  bool has_format_ = true;         // false once an API has refused the format
};

}  // namespace wick::assist
