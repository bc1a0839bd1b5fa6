// Shared by chat and run: streaming an answer to the terminal, Ctrl-C, and the line of statistics.
#pragma once

#include <csignal>
#include <memory>
#include <stop_token>
#include <string>

#include "base/printable.h"
#include "base/result.h"
#include "chat/json_value.h"
#include "cli/format_flags.h"
#include "cli/option_flags.h"
#include "cli/options.h"
#include "provider/gather.h"
#include "provider/provider.h"

namespace wick {

// One at a time. During its lifetime SIGINT requests a stop of this source instead of ending the
// program.
class Interrupt {
 public:
  static Result<std::unique_ptr<Interrupt>> begin();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

  bool was_hit() const noexcept { return source_.stop_requested(); }

 private:
  Interrupt() = default;

  std::stop_source source_;
  void (*previous_)(int) = SIG_ERR;  // until ours is in its place
};

// The flags of both commands, and their values.
struct AskOptions {
  OptionFlags settings = {};
  FormatOptions format = {};
  std::string prompt = {}, prompt_file = {};
  bool has_prompt = false, is_json = false, is_quiet = false, is_verbose = false;
};

struct Asking {
  OpenModel model = {};
  std::string prompt = {};  // of the flag, else piped in
  Generation generation = {};
};

// --prompt, with this help, and --file.
void add_prompt_flags(Flags& flags, AskOptions& options, const std::string& help);
void add_ask_flags(Flags& flags, AskOptions& options);  // all others
// has_prompt, and the prompt of --file.
Result<void> read_prompt_file(AskOptions& options, const Flags& flags);
Result<Asking> prepare(const AskOptions& options);

// Waits for an answer. If `is_printing`, its text is printed to stdout as it arrives
// (print_answer()), on a terminal also the reasoning before it. An error after the first text is in
// Gather::error.
Result<Gather> ask(Provider& provider, Request request, bool is_printing);

// The final output and exit status of chat and run: the answer as JSON, or a line of statistics on
// a terminal. If an error ended the answer, the JSON has the partial answer and "error".
Result<int> end_answer(const Gather& whole, const AskOptions& form);

// "12 prompt tokens (8 cached) at 310.2 tokens/s, 40 generated at 95.1 tokens/s, stop": how an
// answer went.
Printable figures(const Completion& answer);

// {"temperature":{"value":0.8,"origin":"default"},…}
JsonValue to_value(const std::vector<EffectiveParameter>& parameters);

// {"text","stop","usage":{…},"parameters":{…}}, and where there are any "reasoning", "tool_calls",
// "logprobs", "prompt_logprobs" and "error".
JsonValue to_value(const Gather& whole);

}  // namespace wick
