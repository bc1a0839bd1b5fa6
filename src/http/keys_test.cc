// API keys: who may ask what, and that a key is seen nowhere but in its request.
#include <sys/stat.h>

#include <fstream>

#include "base/log.h"
#include "http/fixture_test.h"
#include "support/temp_dir.h"

namespace wick::http::test {
namespace {

class HttpKeys : public testing::Test {
 protected:
  HttpKeys() { write(cat("# keys\n\n", infer_.line, "\n", admin_.line, " rpm=100 # the boss\n")); }

  void write(std::string_view text) const {
    std::ofstream(file()) << text;
    ::chmod(file().c_str(), 0600);
  }

  std::filesystem::path file() const { return folder_.path() / "keys"; }

  ServerOptions options() const {
    ServerOptions options;
    options.key_file = file();
    return options;
  }

  static NewKey made(bool may_admin) {
    auto key = make_key(may_admin);
    EXPECT_TRUE(key);
    return *std::move(key);
  }

  static std::string bearer(std::string_view key) {
    return cat("authorization: Bearer ", key, "\r\n");
  }

  wick::test::TempDir folder_;
  NewKey infer_ = made(false), admin_ = made(true);
};

TEST_F(HttpKeys, AreAskedForWhereTheyAreNeeded) {
  TestServer server(options());
  EXPECT_EQ(server.ask(request("GET /health")).status, 200);
  const Answer answer = server.ask(request("GET /v1/models"));
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.header("www-authenticate"), "Bearer");
  EXPECT_NE(
      answer.body.find(R"("type":"authentication_error","param":null,"code":"invalid_api_key")"),
      std::string::npos)
      << answer.body;
}

TEST_F(HttpKeys, AreTakenFromBothHeaders) {
  TestServer server(options());
  for (const std::string& header :
       {bearer(infer_.key), cat("authorization: bearer  ", infer_.key, "\r\n"),
        cat("x-api-key: ", infer_.key, "\r\n"),
        cat("authorization: Basic abc\r\nx-api-key: ", infer_.key, "\r\n")}) {
    const Answer answer = server.ask(request("GET /v1/models", header));
    EXPECT_EQ(answer.status, 200) << header;
    const std::string id = infer_.line.substr(0, 12);
    EXPECT_NE(answer.body.find(cat("|", id, "|")), std::string::npos) << answer.body;
    EXPECT_FALSE(answer.body.ends_with("|0")) << "a tenant of its own: " << answer.body;
  }
}

std::string client_of(const TestServer& server, std::uint32_t from, std::string_view headers = "") {
  return RawClient(server.port(), 0, from)
      .ask(request("GET /v1/models", std::string(headers)))
      .header("x-client");
}

TEST_F(HttpKeys, AreClientsElseAddressesAre) {
  const TestServer with_keys(options()), without;
  const std::string first = client_of(without, 1), second = client_of(without, 2);
  EXPECT_NE(first, second);
  EXPECT_EQ(client_of(without, 1), first) << "also on another connection";
  EXPECT_NE(first, "0");
  EXPECT_EQ(client_of(with_keys, 1, bearer(infer_.key)), "0") << "the key's tenant";
}

TEST_F(HttpKeys, ThatAreNearlyRightAreWrong) {
  TestServer server(options());
  std::string other = infer_.key;
  other.back() = other.back() == 'a' ? 'b' : 'a';
  const std::string mixed = cat(infer_.key.substr(0, 20), admin_.key.substr(20));
  for (const std::string& key :
       {other, mixed, infer_.key.substr(0, 68), infer_.key + "a", std::string("sk-wick-"),
        std::string("x"), infer_.line.substr(0, 77), cat(" ", infer_.key, "x")})
    EXPECT_EQ(server.ask(request("GET /v1/models", bearer(key))).status, 401) << key;
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(infer_.key) + bearer(admin_.key))).status,
            400);
}

