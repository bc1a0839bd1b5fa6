// GET /v1/ws, and /openapi.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "server/fields.h"
#include "server/limits.h"
#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;
using wick::test::remote_script;

// A socket's other end: frames as they come.
class FrameWriter final : public http::Writer {
 public:
  std::vector<std::string> frames;
  std::size_t space = 1 << 20;

  void whole(http::Response response) override { frames.push_back(std::move(response.body)); }

  void begin(http::Response head) override { frames.push_back(std::move(head.body)); }

  void write(std::string_view piece) override { frames.emplace_back(piece); }

  std::size_t room() const noexcept override { return space; }
};

struct Socket {
  Server server;
  std::shared_ptr<Wake> wake = std::make_shared<Wake>();
  std::unique_ptr<http::Work> work;
  FrameWriter out;

  explicit Socket(std::shared_ptr<Provider> provider, ServerOptions options = {.version = "1"},
                  std::string key = {})
      : server(std::move(provider), std::move(options)) {
    server.key_id = std::move(key);
    http::Reply reply = server.reply("WEBSOCKET", "/v1/ws", "", wake);
    work = std::move(std::get<std::unique_ptr<http::Work>>(reply));
  }

  std::size_t count(std::string_view text) const {
    return static_cast<std::size_t>(std::count_if(
        out.frames.begin(), out.frames.end(),
        [&](const std::string& frame) { return frame.find(text) != std::string::npos; }));
  }

  // Until so many frames hold `text`.
  void until(std::string_view text, std::size_t n) {
    for (;;) {
      const std::uint32_t seen = wake->signal();
      if (work->advance(out) == http::Work::State::kDone || count(text) >= n) return;
      wake->wait(seen);
    }
  }

  bool ask(std::string_view id, std::string_view more = "") {
    return work->message(cat(R"({"id":")", id,
                             R"(","request":{"messages":[{"role":"user","content":"Hi"}])", more,
                             "}}"));
  }

  // What the chat of that id said.
  std::string said(std::string_view id) const {
    std::string text;
    for (const std::string& frame : out.frames) {
      const JsonValue json = *parse_json(frame);
      const JsonValue content = at(json, "chunk.choices.0.delta.content");
      if (text_of(json, "id") == id && content.string() != nullptr) text += *content.string();
    }
    return text;
  }
};

TEST(ServerSocket, SeveralChatsSayWhatTheyWouldSayAlone) {
  Socket socket(std::make_shared<wick::test::ScriptedProvider>(remote_script("text")));
  EXPECT_TRUE(socket.ask("a"));
  EXPECT_TRUE(socket.ask("b", R"(,"n":2,"stream_options":{"include_usage":true})"));
  socket.until(R"("done":true)", 2);
  EXPECT_EQ(socket.said("a"), "Hello there.");
  EXPECT_EQ(socket.count(R"({"id":"a","chunk":)"), 4U);
  EXPECT_EQ(socket.count(R"({"id":"b","chunk":)"), 9U);  // two choices, and the usage
  EXPECT_EQ(socket.count(R"({"id":"a","done":true})"), 1U);
  EXPECT_EQ(socket.count(R"("usage":{"prompt_tokens":12)"), 1U);
  EXPECT_TRUE(socket.ask("a"));  // the name is free again
}

// Notes what requests take and have used.
class NotedKeys final : public ApiKeys {
 public:
  struct Pass final : KeyPass {
    explicit Pass(NotedKeys& its_keys) : keys(its_keys) {}

    void begin() override { ++keys.n_begun; }

    void used(std::int64_t tokens) override { keys.n_used += tokens; }

    NotedKeys& keys;
  };

  bool may_ask(const std::string&, std::span<const std::string>) override { return true; }

  Result<std::shared_ptr<KeyPass>> enter(const std::string& key, std::int64_t tokens) override {
    EXPECT_EQ(key, "k");
    n_taken += tokens;
    return std::shared_ptr<KeyPass>(std::make_shared<Pass>(*this));
  }

  Result<Made> make(const http::KeyRules&) override { return Made{}; }

  Result<std::vector<KeyInfo>> list() override { return std::vector<KeyInfo>(); }

  Result<KeyInfo> info(const std::string&) override { return KeyInfo{}; }

  bool may_admin(const std::string&) override { return false; }

  Result<KeyInfo> update(const std::string&, const std::function<void(http::KeyRules&)>&) override {
    return KeyInfo{};
  }

  Result<void> revoke(const std::string&) override { return {}; }

  std::atomic<std::int64_t> n_taken = 0, n_used = 0;
  std::atomic<int> n_begun = 0;
};

