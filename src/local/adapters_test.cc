// LoRA adapters of a local model: by name and scale in each request, in any batch, apart in the
// prefix cache and in session files.
#include "local/adapters.h"

#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"
#include "local/local.h"
#include "provider/gather.h"
#include "support/safetensors_writer.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

// PEFT's folder of an adapter for the tiny Llama.
void write_adapter(const fs::path& folder, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, 0.4F);
  test::SafetensorsWriter file;
  const auto add = [&](const std::string& name, std::int64_t rows, std::int64_t cols) {
    std::vector<float> values(static_cast<std::size_t>(rows * cols));
    for (float& value : values)
      value = normal(engine);
    test::Bytes bytes;
    test::append(bytes, std::as_bytes(std::span(values)));
    file.add(name, "F32", {rows, cols}, bytes);
  };
  for (const int layer : {0, 1}) {
    const std::string begin = cat("base_model.model.model.layers.", layer, ".self_attn.");
    add(begin + "q_proj.lora_A.weight", 4, 32);
    add(begin + "q_proj.lora_B.weight", 32, 4);
    add(begin + "v_proj.lora_A.weight", 3, 32);
    add(begin + "v_proj.lora_B.weight", 16, 3);
  }
  fs::create_directories(folder);
  file.write(folder / "adapter_model.safetensors");
  test::write_file(folder / "adapter_config.json",
                   std::string_view(R"({"peft_type": "LORA", "lora_alpha": 8})"));
}

class AdaptedModel : public testing::Test {
 protected:
  AdaptedModel() {
    write_adapter(dir_.path() / "sql", 1);
    write_adapter(dir_.path() / "poems", 2);
    test::write_tiny_model(dir_.path() / "tiny.gguf");
    model_ = open({cat((dir_.path() / "sql").string(), ":0"), (dir_.path() / "poems").string()});
  }

  std::shared_ptr<LocalModel> open(const std::vector<std::string>& adapters) {
    LocalOptions options{.threads = 2};
    for (const std::string& text : adapters)
      options.adapters.push_back(*parse_adapter(text));
    auto model = LocalModel::open(dir_.path() / "tiny.gguf", options);
    EXPECT_TRUE(model) << to_string(model.error());
    return model ? *model : nullptr;
  }

  static Request request(std::vector<std::string> adapters) {
    return {.prompt = std::string("The quick brown fox jumps over the lazy dog again and again."),
            .generation = {.temperature = 0.0,
                           .max_tokens = 12,
                           .logprobs = true,
                           .adapters = std::move(adapters)}};
  }

  bool ask_model(const Request& request) { return static_cast<bool>(wick::ask(*model_, request)); }

  // The logprobs of an answer, which tell models apart where their texts agree.
  std::vector<double> ask(std::vector<std::string> adapters, int* cached = nullptr) {
    auto answer = model_->start(request(std::move(adapters)));
    EXPECT_TRUE(answer) << to_string(answer.error());
    return logprobs(**answer, cached);
  }

  static std::vector<double> logprobs(Answer& answer, int* cached = nullptr) {
    const Gather whole = read_all(answer);
    EXPECT_FALSE(whole.error) << to_string(*whole.error);
    if (cached != nullptr) *cached = whole.completion.usage.cached_tokens;
    std::vector<double> values;
    for (const TokenLogprob& one : whole.completion.logprobs)
      values.push_back(one.logprob);
    return values;
  }

  test::TempDir dir_;
  std::shared_ptr<LocalModel> model_;
};

TEST_F(AdaptedModel, RequestsChooseByNameNumberAndScale) {
  const auto plain = ask({"none"}), poems = ask({"poems"}), sql = ask({"sql"});
  EXPECT_NE(plain, poems);
  EXPECT_NE(plain, sql);
  EXPECT_NE(poems, sql);
  EXPECT_EQ(ask({}), poems);  // as loaded: sql has scale 0
  EXPECT_EQ(ask({"1"}), poems);
  EXPECT_EQ(ask({"0:0", "poems:1"}), poems);
  EXPECT_NE(ask({"poems:0.5"}), poems);
  EXPECT_NE(ask({"sql", "poems"}), poems);
  ASSERT_TRUE(model_->set_adapters({}, std::vector<std::string>{"sql:1"}));
  EXPECT_EQ(ask({}), sql);
  const auto list = *model_->adapters({});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "sql");
  EXPECT_EQ(list[0].scale, 1);
  EXPECT_EQ(list[1].scale, 0);
}

