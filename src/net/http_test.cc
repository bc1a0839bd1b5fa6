#include "net/http.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "net/url.h"
#include "support/range_server.h"

namespace wick {
namespace {

test::RangeServer& server() {
  return test::range_server();
}

std::string get_text(const std::string& url) {
  const auto text = http_get_text({.url = url}, 1 << 20);
  return text ? *text : "error: " + text.error().message;
}

void set(const std::string& json) {
  ASSERT_EQ(get_text(server().url("/control?") + escape_path(json)), "ok");
}

std::string stats(const std::string& path) {
  return get_text(server().url("/stats?" + path));
}

struct Got {
  Error error = {};
  bool is_error = false;
  HttpResponse response = {};
  std::string body = {};
  int heads = 0;
};

Got get(HttpRequest request) {
  Got got;
  auto response = http_get(
      request,
      [&](const HttpResponse& head) {
        ++got.heads;
        got.response = head;
        return true;
      },
      [&](std::span<const std::byte> bytes) {
        got.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return true;
      });
  got.is_error = !response;
  if (got.is_error) {
    got.error = response.error();
  } else {
    got.response = *response;
  }
  return got;
}

TEST(HttpGet, WholeFileTellsLengthAndEtag) {
  set(R"({"path": "/whole", "body": "0123456789", "etag": "\"v1\""})");
  const Got got = get({.url = server().url("/whole")});
  EXPECT_EQ(got.response.status, 200);
  EXPECT_EQ(got.body, "0123456789");
  EXPECT_EQ(got.response.total_bytes, 10u);
  EXPECT_EQ(got.response.etag, "\"v1\"");
  EXPECT_EQ(got.heads, 1);
}

TEST(HttpPost, SendsItsBytesAndTellsTheStatus) {
  const auto post = [](const std::string& text) {
    const auto status = http_post({.url = server().url("/post?abc"), .post = text});
    return status ? *status : -1;
  };
  EXPECT_EQ(post("abc"), 200);
  EXPECT_EQ(post("abd"), 400);
  EXPECT_EQ(http_post({.url = "http://127.0.0.1:1/", .post = "a"}).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(http_post({.url = "file:///etc/passwd", .post = "a"}).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(post(std::string(1 << 20, 'x')), -1) << "an answer that is longer than is read";
}

TEST(HttpGet, RangeGivesItsBytesAndPlace) {
  set(R"({"path": "/range", "body": "0123456789", "etag": "\"v1\""})");
  const Got got = get({.url = server().url("/range"), .from = 3, .to = 5, .if_range = "\"v1\""});
  EXPECT_EQ(got.response.status, 206);
  EXPECT_EQ(got.body, "345");
  EXPECT_EQ(got.response.range_from, 3u);
  EXPECT_EQ(got.response.total_bytes, 10u);
}

TEST(HttpGet, RangeOfAChangedFileGivesAllOfIt) {
  set(R"({"path": "/changed", "body": "0123456789", "etag": "\"v2\""})");
  const Got got = get({.url = server().url("/changed"), .from = 3, .if_range = "\"v1\""});
  EXPECT_EQ(got.response.status, 200);
  EXPECT_EQ(got.body, "0123456789");
  EXPECT_FALSE(got.response.range_from);
}

TEST(HttpGet, RangePastTheEndIsStatus416WithTheSize) {
  set(R"({"path": "/past", "body": "0123456789"})");
  const Got got = get({.url = server().url("/past"), .from = 10});
  EXPECT_EQ(got.response.status, 416);
  EXPECT_EQ(got.response.total_bytes, 10u);
}

TEST(HttpGet, EmptyBodyStillHasItsHead) {
  set(R"({"path": "/empty", "body": ""})");
  const Got got = get({.url = server().url("/empty")});
  EXPECT_EQ(got.heads, 1);
  EXPECT_EQ(got.response.total_bytes, 0u);
}

TEST(HttpGet, RedirectIsFollowedWithCredentialsOnTheSameOrigin) {
  set(R"({"path": "/there", "body": "here"})");
  set(R"({"path": "/go", "redirect": "/there"})");
  const Got got = get({.url = server().url("/go"), .headers = {"Authorization: Bearer secret"}});
  EXPECT_EQ(got.body, "here");
  EXPECT_EQ(got.heads, 1);
  EXPECT_EQ(got.response.final_url, server().url("/there"));
  EXPECT_NE(stats("/there").find("Bearer secret"), std::string::npos);
}

TEST(HostileHttp, CredentialsStayWithTheFirstOrigin) {
  // 127.0.0.1 and localhost are one machine but two origins.
  std::string other = server().url("/thief");
  other.replace(other.find("127.0.0.1"), 9, "localhost");
  set(R"({"path": "/thief", "body": "x"})");
  set(R"({"path": "/away", "redirect": ")" + other + R"("})");
  const Got got = get({.url = server().url("/away"), .headers = {"Authorization: Bearer secret"}});
  EXPECT_EQ(got.body, "x");
  EXPECT_NE(stats("/away").find("secret"), std::string::npos);
  EXPECT_EQ(stats("/thief").find("secret"), std::string::npos) << stats("/thief");
}

TEST(HostileHttp, RedirectLoopEndsAfterFiveHops) {
  set(R"({"path": "/loop", "redirect": "/loop"})");
  const Got got = get({.url = server().url("/loop")});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.id, "too_many_redirects");
  EXPECT_EQ(got.heads, 0);
}

