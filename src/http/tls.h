// TLS 1.2 and later over OpenSSL. A context is immutable once it is made; new files make a new one,
// and connections keep theirs.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "http/loop.h"

namespace wick::http {

struct TlsFiles {
  std::string certificate = {};  // PEM, the whole chain, the server's own first
  std::string key = {};          // PEM

  bool is_set() const noexcept { return !certificate.empty() || !key.empty(); }
};

class TlsContext;

Result<std::shared_ptr<TlsContext>> open_tls(const TlsFiles& files);

// nullptr if the system refuses the socket, which is closed then.
std::unique_ptr<Stream> tls_stream(Loop& loop, int fd, std::shared_ptr<TlsContext> context);

}  // namespace wick::http
