#include "cli/answer.h"

#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "cli/estimate.h"
#include "cli/out.h"
#include "cli/report.h"

namespace wick {

namespace {

// A signal handler may do next to nothing: it posts, and a thread that waits for it requests the
// stop.
sem_t hits;
std::jthread watcher;

void on_signal(int /*number*/) {
  ::sem_post(&hits);
}

}  // namespace

Result<std::unique_ptr<Interrupt>> Interrupt::begin() {
  ::sem_init(&hits, 0, 0);
  std::unique_ptr<Interrupt> interrupt(new Interrupt);
  WICK_TRY(watcher, start_thread([source = &interrupt->source_](const std::stop_token& end) {
             while (!end.stop_requested()) {
               if (::sem_wait(&hits) == 0 && !end.stop_requested()) source->request_stop();
             }
           }));
  interrupt->previous_ = std::signal(SIGINT, on_signal);
  return interrupt;
}

Interrupt::~Interrupt() {
  if (previous_ != SIG_ERR) std::signal(SIGINT, previous_);
  watcher.request_stop();
  ::sem_post(&hits);
  if (watcher.joinable()) watcher.join();
}

namespace {

// What the model thinks is dimmed, and only a terminal sees it.
class Printer {
 public:
  bool operator()(const Event& event) {
    if (const auto* const text = std::get_if<TextEvent>(&event)) {
      if (std::exchange(is_thinking_, false)) print({"\n\n"});
      print_answer(text->text);
      flush_output();
    }
    const auto* const thought = std::get_if<ReasoningEvent>(&event);
    if (thought != nullptr && is_terminal(STDOUT_FILENO)) {
      is_thinking_ = true;
      constexpr int kOut = STDOUT_FILENO;
      print({color(kOut, Color::kDim), printable_answer(thought->text), color(kOut, Color::kNone)});
      flush_output();
    }
    return true;
  }

 private:
  bool is_thinking_ = false;
};

}  // namespace

void add_ask_flags(Flags& flags, AskOptions& options) {
  options.settings.add_tables(flags, {"local.", "cache.", "optimize."});
  options.settings.add_tables(flags, {"generation."});
  add_format_flags(flags, options.format);
  Flags output = flags.group("Output");
  output.toggle("-v,--verbose", options.is_verbose, "print the memory estimate first");
  output.toggle("-q,--quiet", options.is_quiet, "do not print the line of statistics");
  output.toggle("--json", options.is_json, "print one JSON object instead of text");
  flags.remark(
      "On a terminal, control characters of an answer are escaped; in a pipe or file they are "
      "not.");
}

void add_prompt_flags(Flags& flags, AskOptions& options, const std::string& help) {
  flags.text("-p,--prompt", options.prompt, help);
  flags.text("-f,--file", options.prompt_file, "read the prompt from this file");
  flags.exclude("--file", "--prompt");
}

Result<void> read_prompt_file(AskOptions& options, const Flags& flags) {
  options.has_prompt = flags.is_given("--prompt") || flags.is_given("--file");
  if (!flags.is_given("--file")) return {};
  WICK_TRY(options.prompt, read_text(options.prompt_file, kMaxPrompt));
  if (options.prompt.ends_with('\n')) options.prompt.pop_back();
  return {};
}

Result<Asking> prepare(const AskOptions& options) {
  WICK_TRY(const Config config, options.settings.resolve());
  Asking out;
  out.prompt = options.prompt;
  if (!options.has_prompt && !is_terminal(STDIN_FILENO)) {
    WICK_TRY(out.prompt, read_piped_prompt());
  }
  WICK_TRY(out.generation, generation_settings(config));
  WICK_TRY(out.generation.response_format, response_format(options.format));
  WICK_TRY(out.model, open_model(config));
  if (options.is_verbose && out.model.local != nullptr)
    print_memory_estimate(note, *out.model.local, config);
  return out;
}

namespace {

// Names the options that the provider ignores, once in a conversation. Defaults of config.toml are
// for all models, so they are no surprise.
void warn_ignored(const AnswerReport& report, const Generation& generation) {
  static std::string told;
  std::string names;
  for (const std::string& name : report.ignored) {
    const auto row = std::find_if(generation.origins.begin(), generation.origins.end(),
                                  [&](const auto& pair) { return pair.first == name; });
    const bool is_default =
        row != generation.origins.end() && !row->second.starts_with("flag");
    if (!is_default) names += cat(names.empty() ? "" : ", ", name);
  }
  if (names.empty() || names == told) return;
  told = names;
  note({"warning: ", printable(report.provider), " ignores ", printable(names, 1000), "\n"});
}

}  // namespace

Result<Gather> ask(Provider& provider, Request request, bool is_printing) {
  WICK_TRY(const auto interrupt, Interrupt::begin());
  request.generation.cancel = interrupt->token();
  auto answer = provider.start(request);
  if (!answer && answer.error().code == ErrorCode::kCancelled) {  // before there was a prompt
    Gather nothing;
    nothing.completion.finish = FinishReason::kCancelled;
    return nothing;
  }
  if (!answer) return std::move(answer).error();
  const EventSink printer = is_printing ? Printer() : EventSink();
  bool is_begun = false;
  const EventSink sink = [&](const Event& event) {
    if (!std::exchange(is_begun, true)) warn_ignored((*answer)->report(), request.generation);
    return !printer || printer(event);
  };
  return read_all(**answer, sink, interrupt->token());
}

namespace {

Printable per_second(int tokens, double ms) {
  return fixed(ms > 0 ? tokens / ms * 1000 : 0, 1);
}

}  // namespace

Printable figures(const Completion& answer) {
  const Usage& u = answer.usage;
  std::string line = cat(u.prompt_tokens, " prompt tokens");
  if (u.cached_tokens > 0) line += cat(" (", u.cached_tokens, " cached)");
  line += cat(" at ", per_second(u.prompt_tokens - u.cached_tokens, u.prompt_ms), " tokens/s, ",
              u.generated_tokens, " generated");
  if (u.generated_tokens > 1) {  // the first one belongs to the prompt's time
    line += cat(" at ", per_second(u.generated_tokens - 1, u.generate_ms), " tokens/s");
  }
  return printable(cat(line, ", ", name(answer.finish)));
}

namespace {

// Where the reuse of the prompt ended and why; null if it did not.
JsonValue to_value(const CacheMiss& miss) {
  if (miss.reason == MissReason::kNone) return JsonValue(nullptr);
  return json_object({{"reason", name(miss.reason)},
                      {"position", miss.position},
                      {"wanted", miss.wanted},
                      {"cached", miss.cached}});
}

// A whole number without the ".0" of a double.
JsonValue number(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    return JsonValue(static_cast<std::int64_t>(value));
  }
  return JsonValue(value);
}

JsonValue to_value(const std::vector<TokenLogprob>& tokens) {
  Array array;
  for (const TokenLogprob& token : tokens) {
    Object one =
        json_object({{"id", token.id}, {"token", token.bytes}, {"logprob", token.logprob}});
    if (!token.top_logprobs.empty()) one["top"] = to_value(token.top_logprobs);
    array.emplace_back(std::move(one));
  }
  return JsonValue(std::move(array));
}

}  // namespace

