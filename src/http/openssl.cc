#include "http/openssl.h"

#include "base/late_functions.h"

namespace wick::http {

namespace {

// libssl's and, from the library that it needs itself, libcrypto's.
// clang-format off
#define WICK_OPENSSL(each) \
  each(BIO_free) each(BIO_new_bio_pair) each(BIO_read) each(BIO_write) each(ERR_clear_error) \
  each(ERR_get_error) each(ERR_lib_error_string) each(ERR_reason_error_string) \
  each(SSL_CTX_check_private_key) each(SSL_CTX_ctrl) each(SSL_CTX_free) each(SSL_CTX_new) \
  each(SSL_CTX_set_alpn_select_cb) each(SSL_CTX_set_options) each(SSL_CTX_use_PrivateKey_file) \
  each(SSL_CTX_use_certificate_chain_file) each(SSL_accept) each(SSL_free) each(SSL_get_error) \
  each(SSL_new) each(SSL_read) each(SSL_select_next_proto) each(SSL_set_bio) each(SSL_shutdown) \
  each(SSL_write) each(TLS_server_method)
// clang-format on

LoadedOnce g_once;

}  // namespace

WICK_LATE_FUNCTIONS(WICK_OPENSSL);

Result<void> load_openssl() {
  return g_once([] {
    SharedLibrary library("libssl.so.3");
    WICK_FIND_FUNCTIONS(library, WICK_OPENSSL)
    return library.check("no_libssl",
                         "install OpenSSL's libraries (Debian: libssl3), or serve HTTP");
  });
}

}  // namespace wick::http
