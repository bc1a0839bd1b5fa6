// What had been said when an error ends an answer is not lost to those who waited for all of it.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "library/library_fixture_test.h"
#include "wick/wick.h"

namespace wick {
namespace {

constexpr std::size_t kGood = 12;  // tokens before the hook fails

// Settings under which the answer fails behind so many tokens, always at the same one.
Generation failing() {
  Generation ask = noise(3, 100);
  ask.logits = [n = std::size_t{0}](std::span<float>, std::span<const TokenId>) mutable {
    if (n++ == kGood) throw std::runtime_error("enough");
  };
  return ask;
}

TEST(LibraryPartialText, ABlockingCallHasInItsErrorWhatAStreamHadRead) {
  Fixture f;
  auto stream = *f.model->stream("Once upon a time", failing());
  std::string want;
  while (const auto piece = stream.next())
    want += *piece;
  ASSERT_FALSE(want.empty());
  const auto of_stream = stream.finish();
  ASSERT_FALSE(of_stream);
  EXPECT_EQ(of_stream.error().partial_text, want);

  const auto completed = f.model->complete("Once upon a time", failing());
  ASSERT_FALSE(completed);
  EXPECT_EQ(completed.error().id, "callback_failed");
  EXPECT_EQ(completed.error().partial_text, want);
}

TEST(LibraryPartialText, ChatAndSessionsKeepItToo) {
  Fixture f;
  const auto chat = f.model->chat({{.content = "Hello"}}, failing());
  ASSERT_FALSE(chat);
  EXPECT_FALSE(chat.error().partial_text.empty());
  auto session = f.model->session();
  const auto said = session.say("Hello", failing());
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().partial_text, chat.error().partial_text);
  EXPECT_TRUE(session.messages().empty());
}

TEST(LibraryPartialText, ATimeLimitKeepsIt) {
  Fixture f({.context = 8192});
  Generation ask = noise(5, 8000);
  ask.logits = [](std::span<float> logits, std::span<const TokenId>) {
    logits[test::kTinyImEnd] = logits[test::kTinyBeginOfText] = -1e9F;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // 8000 tokens would take 8 s
  };
  ask.time_limit_ms = 200;
  std::string seen;
  const auto answer = f.model->complete("Once", ask, [&](std::string_view piece) {
    seen += piece;
    return true;
  });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().id, "time_limit");
  EXPECT_EQ(answer.error().partial_text, seen);
  EXPECT_FALSE(seen.empty());
}

TEST(LibraryPartialText, ARefusedRequestHasNone) {
  Fixture f;
  const auto refused = f.model->complete(std::string(5000, 'a'), noise(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().partial_text, "");
}

TEST(LibraryPartialText, CHasItInItsError) {
  Fixture f;
  wick_error* error = nullptr;
  wick_model_options options;
  wick_model_options_init(&options);
  options.threads = 1;
  wick_model* const model = wick_model_open(f.path.c_str(), &options, &error);
  ASSERT_NE(model, nullptr);
  const std::vector<wick_parameter> parameters = {{"temperature", 3}, {"seed", 3}};
  wick_generation generation;
  wick_generation_init(&generation);
  generation.max_tokens = 100;
  generation.parameters = parameters.data();
  generation.n_parameters = parameters.size();
  std::size_t n = 0;
  generation.logits_user = &n;
  generation.logits = [](void* user, float*, size_t, const int32_t*, size_t) {
    return (*static_cast<std::size_t*>(user))++ == kGood ? 1 : 0;
  };
  wick_completion* const answer =
      wick_complete(model, "Once upon a time", &generation, nullptr, nullptr, &error);
  EXPECT_EQ(answer, nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->partial_text,
            f.model->complete("Once upon a time", failing()).error().partial_text);
  EXPECT_STRNE(error->partial_text, "");
  wick_error_free(error);
  error = nullptr;
  EXPECT_EQ(wick_complete(model, nullptr, nullptr, nullptr, nullptr, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(error->partial_text, "");
  wick_error_free(error);
  wick_model_free(model);
}

}  // namespace
}  // namespace wick