TEST_F(HttpKeys, HaveScopes) {
  TestServer server(options());
  const Answer answer = server.ask(post("/admin", "{}", bearer(infer_.key)));
  EXPECT_EQ(answer.status, 403);
  EXPECT_NE(answer.body.find("scope_missing"), std::string::npos) << answer.body;
  EXPECT_EQ(server.ask(post("/admin", "{}", bearer(admin_.key))).status, 200);
  EXPECT_EQ(server.ask(post("/infer", "{}", bearer(admin_.key))).status, 200);
}

TEST_F(HttpKeys, LimitRequestsOfAMinute) {
  write(cat(infer_.line, " rpm=3\n", admin_.line, "\n"));
  TestServer server(options());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(server.ask(request("GET /v1/models", bearer(infer_.key))).status, 200);
  const Answer answer = server.ask(request("GET /v1/models", bearer(infer_.key)));
  EXPECT_EQ(answer.status, 429);
  EXPECT_NE(answer.body.find(R"("type":"rate_limit_error")"), std::string::npos) << answer.body;
  const int wait = std::stoi(cat("0", answer.header("retry-after")));
  EXPECT_GE(wait, 15);
  EXPECT_LE(wait, 20);  // a third of a minute
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(admin_.key))).status, 200);
}

TEST_F(HttpKeys, LimitRequestsAtATime) {
  write(cat(infer_.line, " parallel=1\n"));
  TestServer server(options());
  {
    RawClient stream(server.port());
    stream.send(request("GET /stream", bearer(infer_.key)));
    ASSERT_TRUE(server.script().started.wait());
    EXPECT_EQ(server.ask(request("GET /v1/models", bearer(infer_.key))).status, 429);
  }
  ASSERT_TRUE(server.script().gone.wait());
  for (int status = 429; status == 429;)
    status = server.ask(request("GET /v1/models", bearer(infer_.key))).status;
}

TEST_F(HttpKeys, StandInTheSubprotocolOfAPagesWebSocket) {
  write(infer_.line);
  TestServer server(options());
  const auto open = [&](std::string_view words, std::string_view line = "GET /ws") {
    return server.ask(request(
        line, cat("connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
                  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: ",
                  words, "\r\n")));
  };
  const Answer good = open(cat("wick, wick-key.", infer_.key));
  EXPECT_EQ(good.status, 101);
  EXPECT_EQ(good.header("sec-websocket-protocol"), "wick");
  EXPECT_EQ(good.head.find(infer_.key), std::string::npos);
  EXPECT_EQ(open(cat("wick-key.", infer_.key, " ,other")).header("sec-websocket-protocol"), "");
  EXPECT_EQ(open("wick").status, 401);
  EXPECT_EQ(open("wick, wick-key.").status, 401);
  EXPECT_EQ(open("wick, wick-key.sk-wick-nonsense").status, 401);
  EXPECT_EQ(server
                .ask(request("GET /v1/models",
                             cat("sec-websocket-protocol: wick-key.", infer_.key, "\r\n")))
                .status,
            401)
      << "what is no WebSocket has headers for it";
}

TEST_F(HttpKeys, AreReadAgainWithoutDroppingAStream) {
  TestServer server(options());
  RawClient stream(server.port());
  stream.send(request("GET /stream", bearer(infer_.key)));
  ASSERT_TRUE(server.script().started.wait());
  write(admin_.line);
  ASSERT_TRUE(server->reload());
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(infer_.key))).status, 401);
  server.script().add("goes on");
  stream.read_until("goes on");
  write("nonsense\n");
  const auto reloaded = server->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().id, "bad_key_file");
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(admin_.key))).status, 200) << "as before";
}

