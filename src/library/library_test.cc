// The public API over a tiny model, as a program sees it that includes include/wick only.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "library/library_fixture_test.h"
#include "sample/sampler.h"
#include "support/test_data.h"
#include "wick/pool.h"

namespace wick {
namespace {

TEST(LibraryModel, CompletesTheSameForTheSameSeedBlockingPulledAndByCallback) {
  const Fixture f;
  const auto whole = f.model->complete("abc", noise(7));
  ASSERT_TRUE(whole) << to_string(whole.error());
  EXPECT_FALSE(whole->text.empty());
  EXPECT_GT(whole->usage.generated_tokens, 0);

  std::string pushed;
  ASSERT_TRUE(f.model->complete("abc", noise(7), [&](std::string_view piece) {
    pushed += piece;
    return true;
  }));
  EXPECT_EQ(pushed, whole->text);

  auto stream = f.model->stream("abc", noise(7));
  ASSERT_TRUE(stream);
  std::string pulled;
  for (const std::string_view piece : *stream)
    pulled += piece;
  EXPECT_EQ(pulled, whole->text);
  EXPECT_EQ(stream->finish()->text, whole->text);
  EXPECT_NE(f.model->complete("abc", noise(8))->text, whole->text);
}

TEST(LibraryModel, ChatGoesThroughTheTemplate) {
  const Fixture f;
  const auto answer = f.model->chat({{.content = "hello"}}, noise(1));
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_GT(answer->usage.prompt_tokens, 15);  // "hello" and ChatML around it, byte by byte
}

TEST(LibraryModel, TextsBecomeVectors) {
  const Fixture f;
  std::vector<std::string> texts = {"the heat", "abc", "the heat"};
  for (int i = 0; i < 100; ++i)
    texts.push_back(std::to_string(i));
  const auto all = f.model->embed(texts);
  ASSERT_TRUE(all) << to_string(all.error());
  ASSERT_EQ(all->size(), texts.size());
  EXPECT_EQ((*all)[0].values, (*all)[2].values);
  EXPECT_NE((*all)[0].values, (*all)[1].values);
  EXPECT_EQ((*all)[1].tokens, 3);
  double squares = 0;
  for (const float value : (*all)[0].values)
    squares += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(squares, 1, 1e-6);
  const auto last = f.model->embed({"the heat"}, {.pooling = "last", .normalize = false});
  ASSERT_TRUE(last);
  EXPECT_NE((*last)[0].values, (*all)[0].values);
}

TEST(LibraryModel, AnEmbeddingThatCannotBeIsAnErrorThatSaysWhy) {
  const Fixture f;
  EXPECT_EQ(f.model->embed({"a"}, {.pooling = "median"}).error().id, "bad_pooling");
  EXPECT_EQ(f.model->embed({"a", std::string(5000, 'x')}).error().id, "context_length_exceeded");
  EXPECT_EQ(f.model->embed({"a", ""}).error().id, "empty_prompt");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(f.model->embed({"a"}, {.cancel = stop.get_token()}).error().code,
            ErrorCode::kCancelled);
  EXPECT_TRUE(f.model->embed({"a"}));
}

TEST(LibraryModel, TokensComeBackAsTheTextTheyWereMadeOf) {
  const Fixture f;
  const auto ids = *f.model->tokenize("the heat, <|im_end|>!");
  EXPECT_EQ(*f.model->detokenize(ids), "the heat, <|im_end|>!");
  const auto bad = f.model->detokenize(std::vector<TokenId>{test::kTinyVocab});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "token 262 is outside the vocabulary of 262");
}

TEST(LibraryModel, DescribesItself) {
  const Fixture f({.context = 512}, {.max_concurrent = 2});
  const ModelInfo d = f.model->describe();
  EXPECT_EQ(d.architecture, "llama");
  EXPECT_EQ(d.context, 512);
  EXPECT_EQ(d.vocabulary, test::kTinyVocab);
  EXPECT_GT(d.memory.weight_bytes, 10'000U);
  EXPECT_GT(d.memory.cache_bytes, 10'000U);
}

TEST(LibraryModel, AnAnswerSaysWhichParametersHeldAndWhoSetThem) {
  const Fixture f;
  const auto drawn = f.model->complete("abc", {.top_k = 7, .max_tokens = 8});
  ASSERT_TRUE(drawn) << to_string(drawn.error());
  const auto find = [&](std::string_view key) {
    const auto& all = drawn->parameters;
    return *std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.key == key; });
  };
  EXPECT_EQ(std::get<double>(find("top_k").value), 7);
  EXPECT_EQ(find("top_k").origin, "request");
  EXPECT_EQ(std::get<double>(find("temperature").value), 0.8);
  EXPECT_EQ(find("temperature").origin, "default");
  EXPECT_EQ(std::get<double>(find("max_tokens").value), 8);
  // The seed that was drawn repeats the answer.
  const auto seed = std::get<std::uint64_t>(find("seed").value);
  const auto again = f.model->complete("abc", {.top_k = 7, .seed = seed, .max_tokens = 8});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, drawn->text);
}

