// Answers of a local model as a reader of many meets them: pulled, woken, one thread for all.
#include "local/local_answer.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>

#include "local/local.h"
#include "local/tiny_local_test.h"
#include "provider/gather.h"
#include "support/hot_counters.h"
#include "support/saying.h"
#include "support/thread_count.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

using test::TinyLocal;

Request noise(std::uint64_t seed, int max_tokens) {
  return {.prompt = "abc",
          .generation = {.temperature = 3, .seed = seed, .max_tokens = max_tokens}};
}

bool is_readable(int fd) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 60'000) == 1;
}

// Reads all of them to their ends on this thread.
void read(WakeSet& set, std::span<const std::unique_ptr<Answer>> answers,
          std::span<Gather> wholes) {
  std::vector<bool> is_open(answers.size(), true);
  for (std::size_t n_open = answers.size(); n_open > 0;) {
    ASSERT_TRUE(is_readable(set.fd())) << n_open;
    set.take([&](std::uint64_t key) {
      while (const auto event = answers[key]->poll())
        wholes[key].add(*event);
      if (!is_open[key] || !answers[key]->is_over()) return;
      is_open[key] = false;
      --n_open;
    });
  }
}

TEST(LocalAnswer, AThousandAtOnceArePulledByOneThreadAndSayTheSameAsOneByOne) {
  constexpr std::size_t kAnswers = 1000, kSeeds = 10;
  const TinyLocal f({.engine = {.max_seqs = 16, .max_queue = kAnswers}});
  std::vector<Completion> blocking;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    blocking.push_back(*ask(*f.model, noise(seed, 12)));
  EXPECT_NE(blocking[0].text, blocking[1].text);
  const auto set = *WakeSet::create();
  const int threads_before = test::thread_count();
  const std::size_t bytes_before = ::mallinfo2().uordblks;
  std::vector<std::unique_ptr<Answer>> answers;
  std::vector<Gather> wholes(kAnswers);
  for (std::size_t i = 0; i < kAnswers; ++i)
    answers.push_back(*f.model->start(noise(i % kSeeds, 12), set->add(i)));
  const std::size_t bytes = (::mallinfo2().uordblks - bytes_before) / kAnswers;
  EXPECT_EQ(test::thread_count(), threads_before);
  read(*set, answers, wholes);
  for (std::size_t i = 0; i < kAnswers; ++i) {
    ASSERT_EQ(wholes[i].completion.text, blocking[i % kSeeds].text) << i;
    ASSERT_EQ(wholes[i].completion.usage.generated_tokens,
              blocking[i % kSeeds].usage.generated_tokens);
  }
  RecordProperty("bytes_per_answer", static_cast<int>(bytes));
  std::printf("%zu answers of a local model at once: at most %zu bytes each\n", kAnswers, bytes);
  const auto statistics = f.model->statistics({});
  ASSERT_TRUE(statistics);
  EXPECT_EQ(statistics->requests, kAnswers + kSeeds);
  EXPECT_EQ(statistics->running + statistics->waiting, 0);
  EXPECT_EQ(statistics->free_blocks, statistics->cache_blocks);
}

TEST(HotPathLocalAnswer, TellingAReaderTouchesNeitherHeapNorLock) {
  const TinyLocal f({.engine = {.max_seqs = 4}});
  const auto set = *WakeSet::create();
  std::vector<std::unique_ptr<Answer>> answers;
  std::vector<Gather> wholes(4);
  test::reset_hot_counts();
  for (std::size_t i = 0; i < 4; ++i) {
    Request request = noise(i, 100);
    request.generation.logprobs = i == 3;
    answers.push_back(*f.model->start(request, set->add(i)));
  }
  read(*set, answers, wholes);
  const test::HotCounts counts = test::hot_counts();
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.frees, 0);
  EXPECT_EQ(counts.locks, 0);
}

Request saying(LocalModel& model, Prompt prompt, const std::string& text) {
  Request request{.prompt = std::move(prompt)};
  const std::size_t n_prompt = model.prompt_tokens(request)->size();
  request.generation.logits = test::saying(text, n_prompt);
  request.generation.logprobs = true;
  return request;
}

TEST(LocalAnswer, WhatIsThoughtComesAsReasoning) {
  const TinyLocal f;
  const std::vector<Message> question = {{.content = "Hm?"}};
  const std::string said = "<think>\nSo <b> it is.\n</think>\n\nYes.";
  const auto answer = ask(*f.model, saying(*f.model, question, said));
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->reasoning, "So <b> it is.");
  EXPECT_EQ(answer->text, "Yes.");
  EXPECT_EQ(answer->logprobs.size(), said.size() + 1);  // each token has its score, the end too
  // Plain text is not taken apart.
  EXPECT_EQ(ask(*f.model, saying(*f.model, "Hm?", said))->text, said);
}

