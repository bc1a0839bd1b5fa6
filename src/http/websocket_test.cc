// WebSockets: frames as bytes, as RFC 6455 draws them.
#include "http/fixture_test.h"

namespace wick::http::test {
namespace {

constexpr std::string_view kUpgrade =
    "connection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\nsec-websocket-version: 13\r\n"
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

enum Opcode : unsigned { kContinue = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

// A client's frame, masked.
std::string frame(unsigned opcode, std::string_view payload, bool is_last = true,
                  bool is_masked = true) {
  std::string bytes(1, static_cast<char>((is_last ? 0x80U : 0U) | opcode));
  const unsigned mask_bit = is_masked ? 0x80U : 0U;
  const auto n = payload.size();
  if (n < 126) {
    bytes += static_cast<char>(mask_bit | n);
  } else if (n < 65536) {
    bytes += static_cast<char>(mask_bit | 126U);
    bytes += static_cast<char>(n >> 8);
    bytes += static_cast<char>(n & 255U);
  } else {
    bytes += static_cast<char>(mask_bit | 127U);
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes += static_cast<char>(n >> shift & 255U);
  }
  const std::string_view mask = "wick";
  if (is_masked) bytes += mask;
  for (std::size_t i = 0; i < n; ++i)
    bytes += static_cast<char>(is_masked ? payload[i] ^ mask[i % 4] : payload[i]);
  return bytes;
}

struct Frame {
  unsigned opcode = 99;
  std::string payload = {};

  int close_code() const {
    if (payload.size() < 2) return 0;
    return static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
  }
};

Frame read_frame(RawClient& client) {
  const std::string head = client.read_bytes(2);
  if (head.size() < 2) return {};
  std::size_t n = static_cast<unsigned char>(head[1]);
  if (n == 126) {
    const std::string more = client.read_bytes(2);
    n = static_cast<std::size_t>(static_cast<unsigned char>(more[0]) << 8 |
                                 static_cast<unsigned char>(more[1]));
  }
  return {static_cast<unsigned char>(head[0]) & 15U, client.read_bytes(n)};
}

class HttpWebSocket : public testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions options;
    options.limits.message_bytes = 1000;
    options.limits.linger_ms = 500;
    return options;
  }

