// wick run: raw completion. The text goes to the model as it is, and the answer to stdout as it is
// made.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/plan.h"
#include "cli/settings.h"
#include "local/local.h"

namespace wick {

namespace {

struct Options {
  SettingFlags settings = {};
  std::string prompt = {};
  bool has_prompt = false, is_json = false, is_quiet = false, is_verbose = false;
  int top_logprobs = -1;
  bool scores_prompt = false;
};

Result<int> run(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  std::string prompt = o.prompt;
  if (!o.has_prompt) {
    if (is_terminal(STDIN_FILENO)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "no_prompt",
                   .message = "there is no prompt",
                   .hint = "wick run -p \"Once upon a time\", or pipe a text in"};
    }
    WICK_TRY(prompt, read_piped_prompt());
  }
  WICK_TRY(Generation generation, generation_settings(config));
  generation.logprobs = o.top_logprobs >= 0;
  generation.top_logprobs = std::max(o.top_logprobs, 0);
  generation.prompt_logprobs = o.scores_prompt;
  WICK_TRY(const OpenModel model, open_model(config));
  if (o.is_verbose && model.local != nullptr) print_plan(note, *model.local, config);
  WICK_TRY(
      const Gather whole,
      ask(*model.provider, {.prompt = std::move(prompt), .generation = generation}, !o.is_json));
  return end_answer(whole, {.is_json = o.is_json, .is_quiet = o.is_quiet});
}

}  // namespace

Action setup_run(Flags flags) {
  const auto o = std::make_shared<Options>();
  o->settings.add_model(flags, false);
  o->settings.add_run(flags);
  o->settings.add_generation(flags);
  flags.text("-p,--prompt", o->prompt, "the text to go on from; standard input if absent");
  flags.toggle("-v,--verbose", o->is_verbose, "first what memory the model may take");
  flags.toggle("-q,--quiet", o->is_quiet, "no line of figures");
  flags.integer("--logprobs", o->top_logprobs, {-1, kMaxTopLogprobs},
                "with --json: log-probabilities of each token and of so many likeliest; -1 = none");
  flags.toggle("--prompt-logprobs", o->scores_prompt,
               "with --logprobs: of the prompt's tokens, too");
  flags.toggle("--json", o->is_json, "one JSON object instead of text");
  flags.remark(kAnswersGo);
  return [o, flags] {
    o->has_prompt = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