// Read after the engine has ended it, when no further wake comes.
TEST(LocalAnswer, AnEndBehindTextThatIsHeldBackIsSeen) {
  const TinyLocal f;
  const std::vector<Message> question = {{.content = "Hm?"}};
  const std::string said[] = {"", "\n", "   ", "<thi", "<think>", "<think>\n", "<think>a</think>"};
  std::uint64_t n_over = 0;
  for (const std::string& text : said) {
    const auto answer = *f.model->start(saying(*f.model, question, text));
    ++n_over;
    while (f.model->statistics("")->requests < n_over)
      std::this_thread::yield();
    Gather whole;
    while (const auto event = answer->poll())
      whole.add(*event);
    EXPECT_TRUE(answer->is_over()) << text;
    const auto blocking = ask(*f.model, saying(*f.model, question, text));
    ++n_over;
    EXPECT_EQ(whole.completion.text, blocking->text);
    EXPECT_EQ(whole.completion.reasoning, blocking->reasoning);
    EXPECT_EQ(whole.completion.logprobs.size(), text.size() + 1);
  }
}

TEST(LocalAnswer, ATemplateMayBeginTheThinking) {
  const TinyLocal f(
      {.chat_template = "{{ messages[0].content }}{% if enable_thinking %}<think>\n{% endif %}"});
  const std::vector<Message> question = {{.content = "<think>"}};
  Request request = saying(*f.model, question, "a</think>b");
  EXPECT_EQ(ask(*f.model, request)->text, "a</think>b") << "a person's words begin nothing";
  request.generation.thinking = true;
  EXPECT_EQ(*f.model->apply_template(request), "<think><think>\n");
  request.generation.logits = test::saying("a</think>b", f.model->prompt_tokens(request)->size());
  EXPECT_EQ(ask(*f.model, request)->reasoning, "a");
}

TEST(LocalAnswer, TokensAreAPromptLikeTheirText) {
  const TinyLocal f;
  Request request = noise(4, 20);
  const auto by_text = ask(*f.model, request);
  request.prompt = *f.model->prompt_tokens(request);
  const auto by_tokens = ask(*f.model, request);
  ASSERT_TRUE(by_tokens);
  EXPECT_EQ(by_tokens->text, by_text->text);
  EXPECT_EQ(by_tokens->usage.prompt_tokens, by_text->usage.prompt_tokens);
  request.prompt = std::vector<TokenId>{test::kTinyVocab};
  EXPECT_EQ(f.model->start(request).error().id, "bad_token");
}

TEST(LocalAnswer, SeedsHave64Bits) {
  const TinyLocal f;
  const std::uint64_t seed = 0xFFFF'FFFF'FFFF'FFF1;
  const auto a = ask(*f.model, noise(seed, 20)), b = ask(*f.model, noise(seed - 1, 20));
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->text, b->text);
  const auto found = std::find_if(a->parameters.begin(), a->parameters.end(),
                                  [](const auto& one) { return one.key == "seed"; });
  ASSERT_NE(found, a->parameters.end());
  EXPECT_EQ(std::get<std::uint64_t>(found->value), seed);
}

TEST(LocalAnswer, RefusesByNameWhatItCannotDo) {
  const TinyLocal f;
  const auto id_of = [&](const Request& request) {
    const auto answer = f.model->start(request);
    return answer ? std::string("taken") : answer.error().id;
  };
  EXPECT_EQ(id_of({.prompt = "a", .generation = {.response_format = {.type = "json_schema"}}}),
            "format_without_schema");
  EXPECT_EQ(id_of({.prompt = "a", .generation = {.response_format = {.type = "yaml"}}}),
            "response_format_unsupported");
  EXPECT_EQ(id_of({.prompt = "a", .generation = {.response_format = {.schema = "{}"}}}),
            "schema_without_format");
  EXPECT_EQ(id_of({.prompt = "a", .generation = {.tools = {{.name = "b"}}}}), "not_a_chat");
  EXPECT_EQ(id_of({.prompt = "a", .generation = {.top_logprobs = 3}}), "bad_top_logprobs");
  for (const TokenId id : {f.model->tokenizer().size(), -1, -7})
    EXPECT_EQ(id_of({.prompt = "a", .generation = {.logit_bias = {{.id = id, .bias = 1}}}}),
              "bad_logit_bias")
        << id;
  EXPECT_EQ(id_of({.prompt = std::vector<Message>{{.content = std::vector<Part>{ImagePart{}}}}}),
            "images_unsupported");
}

TEST(LocalAnswer, KeepsItsModelAndMayBeDroppedAnyTime) {
  auto f = std::make_unique<TinyLocal>(LocalOptions{}, test::TinyModel{.context = 4096});
  const auto set = *WakeSet::create();
  auto kept = *f->model->start(noise(1, 30));
  auto dropped = *f->model->start(noise(2, 4000), set->add(1));
  f->model.reset();
  dropped.reset();
  EXPECT_EQ(read_all(*kept).completion.finish, FinishReason::kLength);
}

}  // namespace
}  // namespace wick