  void open(RawClient& client) {
    const Answer answer = client.ask(request("GET /ws", kUpgrade));
    ASSERT_EQ(answer.status, 101) << answer.head;
    EXPECT_NE(answer.head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos)
        << "the key of RFC 6455, 1.3: " << answer.head;
    EXPECT_NE(answer.head.find("x-request-id: req_"), std::string::npos) << answer.head;
  }
};

TEST_F(HttpWebSocket, CarriesMessagesBothWays) {
  TestServer server(options());
  RawClient client(server.port());
  open(client);
  client.send(frame(kText, "hello"));
  EXPECT_EQ(read_frame(client).payload, "you said hello");
  server.script().add("by myself");
  const Frame own = read_frame(client);
  EXPECT_EQ(own.opcode, kText);
  EXPECT_EQ(own.payload, "by myself");
  client.send(frame(kText, "two ", false) + frame(kPing, "alive") + frame(kContinue, "parts"));
  const Frame pong = read_frame(client);
  EXPECT_EQ(pong.opcode, kPong);
  EXPECT_EQ(pong.payload, "alive");
  EXPECT_EQ(read_frame(client).payload, "you said two parts");
}

TEST_F(HttpWebSocket, TakesWhatCameWithTheUpgrade) {
  TestServer server(options());
  RawClient client(server.port());
  client.send(request("GET /ws", kUpgrade) + frame(kText, "early"));
  EXPECT_EQ(client.read_answer().status, 101);
  EXPECT_EQ(read_frame(client).payload, "you said early");
}

TEST_F(HttpWebSocket, EndsWhenTheWorkIsDone) {
  TestServer server(options());
  RawClient client(server.port());
  open(client);
  server.script().add("last");
  server.script().finish();
  EXPECT_EQ(read_frame(client).payload, "last");
  const Frame close = read_frame(client);
  EXPECT_EQ(close.opcode, kClose);
  EXPECT_EQ(close.close_code(), 1000);
  client.send(frame(kClose, close.payload));
  EXPECT_TRUE(client.is_ended());
  EXPECT_TRUE(server.script().gone.wait());
}

TEST_F(HttpWebSocket, EndsWhenTheClientSaysSo) {
  TestServer server(options());
  RawClient client(server.port());
  open(client);
  client.send(frame(kClose, "\x03\xE8"));
  EXPECT_EQ(read_frame(client).opcode, kClose);
  EXPECT_TRUE(server.script().gone.wait());
  EXPECT_TRUE(client.is_ended());
  EXPECT_EQ(server->counters().cancelled, 0U) << "an end that was said is none that was missed";
  EXPECT_EQ(server->counters().requests, 1U);
}

TEST_F(HttpWebSocket, EndsAtOnceWithItsClient) {
  TestServer server(options());
  RawClient client(server.port());
  open(client);
  client.close();
  EXPECT_TRUE(server.script().gone.wait(std::chrono::milliseconds(200)));
}

TEST_F(HttpWebSocket, RefusesWhatIsNoProtocol) {
  struct Case {
    const char* name;
    std::string bytes;
    int code;
  };

  for (const Case& one :
       {Case{"a message too large", frame(kText, std::string(1001, 'x')), 1009},
        Case{"parts too large together",
             frame(kText, std::string(900, 'x'), false) + frame(kContinue, std::string(200, 'x')),
             1009},
        Case{"a frame without a mask", frame(kText, "x", true, false), 1002},
        Case{"a reserved opcode", frame(3, "x"), 1002},
        Case{"a long ping", frame(kPing, std::string(126, 'x')), 1002},
        Case{"a ping in parts", frame(kPing, "x", false), 1002},
        Case{"a part of nothing", frame(kContinue, "x"), 1002},
        Case{"no UTF-8", frame(kText, "\xFF\xFE"), 1007}, Case{"bytes", frame(kBinary, "x"), 1003},
        Case{"what the work refuses", frame(kText, "refuse me"), 1002}}) {
    SCOPED_TRACE(one.name);
    TestServer server(options());
    RawClient client(server.port());
    open(client);
    client.send(one.bytes);
    const Frame close = read_frame(client);
    EXPECT_EQ(close.opcode, kClose);
    EXPECT_EQ(close.close_code(), one.code);
    EXPECT_TRUE(server.script().gone.wait());
    EXPECT_TRUE(client.is_ended());
  }
}

TEST_F(HttpWebSocket, TakesAMessageOfExactlyTheLimit) {
  TestServer server(options());
  RawClient client(server.port());
  open(client);
  client.send(frame(kText, std::string(1000, 'x')));
  EXPECT_EQ(read_frame(client).payload.size(), 1000 + std::string_view("you said ").size());
}

TEST_F(HttpWebSocket, PingsAndCutsAClientThatIsGone) {
  ServerOptions quick = options();
  quick.limits.heartbeat_ms = 400;  // in which this test must answer, however busy the machine
  TestServer server(quick);
  RawClient client(server.port());
  open(client);
  const Frame ping = read_frame(client);
  EXPECT_EQ(ping.opcode, kPing);
  client.send(frame(kPong, ping.payload));
  EXPECT_EQ(read_frame(client).opcode, kPing);
  EXPECT_TRUE(server.script().gone.wait()) << "no pong came to the second one";
}

TEST_F(HttpWebSocket, PausesAWorkWhoseClientDoesNotRead) {
  TestServer server(options());
  server.script().endless = 10'000;
  RawClient client(server.port(), 4096);
  open(client);
  std::size_t before = 1, now = 0;
  for (int quiet = 0; quiet < 5; quiet = now == before ? quiet + 1 : 0) {
    before = server.script().written;
    EXPECT_EQ(server.ask(request("GET /health")).status, 200);
    now = server.script().written;
  }
  EXPECT_LT(now, std::size_t{6} << 20);
  for (std::size_t read = 0; read < now + kMaxStreamBytes;)
    read += read_frame(client).payload.size();
  EXPECT_GT(server.script().written, now);
}

TEST_F(HttpWebSocket, SaysItsLastWhenTheServerDrains) {
  TestServer server(options());
  RawClient client(server.port());
  open(client);
  ASSERT_TRUE(server.script().started.wait());
  server->drain();
  EXPECT_EQ(read_frame(client).payload, "last");
  EXPECT_EQ(read_frame(client).opcode, kClose);
  client.send(frame(kClose, "\x03\xE8"));
  EXPECT_TRUE(server.has_ended());
}

TEST_F(HttpWebSocket, MalformedUpgradesAreRefused) {
  TestServer server(options());
  const std::string half = "connection: upgrade\r\nupgrade: websocket\r\n";
  EXPECT_EQ(server.ask(request("GET /ws", half)).status, 400);
  EXPECT_NE(server
                .ask(request("GET /ws", cat(half,
                                            "sec-websocket-version: 8\r\n"
                                            "sec-websocket-key: x\r\n")))
                .status,
            101);
  EXPECT_EQ(server.ask(request("POST /ws", kUpgrade)).status, 405);
  EXPECT_EQ(server.ask(request("GET /health", kUpgrade)).body, "ok") << "an offer that is declined";
}

}  // namespace
}  // namespace wick::http::test