TEST_F(HttpKeys, StandInNoLogAndNoAnswer) {
  std::mutex mutex;
  std::string all;
  set_log([&](LogLevel, std::string_view line) {
    const std::lock_guard lock(mutex);
    all += cat(line, "\n");
  });
  std::string answers;
  {
    TestServer server(options());
    const std::string secret = infer_.key.substr(21);
    for (const std::string& one :
         {request("GET /v1/models", bearer(infer_.key)), request(cat("GET /", infer_.key)),
          request(cat("GET /health?key=", infer_.key)),
          request("GET /health", cat("x-request-id: ", infer_.key, "\r\n")),
          request(cat("PUT /files/", infer_.key), bearer(infer_.key + "x")),
          post("/infer", cat("\"", infer_.key, "\"")),
          cat("GET /health ", infer_.key, "\r\n\r\n")}) {
      const Answer answer = server.ask(one);
      answers += answer.head + answer.body;
    }
    EXPECT_EQ(all.find(secret), std::string::npos) << all;
    EXPECT_EQ(answers.find(secret), std::string::npos) << answers;
  }
  set_log(nullptr);
  EXPECT_NE(all.find("GET /v1/models 200"), std::string::npos) << all;
  EXPECT_NE(all.find(cat(" key ", infer_.line.substr(0, 12))), std::string::npos) << all;
}

TEST_F(HttpKeys, FilesThatAreWrongSayWhereAndWhy) {
  const auto wrong = [](std::string_view text) {
    const auto keys = Keys::parse(text, "keys");
    return keys ? std::string() : keys.error().message;
  };
  const std::string hash(64, 'a');
  EXPECT_EQ(wrong(cat("abcdefghijkl ", hash, " infer rpm=1 parallel=2\n")), "");
  EXPECT_EQ(wrong(cat("\n#\nabc ", hash, " infer\n")),
            "keys:3: the public part has 3 characters, not 12 letters and digits");
  EXPECT_EQ(wrong("abcdefghijkl aa infer\n"), "keys:1: the SHA-256 is not 64 hexadecimal digits");
  EXPECT_EQ(wrong(cat("abcdefghijkl ", hash, " root\n")),
            "keys:1: the scopes are not infer, admin or infer,admin");
  for (const char* limit : {"rpm=0", "rpm=-1", "rpm=", "rpm", "x=1", "=", "rpm=1x", "tpm=x",
                            "models=", "models=,", "budget=", "name=", "expires=2027-02-30",
                            "expires=2027-1-01", "expires=soon", "expires=1969-12-31", "block",
                            "blocked=1"}) {
    EXPECT_NE(wrong(cat("abcdefghijkl ", hash, " infer ", limit, "\n")).find("a word is not rpm=N"),
              std::string::npos)
        << limit;
  }
  const std::string line = cat("abcdefghijkl ", hash, " infer\n");
  EXPECT_EQ(wrong(line + line), "keys:2: the public part occurs twice");
  write("# none\n");
  EXPECT_EQ(Keys::load(file()).error().id, "bad_key_file");
  write(line);
  ::chmod(file().c_str(), 0606);
  EXPECT_NE(Keys::load(file()).error().message.find("everybody may write"), std::string::npos);
  EXPECT_FALSE(Keys::load(folder_.path())) << "a folder";
}

TEST_F(HttpKeys, HaveNamesModelsBudgetsAndAnEnd) {
  const KeyRules meant{.per_minute = 60,
                       .tokens_per_minute = 5000,
                       .name = "alice",
                       .models = {"gpt-*", "local/*"},
                       .budgets = {"5/month", "0.5/day"},
                       .expires = "2027-01-31",
                       .is_blocked = true};
  const auto limits = limits_line(meant);
  ASSERT_TRUE(limits);
  const auto keys = Keys::parse(cat(infer_.line, *limits, "\n"), "keys");
  ASSERT_TRUE(keys) << keys.error().message;
  const Key read = keys->all().front();
  EXPECT_EQ(read.rules, meant);
  EXPECT_EQ(read.end_s, 1'801'440'000) << "the whole day is in it";
  using Rules = KeyRules;
  for (const Rules& bad :
       {Rules{.name = "a b"}, Rules{.models = {"a,b"}}, Rules{.models = {"a\nb"}},
        Rules{.budgets = {"5 USD"}}, Rules{.expires = "tomorrow"}, Rules{.name = "a\x1b"}})
    EXPECT_FALSE(limits_line(bad)) << bad.name;
  EXPECT_EQ(limits_line({.models = {"gpt 4"}}).error().message,
            "the key's model 'gpt 4' is empty or has blanks, commas or control characters");
  EXPECT_EQ(limits_line({.models = std::vector<std::string>(kMaxKeyModels + 1, "m")}).error().id,
            "bad_key");
  KeyRules copied;
  for (const char* const word :
       {"name", "models", "budget", "rpm", "tpm", "parallel", "expires", "blocked"}) {
    EXPECT_FALSE(copied == meant) << word;
    copy_rule(word, meant, copied);
  }
  EXPECT_EQ(copied, meant);
}

TEST_F(HttpKeys, EndAtTheirDate) {
  write(cat(infer_.line, " expires=2020-01-01\n", admin_.line, " expires=9999-12-31\n"));
  TestServer server(options());
  const Answer answer = server.ask(request("GET /v1/models", bearer(infer_.key)));
  EXPECT_EQ(answer.status, 401);
  EXPECT_NE(answer.body.find("expired_api_key"), std::string::npos) << answer.body;
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(admin_.key))).status, 200);
}

