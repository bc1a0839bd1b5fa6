// Every form of a request that two programs could read differently is refused, and the connection
// ends: nobody knows where the next request begins. Also what the pipelines and methods promise.
#include "base/strings.h"
#include "http/fixture_test.h"
#include "http/response.h"

namespace wick::http::test {
namespace {

struct Case {
  const char* name;
  std::string bytes;
  int status;
};

std::string chunked(std::string_view body, std::string_view headers = {}) {
  return cat("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n",
             headers, "transfer-encoding: chunked\r\n\r\n", body);
}

std::string plain(std::string_view headers, std::string_view body = "{}") {
  return cat("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n",
             headers, "\r\n", body);
}

std::vector<Case> smuggling() {
  const std::string get = "GET /health HTTP/1.1\r\n", host = "host: localhost\r\n";
  return {
      {"both framings", chunked("0\r\n\r\n", "content-length: 5\r\n"), 400},
      {"both framings, other order",
       plain("transfer-encoding: chunked\r\ncontent-length: 4\r\n", "0\r\n\r\n"), 400},
      {"two lengths", plain("content-length: 2\r\ncontent-length: 3\r\n"), 400},
      {"the same length twice", plain("content-length: 2\r\ncontent-length: 2\r\n"), 400},
      {"a list of lengths", plain("content-length: 2, 2\r\n"), 400},
      {"a signed length", plain("content-length: +2\r\n"), 400},
      {"a negative length", plain("content-length: -2\r\n"), 400},
      {"a hexadecimal length", plain("content-length: 0x2\r\n"), 400},
      {"an empty length", plain("content-length: \r\n"), 400},
      {"a length beyond 64 bits", plain("content-length: 18446744073709551618\r\n"), 400},
      {"two transfer codings", chunked("0\r\n\r\n", "transfer-encoding: chunked\r\n"), 400},
      {"a list of codings", plain("transfer-encoding: gzip, chunked\r\n"), 501},
      {"an unknown coding", plain("transfer-encoding: xchunked\r\n"), 501},
      {"identity", plain("transfer-encoding: identity\r\n"), 501},
      {"chunked with a tab inside", plain("transfer-encoding: chun\tked\r\n"), 501},
      {"chunks in HTTP/1.0",
       cat("POST /echo HTTP/1.0\r\n", host, "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"), 400},
      {"a blank before the colon", plain("content-length : 2\r\n"), 400},
      {"a tab before the colon", plain("transfer-encoding\t: chunked\r\n"), 400},
      {"a folded header", cat(get, host, "x: a\r\n b\r\n\r\n"), 400},
      {"a folded header with a tab", cat(get, host, "x: a\r\n\tb\r\n\r\n"), 400},
      {"a fold before the first header", cat(get, " x: a\r\n", host, "\r\n"), 400},
      {"a bare line feed ends the request line", "GET /health HTTP/1.1\nhost: localhost\r\n\r\n",
       400},
      {"a bare line feed ends a header", cat(get, "x: a\n", host, "\r\n"), 400},
      {"bare line feeds end the head", cat(get, "host: localhost\n\n"), 400},
      {"a carriage return inside a header", cat(get, host, "x: a\rb\r\n\r\n"), 400},
      {"two carriage returns", cat(get, host, "x: a\r\r\n\r\n"), 400},
      {"a zero byte in a header", cat(get, host, std::string("x: a\0b\r\n\r\n", 10)), 400},
      {"a zero byte in the path", cat("GET /hea", std::string(1, '\0'), "lth HTTP/1.1\r\n\r\n"),
       400},
      {"an escape in a header", cat(get, host, "x: \x1B[2J\r\n\r\n"), 400},
      {"a header without a name", cat(get, host, ": a\r\n\r\n"), 400},
      {"a header without a colon", cat(get, host, "nonsense\r\n\r\n"), 400},
      {"two hosts", cat(get, host, "host: evil.example\r\n\r\n"), 400},
      {"no host", cat(get, "\r\n"), 400},
      {"an empty host", cat(get, "host: \r\n\r\n"), 400},
      {"an empty line first", cat("\r\n", get, host, "\r\n"), 400},
      {"two blanks in the request line", cat("GET  /health HTTP/1.1\r\n", host, "\r\n"), 400},
      {"a blank behind the version", cat("GET /health HTTP/1.1 \r\n", host, "\r\n"), 505},
      {"no version", cat("GET /health\r\n", host, "\r\n"), 400},
      {"HTTP/2", cat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505},
      {"HTTP/0.9", cat("GET /health HTTP/0.9\r\n", host, "\r\n"), 505},
      {"a method with a blank", cat("GE T /health HTTP/1.1\r\n", host, "\r\n"), 505},
      {"another authority", cat("GET http://evil.example/health HTTP/1.1\r\n", host, "\r\n"), 400},
      {"CONNECT", cat("CONNECT localhost:80 HTTP/1.1\r\n", host, "\r\n"), 400},
      {"a fragment", cat("GET /health#x HTTP/1.1\r\n", host, "\r\n"), 400},
      {"a broken escape in the path", cat("GET /%4 HTTP/1.1\r\n", host, "\r\n"), 400},
      {"an escaped zero byte", cat("GET /a%00 HTTP/1.1\r\n", host, "\r\n"), 400},
      {"an escaped line feed", cat("GET /a%0a HTTP/1.1\r\n", host, "\r\n"), 400},
      {"a path of another kind", cat("GET health HTTP/1.1\r\n", host, "\r\n"), 400},
      {"a byte beyond ASCII in the path", cat("GET /\xC3\xA4 HTTP/1.1\r\n", host, "\r\n"), 400},
      {"a chunk size with a sign", chunked("+2\r\n{}\r\n0\r\n\r\n"), 400},
      {"a chunk size with 0x", chunked("0x2\r\n{}\r\n0\r\n\r\n"), 400},
      {"a chunk size with a blank", chunked("2 \r\n{}\r\n0\r\n\r\n"), 400},
      {"a chunk without a size", chunked("\r\n{}\r\n0\r\n\r\n"), 400},
      {"a chunk extension", chunked("2;a=b\r\n{}\r\n0\r\n\r\n"), 400},
      {"a chunk size with a bare line feed", chunked("2\n{}\r\n0\r\n\r\n"), 400},
      {"a chunk with a bare line feed behind", chunked("2\r\n{}\n0\r\n\r\n"), 400},
      {"a chunk longer than its size", chunked("2\r\n{}}\r\n0\r\n\r\n"), 400},
      {"a trailer", chunked("2\r\n{}\r\n0\r\nhost: evil.example\r\n\r\n"), 400},
      {"a bare line feed behind the last chunk", chunked("2\r\n{}\r\n0\r\n\n"), 400},
      {"another expectation", plain("content-length: 2\r\nexpect: 200-ok\r\n"), 417},
  };
}

TEST(HttpSmuggling, EveryAmbiguousRequestIsRefusedAndTheConnectionEnds) {
  TestServer server;
  for (const Case& one : smuggling()) {
    SCOPED_TRACE(one.name);
    RawClient client(server.port());
    client.send(one.bytes);
    client.send(request("GET /page"));  // what would have been smuggled
    const Answer answer = client.read_answer();
    EXPECT_EQ(answer.status, one.status) << answer.head << answer.body;
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(client.is_ended());
  }
}

// The same bytes in one piece and one by one: the reader must not depend on how they are cut.
TEST(HttpSmuggling, IsRefusedByteByByteToo) {
  const Limits limits;
  for (const Case& one : smuggling()) {
    SCOPED_TRACE(one.name);
    RequestReader whole(limits), bytes(limits);
    const auto feed = [](RequestReader& reader, std::string_view in) {
      for (std::size_t at = 0; at < in.size();) {
        const std::size_t n = reader.feed(in.substr(at));
        if (reader.state() == RequestReader::State::kHead) reader.read_body();
        if (reader.state() == RequestReader::State::kRefused) return;
        if (reader.state() == RequestReader::State::kWhole) return;
        if (n == 0 && reader.state() != RequestReader::State::kNeedsBody) return;
        at += n;
      }
    };
    feed(whole, one.bytes);
    for (const char c : one.bytes)
      feed(bytes, std::string_view(&c, 1));
    ASSERT_EQ(whole.state(), RequestReader::State::kRefused);
    ASSERT_EQ(bytes.state(), RequestReader::State::kRefused);
    EXPECT_EQ(whole.refusal().status, one.status);
    EXPECT_EQ(bytes.refusal().status, one.status);
    EXPECT_EQ(bytes.refusal().code, whole.refusal().code);
  }
}

TEST(HttpRequests, ComeInOrderThroughAPipeline) {
  TestServer server;
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all += i % 3 == 0 ? request("GET /health") : post("/echo", cat("\"", i, "\""));
  }
  client.send(all);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(client.read_answer().body, i % 3 == 0 ? "ok" : cat("\"", i, "\""));
}

TEST(HttpRequests, MayComeByteByByte) {
  TestServer server;
  RawClient client(server.port());
  for (const char c : post("/echo", "[1,2]"))
    client.send({&c, 1});
  EXPECT_EQ(client.read_answer().body, "[1,2]");
  const std::string chunks = chunked("3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n");
  for (const char c : chunks)
    client.send({&c, 1});
  EXPECT_EQ(client.read_answer().body, "[1,2]");
}

TEST(HttpRequests, WaitForContinue) {
  TestServer server;
  RawClient client(server.port());
  client.send(plain("expect: 100-continue\r\ncontent-length: 2\r\n", ""));
  EXPECT_EQ(client.read_answer().status, 100);
  client.send("{}");
  EXPECT_EQ(client.read_answer().body, "{}");
}

TEST(HttpRequests, AreRefusedBeforeTheirBodyComes) {
  TestServer server;
  RawClient client(server.port());
  client.send(
      "POST /nowhere HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n"
      "content-length: 1000000\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 404);
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpRequests, OfUnknownRoutesAndMethodsAreToldSo) {
  TestServer server;
  Answer answer = server.ask(request("GET /nowhere"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body,
            R"({"error":{"message":"there is no GET /nowhere","type":"invalid_request_error",)"
            R"("param":null,"code":"unknown_route"}})");
  answer = server.ask(request("PUT /health"));
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header("allow"), "GET, HEAD, OPTIONS");
  answer = server.ask(request("GET /admin"));
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header("allow"), "POST, DELETE, OPTIONS");
  answer = server.ask(request("GET /ws"));
  EXPECT_EQ(answer.status, 426);
  EXPECT_EQ(answer.header("upgrade"), "websocket");
}

TEST(HttpRequests, HeadHasTheHeadersOfGetAndNoBody) {
  TestServer server;
  RawClient client(server.port());
  const Answer answer = client.ask(request("HEAD /health"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-length"), "2");
  EXPECT_EQ(client.ask(request("GET /health")).body, "ok") << "nothing lies in between";
}

TEST(HttpRequests, OptionsTellWhatAPathHas) {
  TestServer server;
  RawClient client(server.port());
  Answer answer = client.ask(request("OPTIONS /health"));
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(answer.header("content-length"), "");
  EXPECT_EQ(client.ask(request("OPTIONS *")).status, 204);
  EXPECT_EQ(client.ask(request("OPTIONS /nowhere")).status, 404);
}

TEST(HttpRequests, PathsAreDecodedOnceAndPrefixesTellTheRest) {
  TestServer server;
  EXPECT_EQ(server.ask(request("GET /files/a%2Fb%25?x=%41&y")).body, "/files/a/b%|a/b%|x=%41&y||0");
  EXPECT_EQ(server.ask(request("GET /v1/%6dodels")).status, 200);
  EXPECT_EQ(server.ask(request("GET http://localhost/v1/models?q")).body, "/v1/models||q||0");
}

TEST(HttpRequests, OnlyJsonIsTaken) {
  TestServer server;
  const auto status = [&](std::string_view type) {
    return server.ask(request("POST /echo", type, "{}")).status;
  };
  EXPECT_EQ(status("content-type: application/json\r\n"), 200);
  EXPECT_EQ(status("Content-Type: Application/JSON ; charset=utf-8\r\n"), 200);
  for (const char* type :
       {"", "content-type: text/plain\r\n", "content-type: \r\n",
        "content-type: application/x-www-form-urlencoded\r\n",
        "content-type: multipart/form-data; boundary=application/json\r\n",
        "content-type: text/plain; application/json\r\n", "content-type: application/jsonp\r\n"})
    EXPECT_EQ(status(type), 415) << type;
  EXPECT_EQ(server.ask(request("POST /echo")).status, 415) << "an empty body, too";
}

TEST(HttpRequests, OfHttp10EndWithTheConnectionUnlessItIsKept) {
  TestServer server;
  RawClient client(server.port());
  client.send("GET /health HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive\r\n\r\n");
  const Answer kept = client.read_answer();
  EXPECT_EQ(kept.body, "ok");
  EXPECT_EQ(kept.header("connection"), "keep-alive");
  client.send("GET /health HTTP/1.0\r\nhost: localhost\r\n\r\n");
  EXPECT_EQ(client.read_answer().header("connection"), "close");
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpRequests, OfAClientThatHasEndedAreStillAnswered) {
  TestServer server;
  RawClient client(server.port());
  client.send(request("GET /health"));
  client.end();
  EXPECT_EQ(client.read_answer().body, "ok");
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpRequests, AnswersCannotBeSplitByWhatAHandlerPutsIntoAHeader) {
  const Handler unsafe = [](const Request&, const std::shared_ptr<Wake>&) -> Reply {
    return Response{.body = "{}", .headers = {{"x-warning", "a\r\nset-cookie: b"}}};
  };
  TestServer server({}, {{Access::kOpen, "GET", "/unsafe", unsafe, Where::kLoop}});
  const Answer answer = server.ask(request("GET /unsafe"));
  EXPECT_EQ(answer.header("x-warning"), "a??set-cookie: b");
  EXPECT_EQ(answer.header("set-cookie"), "");
}

TEST(HttpRequests, NoControlCharacterOfAHeaderGoesOutWhereverItStands) {
  for (std::size_t at = 0; at < 18; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string value(18, 'a'), wanted(18, 'a');
      value[at] = static_cast<char>(byte);
      wanted[at] = byte < 0x20 || byte == 0x7F ? '?' : value[at];
      std::string out;
      append_head(out, {.headers = {{"x-value", value}}}, {.length = 0});
      ASSERT_NE(out.find(cat("\r\nx-value: ", wanted, "\r\n")), std::string::npos) << byte << at;
    }
  }
}

TEST(HttpRequests, WhoseHandlerThrowsAreOneErrorAndNoMore) {
  const Handler broken = [](const Request&, const std::shared_ptr<Wake>&) -> Reply {
    throw std::bad_alloc();
  };
  TestServer server({}, {{Access::kOpen, "GET", "/loop", broken, Where::kLoop},
                         {Access::kOpen, "GET", "/worker", broken}});
  RawClient client(server.port());
  EXPECT_EQ(client.ask(request("GET /loop")).status, 503);
  EXPECT_EQ(client.ask(request("GET /worker")).status, 503);
  EXPECT_EQ(client.ask(request("GET /health")).status, 200);
}

}  // namespace
}  // namespace wick::http::test
