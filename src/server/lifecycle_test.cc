// Models that come and go by the routes, and what a client that leaves ends.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/durations.h"
#include "server/server_fixture_test.h"

namespace wick::server {
namespace {

using namespace test;

TEST(ServerDurations, AreReadAsOllamaWritesThem) {
  const std::pair<std::string_view, std::int64_t> kTexts[] = {{"0", 0},
                                                              {"0s", 0},
                                                              {"5m", 300'000},
                                                              {"1h30m", 5'400'000},
                                                              {"1.5h", 5'400'000},
                                                              {"1500ms", 1500},
                                                              {"300", 300'000},
                                                              {"-1", -1},
                                                              {"-5m", -1},
                                                              {"2h0.5s", 7'200'500},
                                                              {"1e400", -2},
                                                              {"5 m", -2},
                                                              {"", -2},
                                                              {"-", -2},
                                                              {"soon", -2},
                                                              {"5m3", -2},
                                                              {"m", -2},
                                                              {"1d", -2},
                                                              {"nan", -2},
                                                              {"+5m", -2}};
  for (const auto& [text, wanted] : kTexts) {
    const auto ms = parse_keep_alive(text);
    EXPECT_EQ(ms ? *ms : -2, wanted) << text;
  }
  EXPECT_EQ(keep_alive_ms(2.5), 2500);
  EXPECT_EQ(keep_alive_ms(-0.5), -1);
  EXPECT_GT(keep_alive_ms(1e300), 0);
}

// Counts what is said of its models; embeds until it is cancelled.
class Keeper final : public Provider {
 public:
  std::vector<std::string> told;

  std::string_view name() const noexcept override { return "keeper"; }

  Result<std::unique_ptr<Answer>> start(const Request& /*request*/,
                                        std::shared_ptr<Wake> /*wake*/) override {
    return refusal("answer");
  }

  Result<std::vector<ModelInfo>> models() override { return std::vector<ModelInfo>{{.name = "m"}}; }

  Result<ModelInfo> load(const std::string& model) override {
    told.push_back("load " + model);
    return ModelInfo{.name = model};
  }

  Result<ModelInfo> replace(const std::string& model, const std::string& source) override {
    told.push_back("replace " + model + " " + source);
    return ModelInfo{.name = model};
  }

  Result<void> unload(const std::string& model) override {
    told.push_back("unload " + model);
    return {};
  }

  Result<void> keep(const std::string& model, std::int64_t keep_ms) override {
    told.push_back(cat("keep ", model, " ", keep_ms));
    return {};
  }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    const EmbedOptions& options = request.options;
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    has_begun = true;
    stopped.wait(lock, options.cancel, [] { return false; });
    was_cancelled = true;
    return Error{.code = ErrorCode::kCancelled, .id = "cancelled", .message = "cancelled"};
  }

  std::atomic<bool> has_begun = false, was_cancelled = false;
};

TEST(ServerModels, AreLoadedSwappedKeptAndUnloaded) {
  const auto keeper = std::make_shared<Keeper>();
  Server server(keeper);
  EXPECT_EQ(server.post("/v1/models/load", R"({"model":"m"})").status, 200);
  EXPECT_EQ(
      server.post("/v1/models/load", R"({"model":"m","reload":true,"keep_alive":"1m"})").status,
      200);
  EXPECT_EQ(server.post("/v1/models/unload", R"({"model":"m"})").status, 200);
  EXPECT_EQ(server.post("/v1/models/load", R"({"model":"other"})").status, 404);
  EXPECT_EQ(server.post("/api/generate", R"({"model":"m","keep_alive":-1})").status, 200);
  EXPECT_EQ(server.post("/api/generate", R"({"model":"m","keep_alive":0})").status, 200);
  const Got refused = server.post("/api/generate", R"({"model":"m","keep_alive":"soon"})");
  EXPECT_EQ(refused.status, 400);
  const std::vector<std::string> wanted = {"load m", "replace m m", "keep m 60000", "unload m",
                                           "load m", "keep m -1",   "unload m"};
  EXPECT_EQ(keeper->told, wanted);
}

TEST(ServerTasks, AClientThatLeavesEndsItsEmbeddings) {
  for (const char* const path : {"/v1/embeddings", "/api/embed", "/api/embeddings"}) {
    const auto keeper = std::make_shared<Keeper>();
    Server server(keeper);
    http::Reply reply = server.reply("POST", path, R"({"input":"a","prompt":"a","model":"m"})",
                                     std::make_shared<Wake>());
    auto* const work = std::get_if<std::unique_ptr<http::Work>>(&reply);
    ASSERT_NE(work, nullptr);
    while (!keeper->has_begun)
      std::this_thread::yield();
    EXPECT_FALSE(keeper->was_cancelled);
    work->reset();
    while (!keeper->was_cancelled)
      std::this_thread::yield();
  }
}

TEST(ServerTasks, TheSecondCallToEndStopsThem) {
  const auto keeper = std::make_shared<Keeper>();
  Server server(keeper);
  const auto wake = std::make_shared<Wake>();
  http::Reply reply = server.reply("POST", "/v1/embeddings", R"({"input":"a"})", wake);
  auto& work = *std::get<std::unique_ptr<http::Work>>(reply);
  while (!keeper->has_begun)
    std::this_thread::yield();
  work.drain();
  EXPECT_FALSE(keeper->was_cancelled);
  work.drain();
  Got got;
  KeptWriter out(got);
  drive(work, *wake, out, got);
  EXPECT_EQ(got.status, 503);
}

class MadeFiles final : public ModelFiles {
 public:
  std::vector<std::string> told;

  Result<void> pull(const std::string& name,
                    const std::function<void(const FetchProgress&)>& progress,
                    std::stop_token /*stop*/) override {
    told.push_back("pull " + name);
    if (name != "smol") return Error{.code = ErrorCode::kNotFound, .message = "there is none"};
    progress({.what = "a.gguf", .done = 50, .all = 100});
    progress({.what = "a.gguf", .done = 100, .all = 100});
    return {};
  }

  Result<void> remove(const std::string& name) override {
    told.push_back("remove " + name);
    return {};
  }

  Result<void> copy(const std::string& source, const std::string& destination) override {
    told.push_back(cat("copy ", source, " ", destination));
    return {};
  }
};

TEST(ServerFiles, ArePulledRemovedAndCopiedAsOllamasClientsAsk) {
  const auto files = std::make_shared<MadeFiles>();
  Server server(std::make_shared<Keeper>(), {.version = "1", .files = files});
  const Got pulled = server.post("/api/pull", R"({"model":"smol:latest"})");
  EXPECT_EQ(pulled.type, "application/x-ndjson");
  EXPECT_TRUE(pulled.is_stream);
  EXPECT_TRUE(pulled.body.starts_with("{\"status\":\"pulling manifest\"}\n")) << pulled.body;
  EXPECT_NE(pulled.body.find(R"("total":100,"completed":100})"), std::string::npos) << pulled.body;
  EXPECT_TRUE(pulled.body.ends_with("{\"status\":\"success\"}\n")) << pulled.body;
  const Got whole = server.post("/api/pull", R"({"name":"smol","stream":false})");
  EXPECT_EQ(whole.body, "{\"status\":\"success\"}\n");
  const Got failed = server.post("/api/pull", R"({"model":"other"})");
  EXPECT_TRUE(failed.body.ends_with("{\"error\":\"there is none\"}\n")) << failed.body;
  EXPECT_EQ(server.post("/api/pull", R"({"model":"other","stream":false})").status, 404);
  EXPECT_EQ(server.call("DELETE", "/api/delete", R"({"model":"smol"})").status, 200);
  EXPECT_EQ(server.post("/api/copy", R"({"source":"smol","destination":"mine:latest"})").status,
            200);
  EXPECT_EQ(server.post("/api/copy", R"({"destination":"mine"})").status, 400);
  const std::vector<std::string> wanted = {"pull smol",  "pull smol",   "pull other",
                                           "pull other", "remove smol", "copy smol mine"};
  EXPECT_EQ(files->told, wanted);
  Server without(std::make_shared<Keeper>());
  EXPECT_EQ(without.post("/api/pull", R"({"model":"smol"})").status, 501);
}

}  // namespace
}  // namespace wick::server
