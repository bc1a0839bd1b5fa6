// wick run: raw completion. The text goes to the model as it is, and the answer to stdout as it is
// made. `wick run MODEL PROMPT`, as users of Ollama type it, answers as wick chat does.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/chat.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "local/local.h"

namespace wick {

namespace {

struct RunFlags : ChatOptions {
  std::string question = {};  // PROMPT
  int top_logprobs = -1;
  bool scores_prompt = false;
};

Result<int> two_prompts() {
  return Error{.code = ErrorCode::kInvalid,
               .id = "usage",
               .message = "there are two prompts, PROMPT and --prompt",
               .hint = "wick run --help"};
}

Result<int> run_raw(const RunFlags& o) {
  if (o.thinking) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = "--think and --no-think are variables of the chat template",
                 .hint = "wick run MODEL PROMPT uses the template, --prompt does not"};
  }
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
  const auto o = std::make_shared<RunFlags>();
  o->settings.add_model(flags, true);
  flags.text("PROMPT", o->question,
             "a question, answered with the chat template (like wick chat -p)");
  add_prompt_flags(flags, *o,
                   "text to complete, without a chat template; default standard input");
  flags.toggle("--think,!--no-think", "with PROMPT: switch reasoning on or off",
               [o](bool is_on) { o->thinking = is_on; });
  add_ask_flags(flags, *o);
  flags.integer("--logprobs", o->top_logprobs, {-1, kMaxTopLogprobs},
                "with --json: logprob of each token, and this many top logprobs; -1 = none");
  flags.toggle("--prompt-logprobs", o->scores_prompt,
               "with --logprobs: also the logprobs of the prompt tokens");
  return [o, flags]() -> Result<int> {
    WICK_DO(read_prompt_file(*o, flags));
    bool has_question = flags.is_given("PROMPT");
    if (const auto text = o->settings.take_argument()) {  // -m MODEL: PROMPT is the first argument
      if (has_question)
        return argument_too_many(o->question, "wick run -m MODEL PROMPT, the prompt in quotes");
      o->question = *text;
      has_question = true;
    }
    if (has_question && o->has_prompt) return two_prompts();
    if (has_question) {
      o->prompt = o->question;
      o->has_prompt = true;
    }
    auto status = has_question ? run_chat(*o) : run_raw(*o);
    if (!status && !has_question) return o->settings.with_prompt_hint(status.error(), "run");
    return status;
  };
}

}  // namespace wick
