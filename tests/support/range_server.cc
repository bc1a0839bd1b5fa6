#include "support/range_server.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "support/test_data.h"

namespace wick::test {

RangeServer::RangeServer() {
  std::array<int, 2> in = {}, out = {};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
  const std::string script = test_data("../support/range_server.py");
  child_ = ::fork();
  if (child_ < 0) std::abort();
  if (child_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execlp("python3", "python3", script.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  stdin_ = in[1];
  std::string text;
  char c = 0;
  while (::read(out[0], &c, 1) == 1 && c != '\n')
    text += c;
  ::close(out[0]);
  port_ = std::atoi(text.c_str());
  if (port_ == 0) {
    std::fprintf(stderr, "tests/support/range_server.py does not start\n");
    std::abort();
  }
}

RangeServer::~RangeServer() {
  ::close(stdin_);
  ::waitpid(child_, nullptr, 0);
}

std::string RangeServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

RangeServer& range_server() {
  static RangeServer server;
  return server;
}

}  // namespace wick::test
