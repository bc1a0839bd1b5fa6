#include "local/local.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "provider/gather.h"
#include "support/fake_device.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

struct Fixture {
  test::TempDir dir;
  std::shared_ptr<Provider> provider;

  explicit Fixture(const test::TinyModel& model = {},
                   const LocalOptions& options = {.threads = 1}) {
    test::write_tiny_model(dir.path() / "tiny.gguf", model);
    auto opened = LocalModel::open(dir.path() / "tiny.gguf", options);
    EXPECT_TRUE(opened) << (opened ? "" : to_string(opened.error()));
    if (opened) provider = *std::move(opened);
  }
};

Request hello(int max_tokens, std::uint64_t seed = 1) {
  return {.prompt = std::vector<Message>{{.content = "Hello <|im_end|> there"}},
          .generation = {.seed = seed, .max_tokens = max_tokens}};
}

TEST(LocalProvider, ChatRendersTheTemplateAndEndsWithOneDoneEvent) {
  Fixture f;
  const auto answer = f.provider->start(hello(9));
  ASSERT_TRUE(answer) << to_string(answer.error());
  std::vector<DoneEvent> done;
  while (const auto event = (*answer)->wait()) {
    if (const auto* end = std::get_if<DoneEvent>(&*event)) done.push_back(*end);
  }
  ASSERT_EQ(done.size(), 1U);
  EXPECT_LE(done[0].usage.generated_tokens, 9);
  EXPECT_GT(done[0].usage.prompt_tokens, 20);
  EXPECT_FALSE((*answer)->poll());
}

TEST(LocalProvider, EmbedsTokensAsTheyAreAndTextsWithTheirEnds) {
  Fixture f;
  const auto model = std::static_pointer_cast<LocalModel>(f.provider);
  std::vector<TokenId> ids(model->tokenizer().prefix().begin(), model->tokenizer().prefix().end());
  const auto middle = model->tokenize({}, "abc");
  ids.insert(ids.end(), middle->begin(), middle->end());
  const auto suffix = model->tokenizer().suffix();
  ids.insert(ids.end(), suffix.begin(), suffix.end());
  const auto of_text = model->embed({.texts = std::vector<std::string>{"abc"}});
  const auto of_ids = model->embed_tokens({}, std::vector<std::vector<TokenId>>{ids, {5}}, {});
  ASSERT_TRUE(of_text) << to_string(of_text.error());
  ASSERT_TRUE(of_ids) << to_string(of_ids.error());
  EXPECT_EQ((*of_text)[0].values, (*of_ids)[0].values);
  EXPECT_EQ((*of_ids)[1].tokens, 1);
  EXPECT_NE((*of_ids)[0].values, (*of_ids)[1].values);
  const auto bad = model->embed_tokens({}, std::vector<std::vector<TokenId>>{{1 << 20}}, {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().id, "bad_token");
}

TEST(LocalProvider, AChatModelEmbedsNothingWhereAnEmbeddingModelIsWanted) {
  Fixture f;
  const std::vector<std::string> texts = {"abc"};
  const auto refused = f.provider->embed({.texts = texts, .only_embedding_model = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "no_embedding_model");
}

// What a child of fork() finds while its parent's model computes; its exit status tells.
int ask_in_a_child(const Fixture& parent, Answer& answer, const std::string& want) {
  ::alarm(30);
  const auto refused = [](const auto& result) {
    return !result && result.error().id == "model_of_other_process";
  };
  if (!refused(parent.provider->start(hello(1)))) return 1;
  if (!refused(parent.provider->estimate(hello(1)))) return 2;
  std::optional<Error> error;
  while (const auto event = answer.wait()) {
    if (const auto* const done = std::get_if<DoneEvent>(&*event)) error = done->error;
  }
  if (!error || error->id != "model_of_other_process") return 3;
  auto own = LocalModel::open(parent.dir.path() / "tiny.gguf", {.threads = 2});
  if (!own) return 4;
  const auto said = ask(**own, hello(9));
  return said && said->text == want ? 0 : 5;
}

TEST(LocalProvider, AChildOfForkIsToldAndMayLoadItsOwn) {
  const Fixture f({.context = 4096}, {.threads = 2});
  const std::string want = ask(*f.provider, hello(9))->text;
  const Request endless{.prompt = std::string(3000, 'a'),
                        .generation = {.more = {{"ignore_eos", 1}}}};
  const auto answer = *f.provider->start(endless);
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(ask_in_a_child(f, *answer, want));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << i;
    ::usleep(700);  // another moment of the forward pass
  }
}

TEST(LocalProvider, AFileThatIsWrittenToIsRefusedAndOneThatTakesItsPlaceIsNot) {
  const Fixture f;
  const auto path = f.dir.path() / "tiny.gguf";
  std::filesystem::copy_file(path, f.dir.path() / "same.gguf");
  std::filesystem::rename(f.dir.path() / "same.gguf", path);
  EXPECT_TRUE(ask(*f.provider, hello(1)));
  const auto model = *LocalModel::open(path, {.threads = 1});
  std::filesystem::resize_file(path, 5000);
  for (const auto& error : {model->start(hello(1)).error(), model->estimate(hello(1)).error(),
                            model->embed({.texts = std::vector<std::string>{"a"}}).error()}) {
    EXPECT_EQ(error.id, "model_file_changed");
    EXPECT_NE(error.message.find("tiny.gguf: was written to since"), std::string::npos);
  }
  EXPECT_TRUE(model->tokenize({}, "a"));
}

TEST(LocalProvider, CompletionsOfOneSeedAreTheSameAlsoWhenManyRunAtOnce) {
  Fixture f({}, {.threads = 2, .engine = {.max_seqs = 3}});
  const auto say = [&](std::uint64_t seed) {
    const auto answer =
        ask(*f.provider,
            {.prompt = "abc", .generation = {.temperature = 3, .seed = seed, .max_tokens = 20}});
    EXPECT_TRUE(answer);
    return answer ? answer->text : std::string();
  };
  std::vector<std::string> wanted;
  for (std::uint64_t i = 0; i < 6; ++i)
    wanted.push_back(say(i));
  EXPECT_NE(wanted[0], wanted[1]);
  std::vector<std::string> seen(wanted.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = say(i); });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(seen, wanted);
}