TEST(LibraryModel, ErrorsHaveCodeNameMessageAndHint) {
  const Fixture f({.context = 64});
  const auto error_of = [](auto result) {
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  };
  const Error missing = error_of(Model::open("/no/such/model.gguf"));
  EXPECT_EQ(missing.code, ErrorCode::kNotFound);
  EXPECT_NE(missing.message.find("/no/such/model.gguf"), std::string::npos);
  EXPECT_FALSE(missing.hint.empty());
  EXPECT_EQ(error_of(Model::open(f.path, {.cache_type = "q9"})).id, "bad_kv_type");
  EXPECT_EQ(error_of(Model::open(f.path, {.max_concurrent = 0})).id, "bad_max_concurrent");
  EXPECT_EQ(error_of(f.model->complete(std::string(80, 'a'))).id, "context_length_exceeded");
  EXPECT_EQ(error_of(f.model->complete("a", {.min_p = 2})).message,
            "min_p is 2, allowed are 0 to 1");
  EXPECT_EQ(error_of(f.model->complete("a", {.more = {{"mean_p", 1}}})).id, "unknown_parameter");
}

TEST(LibraryModel, ACancelledAnswerKeepsWhatItHas) {
  const Fixture f({.context = 8192});
  std::stop_source stop;
  Generation endless = noise(1, 8000);
  endless.cancel = stop.get_token();
  const LogitsHook never_ends = [](std::span<float> logits, std::span<const TokenId>) {
    logits[test::kTinyImEnd] = logits[test::kTinyBeginOfText] = -1e9F;
  };
  endless.logits = never_ends;
  const auto by_token = f.model->complete("abc", endless, [&](std::string_view) {
    stop.request_stop();
    return true;
  });
  ASSERT_TRUE(by_token) << to_string(by_token.error());
  EXPECT_EQ(by_token->finish, FinishReason::kCancelled);
  EXPECT_FALSE(by_token->text.empty());

  endless.cancel = {};
  const auto by_sink = f.model->complete("abc", endless, [](std::string_view) { return false; });
  ASSERT_TRUE(by_sink);
  EXPECT_EQ(by_sink->finish, FinishReason::kCancelled);

  auto stream = f.model->stream("abc", endless);
  ASSERT_TRUE(stream);
  ASSERT_TRUE(stream->next());
  std::thread other([&] { stream->cancel(); });
  other.join();
  EXPECT_EQ(stream->finish()->finish, FinishReason::kCancelled);
}

TEST(LibraryModel, AHookDecidesTokenByToken) {
  const Fixture f;
  std::vector<std::size_t> lengths;
  Generation g = noise(1, 3);
  g.logits = [&](std::span<float> logits, std::span<const TokenId> history) {
    lengths.push_back(history.size());
    for (float& logit : logits)
      logit = -1e9F;
    logits[history.size() == 5 ? 'y' : 'x'] = 0;
  };
  const auto answer = f.model->complete("abcd", g);
  ASSERT_TRUE(answer) << to_string(answer.error());
  // Token ids are GPT-2's byte letters in byte order: 'x' is byte 0x78.
  EXPECT_EQ(answer->text, "xyx");
  EXPECT_EQ(lengths, (std::vector<std::size_t>{4, 5, 6}));
  EXPECT_EQ(answer->finish, FinishReason::kLength);
}

TEST(LibraryModel, AHookThatThrowsEndsItsRequestOnly) {
  const Fixture f;
  Generation g = noise(1);
  int calls = 0;
  g.logits = [&](std::span<float>, std::span<const TokenId>) {
    if (++calls == 3) throw std::runtime_error("no more");
  };
  auto stream = f.model->stream("abc", g);
  ASSERT_TRUE(stream);
  const auto failed = stream->finish();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().id, "callback_failed");
  EXPECT_EQ(failed.error().message, "the logits hook failed: no more");
  EXPECT_TRUE(f.model->complete("abc", noise(1)));
}

TEST(LibraryModel, AHookThatAsksItsOwnModelIsRefusedAndDoesNotWait) {
  const Fixture f;
  std::vector<std::string> ids;
  Generation g = noise(1, 1);
  g.logits = [&](std::span<float>, std::span<const TokenId>) {
    const auto note = [&](const auto& result) {
      ids.push_back(result ? "answered" : result.error().id);
    };
    note(f.model->complete("x", noise(1)));
    note(f.model->stream("x", noise(1)));
    note(f.model->estimate("x"));
    note(f.model->embed({"x"}));
    note(f.model->close_tenant(3));
    note(f.model->session().say("x"));
  };
  ASSERT_TRUE(f.model->complete("abc", g));
  EXPECT_EQ(ids, std::vector<std::string>(6, "called_in_hook"));
  EXPECT_TRUE(f.model->complete("abc", noise(1)));
}

