// wick run: raw completion. The text goes to the model as it is, and the answer to stdout as it is
// made.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/answer.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "local/local.h"

namespace wick {

namespace {

struct Options : AskOptions {
  int top_logprobs = -1;
  bool scores_prompt = false;
};

Result<int> run(const Options& o) {
  if (!o.has_prompt && is_terminal(STDIN_FILENO)) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_prompt",
                 .message = "there is no prompt",
                 .hint = "wick run -p \"Once upon a time\", or pipe a text in"};
  }
  WICK_TRY(Asking asking, prepare(o));
  Generation& generation = asking.generation;
  generation.logprobs = o.top_logprobs >= 0;
  generation.top_logprobs = std::max(o.top_logprobs, 0);
  generation.prompt_logprobs = o.scores_prompt;
  WICK_TRY(const Gather whole,
           ask(*asking.model.provider,
               {.prompt = std::move(asking.prompt), .generation = generation}, !o.is_json));
  return end_answer(whole, o);
}

}  // namespace

Action setup_run(Flags flags) {
  const auto o = std::make_shared<Options>();
  o->settings.add_model(flags, false);
  flags.text("-p,--prompt", o->prompt, "the text to go on from; standard input if absent");
  add_ask_flags(flags, *o);
  flags.integer("--logprobs", o->top_logprobs, {-1, kMaxTopLogprobs},
                "with --json: log-probabilities of each token and of so many likeliest; -1 = none");
  flags.toggle("--prompt-logprobs", o->scores_prompt,
               "with --logprobs: of the prompt's tokens, too");
  return [o, flags] {
    o->has_prompt = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