TEST(ServerSocket, AChatPaysTokensOfItsKey) {
  const auto keys = std::make_shared<NotedKeys>();
  Socket socket(std::make_shared<wick::test::ScriptedProvider>(remote_script("text")),
                {.version = "1", .keys = keys}, "k");
  EXPECT_TRUE(socket.ask("a", R"(,"max_tokens":20,"user":")" + std::string(400, 'x') + '"'));
  socket.until(R"("done":true)", 1);
  EXPECT_GT(keys->n_taken, 100 + 20);  // a quarter of the message's bytes, and the answer
  EXPECT_LT(keys->n_taken, 150 + 20);
  EXPECT_EQ(keys->n_begun, 1);
  EXPECT_GT(keys->n_used, 12);
  EXPECT_LT(keys->n_used, keys->n_taken);
}

TEST(ServerSocket, CancelEndsOneChat) {
  Socket socket(std::make_shared<wick::test::ScriptedProvider>(remote_script("silent")));
  socket.ask("a");
  socket.ask("b");
  socket.until("And then", 2);
  EXPECT_TRUE(socket.work->message(R"({"id":"a","cancel":true})"));
  socket.until(R"("cancelled":true)", 1);
  EXPECT_EQ(socket.out.frames.back(), R"({"id":"a","done":true,"cancelled":true})");
  EXPECT_EQ(socket.count(R"("done":true)"), 1U);
  EXPECT_TRUE(socket.work->message(R"({"id":"gone","cancel":true})"));
}

TEST(ServerSocket, ErrorsNameTheirChat) {
  Socket socket(always(remote_script("broken")));
  socket.ask("a");
  socket.until(R"("done":true)", 1);
  EXPECT_EQ(socket.said("a"), "Half of an answer");
  EXPECT_EQ(socket.count(R"({"id":"a","error":{"message":"the connection was lost)"), 1U);
  socket.out.frames.clear();
  EXPECT_TRUE(socket.work->message("no JSON"));
  EXPECT_TRUE(socket.work->message(R"({"id":"x"})"));
  EXPECT_TRUE(socket.ask("y", R"(,"top_p":7)"));
  socket.until(R"("done":true)", 2);
  ASSERT_EQ(socket.out.frames.size(), 5U);
  EXPECT_NE(socket.out.frames[0].find("invalid_json"), std::string::npos);
  EXPECT_NE(socket.out.frames[1].find("request is missing"), std::string::npos);
  EXPECT_EQ(socket.out.frames[2], R"({"id":"x","done":true})");
  EXPECT_NE(socket.out.frames[3].find(R"("param":"top_p")"), std::string::npos);
}

TEST(ServerSocket, ADrainClosesAnIdleSocketAndEndsABusyOneAtItsEnd) {
  Socket idle(always(remote_script("text")));
  idle.work->drain();
  EXPECT_EQ(idle.work->advance(idle.out), http::Work::State::kDone);
  Socket busy(std::make_shared<wick::test::ScriptedProvider>(remote_script("silent")));
  busy.ask("a");
  busy.until("And then", 1);
  busy.work->drain();
  EXPECT_EQ(busy.work->advance(busy.out), http::Work::State::kWaits);
  busy.ask("b");
  busy.until("stopping", 1);
  busy.work->drain();
  busy.until(R"({"id":"a","done":true})", 1);
  EXPECT_EQ(busy.count(R"("code":"cancelled")"), 1U);
  EXPECT_EQ(busy.work->advance(busy.out), http::Work::State::kDone);
}

TEST(HostileServerSocket, ChatsAndFramesThatWaitAreLimited) {
  Socket socket(std::make_shared<wick::test::ScriptedProvider>(remote_script("silent")));
  for (std::size_t i = 0; i < kMaxSocketChats; ++i)
    EXPECT_TRUE(socket.ask(cat("c", i)));
  EXPECT_TRUE(socket.ask("c0"));
  EXPECT_TRUE(socket.ask("one too many"));
  EXPECT_TRUE(socket.ask(std::string(kMaxSocketId + 1, 'x')));
  socket.until("too_many_chats", 1);
  EXPECT_EQ(socket.count("is that of a chat that is under way"), 1U);
  EXPECT_EQ(socket.count("has 65 bytes, allowed are 1 to 64"), 1U);
  socket.out.space = 0;
  bool is_open = true;
  std::size_t n = 0;
  for (; is_open && n < 1000; ++n)
    is_open = socket.work->message("{}");
  EXPECT_FALSE(is_open);
  EXPECT_LE(n, kMaxSocketFrames + 1);
}

TEST(HostileServerSocket, ASocketThatIsGoneLeavesNothingBehind) {
  for (int i = 0; i < 50; ++i) {
    Socket socket(std::make_shared<wick::test::ScriptedProvider>(remote_script("silent")));
    for (int k = 0; k < 8; ++k)
      socket.ask(cat(k));
    if (i % 2 == 0) socket.until("And then", 1);
    socket.work.reset();
  }
}

TEST(ServerOpenApi, NamesEachRouteAndField) {
  Server server(always({}));
  const JsonValue json = server.call("GET", "/openapi.json").json();
  EXPECT_EQ(text_of(json, "openapi"), "3.1.0");
  const JsonValue paths = at(json, "paths");
  std::set<std::string> seen;
  for (const RouteInfo& route : route_infos()) {
    std::string path(route.path);
    if (path.ends_with("*")) path = path.substr(0, path.size() - 1) + "{name}";
    const std::string verb = route.verb == "WEBSOCKET" ? "get" : ascii_lower(route.verb);
    ASSERT_NE(paths.object()->find(path), nullptr) << path;
    EXPECT_FALSE(at(*paths.object()->find(path), verb + ".responses").is_null()) << path;
    seen.insert(path);
  }
  EXPECT_EQ(paths.object()->size(), seen.size());
  EXPECT_EQ(to_json(at(json, "components.schemas.ChatRequest.properties.top_p")),
            R"({"type": ["number", "null"], "minimum": 0, "maximum": 1, )"
            R"("description": "setting generation.top_p"})");
  for (const Field& field : fields()) {
    if ((field.apis & kChat) == 0) continue;
    EXPECT_FALSE(at(json, cat("components.schemas.ChatRequest.properties.", field.name)).is_null());
  }
  const JsonValue chat = *paths.object()->find("/v1/chat/completions");
  EXPECT_EQ(to_json(at(chat, "post.requestBody.content")),
            R"({"application/json": {"schema": {"$ref": "#/components/schemas/ChatRequest"}}})");
}

}  // namespace
}  // namespace wick::server
