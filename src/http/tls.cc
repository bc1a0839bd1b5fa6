// OpenSSL works on a pair of buffers: what the socket got goes into one, what OpenSSL wrote comes
// out of the other and waits in `out_` for the socket. No bytes of an answer are encrypted while
// some wait, so that a client that does not read is seen.
#include "http/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/printable.h"
#include "base/strings.h"
#include "http/openssl.h"
#include "http/socket_stream.h"

namespace wick::http {

class TlsContext {
 public:
  TlsContext() : context_(::SSL_CTX_new(::TLS_server_method())) {}

  ~TlsContext() {
    if (context_ != nullptr) ::SSL_CTX_free(context_);
  }

  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  SSL_CTX* get() const noexcept { return context_; }

 private:
  SSL_CTX* const context_;
};

namespace {

constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxWaiting = std::size_t{256} << 10;  // that nobody asked to be written

class TlsStream final : public SocketStream {
 public:
  TlsStream(Loop& loop, int fd, std::shared_ptr<TlsContext> context)
      : SocketStream(loop, fd), context_(std::move(context)), ssl_(::SSL_new(context_->get())) {
    BIO* inner = nullptr;
    if (ssl_ == nullptr || ::BIO_new_bio_pair(&inner, 0, &outer_, 0) != 1) return;
    ::SSL_set_bio(ssl_, inner, inner);
  }

  ~TlsStream() override {
    if (ssl_ != nullptr) ::SSL_free(ssl_);
    if (outer_ != nullptr) ::BIO_free(outer_);
  }

  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  bool is_made() const noexcept { return outer_ != nullptr; }

  void open(Owner& its_owner) override { set_owner(its_owner); }

  std::optional<std::size_t> write(std::string_view bytes) override {
    std::size_t n_taken = 0;
    while (n_taken < bytes.size() && out_.empty()) {
      const std::string_view part = bytes.substr(n_taken, kRecordBytes);
      ::ERR_clear_error();
      const int n = ::SSL_write(ssl_, part.data(), static_cast<int>(part.size()));
      if (n <= 0 && ::SSL_get_error(ssl_, n) != SSL_ERROR_WANT_WRITE) return std::nullopt;
      if (!send_out()) return std::nullopt;
      if (n > 0) n_taken += static_cast<std::size_t>(n);
    }
    return n_taken;
  }

  // Writes the alert that says the end (close_notify).
  void end() override {
    ::ERR_clear_error();
    ::SSL_shutdown(ssl_);
    static_cast<void>(send_out());
  }

 private:
  void on_received(std::string_view bytes) override {
    while (!bytes.empty() && !is_over_) {
      const int n = ::BIO_write(outer_, bytes.data(), static_cast<int>(bytes.size()));
      if (n <= 0) return fail();  // never: all that came before was read
      bytes.remove_prefix(static_cast<std::size_t>(n));
      if (!is_open_ && !shake_hands()) return;
      if (is_open_) read_all();
      if (is_closed()) return;
    }
  }

  // An end without close_notify is a cut: what is under way is cancelled all the same.
  void on_ended(bool is_clean) override {
    if (!is_open_) return owner().on_open(false);
    owner().on_gone(is_clean && is_over_);
  }

  void on_room() override {
    if (!send_out()) return fail();
    if (out_.empty() && is_open_) owner().on_writable();
  }

  // False: it failed.
  bool shake_hands() {
    for (;;) {
      ::ERR_clear_error();
      const int result = ::SSL_accept(ssl_);
      const int why = result == 1 ? SSL_ERROR_NONE : ::SSL_get_error(ssl_, result);
      const bool is_sent = send_out();
      if (is_sent && why == SSL_ERROR_WANT_WRITE) continue;
      if (is_sent && why == SSL_ERROR_WANT_READ) return true;
      is_open_ = is_sent && why == SSL_ERROR_NONE;
      owner().on_open(is_open_);
      return is_open_ && !is_closed();
    }
  }

  void read_all() {
    std::array<char, kRecordBytes> block;
    for (;;) {
      ::ERR_clear_error();
      const int n = ::SSL_read(ssl_, block.data(), static_cast<int>(block.size()));
      const int why = n > 0 ? SSL_ERROR_NONE : ::SSL_get_error(ssl_, n);
      if (!send_out() || out_.size() > kMaxWaiting) return fail();
      if (why == SSL_ERROR_WANT_READ) return;
      if (why == SSL_ERROR_WANT_WRITE) continue;
      if (why != SSL_ERROR_NONE) {
        is_over_ = true;
        return owner().on_gone(why == SSL_ERROR_ZERO_RETURN);
      }
      owner().on_bytes({block.data(), static_cast<std::size_t>(n)});
      if (is_closed()) return;
    }
  }

  void fail() {
    is_over_ = true;
    is_open_ ? owner().on_gone(false) : owner().on_open(false);
  }

  // What OpenSSL wrote goes to the socket, as far as that takes it. False: it is broken.
  bool send_out() {
    std::array<char, kRecordBytes> block;
    for (int n = 0; (n = ::BIO_read(outer_, block.data(), static_cast<int>(block.size()))) > 0;)
      out_.append(block.data(), static_cast<std::size_t>(n));
    if (out_.empty() || is_closed()) return true;
    const auto n_taken = send(out_);
    if (n_taken) out_.erase(0, *n_taken);
    return n_taken.has_value();
  }

  const std::shared_ptr<TlsContext> context_;
  SSL* const ssl_;
  BIO* outer_ = nullptr;
  std::string out_;
  bool is_open_ = false;  // the handshake is over
  bool is_over_ = false;  // nothing more is read
};

// What OpenSSL says of its last failure.
std::string reason() {
  const unsigned long error = ::ERR_get_error();
  ::ERR_clear_error();
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* const why = ::ERR_reason_error_string(error);
  const char* const where = ::ERR_lib_error_string(error);
  if (why == nullptr) return "OpenSSL refuses it";
  return where == nullptr ? std::string(why) : cat(why, " (", where, ")");
}

Error bad_tls(const std::string& path, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_tls_file",
          .message = cat(printable(path), " is no ", what, ": ", printable(reason())),
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
  SSL_CTX* const raw = tls->get();
  if (raw == nullptr)
    return Error{.code = ErrorCode::kNoMemory, .message = "OpenSSL cannot be initialized"};
  ::SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  ::SSL_CTX_set_options(
      raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_alpn_select_cb(raw, choose_protocol, nullptr);
  ::ERR_clear_error();
  if (::SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1)
    return bad_tls(files.certificate, "chain of certificates");
  if (::SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return bad_tls(files.key, "private key");
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
  auto stream = std::make_unique<TlsStream>(loop, fd, std::move(context));
  if (!stream->is_made() || !stream->start()) return nullptr;
  return stream;
}

}  // namespace wick::http
