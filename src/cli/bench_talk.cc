// wick bench single: one prompt and its answer, short, medium and long; wick bench chat: five turns
// of a conversation, each with all turns before it as prompt.
#include <optional>

#include "base/strings.h"
#include "cli/bench.h"
#include "cli/bench_engine.h"
#include "cli/out.h"
#include "local/local.h"
#include "provider/conversation.h"
#include "provider/gather.h"

namespace wick {

namespace {

// The prompts that are shipped: a question, a page, and the page eight times with a number before
// each.
constexpr std::string_view kQuestion = "Explain in a few sentences why the sky is blue.";
constexpr std::string_view kPage =
    "The lighthouse keeper wrote down the weather four times a day: wind, height of the barometer, "
    "state of the sea. In forty years he filled sixty-two books. When the light was made automatic "
    "nobody came to collect them, so he took them home and put them on a shelf in the kitchen, "
    "where the steam slowly curled their covers. His granddaughter found them there. She had "
    "studied how the climate changes, and she knew at once what sixty-two books of readings from "
    "one place were worth. She typed the first of them in that winter, a page each evening, and "
    "compared the figures with those of the airport twenty kilometres away. The keeper's readings "
    "were steadier. He had missed eleven days in forty years, and had noted the reason for each: "
    "a broken wrist, a funeral, one storm in which the stairs had been under water. Summarize what "
    "happened, and say what the granddaughter will need to check before she can trust the "
    "readings.\n";

std::string long_prompt() {
  std::string text;
  for (int i = 1; i <= 8; ++i)
    text += cat(i, ". ", kPage);
  return text;
}

// Tokens per second without the first token, which belongs to the prompt's time.
double decode_speed(const Usage& usage) {
  return (usage.generated_tokens - 1) / usage.generate_ms * 1e3;
}

Result<int> run_single(const BenchOptions& o) {
  WICK_TRY(const BenchSetup setup, set_up(o));
  std::optional<TimedEngine> timed;
  std::vector<double> load_ms;
  double own_mib = 0;  // of the first time: later ones find memory that was given back
  for (int run = 0; run < o.runs; ++run) {
    timed.reset();
    const double before = anonymous_mib();
    WICK_TRY(timed, TimedEngine::open(setup));
    if (run == 0) own_mib = anonymous_mib() - before;
    load_ms.push_back(timed->load_ms());
  }
  if (!o.is_json) {
    const Quartiles load = quartiles(load_ms);
    print({"loaded in ", fixed(load.median, 1), " ms ", spread(load), ", with ", fixed(own_mib, 1),
           " MiB of memory of its own\n",
           "prompt      tokens  first text, ms (quartiles)     tokens/s (quartiles)\n"});
  }
  const std::pair<const char*, std::string> prompts[] = {
      {"short", std::string(kQuestion)}, {"medium", std::string(kPage)}, {"long", long_prompt()}};
  for (const auto& [name, text] : prompts) {
    WICK_TRY(const std::vector<TokenId> ids, timed->tokenizer().encode_plain(text));
    std::vector<double> ttft, speed;
    for (int run = -1; run < o.runs; ++run) {  // -1: warm-up; a tenant of its own finds no cache
      WICK_TRY(const TimedRun done, timed->run({{.prompt = ids,
                                                 .max_tokens = o.generate,
                                                 .sampling = {.temperature = 0},
                                                 .ignore_end = true,
                                                 .tenant = static_cast<std::uint64_t>(run + 2)}},
                                               1));
      if (run < 0) continue;
      ttft.push_back(done.answers[0].ttft_ms);
      speed.push_back(decode_speed(done.answers[0].usage));
    }
    show({.test = cat("single ", name, " p", ids.size(), " n", o.generate),
          .threads = timed->threads(),
          .figures = {{"ttft_ms", quartiles(ttft)},
                      {"tokens_per_second", quartiles(speed)},
                      {"load_ms", quartiles(load_ms)},
                      {"own_mib", quartiles({own_mib})}}},
         o.is_json, joined({padded(printable(name), 10), column(ids.size(), 8)}),
         {{0, 13, Column::Form::kWithQuartiles}, {1, 15, Column::Form::kWithQuartiles}});
  }
  if (!o.is_json) print({"peak memory: ", fixed(peak_rss_mib(), 0), " MiB\n"});
  return kExitOk;
}

constexpr std::string_view kTurns[] = {
    "I am planning a small vegetable garden. What should I plant first?",
    "The soil is heavy clay and the garden faces north. Does that change your advice?",
    "How often should I water it in a dry summer?",
    "Something eats the leaves at night. How do I find out what it is?",
    "Put everything you told me into a short plan for one year.",
};

// Figures of a turn, one for each run.
struct Turn {
  Usage usage = {};
  std::vector<double> first_ms = {}, speed = {};
};

Result<int> run_chat(const BenchOptions& o) {
  WICK_TRY(const BenchSetup setup, set_up(o));
  WICK_TRY(const auto provider, LocalModel::open(setup.path, setup.local));
  std::vector<Turn> turns(std::size(kTurns));
  for (int run = 0; run < o.runs; ++run) {
    Conversation conversation;
    conversation.set_system(cat("You are a gardener. This is conversation ", run + 1, "."));
    for (std::size_t i = 0; i < turns.size(); ++i) {
      conversation.say(kTurns[i]);
      WICK_TRY(
          const Completion answer,
          ask(*provider, {.prompt = conversation.messages(),
                          .generation = {.temperature = 0, .seed = 1, .max_tokens = o.generate}}));
      conversation.answer(answer);
      turns[i].usage = answer.usage;
      turns[i].first_ms.push_back(answer.usage.prompt_ms);
      if (answer.usage.generated_tokens > 1) turns[i].speed.push_back(decode_speed(answer.usage));
    }
  }
  if (!o.is_json) print({"turn  prompt  of it cached  first token, ms  tokens/s\n"});
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Usage& usage = turns[i].usage;
    show(
        {.test = cat("chat turn ", i + 1, " n", o.generate),
         .threads = setup.local.threads,
         .figures = {{"first_ms", quartiles(turns[i].first_ms)},
                     {"tokens_per_second", quartiles(turns[i].speed)}}},
        o.is_json,
        joined({column(i + 1, 4), column(usage.prompt_tokens, 8), column(usage.cached_tokens, 14)}),
        {{0, 17}, {1, 10}});
  }
  return kExitOk;
}

void add(Flags& bench, const ChosenAction& chosen, const char* name, const char* help,
         Result<int> (*run)(const BenchOptions&)) {
  const auto o = std::make_shared<BenchOptions>();
  o->runs = 5;
  Flags flags = bench.command(name, help, [=] { *chosen = [=] { return run(*o); }; });
  add_common(flags, *o, 2);
}

}  // namespace

void add_bench_single(Flags& bench, const ChosenAction& chosen) {
  add(bench, chosen, "single", "load time, time to first token and tokens/s for three prompts",
      run_single);
}

void add_bench_chat(Flags& bench, const ChosenAction& chosen) {
  add(bench, chosen, "chat", "a conversation of five turns", run_chat);
}

}  // namespace wick