// The hook owns the model and the stream: both go when it does, on the model's thread.
TEST(LibraryModel, AHookMayDropTheLastOwnerOfItsModel) {
  struct Owned {
    std::optional<Fixture> fixture;
    std::optional<Stream> stream;
  };

  std::atomic<bool> is_owned = false, is_dropped = false;
  {
    auto owned = std::make_shared<std::optional<Owned>>(std::in_place);
    (*owned)->fixture.emplace(test::TinyModel{.context = 8192});
    Generation g = noise(1, 8000);
    g.logits = [&, owned](std::span<float>, std::span<const TokenId> history) {
      if (history.size() < 8) return;
      is_owned.wait(false);
      owned->reset();
      is_dropped = true;
    };
    (*owned)->stream = *(*owned)->fixture->model->stream("abc", g);
    is_owned = true;
    is_owned.notify_one();
  }
  while (!is_dropped)
    std::this_thread::yield();
}

TEST(LibraryModel, ATimeLimitIsAnErrorThatLeavesTheTextThereWas) {
  const Fixture f({.context = 8192});
  Generation g = noise(1, 8000);
  g.logits = [](std::span<float> logits, std::span<const TokenId>) {
    logits[test::kTinyImEnd] = logits[test::kTinyBeginOfText] = -1e9F;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // 8000 tokens would take 8 s
  };
  g.time_limit_ms = 300;
  auto stream = f.model->stream("abc", g);
  ASSERT_TRUE(stream);
  const auto late = stream->finish();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().id, "time_limit");
  EXPECT_FALSE(stream->text().empty());
}

TEST(LibraryModel, AnswersSideBySideAreThoseTheyGiveAlone) {
  const Fixture f;
  std::vector<std::string> alone;
  for (std::uint64_t i = 0; i < 6; ++i)
    alone.push_back(f.model->complete("abc", noise(i))->text);
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 6; ++i) {
    auto stream = f.model->stream("abc", noise(i));
    ASSERT_TRUE(stream);
    streams.push_back(*std::move(stream));
  }
  for (std::size_t i = 0; i < streams.size(); ++i)
    EXPECT_EQ(streams[i].finish()->text, alone[i]);
}

TEST(LibraryModel, AStreamKeepsItsModelAlive) {
  std::optional<Stream> stream;
  {
    const Fixture f;
    stream = *f.model->stream("abc", noise(1));
  }
  EXPECT_TRUE(stream->finish());
}

TEST(LibrarySession, TheNextTurnComputesOnlyWhatIsNew) {
  const Fixture f;
  Session session = f.model->session("Be brief.");
  ASSERT_TRUE(session.say("one", noise(1)));
  const auto second = session.say("two", noise(2));
  ASSERT_TRUE(second);
  EXPECT_EQ(session.messages().size(), 5U);
  EXPECT_EQ(session.messages()[0].role, "system");
  EXPECT_EQ(session.messages()[4].content.text(), second->text);
  EXPECT_GT(second->usage.cached_tokens, 30);

  // The same conversation in one piece gives the same answer.
  std::vector<Message> before(session.messages().begin(), session.messages().end() - 1);
  EXPECT_EQ(f.model->chat(before, noise(2))->text, second->text);
}

TEST(LibrarySession, AStreamedAnswerJoinsAtItsEndAndKeepsTheSessionBusyUntilThen) {
  const Fixture f;
  Session session = f.model->session();
  auto stream = session.stream("one", noise(1));
  ASSERT_TRUE(stream);
  const auto refused = session.say("two");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "session_busy");
  const std::string text = stream->finish()->text;
  ASSERT_EQ(session.messages().size(), 2U);
  EXPECT_EQ(session.messages()[1].content.text(), text);
  { auto dropped = *session.stream("two", noise(2)); }
  EXPECT_EQ(session.messages().size(), 4U);
  EXPECT_TRUE(session.undo());
  EXPECT_EQ(session.messages().size(), 2U);
}

TEST(LibrarySession, GoesOnFromAFile) {
  const Fixture f;
  const std::string file = (f.dir.path() / "talk").string();
  Session session = f.model->session("Be brief.");
  ASSERT_TRUE(session.say("one", noise(1)));
  ASSERT_TRUE(session.save(file));
  const Model again = *Model::open(f.path, {.threads = 1});
  auto loaded = again.load_session(file);
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(loaded->messages().size(), 3U);
  const auto second = loaded->say("two", noise(2));
  ASSERT_TRUE(second);
  EXPECT_GT(second->usage.cached_tokens, 30);
  EXPECT_EQ(second->text, session.say("two", noise(2))->text);
  EXPECT_FALSE(again.load_session(f.path));
}

