// The C functions as C sees them: what they give, what they refuse, and that nothing leaks (the
// sanitizer of the preset clang watches).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "library/library_fixture_test.h"
#include "support/no_threads.h"

namespace {

using Fixture = wick::CFixture;

struct Settings {
  std::vector<wick_parameter> parameters = {{"temperature", 3}, {"seed", 7}};
  wick_generation generation;

  explicit Settings(int max_tokens = 20) {
    wick_generation_init(&generation);
    generation.max_tokens = max_tokens;
    generation.parameters = parameters.data();
    generation.n_parameters = parameters.size();
  }

  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
};

std::string text_of(wick_completion* completion) {
  if (completion == nullptr) return "nothing";
  EXPECT_EQ(std::strlen(completion->text), completion->length);
  std::string text = completion->text;
  wick_completion_free(completion);
  return text;
}

int append(void* user, const char* text, size_t length) {
  static_cast<std::string*>(user)->append(text, length);
  return 0;
}

TEST(CAbi, SaysTheSameBlockingPushedAndPulled) {
  Fixture f;
  const Settings s;
  std::string pushed;
  const std::string whole =
      text_of(wick_complete(f.model, "abc", &s.generation, append, &pushed, &f.error));
  ASSERT_EQ(f.error, nullptr);
  EXPECT_FALSE(whole.empty());
  EXPECT_EQ(pushed, whole);
  wick_stream* stream = wick_complete_stream(f.model, "abc", &s.generation, &f.error);
  ASSERT_NE(stream, nullptr);
  std::string pulled;
  size_t length = 0;
  while (const char* piece = wick_stream_next(stream, &length)) {
    EXPECT_EQ(std::strlen(piece), length);
    pulled.append(piece, length);
  }
  EXPECT_EQ(pulled, whole);
  EXPECT_EQ(text_of(wick_stream_finish(stream, &f.error)), whole);
  wick_stream_free(stream);
}

TEST(CAbi, AThreadThatCannotStartIsAnErrorOfOpeningAndNotTheEndOfTheHost) {
  Fixture f;
  {
    const wick::test::NoThreads refused;
    EXPECT_EQ(wick_model_open(f.path.c_str(), nullptr, &f.error), nullptr);
    EXPECT_EQ(f.error_id(), "no_thread");
  }
  wick_model* const model = wick_model_open(f.path.c_str(), nullptr, &f.error);
  EXPECT_NE(model, nullptr) << f.error_id();
  wick_model_free(model);
}

TEST(CAbi, AChatMayOutliveTheHandleOfItsModel) {
  Fixture f;
  const Settings s;
  wick_session* session = wick_session_new(f.model, "Be brief.", &f.error);
  const wick_message question = {"user", "one"};
  wick_stream* stream = wick_chat_stream(f.model, &question, 1, &s.generation, &f.error);
  wick_model_free(f.model);
  f.model = nullptr;
  wick_completion_free(wick_session_say(session, "one", &s.generation, nullptr, nullptr, nullptr));
  wick_completion* second =
      wick_session_say(session, "two", &s.generation, nullptr, nullptr, &f.error);
  ASSERT_NE(second, nullptr);
  EXPECT_GT(second->cached_tokens, 20);
  wick_completion_free(second);
  wick_session_reset(session);
  EXPECT_NE(wick_session_save(session, "/no/such/folder/file", &f.error), 0);
  EXPECT_NE(f.error_id(), "");
  const std::string file = (f.dir.path() / "talk").string();
  EXPECT_EQ(wick_session_save(session, file.c_str(), &f.error), 0);
  wick_session_free(session);
  EXPECT_NE(text_of(wick_stream_finish(stream, &f.error)), "nothing");
  wick_stream_free(stream);
}

TEST(CAbi, ASessionGoesToAFileAndBack) {
  Fixture f;
  const Settings s;
  const std::string file = (f.dir.path() / "talk").string();
  wick_session* session = wick_session_new(f.model, nullptr, &f.error);
  wick_completion_free(wick_session_say(session, "one", &s.generation, nullptr, nullptr, nullptr));
  EXPECT_EQ(wick_session_save(session, file.c_str(), &f.error), 0);
  wick_session* again = wick_session_load(f.model, file.c_str(), &f.error);
  ASSERT_NE(again, nullptr) << f.error_id();
  EXPECT_EQ(text_of(wick_session_say(again, "two", &s.generation, nullptr, nullptr, nullptr)),
            text_of(wick_session_say(session, "two", &s.generation, nullptr, nullptr, nullptr)));
  wick_session_free(session);
  wick_session_free(again);
  EXPECT_EQ(wick_session_load(f.model, f.path.c_str(), &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "bad_session_file");
}

TEST(CAbi, ASessionIsSavedUnderABareNameAndOverNothingButAFile) {
  Fixture f;
  const Settings s;
  wick_session* session = wick_session_new(f.model, nullptr, &f.error);
  wick_completion_free(wick_session_say(session, "one", &s.generation, nullptr, nullptr, nullptr));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(f.dir.path());
  EXPECT_EQ(wick_session_save(session, "bare.bin", &f.error), 0) << f.error_id();
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(f.dir.path() / "bare.bin"));
  EXPECT_NE(wick_session_save(session, f.path.c_str(), &f.error), 0);
  EXPECT_EQ(f.error_id(), "output_is_input");
  const std::string pipe = (f.dir.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(wick_session_save(session, pipe.c_str(), &f.error), 0);
  EXPECT_EQ(f.error_id(), "not_a_file");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  wick_session_free(session);
}

TEST(CAbi, TokensAreCountedAlsoWhereThereIsNoRoomForThem) {
  Fixture f;
  std::vector<int32_t> ids(3);
  EXPECT_EQ(wick_tokenize(f.model, "xyz!", 4, ids.data(), ids.size(), &f.error), 4);
  EXPECT_EQ(ids, (std::vector<int32_t>{'x', 'y', 'z'}));
  std::string text(8, '.');
  EXPECT_EQ(wick_detokenize(f.model, ids.data(), 3, text.data(), text.size(), &f.error), 3);
  EXPECT_EQ(text, "xyz.....");
  ids[0] = -1;
  EXPECT_EQ(wick_detokenize(f.model, ids.data(), 3, nullptr, 0, &f.error), -1);
  EXPECT_EQ(f.error_id(), "bad_token");
  EXPECT_EQ(wick_model_vocabulary(f.model), wick::test::kTinyVocab);
  EXPECT_EQ(wick_model_context(f.model), 1024);
}

TEST(CAbi, EmbeddingsAreCountedAlsoWhereThereIsNoRoomForThem) {
  Fixture f;
  const ptrdiff_t n = wick_embed(f.model, "xyz", 3, nullptr, nullptr, 0, &f.error);
  ASSERT_GT(n, 2);
  std::vector<float> all(static_cast<std::size_t>(n)), two(2);
  EXPECT_EQ(wick_embed(f.model, "xyz", 3, "mean", all.data(), all.size(), &f.error), n);
  EXPECT_EQ(wick_embed(f.model, "xyz", 3, nullptr, two.data(), two.size(), &f.error), n);
  EXPECT_EQ(two[1], all[1]);
  EXPECT_EQ(wick_embed(f.model, "xyz", 3, "median", nullptr, 0, &f.error), -1);
  EXPECT_EQ(f.error_id(), "bad_pooling");
}

TEST(CAbi, CancelsFromAHandleASinkAndAStream) {
  Fixture f(8192);
  Settings s(8000);
  s.generation.logits = [](void*, float* logits, size_t, const int32_t*, size_t) {
    logits[wick::test::kTinyImEnd] = logits[wick::test::kTinyBeginOfText] = -1e9F;
    return 0;
  };
  wick_cancel* cancel = wick_cancel_new();
  s.generation.cancel = cancel;
  const auto ask_to_stop = [](void* user, const char*, size_t) {
    wick_cancel_request(static_cast<wick_cancel*>(user));
    return 0;
  };
  const auto refuse = [](void*, const char*, size_t) { return 1; };
  wick_completion* by_handle =
      wick_complete(f.model, "abc", &s.generation, ask_to_stop, cancel, &f.error);
  s.generation.cancel = nullptr;
  wick_cancel_free(cancel);
  wick_completion* by_sink = wick_complete(f.model, "abc", &s.generation, refuse, nullptr, nullptr);
  wick_stream* stream = wick_complete_stream(f.model, "abc", &s.generation, nullptr);
  wick_stream_cancel(stream);
  wick_completion* by_stream = wick_stream_finish(stream, nullptr);
  wick_stream_free(stream);
  for (wick_completion* completion : {by_handle, by_sink, by_stream}) {
    ASSERT_NE(completion, nullptr);
    EXPECT_EQ(completion->finish, WICK_FINISH_CANCELLED);
    wick_completion_free(completion);
  }
}

TEST(CAbi, AHookThatReturnsNotZeroFailsItsRequest) {
  Fixture f;
  Settings s;
  s.generation.logits = [](void*, float*, size_t, const int32_t*, size_t) { return 3; };
  EXPECT_EQ(wick_complete(f.model, "abc", &s.generation, nullptr, nullptr, &f.error), nullptr);
  ASSERT_NE(f.error, nullptr);
  EXPECT_STREQ(f.error->message, "the logits hook failed: it returned 3");
  EXPECT_EQ(f.error->code, WICK_INVALID);
}

TEST(CAbi, RefusesNullsAndStructsOfAnotherSize) {
  Fixture f;
  EXPECT_EQ(wick_model_open(nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
  EXPECT_EQ(wick_complete(f.model, nullptr, nullptr, nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
  EXPECT_EQ(wick_chat(f.model, nullptr, nullptr, nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
  EXPECT_EQ(wick_stream_next(nullptr, nullptr), nullptr);
  EXPECT_EQ(wick_stream_finish(nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
  wick_generation unset = {};
  EXPECT_EQ(wick_complete(f.model, "a", &unset, nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "bad_struct_size");
  unset.size = sizeof(unset) + 8;
  EXPECT_EQ(wick_complete(f.model, "a", &unset, nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "bad_struct_size");
  wick_completion_free(nullptr);
  wick_error_free(nullptr);
}

void expect_same(const wick_token_logprob* seen, size_t n,
                 const std::vector<wick::TokenLogprob>& wanted) {
  ASSERT_EQ(n, wanted.size());
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(seen[i].id, wanted[i].id);
    EXPECT_EQ(std::string(seen[i].bytes, seen[i].length), wanted[i].bytes);
    EXPECT_EQ(seen[i].logprob, wanted[i].logprob);
    expect_same(seen[i].top_logprobs, seen[i].n_top_logprobs, wanted[i].top_logprobs);
  }
}

TEST(CAbi, RefusesAnEnumeratorThatIsNone) {
  Fixture f;
  Settings s;
  for (const int value : {-1, 3, 4, 1 << 30}) {
    std::memcpy(&s.generation.thinking, &value, sizeof value);
    EXPECT_EQ(wick_chat(f.model, "abc", &s.generation, nullptr, nullptr, &f.error), nullptr);
    EXPECT_EQ(f.error_id(), "bad_thinking") << value;
  }
}

TEST(CAbi, ScoredTokensAreThoseOfTheCppFace) {
  Fixture f;
  Settings s;
  s.generation.logprobs = s.generation.prompt_logprobs = 1;
  s.generation.top_logprobs = 3;
  wick_completion* seen = wick_complete(f.model, "abcd", &s.generation, nullptr, nullptr, &f.error);
  ASSERT_NE(seen, nullptr) << f.error_id();
  const auto model = wick::Model::open(f.path, {.threads = 1});
  const auto wanted = model->complete("abcd", {.temperature = 3,
                                               .seed = 7,
                                               .max_tokens = 20,
                                               .logprobs = true,
                                               .prompt_logprobs = true,
                                               .top_logprobs = 3});
  ASSERT_TRUE(wanted);
  EXPECT_EQ(seen->n_logprobs, static_cast<size_t>(seen->generated_tokens));
  EXPECT_EQ(seen->n_prompt_logprobs, 3U);
  expect_same(seen->logprobs, seen->n_logprobs, wanted->logprobs);
  expect_same(seen->prompt_logprobs, seen->n_prompt_logprobs, wanted->prompt_logprobs);
  wick_completion_free(seen);
  s.generation.logprobs = s.generation.prompt_logprobs = 0;
  EXPECT_EQ(wick_complete(f.model, "a", &s.generation, nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "bad_top_logprobs");
}

TEST(CAbi, AStreamsScoresAreThoseOfItsCompletion) {
  Fixture f;
  Settings s;
  s.generation.logprobs = 1;
  s.generation.top_logprobs = 3;
  wick_stream* stream = wick_complete_stream(f.model, "abcd", &s.generation, &f.error);
  ASSERT_NE(stream, nullptr) << f.error_id();
  size_t n = 7;
  EXPECT_EQ(wick_stream_logprobs(stream, &n, &f.error), nullptr);
  EXPECT_EQ(n, 0U);
  EXPECT_EQ(f.error, nullptr);
  std::vector<wick::TokenLogprob> seen;
  for (bool has_more = true; has_more;) {
    has_more = wick_stream_next(stream, nullptr) != nullptr;
    const wick_token_logprob* logprobs = wick_stream_logprobs(stream, &n, &f.error);
    for (size_t i = 0; i < n; ++i) {
      seen.push_back(
          {logprobs[i].id, {logprobs[i].bytes, logprobs[i].length}, logprobs[i].logprob});
      for (size_t k = 0; k < logprobs[i].n_top_logprobs; ++k) {
        const wick_token_logprob& likely = logprobs[i].top_logprobs[k];
        seen.back().top_logprobs.push_back(
            {likely.id, {likely.bytes, likely.length}, likely.logprob});
      }
    }
  }
  wick_completion* answer = wick_stream_finish(stream, &f.error);
  ASSERT_NE(answer, nullptr) << f.error_id();
  EXPECT_GT(answer->n_logprobs, 3U);
  expect_same(answer->logprobs, answer->n_logprobs, seen);
  wick_completion_free(answer);
  wick_stream_free(stream);
  EXPECT_EQ(wick_stream_logprobs(nullptr, &n, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
}

TEST(CAbi, ASessionsPlanIsWhatItsNextQuestionThenReports) {
  Fixture f;
  const Settings s;
  wick_session* session = wick_session_new(f.model, nullptr, &f.error);
  wick_completion_free(wick_session_say(session, "one", &s.generation, nullptr, nullptr, nullptr));
  wick_estimate* estimate = wick_session_estimate(session, "two", &s.generation, &f.error);
  ASSERT_NE(estimate, nullptr) << f.error_id();
  wick_completion* answer =
      wick_session_say(session, "two", &s.generation, nullptr, nullptr, &f.error);
  ASSERT_NE(answer, nullptr) << f.error_id();
  EXPECT_EQ(estimate->prompt_tokens, answer->prompt_tokens);
  EXPECT_EQ(estimate->cached_tokens, answer->cached_tokens);
  EXPECT_GT(estimate->cached_tokens, 20);
  wick_completion_free(answer);
  wick_estimate_free(estimate);
  const std::string longest(2000, 'a');
  EXPECT_EQ(wick_session_estimate(session, longest.c_str(), nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "context_length_exceeded");
  EXPECT_EQ(wick_session_estimate(session, nullptr, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
  wick_session_free(session);
}

TEST(CAbi, APlanSaysWhatTheAnswerThenReports) {
  Fixture f;
  const Settings s;
  const std::string text(50, 'a');
  wick_estimate* first = wick_complete_estimate(f.model, text.c_str(), &s.generation, &f.error);
  ASSERT_NE(first, nullptr) << f.error_id();
  EXPECT_EQ(first->miss, WICK_MISS_NEVER_SEEN);
  EXPECT_EQ(first->miss_cached, -1);
  EXPECT_EQ(first->prompt_tokens, 50);
  EXPECT_EQ(first->max_tokens, 20);
  EXPECT_EQ(first->blocks, 5);
  EXPECT_GE(first->free_blocks, 1024 / 16);
  EXPECT_GT(first->cache_bytes, 0U);
  EXPECT_EQ(first->requests_before, 0);
  EXPECT_EQ(first->ttft_ms, -1);
  wick_estimate_free(first);
  const wick_message question = {"user", text.c_str()};
  wick_completion_free(
      wick_chat_messages(f.model, &question, 1, &s.generation, nullptr, nullptr, &f.error));
  wick_estimate* second = wick_chat_estimate(f.model, &question, 1, &s.generation, &f.error);
  ASSERT_NE(second, nullptr) << f.error_id();
  EXPECT_EQ(second->miss, WICK_MISS_NONE);
  EXPECT_GT(second->ttft_ms, 0);
  wick_completion* answer =
      wick_chat_messages(f.model, &question, 1, &s.generation, nullptr, nullptr, &f.error);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(second->prompt_tokens, answer->prompt_tokens);
  EXPECT_EQ(second->cached_tokens, answer->cached_tokens);
  wick_completion_free(answer);
  wick_estimate_free(second);
  EXPECT_EQ(wick_complete_estimate(f.model, std::string(2000, 'a').c_str(), nullptr, &f.error),
            nullptr);
  EXPECT_EQ(f.error_id(), "context_length_exceeded");
  EXPECT_EQ(wick_chat_estimate(f.model, nullptr, 1, nullptr, &f.error), nullptr);
  EXPECT_EQ(f.error_id(), "null_argument");
  EXPECT_EQ(wick_complete_estimate(f.model, nullptr, nullptr, nullptr), nullptr);
  wick_estimate_free(nullptr);
}

TEST(CAbi, ATenantThatIsClosedBeginsAnew) {
  Fixture f;
  wick_generation generation;
  wick_generation_init(&generation);
  generation.max_tokens = 1;
  generation.tenant = 5;
  const auto cached = [&] {
    wick_completion* answer = wick_complete(f.model, "abcdefghijklmnopqrstuvwxyz", &generation,
                                            nullptr, nullptr, &f.error);
    EXPECT_NE(answer, nullptr) << f.error_id();
    const int n = answer == nullptr ? -1 : answer->cached_tokens;
    wick_completion_free(answer);
    return n;
  };
  EXPECT_EQ(cached(), 0);
  EXPECT_GT(cached(), 16);
  EXPECT_GT(wick_model_close_tenant(f.model, 5, 1, &f.error), 0);
  EXPECT_EQ(wick_model_close_tenant(f.model, 5, 1, &f.error), 0);
  EXPECT_EQ(cached(), 0);
  EXPECT_EQ(wick_model_close_tenant(nullptr, 5, 1, nullptr), -1);
}

TEST(CAbi, AnOlderCallersShorterStructKeepsTheDefaultsOfTheRest) {
  Fixture f;
  wick_generation shorter;
  std::memset(&shorter, 0x55, sizeof(shorter));  // what lies behind must not be looked at
  shorter.size = offsetof(wick_generation, parameters);
  shorter.max_tokens = 1;
  wick_completion* answer = wick_complete(f.model, "a", &shorter, nullptr, nullptr, &f.error);
  ASSERT_NE(answer, nullptr) << f.error_id();
  EXPECT_EQ(answer->generated_tokens, 1);
  const wick_effective* const end = answer->parameters + answer->n_parameters;
  const auto find = [&](const char* key) {
    return std::find_if(answer->parameters, end,
                        [&](const wick_effective& p) { return std::strcmp(p.key, key) == 0; });
  };
  ASSERT_NE(find("max_tokens"), end);
  EXPECT_EQ(find("max_tokens")->value, 1);
  EXPECT_STREQ(find("max_tokens")->origin, "request");
  EXPECT_EQ(find("max_tokens")->text, nullptr);
  ASSERT_NE(find("samplers"), end);
  EXPECT_STREQ(find("samplers")->origin, "default");
  EXPECT_NE(std::strstr(find("samplers")->text, "top_k;"), nullptr);
  wick_completion_free(answer);
}

TEST(CAbi, AnErrorHasCodeNameMessageAndHint) {
  Fixture f;
  EXPECT_EQ(wick_model_open("/no/such/model.gguf", nullptr, &f.error), nullptr);
  ASSERT_NE(f.error, nullptr);
  EXPECT_EQ(f.error->code, WICK_NOT_FOUND);
  EXPECT_NE(std::strstr(f.error->message, "/no/such/model.gguf"), nullptr);
  EXPECT_STRNE(f.error->hint, "");
  EXPECT_EQ(wick_abi(), WICK_ABI);
}

TEST(CAbi, SpeculationIsAnOptionAndTheAnswerTellsOfIt) {
  Fixture f;
  const auto answer = [&](const char* speculation, const char* draft) {
    wick_model_options options;
    wick_model_options_init(&options);
    options.threads = 1;
    options.speculation = speculation;
    options.draft_model = draft;
    wick_model* const model = wick_model_open(f.path.c_str(), &options, &f.error);
    EXPECT_NE(model, nullptr) << f.error_id();
    const wick_parameter greedy{"temperature", 0};
    wick_generation generation;
    wick_generation_init(&generation);
    generation.max_tokens = 60;
    generation.parameters = &greedy;
    generation.n_parameters = 1;
    wick_completion* const all =
        wick_complete(model, "one two three one two three one two three one two", &generation,
                      nullptr, nullptr, &f.error);
    EXPECT_NE(all, nullptr) << f.error_id();
    const auto out = std::pair(std::string(all->text), all->draft_tokens);
    EXPECT_LE(all->accepted_tokens, all->draft_tokens);
    wick_completion_free(all);
    wick_model_free(model);
    return out;
  };
  const auto [text, none] = answer(nullptr, nullptr);
  EXPECT_EQ(none, 0);
  for (const auto& [kind, draft] : {std::pair("ngram", static_cast<const char*>(nullptr)),
                                    std::pair("draft", f.path.c_str())}) {
    const auto [same, drafted] = answer(kind, draft);
    EXPECT_EQ(same, text) << kind;
    EXPECT_GT(drafted, 0) << kind;
  }
}

}  // namespace
