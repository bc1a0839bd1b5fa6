#include "server/early.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "server/limits.h"
#include "server/server_fixture_test.h"

namespace wick::server {
namespace {

using namespace test;

constexpr std::string_view kChatBody = R"({"messages":[{"role":"user","content":"a"}],"x":1})";

// One slot, no waiting: with an answer under way every further one is refused.
struct Full {
  std::shared_ptr<MadeProvider> provider =
      std::make_shared<MadeProvider>([](const Request&) -> Result<std::vector<Event>> {
        return std::vector<Event>{
            TextEvent{.text = "b"},
            DoneEvent{.usage = {.generated_tokens = 1, .prompt_ms = 500, .generate_ms = 500}}};
      });
  Server server{provider, {.version = "1", .settings = [] {
                             return std::make_shared<const Settings>(
                                 Settings{.admission = {.slots = 1, .max_wait_ms = 1}});
                           }}};
  std::shared_ptr<Wake> wake = std::make_shared<Wake>();
  http::Reply running = {};

  // `is_refusing`: also refuses one, as a worker does.
  explicit Full(bool is_refusing = true) {
    EXPECT_EQ(server.post("/v1/chat/completions", kChatBody).status, 200);
    running = server.reply("POST", "/v1/chat/completions", kChatBody, wake);
    if (is_refusing) {
      EXPECT_EQ(server.post("/v1/chat/completions", kChatBody).status, 503);
    }
  }

  std::optional<http::Response> early(std::string_view path, std::string_view body) {
    std::string rest;
    const http::Route* const route = server.route("POST", path, rest);
    if (route == nullptr || !route->early) return std::nullopt;
    return route->early({.method = "POST",
                         .path = std::string(path),
                         .body = std::string(body),
                         .id = "req-1",
                         .tenant = 7});
  }
};

// The wait that it tells has the time since the answer began, which goes on between two of them.
std::string without_wait(std::string body) {
  constexpr std::string_view kBefore = "about ";
  const std::size_t begin = body.find(kBefore);
  if (begin == std::string::npos) return body;
  const std::size_t first = begin + kBefore.size();
  return body.erase(first, body.find_first_not_of("0123456789", first) - first);
}

TEST(ServerEarly, SaysWhatAWorkerSays) {
  Full full;
  constexpr std::string_view kTalk =
      R"({"max_tokens":9,"messages":[{"role":"user","content":"a"}]})";
  const std::pair<std::string_view, std::string_view> kBodies[] = {
      {"/v1/chat/completions", kChatBody},
      {"/v1/completions", R"({"prompt":["a","b"],"n":2})"},
      {"/v1/responses", R"({"input":"a"})"},
      {"/v1/messages", kTalk},
      {"/api/chat", kTalk},
      {"/api/generate", R"({"prompt":"a"})"},
      {"/infill", R"({"input_prefix":"a"})"}};
  for (const auto& [path, body] : kBodies) {
    const auto early = full.early(path, body);
    ASSERT_TRUE(early) << path;
    const Got worker = full.server.post(path, body);
    EXPECT_EQ(early->status, worker.status) << path;
    EXPECT_EQ(without_wait(early->body), without_wait(worker.body)) << path;
    ASSERT_EQ(early->headers.size(), worker.headers.size()) << path;
    for (const http::Header& one : early->headers)
      EXPECT_EQ(one.value, worker.header(one.name)) << path;
    EXPECT_NE(worker.header("retry-after"), "") << path;
  }
}

TEST(ServerEarly, LeavesToAWorkerWhatItMayNotJudge) {
  Full full;
  const std::string long_body =
      cat(R"({"messages":[{"role":"user","content":")", std::string(kMaxEarlyBytes, 'a'), "\"}]}");
  const std::pair<std::string_view, std::string_view> kBodies[] = {
      {"/v1/chat/completions", long_body},
      {"/v1/chat/completions", "{"},
      {"/v1/chat/completions", R"({"messages":3})"},
      {"/v1/chat/completions", R"({"messages":[]})"},
      {"/v1/chat/completions", R"({"model":"no","messages":[{"role":"user","content":"a"}]})"},
      {"/v1/messages/count_tokens", kChatBody},
      {"/v1/estimate", kChatBody},
      {"/v1/embeddings", R"({"input":"a"})"},
      {"/api/generate", R"({"model":"tiny","keep_alive":0})"},
      {"/api/chat", R"({"model":"tiny"})"}};
  for (const auto& [path, body] : kBodies)
    EXPECT_FALSE(full.early(path, body)) << path << " " << body.substr(0, 80);
}

TEST(ServerEarly, RefusesNothingBeforeAdmissionControlDoesOrOnceThereIsRoom) {
  Full full(false);
  EXPECT_FALSE(full.early("/v1/chat/completions", kChatBody));
  EXPECT_EQ(full.server.post("/v1/chat/completions", kChatBody).status, 503);
  EXPECT_TRUE(full.early("/v1/chat/completions", kChatBody));
  full.running = {};
  EXPECT_FALSE(full.early("/v1/chat/completions", kChatBody));
  EXPECT_EQ(full.server.post("/v1/chat/completions", kChatBody).status, 200);
}

// A provider that starts some models at once.
class AtOnce final : public Provider {
 public:
  std::string_view name() const noexcept override { return "at once"; }