TEST(LibrarySession, AnErrorTakesTheQuestionBack) {
  const Fixture f({.context = 64});
  Session session = f.model->session();
  EXPECT_FALSE(session.say(std::string(80, 'a')));
  EXPECT_TRUE(session.messages().empty());
  EXPECT_FALSE(session.undo());
}

TEST(LibraryModel, BiasesAndStopIdsAreTheSamplers) {
  const Fixture f;
  Generation g = noise(1, 5);
  for (TokenId id = 0; id < test::kTinyVocab; ++id) {
    if (id != 'x') g.logit_bias.push_back({id, -std::numeric_limits<double>::infinity()});
  }
  EXPECT_EQ(f.model->complete("abc", g)->text, "xxxxx");
  g.stop_token_ids = {'x'};
  EXPECT_EQ(f.model->complete("abc", g)->usage.generated_tokens, 1);
  EXPECT_FALSE(f.model->complete("abc", {.samplers = "no_such_thing"}));
}

TEST(LibraryPython, TypeHintsNameEveryParameterOfTheSampler) {
  std::ifstream in(test::test_data("../../python/wick/_wick.pyi"));
  const std::string hints{std::istreambuf_iterator<char>(in), {}};
  for (const SamplerParam& param : sampler_params())
    EXPECT_NE(hints.find(cat("\n    ", param.key, ": ")), std::string::npos) << param.key;
}

TEST(LibraryPool, HandsOutModelsWithinItsBudgetAndSwapsThem) {
  const Fixture a({.seed = 1}), b({.seed = 2});
  const std::uint64_t bytes = a.model->describe().memory.total();
  ModelPool pool({.budget_bytes = 2 * bytes, .warm_up = true, .model = {.threads = 1}});
  const auto text_of = [](const Result<Model>& model) {
    EXPECT_TRUE(model) << (model ? "" : to_string(model.error()));
    return model ? model->complete("abc", noise(1))->text : std::string();
  };
  const std::string of_a = text_of(pool.get(a.path)), of_b = text_of(pool.get(b.path));
  ASSERT_NE(of_a, of_b);
  EXPECT_EQ(of_a, a.model->complete("abc", noise(1))->text);
  EXPECT_TRUE(pool.pin(b.path, true));
  EXPECT_EQ(text_of(pool.replace(a.path, b.path)), of_b);
  EXPECT_EQ(text_of(pool.get(a.path)), of_b);
  ASSERT_EQ(pool.list().size(), 2U);
  EXPECT_EQ(pool.list()[1].name, a.path);
  EXPECT_EQ(pool.list()[1].source, b.path);
  EXPECT_TRUE(pool.unload(a.path));
  EXPECT_FALSE(pool.get("/no/such/model"));
}

// A text that repeats itself, so that there is something to draft.
TEST(LibrarySpeculation, DraftsAndChangesNoToken) {
  const std::string prompt = "one two three one two three one two three one two";
  const Generation ask{.temperature = 0, .max_tokens = 60};
  Fixture plain;
  const auto want = plain.model->complete(prompt, ask);
  ASSERT_TRUE(want) << to_string(want.error());
  EXPECT_EQ(want->usage.draft_tokens, 0);
  ModelOptions draft{.speculation = "draft", .draft_model = plain.path, .draft_max = 4};
  for (const ModelOptions& options : {ModelOptions{.speculation = "ngram"}, draft}) {
    SCOPED_TRACE(options.speculation);
    Fixture f({.context = 1024}, options);
    ASSERT_TRUE(f.model);
    const auto got = f.model->complete(prompt, ask);
    ASSERT_TRUE(got) << to_string(got.error());
    EXPECT_EQ(got->text, want->text);
    EXPECT_GT(got->usage.draft_tokens, 0);
    if (options.speculation == "draft") {
      EXPECT_GT(got->usage.accepted_tokens, 0);
    }
  }
}

TEST(LibrarySpeculation, RefusesWhatDoesNotBelongTogether) {
  Fixture f;
  const auto message = [&](const ModelOptions& options) {
    const auto model = Model::open(f.path, options);
    return model ? "" : model.error().message;
  };
  EXPECT_EQ(message({.speculation = "guess"}),
            "speculation is 'guess', allowed are none, ngram and draft");
  EXPECT_EQ(message({.speculation = "draft"}),
            "speculation is 'draft' and draft_model '': 'draft' and a draft_model belong together");
  EXPECT_EQ(message({.draft_model = f.path}).find("speculation is 'none' and draft_model"), 0U);
  EXPECT_EQ(message({.speculation = "ngram", .draft_max = 65}),
            "draft_max is 65, allowed are 0 to 64");
}

}  // namespace
}  // namespace wick
