// Any bytes as the requests of one connection: how they are cut must not matter, every limit holds,
// and what is taken has one framing and one host. The first byte says how the second reader cuts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/guard.h"
#include "http/keys.h"
#include "http/reader.h"
#include "http/router.h"

namespace {

using namespace wick::http;

constexpr Limits kLimits{.head_bytes = 4096, .headers = 20, .body_bytes = 1000};

struct Seen {
  Head head = {};
  std::string body = {};
  int refused = 0;  // the status

  bool operator==(const Seen& other) const {
    return head.method == other.head.method && head.path == other.head.path &&
           head.query == other.head.query && head.host == other.head.host &&
           head.headers.size() == other.head.headers.size() && body == other.body &&
           refused == other.refused;
  }
};

// All requests of `in`, which comes in pieces of `cut` bytes.
std::vector<Seen> read_all(std::string_view in, std::size_t cut) {
  std::vector<Seen> all;
  RequestReader reader(kLimits);
  while (!in.empty()) {
    std::string_view piece = in.substr(0, cut);
    in.remove_prefix(piece.size());
    for (bool goes_on = true; goes_on;) {
      piece.remove_prefix(reader.feed(piece));
      switch (reader.state()) {
        case RequestReader::State::kHead:
          reader.read_body();
          break;
        case RequestReader::State::kWhole:
          all.push_back({.head = reader.head(), .body = reader.body()});
          reader.restart();
          break;
        case RequestReader::State::kRefused:
          all.push_back({.refused = reader.refusal().status});
          return all;
        default:
          goes_on = !piece.empty();
      }
    }
  }
  return all;
}

void check(const Seen& seen) {
  const Head& head = seen.head;
  if (seen.refused != 0) {
    WICK_CHECK(seen.refused >= 400 && seen.refused <= 505, "a refusal is one");
    return;
  }
  const auto count = [&](std::string_view name) {
    return std::count_if(head.headers.begin(), head.headers.end(),
                         [&](const Header& header) { return header.name == name; });
  };
  WICK_CHECK(count("host") == 1 && !head.host.empty(), "there is one host");
  WICK_CHECK(count("content-length") + count("transfer-encoding") <= 1, "there is one framing");
  WICK_CHECK(head.is_chunked || seen.body.size() == head.length, "the body has its length");
  WICK_CHECK(seen.body.size() <= kLimits.body_bytes, "the body is within its limit");
  WICK_CHECK(head.headers.size() <= std::size_t{20}, "the headers are within their limit");
  WICK_CHECK(head.path.starts_with('/') || head.path == "*", "a path is one");
  for (const Header& header : head.headers) {
    for (const char c : header.value)
      WICK_CHECK(static_cast<unsigned char>(c) >= 0x20 || c == '\t', "no value has a control");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const auto kGuard =
      Guard::create({.hosts = {"a.example"}, .origins = {"https://b.example"}});
  static const Router kRouter({{Access::kOpen, "GET", "/", {}},
                               {Access::kInfer, "POST", "/v1/*", {}},
                               {Access::kInfer, "WEBSOCKET", "/v1/ws", {}},
                               {Access::kAdmin, "DELETE", "/v1/models/*", {}}});
  const std::string_view in(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<Seen> whole = read_all(in, in.size());
  WICK_CHECK(whole == read_all(in, std::size_t{data[0] % 64U} + 1), "cuts change nothing");
  for (const Seen& seen : whole) {
    check(seen);
    if (seen.refused != 0) break;
    const auto refusal = kGuard->check(seen.head, "192.168.1.5");
    if (refusal) WICK_CHECK(!to_response(*refusal).body.empty(), "a refusal says why");
    if (kGuard->is_preflight(seen.head)) static_cast<void>(kGuard->preflight(seen.head, "GET"));
    const auto match = kRouter.find(seen.head.method, seen.head.path, seen.head.is_upgrade);
    WICK_CHECK(match.route == nullptr || !match.allow.empty(), "a route's path has methods");
    WICK_CHECK(match.rest.size() <= seen.head.path.size(), "the rest is of the path");
    static_cast<void>(without_secrets(presented_key(seen.head)));
  }
  return 0;
}
