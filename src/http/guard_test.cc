// What a web page on the same machine, or one behind a name that was made to point here, can try.
#include "http/fixture_test.h"

namespace wick::http::test {
namespace {

constexpr std::string_view kUpgrade =
    "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
constexpr std::string_view kJson = "content-type: application/json\r\n";

struct Attack {
  const char* name;
  std::string line, host, headers, body;
};

std::vector<Attack> rebinding() {
  std::vector<Attack> all;
  for (const char* host : {"evil.example",
                           "evil.example:8080",
                           "localhost.evil.example",
                           "localhost.evil.example:8080",
                           "127.0.0.1.evil.example",
                           "127.0.0.1.nip.io",
                           "evil-localhost",
                           "xlocalhost",
                           "localhost.",
                           "localhostx",
                           "0.0.0.0",
                           "[::]",
                           "127.0.0.2",
                           "127.1",
                           "2130706433",
                           "0x7f.0.0.1",
                           "0177.0.0.1",
                           "[::ffff:127.0.0.2]",
                           "192.168.1.5",
                           "169.254.169.254",
                           "localhost:8080:80",
                           "localhost:",
                           "localhost:x",
                           "[::1",
                           "::1",
                           "evil.example@localhost"}) {
    all.push_back({host, "GET /v1/models", host, "", ""});
  }
  all.push_back({"a rebound post", "POST /infer", "evil.example", std::string(kJson), "{}"});
  all.push_back({"a rebound page of the same origin", "POST /infer", "evil.example:8080",
                 cat(kJson, "origin: http://evil.example:8080\r\n"), "{}"});
  all.push_back({"a rebound websocket", "GET /ws", "evil.example",
                 cat(kUpgrade, "origin: http://evil.example\r\n"), ""});
  return all;
}

std::vector<Attack> origins() {
  std::vector<Attack> all;
  for (const char* origin :
       {"https://evil.example", "http://evil.example:8080", "null", "", "file://", "http://",
        "http://localhost:3000", "https://localhost", "http://127.0.0.1:9999",
        "http://localhost:8080.evil.example", "http://localhost.evil.example:8080",
        "http://localhost:8080@evil.example", "http://localhost:8080/", "chrome-extension://abcdef",
        "app://localhost:8080", "ftp://localhost:8080", "http://localhost:08080",
        "http://127.0.0.1:8080"}) {
    all.push_back(
        {origin, "POST /infer", "localhost:8080", cat(kJson, "origin: ", origin, "\r\n"), "{}"});
  }
  return all;
}

std::vector<Attack> others() {
  const std::string evil = "origin: https://evil.example\r\n";
  return {
      {"a form", "POST /infer", "localhost:8080",
       cat(evil, "content-type: application/x-www-form-urlencoded\r\n"), "a=b"},
      {"a form of plain text that is JSON", "POST /infer", "localhost:8080",
       cat(evil, "content-type: text/plain\r\n"), "{\"a\":\"=\"}"},
      {"a multipart form", "POST /infer", "localhost:8080",
       cat(evil, "content-type: multipart/form-data; boundary=x\r\n"), "--x--"},
      {"a form without an origin", "POST /infer", "localhost:8080",
       "content-type: text/plain\r\nsec-fetch-site: cross-site\r\n", "{}"},
      {"an old browser's form", "POST /infer", "localhost:8080", "content-type: text/plain\r\n",
       "{}"},
      {"a beacon", "POST /infer", "localhost:8080",
       cat(evil, "content-type: text/plain;charset=UTF-8\r\n"), "{}"},
      {"a post without a body", "POST /infer", "localhost:8080", evil, ""},
      {"another site without an origin", "POST /infer", "localhost:8080",
       cat(kJson, "sec-fetch-site: cross-site\r\n"), "{}"},
      {"a sister site without an origin", "POST /infer", "localhost:8080",
       cat(kJson, "sec-fetch-site: same-site\r\n"), "{}"},
      {"a post in the shape of an override", "POST /infer", "localhost:8080",
       cat(evil, kJson, "x-http-method-override: GET\r\n"), "{}"},
      {"two origins, one of them ours", "POST /infer", "localhost:8080",
       cat(kJson, evil, "origin: http://localhost:8080\r\n"), "{}"},
      {"two hosts, one of them ours", "POST /infer", "localhost:8080",
       cat(kJson, "host: evil.example\r\n"), "{}"},
      {"a delete", "DELETE /admin", "localhost:8080", evil, ""},
      {"a websocket", "GET /ws", "localhost:8080", cat(kUpgrade, evil), ""},
      {"a websocket of a file", "GET /ws", "localhost:8080", cat(kUpgrade, "origin: null\r\n"), ""},
      {"a websocket of another port", "GET /ws", "localhost:8080",
       cat(kUpgrade, "origin: http://localhost:3000\r\n"), ""},
      {"a preflight", "OPTIONS /infer", "localhost:8080",
       cat(evil, "access-control-request-method: POST\r\n"), ""},
      {"a preflight for a private network", "OPTIONS /infer", "localhost:8080",
       cat(evil,
           "access-control-request-method: POST\r\n"
           "access-control-request-private-network: true\r\n"),
       ""},
      {"a preflight of our own name from another port", "OPTIONS /infer", "localhost:8080",
       "origin: http://localhost:3000\r\naccess-control-request-method: POST\r\n", ""},
      {"an admin's call without a key", "POST /admin", "localhost:8080", std::string(kJson), "{}"},
  };
}

TEST(HostileBrowser, NoneOfMoreThan60AttacksSucceeds) {
  TestServer server;
  std::vector<Attack> all = rebinding();
  for (auto&& more : {origins(), others()})
    all.insert(all.end(), more.begin(), more.end());
  EXPECT_EQ(all.size(), 67U) << "docs/server.md says how many";
  for (const Attack& attack : all) {
    SCOPED_TRACE(attack.name);
    const Answer answer =
        server.ask(cat(attack.line, " HTTP/1.1\r\nhost: ", attack.host, "\r\n", attack.headers,
                       "content-length: ", attack.body.size(), "\r\n\r\n", attack.body));
    EXPECT_TRUE(answer.status == 403 || answer.status == 415 || answer.status == 400)
        << answer.head;
    EXPECT_EQ(answer.head.find("access-control-"), std::string::npos) << answer.head;
  }
  EXPECT_FALSE(server.script().started.wait(std::chrono::milliseconds(0)));
}

// A page may send a simple GET anywhere; what counts is that it cannot read the answer.
TEST(HostileBrowser, APageOfAnotherOriginReadsNoAnswer) {
  TestServer server;
  const Answer answer = server.ask(
      "GET /v1/models HTTP/1.1\r\nhost: localhost:8080\r\n"
      "origin: https://evil.example\r\n\r\n");
  EXPECT_EQ(answer.head.find("access-control-"), std::string::npos);
  EXPECT_EQ(answer.header("cross-origin-resource-policy"), "same-origin");
  EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
}

TEST(HttpGuard, TakesItsOwnNamesAndAddress) {
  ServerOptions options;
  options.guard.hosts = {"Box.example", "proxy.example:8443"};
  TestServer server(options);
  for (const char* host :
       {"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "box.example",
        "box.example:9", "proxy.example:8443", "[::ffff:127.0.0.1]"}) {
    EXPECT_EQ(server.ask(cat("GET /health HTTP/1.1\r\nhost: ", host, "\r\n\r\n")).status, 200)
        << host;
  }
  EXPECT_EQ(server.ask("GET /health HTTP/1.1\r\nhost: proxy.example\r\n\r\n").status, 403);
}

TEST(HttpGuard, TakesAnyNameOnlyIfToldSo) {
  ServerOptions options;
  options.guard.hosts = {"*"};
  TestServer server(options);
  EXPECT_EQ(server.ask("GET /health HTTP/1.1\r\nhost: evil.example\r\n\r\n").status, 200);
}

TEST(HttpGuard, TakesTheAddressThatWasReachedAndNotTheOneForAll) {
  ServerOptions options;
  options.listen = {.hosts = {"0.0.0.0"}, .port = 0};
  options.is_insecure = true;
  TestServer server(options);
  EXPECT_EQ(server.ask("GET /health HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n").status, 200);
  EXPECT_EQ(server.ask("GET /health HTTP/1.1\r\nhost: 0.0.0.0:1\r\n\r\n").status, 403);
  EXPECT_EQ(server.ask("GET /health HTTP/1.1\r\nhost: 192.168.1.5\r\n\r\n").status, 403);
}

TEST(HttpGuard, TakesItsOwnPages) {
  TestServer server;
  const auto status = [&](std::string_view host, std::string_view origin) {
    return server
        .ask(cat("POST /infer HTTP/1.1\r\nhost: ", host, "\r\norigin: ", origin, "\r\n", kJson,
                 "content-length: 2\r\n\r\n{}"))
        .status;
  };
  EXPECT_EQ(status("localhost:8080", "http://localhost:8080"), 200);
  EXPECT_EQ(status("localhost", "http://localhost"), 200);
  EXPECT_EQ(status("localhost", "https://localhost"), 200) << "behind a proxy that ends TLS";
  EXPECT_EQ(status("localhost:443", "https://localhost"), 200);
  EXPECT_EQ(status("localhost:443", "http://localhost"), 403);
  EXPECT_EQ(status("[::1]:8080", "http://[::1]:8080"), 200);
}

TEST(HttpGuard, LetsAListedOriginAskAndRead) {
  ServerOptions options;
  options.guard.origins = {"https://Chat.example"};
  TestServer server(options);
  const std::string origin = "origin: https://chat.example\r\n";
  Answer answer = server.ask(
      request("OPTIONS /infer", cat(origin,
                                    "access-control-request-method: POST\r\n"
                                    "access-control-request-headers: authorization,x-a\r\n")));
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("access-control-allow-origin"), "https://chat.example");
  EXPECT_EQ(answer.header("access-control-allow-methods"), "POST, OPTIONS");
  EXPECT_EQ(answer.header("access-control-allow-headers"), "authorization,x-a");
  EXPECT_EQ(answer.header("vary"), "origin");
  answer = server.ask(post("/infer", "{}", origin));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("access-control-allow-origin"), "https://chat.example");
  answer = server.ask(post("/nowhere", "{}", origin));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.header("access-control-allow-origin"), "https://chat.example");
  answer = server.ask(request("GET /health", "origin: https://evil.example\r\n"));
  EXPECT_EQ(answer.header("access-control-allow-origin"), "");
  answer = server.ask(
      request("OPTIONS /infer", cat(origin,
                                    "access-control-request-method: POST\r\n"
                                    "access-control-request-private-network: true\r\n")));
  EXPECT_EQ(answer.status, 403) << "the private network is never offered";
  EXPECT_EQ(answer.header("access-control-allow-origin"), "");
}

TEST(HttpGuard, RefusesAListOfAllOrigins) {
  for (const char* origin : {"*", "https://a.example/path", "a.example", "null"}) {
    ServerOptions options;
    options.listen.port = 0;
    options.guard.origins = {origin};
    const auto server = Server::create(options, {});
    ASSERT_FALSE(server) << origin;
    EXPECT_EQ(server.error().id, "bad_origin");
  }
}

}  // namespace
}  // namespace wick::http::test