TEST(LocalProvider, AStopRequestEndsTheAnswerAsCancelledNotAsAnError) {
  Fixture f({.context = 4096});
  std::stop_source stop;
  const auto answer =
      ask(*f.provider,
          {.prompt = "abc", .generation = {.max_tokens = 4000, .cancel = stop.get_token()}},
          [&](const Event& event) {
            if (std::holds_alternative<TextEvent>(event)) stop.request_stop();
            return true;
          });
  ASSERT_TRUE(answer);
  // The noise may end on its own before the stop is seen; it must never run to its limit.
  EXPECT_NE(answer->finish, FinishReason::kLength);
}

TEST(LocalProvider, RefusesWhatDoesNotFitBeforeAnyEvent) {
  Fixture f({.context = 64});
  const auto result = f.provider->start({.prompt = std::string(80, 'a')});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().id, "context_length_exceeded");
}

TEST(LocalProvider, TokenizesNoTextThatIsFarTooLong) {
  Fixture f({.context = 64});
  const std::string text(1 << 20, 'a');
  const std::vector<Message> talk = {{.content = text}};
  for (const Prompt& prompt : {Prompt(text), Prompt(talk)}) {
    const auto result = f.provider->start({.prompt = prompt});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().id, "context_length_exceeded");
    EXPECT_NE(result.error().message.find("at least"), std::string::npos);
    EXPECT_GT(f.provider->prompt_tokens({.prompt = prompt})->size(), 64U) << "but counts them";
  }
}

TEST(LocalProvider, PlansWhatItsDraftModelTakesToo) {
  test::TempDir dir;
  const auto path = dir.path() / "tiny.gguf";
  test::write_tiny_model(path, {});
  const auto plain = *LocalModel::open(path, {.threads = 1});
  const auto drafting =
      *LocalModel::open(path, {.threads = 1, .engine = {.draft_max = 3}, .draft_model = path});
  const ModelMemory without = plain->memory(), with = drafting->memory();
  EXPECT_GT(without.weight_bytes, 0U);
  EXPECT_GT(without.cache_bytes, 0U);
  EXPECT_GT(without.scratch_bytes, 0U);
  EXPECT_EQ(without.draft_bytes(), 0U);
  EXPECT_EQ(without.total(), without.weight_bytes + without.cache_bytes + without.scratch_bytes);
  EXPECT_EQ(with.draft_weight_bytes, without.weight_bytes);
  EXPECT_GT(with.draft_cache_bytes, 0U);
  EXPECT_GT(with.draft_scratch_bytes, 0U);
  EXPECT_EQ(with.total(),
            with.weight_bytes + with.cache_bytes + with.scratch_bytes + with.draft_bytes());
}