JsonValue to_value(const std::vector<EffectiveParameter>& parameters) {
  Object object;
  for (const EffectiveParameter& one : parameters) {
    JsonValue value;
    if (const auto* const text = std::get_if<std::string>(&one.value)) value = *text;
    if (const auto* const real = std::get_if<double>(&one.value)) value = number(*real);
    if (const auto* const whole = std::get_if<std::uint64_t>(&one.value)) value = *whole;
    object[one.key] = json_object({{"value", value}, {"origin", one.origin}});
  }
  return JsonValue(std::move(object));
}

JsonValue to_value(const Gather& whole) {
  const Completion& answer = whole.completion;
  const Usage& u = answer.usage;
  Object out = json_object({{"text", answer.text},
                            {"stop", name(answer.finish)},
                            {"usage", json_object({{"prompt_tokens", u.prompt_tokens},
                                                   {"cached_tokens", u.cached_tokens},
                                                   {"cache_miss", to_value(u.miss)},
                                                   {"generated_tokens", u.generated_tokens},
                                                   {"draft_tokens", u.draft_tokens},
                                                   {"accepted_tokens", u.accepted_tokens},
                                                   {"steered_tokens", u.steered_tokens},
                                                   {"queue_ms", u.queue_ms},
                                                   {"prompt_ms", u.prompt_ms},
                                                   {"generate_ms", u.generate_ms}})},
                            {"parameters", to_value(answer.parameters)}});
  if (!answer.reasoning.empty()) out["reasoning"] = answer.reasoning;
  Array calls;
  for (const ToolCall& call : answer.tool_calls)
    calls.emplace_back(
        json_object({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}}));
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  if (!answer.logprobs.empty()) out["logprobs"] = to_value(answer.logprobs);
  if (!answer.prompt_logprobs.empty()) out["prompt_logprobs"] = to_value(answer.prompt_logprobs);
  if (whole.error) out["error"] = to_value(*whole.error);
  return out;
}

Result<int> end_answer(const Gather& whole, const AskOptions& form) {
  const Completion& answer = whole.completion;
  if (form.is_json) {
    print_json(to_value(whole));
    if (whole.error) return exit_code(*whole.error);
  } else {
    if (!whole.error || !answer.text.empty()) print({"\n"});
    flush_output();
    if (whole.error) return *whole.error;
    constexpr int kErr = STDERR_FILENO;
    if (!form.is_quiet && is_terminal(kErr))
      note({color(kErr, Color::kDim), figures(answer), color(kErr, Color::kNone), "\n"});
  }
  return answer.finish == FinishReason::kCancelled ? kExitInterrupted : kExitOk;
}

}  // namespace wick
