// The head of a request, from bytes that may be hostile. Boost.Beast takes the request line and the
// headers apart; syntax that proxies and servers read differently (request smuggling) is refused
// here: a line feed without carriage return, folded lines, a body announced twice, a transfer
// coding other than "chunked". Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/handler.h"
#include "http/limits.h"
#include "http/refusal.h"

namespace wick::http {

struct Head {
  std::string method = {};  // as sent: "GET"
  std::string path = {};    // decoded, "*" of OPTIONS
  std::string query = {};
  std::vector<Header> headers = {};  // names in lower case, values trimmed
  std::string host = {};             // in lower case, as sent: "localhost:8080"
  std::uint64_t length = 0;          // of the body, if it is not chunked
  bool is_1_0 = false;               // HTTP/1.0
  bool keeps_alive = true;
  bool is_chunked = false;
  bool expects_continue = false;
  bool is_upgrade = false;  // asks for a WebSocket

  bool has_body() const noexcept { return is_chunked || length > 0; }

  std::string_view header(std::string_view name) const noexcept;  // empty if there is none
  bool has(std::string_view name) const noexcept;
};

// `block` ends with the empty line, inclusive. The lines have been checked by HeadLines. `head` is
// a new one, and of no use behind a refusal.
std::optional<Refusal> parse_head(std::string_view block, Head& head);

// Finds the end of a head as its bytes arrive and refuses invalid lines.
class HeadLines {
 public:
  explicit HeadLines(const Limits& limits) : limits_(&limits) {}

  // `all` is the part of the head received so far, which grows from call to call. Returns the
  // length of the head with its empty line; 0: incomplete.
  std::variant<std::size_t, Refusal> find_end(std::string_view all);

  void restart() noexcept { line_ = seen_ = 0, lines_ = 0; }

 private:
  const Limits* limits_;
  std::size_t line_ = 0;  // where the unfinished line begins
  std::size_t seen_ = 0;  // up to here there is no line feed behind line_
  int lines_ = 0;
};

}  // namespace wick::http