TEST(LocalProvider, RefusesToTakeMoreMemoryThanItMayWithTheNumbers) {
  test::TempDir dir;
  const auto path = dir.path() / "tiny.gguf";
  test::write_tiny_model(path, {});
  const std::uint64_t needed = (*LocalModel::open(path, {.threads = 1}))->memory().total();
  EXPECT_TRUE(LocalModel::open(path, {.threads = 1, .memory_limit_bytes = needed}));
  const auto refused = LocalModel::open(path, {.threads = 1, .memory_limit_bytes = needed - 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "memory_limit");
  EXPECT_EQ(refused.error().code, ErrorCode::kNoMemory);
  EXPECT_NE(refused.error().message.find("(weights "), std::string::npos);
  EXPECT_NE(refused.error().hint.find("--kv-limit"), std::string::npos);
}

// As the full DeepSeek V3 is on a desktop.
TEST(LocalProvider, RefusesWeightsThatMemoryCannotHoldBeforeItReadsThem) {
  test::TempDir dir;
  const auto path = dir.path() / "tiny.gguf";
  test::write_tiny_model(path, {});
  const DeviceKind small{
      .name = "small",
      .detect = [] { return std::vector{DeviceInfo{.name = "small", .memory_bytes = 1000}}; },
      .start = [](const DeviceInfo&) -> Result<std::unique_ptr<Device>> {
        return std::unique_ptr<Device>(std::make_unique<test::FakeDevice>(*choose_isa(), 1000));
      }};
  DeviceRegistry devices(std::span(&small, 1));
  const auto refused = LocalModel::open(path, {.threads = 1, .devices = &devices});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "memory_limit");
  EXPECT_NE(refused.error().message.find("its weights take "), std::string::npos);
  EXPECT_NE(refused.error().message.find("there are 1"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(
      LocalModel::open(path, {.threads = 1, .devices = &devices, .memory_limit_bytes = 1U << 30U}));
}

TEST(LocalProvider, AFileThatIsNoModelIsAnErrorThatNamesIt) {
  const auto opened = LocalModel::open("/no/such/file.gguf", {});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("/no/such/file.gguf"), std::string::npos);
}

TEST(ResolveSampling, RequestBeatsTheFilesHintsAndTheseBeatTheDefaults) {
  Metadata meta;
  meta.set_number("general.sampling.temp", 0.25);
  meta.set_integer("general.sampling.top_k", 7);
  meta.set_number("general.sampling.top_p", 17);  // makes no sense: passed over
  const auto params = resolve_sampling(meta, {.top_k = 3, .seed = 5});
  ASSERT_TRUE(params);
  EXPECT_EQ(params->params.temperature, 0.25F);
  EXPECT_EQ(params->params.top_k, 3);
  EXPECT_EQ(params->params.top_p, 0.95F);
  EXPECT_EQ(params->params.seed, 5U);
}

TEST(ResolveSampling, EachParameterSaysWhoSetIt) {
  Metadata meta;
  meta.set_number("general.sampling.temp", 0.3);
  meta.set_integer("general.sampling.top_k", 7);
  meta.set_number("general.sampling.top_p", 17);
  meta.set_string("general.sampling.sequence", "top_p;temp");
  const auto resolved = resolve_sampling(
      meta, {.top_k = 3, .more = {{"min_p", 0.1}}, .origins = {{"min_p", "flag --min-p"}}});
  ASSERT_TRUE(resolved);
  std::map<std::string, EffectiveParameter> by_key;
  for (const EffectiveParameter& one : resolved->effective)
    by_key[one.key] = one;
  EXPECT_EQ(by_key.size(), sampler_params().size() + 2);
  const auto says = [&](const char* key, double value, const char* origin) {
    EXPECT_EQ(std::get<double>(by_key[key].value), value) << key;
    EXPECT_EQ(by_key[key].origin, origin) << key;
  };
  says("temperature", 0.3, "model file");
  says("top_k", 3, "request");
  says("min_p", 0.1, "flag --min-p");
  says("top_p", 0.95, "default");
  EXPECT_EQ(std::get<std::uint64_t>(by_key["seed"].value), resolved->params.seed);
  EXPECT_EQ(by_key["seed"].origin, "default");
  EXPECT_EQ(std::get<std::string>(by_key["samplers"].value), "top_p;temperature");
  EXPECT_EQ(by_key["samplers"].origin, "model file");
}

TEST(LocalProvider, AnAnswerCarriesTheParametersThatHeldForIt) {
  Fixture f({.context = 64});
  const auto answer = ask(*f.provider, {.prompt = "abc", .generation = {.seed = 9, .stop = {"q"}}});
  ASSERT_TRUE(answer);
  const auto& last = answer->parameters;
  const auto find = [&](std::string_view key) {
    return *std::find_if(last.begin(), last.end(), [&](const auto& p) { return p.key == key; });
  };
  EXPECT_EQ(std::get<std::uint64_t>(find("seed").value), 9U);
  EXPECT_EQ(find("seed").origin, "request");
  EXPECT_EQ(std::get<double>(find("max_tokens").value), 64 - answer->usage.prompt_tokens);
  EXPECT_EQ(find("max_tokens").origin, "default");
  const auto origin = [&](Generation generation) {
    const auto told = ask(*f.provider, {.prompt = "abc", .generation = std::move(generation)});
    EXPECT_TRUE(told);
    return std::find_if(told->parameters.begin(), told->parameters.end(),
                        [](const auto& p) { return p.key == "max_tokens"; })
        ->origin;
  };
  EXPECT_EQ(origin({.max_tokens = 3}), "request");
  EXPECT_EQ(origin({.max_tokens = 3, .origins = {{"max_tokens", "flag -n"}}}), "flag -n");
  EXPECT_EQ(origin({.max_tokens = 0, .origins = {{"max_tokens", "request"}}}), "request");
}

TEST(ResolveSampling, TheOrderOfSamplersIsTheRequestsThenTheFiles) {
  Metadata meta;
  meta.set_string("general.sampling.sequence", "top_p;temp");
  EXPECT_EQ(to_string(resolve_sampling(meta, {})->params.order), "top_p;temperature");
  EXPECT_EQ(to_string(resolve_sampling(meta, {.samplers = "min-p"})->params.order), "min_p");
  EXPECT_EQ(resolve_sampling(meta, {.samplers = "nonsense"}).error().id, "bad_sampler_order");
}

TEST(ResolveTokens, BiasesEveryTokenOfATextAndFindsBreakersInsideTokens) {
  test::TempDir dir;
  test::write_tiny_model(dir.path() / "tiny.gguf", {});
  const auto tokenizer = *Tokenizer::open(dir.path() / "tiny.gguf");
  SamplingParams params{.dry_multiplier = 1};
  ASSERT_TRUE(resolve_tokens(*tokenizer,
                             {.logit_bias = {{.bias = 2, .text = "ab"}, {.id = 3, .bias = -1}},
                              .dry_sequence_breakers = {{"a", "xyz"}}},
                             params));
  const auto ab = *tokenizer->encode_plain("ab");
  ASSERT_EQ(params.logit_bias.size(), ab.size() + 1);
  EXPECT_EQ(params.logit_bias[0].id, ab[0]);
  EXPECT_EQ(params.logit_bias.back().id, 3);
  const auto& breakers = params.dry_sequence_breakers.tokens;
  for (TokenId id = 0; id < tokenizer->size(); ++id) {
    const bool has_a = tokenizer->bytes(id).find('a') != std::string_view::npos ||
                       tokenizer->bytes(id).find("xyz") != std::string_view::npos;
    EXPECT_EQ(std::count(breakers.begin(), breakers.end(), id), has_a ? 1 : 0) << id;
  }
  ASSERT_EQ(params.dry_sequence_breakers.runs.size(), 1U);
  EXPECT_EQ(params.dry_sequence_breakers.runs[0], *tokenizer->encode_plain("xyz"));
  EXPECT_EQ(resolve_tokens(*tokenizer, {.dry_sequence_breakers = {{""}}}, params).error().id,
            "bad_dry_breaker");
}

// A request with 300,000 breakers of one token each was never refused and searched for minutes.
TEST(ResolveTokens, RefusesTooManyBreakersOfOneTokenToo) {
  test::TempDir dir;
  test::write_tiny_model(dir.path() / "tiny.gguf", {});
  const auto tokenizer = *Tokenizer::open(dir.path() / "tiny.gguf");
  SamplingParams params{.dry_multiplier = 1};
  const std::vector<std::string> most(64, "a");
  ASSERT_EQ(tokenizer->encode_plain("a")->size(), 1U);
  EXPECT_TRUE(resolve_tokens(*tokenizer, {.dry_sequence_breakers = most}, params));
  const std::vector<std::string> beyond(65, "a");
  EXPECT_EQ(resolve_tokens(*tokenizer, {.dry_sequence_breakers = beyond}, params).error().id,
            "bad_dry_breaker");
}

TEST(ResolveSampling, NamesWhatItRefuses) {
  const Metadata meta;
  const auto refused = [&](const char* key, double value) {
    const auto result = resolve_sampling(meta, {.more = {{key, value}}});
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(refused("min_p", -1), "min_p is -1, allowed are 0 to 1");
  EXPECT_EQ(refused("sed", 1), "'sed' is not a sampling parameter");
  EXPECT_EQ(refused("seed", 0.5), "seed is 0.5, allowed are whole numbers from 0 to 2^53 - 1");
}

}  // namespace
}  // namespace wick