TEST_F(AdaptedModel, SameBitsAdapterBesideOtherRequests) {
  const std::vector<std::vector<std::string>> kinds{
      {"none"}, {"sql"}, {"poems"}, {"sql:-1.5", "poems:0.25"}};
  std::vector<std::vector<double>> alone;
  for (const auto& kind : kinds)
    alone.push_back(ask(kind));
  std::vector<std::unique_ptr<Answer>> answers;
  for (const auto& kind : kinds) {
    auto answer = model_->start(request(kind));
    ASSERT_TRUE(answer);
    answers.push_back(*std::move(answer));
  }
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(logprobs(*answers[i]), alone[i]) << i;
}

TEST_F(AdaptedModel, SharesNoCacheEntriesWithOtherAdapters) {
  int cached = -1;
  ask({"sql"}, &cached);
  EXPECT_EQ(cached, 0);
  for (const char* const other : {"none", "poems", "sql:0.5"}) {
    ask({other}, &cached);
    EXPECT_EQ(cached, 0) << other;
  }
  ask({"sql"}, &cached);
  EXPECT_GT(cached, 16);
  EXPECT_EQ(model_->estimate(request({"sql"}))->cached_tokens, cached);
  EXPECT_EQ(model_->estimate(request({"sql:2"}))->cached_tokens, 0);
  EXPECT_GT(*model_->close_tenant(0, true), 12);
  EXPECT_EQ(model_->estimate(request({"sql"}))->cached_tokens, 0);
}

TEST_F(AdaptedModel, SessionFilesBelongToTheirAdapters) {
  const std::string path = (dir_.path() / "talk.session").string();
  const std::vector<Message> messages{{.content = "Tell me of foxes and of dogs."}};
  ASSERT_TRUE(ask_model({.prompt = messages, .generation = {.max_tokens = 4}}));
  ASSERT_TRUE(model_->save_session(path, messages));
  EXPECT_TRUE(model_->load_session(path));
  const auto plain = open({});
  const auto refused = plain->load_session(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "session_of_other_model");
}

TEST_F(AdaptedModel, CountsTheirBytes) {
  const auto plain = open({});
  EXPECT_EQ(model_->memory().weight_bytes - plain->memory().weight_bytes,
            2U * 2U * sizeof(float) * (4 * 32 + 32 * 4 + 3 * 32 + 16 * 3));
  EXPECT_GT(model_->memory().scratch_bytes, plain->memory().scratch_bytes);
}

TEST_F(AdaptedModel, RefusesUnknownNames) {
  for (const char* const bad : {"songs", "2", "sql:sql"}) {
    const auto answer = model_->start(request({bad}));
    ASSERT_FALSE(answer) << bad;
    EXPECT_EQ(answer.error().id, "bad_adapter");
  }
  EXPECT_FALSE(model_->start(request({"sql", "0"})));
  const auto two = Adapters::open(
      std::vector<AdapterOption>{{"a", dir_.path() / "sql"}, {"a", dir_.path() / "poems"}});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().id, "bad_adapter");
}

TEST(AdapterOptionText, HasANameAFileAndAScale) {
  const auto check = [](std::string_view text, std::string_view name, std::string_view path,
                        float scale) {
    const auto option = parse_adapter(text);
    ASSERT_TRUE(option) << text;
    EXPECT_EQ(option->name, name) << text;
    EXPECT_EQ(option->path.string(), path) << text;
    EXPECT_EQ(option->scale, scale) << text;
  };
  check("sql.gguf", "sql", "sql.gguf", 1);
  check("a/b/sql.gguf:0.5", "sql", "a/b/sql.gguf", 0.5F);
  check("mine=a/sql.gguf:-2", "mine", "a/sql.gguf", -2);
  check("folder/poems/", "poems", "folder/poems", 1);
  check("a:b.gguf", "a:b", "a:b.gguf", 1);
  EXPECT_FALSE(parse_adapter("mine="));
}

}  // namespace
}  // namespace wick
