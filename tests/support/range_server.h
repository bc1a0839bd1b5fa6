// tests/support/range_server.py as an object: an HTTP server on 127.0.0.1 that serves what a test
// sets and tells what was asked of it. Owned by one test program; ends with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace wick::test {

class RangeServer {
 public:
  RangeServer();
  ~RangeServer();
  RangeServer(const RangeServer&) = delete;
  RangeServer& operator=(const RangeServer&) = delete;

  std::string url(std::string_view path) const;  // "http://127.0.0.1:PORT" + path

 private:
  pid_t child_ = -1;
  int stdin_ = -1;  // the server runs until this is closed
  int port_ = 0;
};

// The one server of this test program, started at the first call.
RangeServer& range_server();

}  // namespace wick::test