TEST(HostileHttp, RedirectToAFileIsRefused) {
  set(R"({"path": "/file", "redirect": "file:///etc/passwd"})");
  const Got got = get({.url = server().url("/file")});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.body, "");
}

TEST(HostileHttp, OtherSchemesAreRefused) {
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "", "x",
                          "http://", "http://a b/", "http://h/\r\nX: y"}) {
    const Got got = get({.url = url});
    ASSERT_TRUE(got.is_error) << url;
    EXPECT_EQ(got.error.code, ErrorCode::kInvalid) << url;
  }
}

TEST(HostileHttp, LongHeaderIsRefused) {
  set(R"({"path": "/long", "body": "x", "header_bytes": 15000})");
  EXPECT_EQ(get({.url = server().url("/long")}).body, "x");
  set(R"({"path": "/longer", "body": "x", "header_bytes": 20000})");
  const Got got = get({.url = server().url("/longer")});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.id, "header_too_long");
}

TEST(HostileHttp, AnEncodedBodyIsRefusedForItIsNotTheFile) {
  set(R"({"path": "/packed", "body": "x", "content_encoding": "gzip"})");
  const Got got = get({.url = server().url("/packed")});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.id, "encoded_answer");
  EXPECT_EQ(got.body, "");
  set(R"({"path": "/plain", "body": "x", "content_encoding": "identity"})");
  EXPECT_EQ(get({.url = server().url("/plain")}).body, "x");
}

TEST(HostileHttp, LineBreakInAHeaderIsRefused) {
  const Got got = get({.url = server().url("/x"), .headers = {"A: b\r\nHost: evil"}});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.id, "bad_header");
}

TEST(HttpGet, CutBodyIsUnavailable) {
  set(R"({"path": "/cut", "body": "0123456789", "cut_after": 4})");
  const Got got = get({.url = server().url("/cut")});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(got.error.id, "cut");
  EXPECT_EQ(got.body, "0123");
}

TEST(HttpGet, DeadPortFailsAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const Got got = get({.url = "http://127.0.0.1:1/x"});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.code, ErrorCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(HttpGet, SilentServerEndsAfterTheIdleTime) {
  set(R"({"path": "/silent", "body": "x", "delay_s": 30})");
  const Got got = get({.url = server().url("/silent"), .idle_timeout_ms = 100});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.id, "idle_timeout");
}

TEST(HttpGet, StopEndsAWaitingRequest) {
  set(R"({"path": "/wait", "body": "x", "delay_s": 30})");
  std::stop_source stop;
  stop.request_stop();
  const Got got = get({.url = server().url("/wait"), .stop = stop.get_token()});
  ASSERT_TRUE(got.is_error);
  EXPECT_EQ(got.error.code, ErrorCode::kCancelled);
}

TEST(HttpGet, SinkThatSaysNoEndsTheRequest) {
  set(R"({"path": "/no", "body": "0123456789"})");
  int bodies = 0;
  const auto response = http_get(
      {.url = server().url("/no")}, [](const HttpResponse&) { return false; },
      [&](std::span<const std::byte>) { return ++bodies > 0; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(bodies, 0);
}

TEST(HttpGetText, RefusesMoreThanItsLimit) {
  set(R"({"path": "/text", "body": "0123456789"})");
  EXPECT_EQ(*http_get_text({.url = server().url("/text")}, 10), "0123456789");
  const auto text = http_get_text({.url = server().url("/text")}, 9);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().id, "answer_too_long");
}

TEST(HttpGetText, TellsMissingFromForbiddenFromBroken) {
  set(R"({"path": "/401", "status": 401})");
  set(R"({"path": "/503", "status": 503})");
  EXPECT_EQ(http_get_text({.url = server().url("/404")}, 10).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(http_get_text({.url = server().url("/401")}, 10).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(http_get_text({.url = server().url("/503")}, 10).error().code, ErrorCode::kUnavailable);
}

TEST(Url, IsShownWithoutSecrets) {
  const auto url = parse_url("https://user:pass@Host.Example/a/b%20c.gguf?sig=secret#part");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->origin, "https://host.example:443");
  EXPECT_EQ(url->plain, "https://Host.Example/a/b%20c.gguf?sig=secret");
  EXPECT_EQ(url->shown, "https://Host.Example/a/b%20c.gguf");
  EXPECT_EQ(last_path_part(*url), "b c.gguf");
}

TEST(Url, EscapeKeepsSlashesOnly) {
  EXPECT_EQ(escape_path("a b/c?d#e%\xC3\xA9.gguf"), "a%20b/c%3Fd%23e%25%C3%A9.gguf");
}

}  // namespace
}  // namespace wick