  Result<std::unique_ptr<Answer>> start(const Request&, std::shared_ptr<Wake>) override {
    return Error{.message = "none"};
  }

  bool starts_at_once(const std::string& model) const override { return model == "up/free"; }
};

TEST(ServerQuick, IsASmallRequestForAModelThatStartsAtOnce) {
  Server server(std::make_shared<AtOnce>(), {.version = "1", .models = [] {
                                               return list_of(
                                                   {{.name = "here"},
                                                    {.name = "up/free", .aliases = {"free"}},
                                                    {.name = "up/paid"}});
                                             }});
  const auto is_quick = [&](std::string_view path, std::string_view body,
                            std::vector<http::Header> headers = {}) {
    std::string rest;
    const http::Route* const route = server.route("POST", path, rest);
    return route != nullptr && route->is_quick &&
           route->is_quick({.headers = std::move(headers), .body = std::string(body)});
  };
  constexpr std::string_view kChat = "/v1/chat/completions";
  EXPECT_TRUE(is_quick(kChat, R"({"model":"up/free","messages":[]})"));
  EXPECT_TRUE(is_quick("/v1/messages", R"({"model":"free"})"));
  EXPECT_TRUE(is_quick("/api/chat", R"({"model":"free:latest"})"));
  EXPECT_TRUE(is_quick(kChat, R"({"model":"free"})", {{"x-wick-provider", "up"}}));
  EXPECT_TRUE(is_quick(kChat, R"({"model":"here","model":"free"})")) << "the last one wins";
  const std::string long_body =
      cat(R"({"model":"free","x":")", std::string(kMaxQuickBytes, 'a'), "\"}");
  for (const std::string_view body :
       {std::string_view(R"({"model":"up/paid"})"), std::string_view(R"({"model":"here"})"),
        std::string_view("{}"), std::string_view(R"({"model":3})"), std::string_view("["),
        std::string_view(R"({"model":"free","model":"here"})"),
        std::string_view(R"({"x":{"model":"free"}})"), std::string_view(long_body)})
    EXPECT_FALSE(is_quick(kChat, body)) << body.substr(0, 80);
  EXPECT_FALSE(is_quick("/v1/embeddings", R"({"model":"free"})")) << "it waits for the answer";
  EXPECT_FALSE(is_quick(kChat, R"({"model":"free"})", {{"x-wick-provider", "other"}}));
}

}  // namespace
}  // namespace wick::server