TEST_F(HttpKeys, CanBeBlocked) {
  write(cat(infer_.line, " blocked\n", admin_.line, "\n"));
  TestServer server(options());
  const Answer answer = server.ask(request("GET /v1/models", bearer(infer_.key)));
  EXPECT_EQ(answer.status, 401);
  EXPECT_NE(answer.body.find("blocked_api_key"), std::string::npos) << answer.body;
  write(cat(infer_.line, "\n", admin_.line, " blocked\n"));
  ASSERT_TRUE(server->reload_keys(file()));
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(infer_.key))).status, 200);
  EXPECT_EQ(server.ask(post("/admin", "{}", bearer(admin_.key))).status, 401);
}

TEST_F(HttpKeys, CanAllBeRevoked) {
  TestServer server(options());
  write("# none\n");
  EXPECT_FALSE(server->reload()) << "a reload that would lock everybody out is a mistake";
  ASSERT_TRUE(server->reload_keys(file()));
  EXPECT_EQ(server.ask(request("GET /v1/models", bearer(infer_.key))).status, 401);
  EXPECT_EQ(server.ask(request("GET /v1/models")).status, 401) << "the server still wants a key";
}

TEST_F(HttpKeys, AreDifferentEachTime) {
  EXPECT_NE(infer_.key, admin_.key);
  EXPECT_EQ(infer_.key.size(), 8U + 12 + 1 + 48);
  EXPECT_EQ(without_secrets(cat("a ", infer_.key, " b")),
            cat("a ", infer_.key.substr(0, 20), "-… b"));
}

TEST(HttpExposure, IsRefusedWithoutKeysUnlessToldSo) {
  ServerOptions options;
  options.listen = {.hosts = {"0.0.0.0"}, .port = 0};
  const auto server = Server::create(options, {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().id, "exposed_without_keys");
  options.is_insecure = true;
  EXPECT_TRUE(Server::create(options, {}));
  options.is_insecure = false;
  options.listen.hosts = {"127.0.0.1", "::"};
  EXPECT_FALSE(Server::create(options, {})) << "one of several";
  options.listen.hosts = {"localhost"};
  EXPECT_TRUE(Server::create(options, {}));
}

TEST(HttpExposure, AdminNeedsAKeyUnlessToldSo) {
  TestServer closed;
  const Answer answer = closed.ask(post("/admin", "{}"));
  EXPECT_EQ(answer.status, 403);
  EXPECT_NE(answer.body.find("admin_needs_key"), std::string::npos) << answer.body;
  ServerOptions options;
  options.admits_admin_without_key = true;
  TestServer open(options);
  EXPECT_EQ(open.ask(post("/admin", "{}")).status, 200);
}

TEST(HttpExposure, ADummyKeyIsNoHindranceWhereThereAreNone) {
  TestServer server;
  EXPECT_EQ(server.ask(request("GET /v1/models", "authorization: Bearer dummy\r\n")).status, 200);
}

}  // namespace
}  // namespace wick::http::test
