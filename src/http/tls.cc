#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ssl.hpp>

#include "base/printable.h"
#include "base/strings.h"
#include "http/asio_socket.h"
#include "http/openssl.h"

namespace wick::http {

class TlsContext {
 public:
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
};

namespace {

using boost::system::error_code;
namespace ssl = boost::asio::ssl;

class TlsStream final : public Stream {
 public:
  TlsStream(AsioSocket socket, std::shared_ptr<TlsContext> context)
      : context_(std::move(context)), stream_(std::move(socket), context_->context) {}

  void open(Done done) override {
    stream_.async_handshake(ssl::stream_base::server,
                            [done = std::move(done)](const error_code& error) { done(!error, 0); });
  }

  // An end without close_notify is a cut: what is under way is cancelled all the same.
  void read(std::span<char> into, Done done) override { read_some(stream_, into, std::move(done)); }

  void write(std::string_view bytes, Done done) override {
    write_some(stream_, bytes, std::move(done));
  }

  // Writes the alert that says the end (close_notify), then waits for the client's.
  void end(Done done) override {
    stream_.async_shutdown([done = std::move(done)](const error_code& error) { done(!error, 0); });
  }

  void close() override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  std::shared_ptr<TlsContext> context_;
  ssl::stream<AsioSocket> stream_;
};

Error bad_tls(const std::string& path, std::string_view what, const error_code& error) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_tls_file",
          .message = cat(printable(path), " is no ", what, ": ", printable(error.message())),
          .hint = "name PEM files: --tls-cert chain.pem --tls-key key.pem"};
}

// Only HTTP/1.1 is spoken here; who offers nothing of the kind goes on without.
int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned n, void* /*argument*/) {
  static constexpr std::array<unsigned char, 9> kHttp = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  const int result = ::SSL_select_next_proto(&found, size, kHttp.data(), kHttp.size(), offered, n);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> open_tls(const TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_tls_file",
                 .message = "TLS needs a certificate and its key",
                 .hint = "--tls-cert chain.pem --tls-key key.pem"};
  }
  WICK_DO(load_openssl());
  auto tls = std::make_shared<TlsContext>();
  SSL_CTX* const raw = tls->context.native_handle();
  ::SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  ::SSL_CTX_set_options(
      raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_alpn_select_cb(raw, choose_protocol, nullptr);
  error_code error;
  tls->context.use_certificate_chain_file(files.certificate, error);
  if (error) return bad_tls(files.certificate, "chain of certificates", error);
  tls->context.use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return bad_tls(files.key, "private key", error);
  if (::SSL_CTX_check_private_key(raw) != 1) {
    ::ERR_clear_error();
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_tls_file",
                 .message = cat("the key ", printable(files.key), " does not belong to ",
                                printable(files.certificate)),
                 .hint = "--tls-cert chain.pem --tls-key key.pem"};
  }
  return tls;
}

std::unique_ptr<Stream> tls_stream(Loop& loop, int fd, std::shared_ptr<TlsContext> context) {
  auto socket = adopt(loop, fd);
  if (!socket) {
    ::close(fd);
    return nullptr;
  }
  return std::make_unique<TlsStream>(*std::move(socket), std::move(context));
}

}  // namespace wick::http
