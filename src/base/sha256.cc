// libcrypto's functions are in a table that dlopen() fills: a program that links libwick is not
// linked with it. They are declared here, because their C interface is that of OpenSSL 3, and the
// cross build has no headers of it.
#include "base/sha256.h"

#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>

#include "base/hex.h"
#include "base/shared_library.h"

namespace wick {

namespace {

constexpr const char* kLibrary = "libcrypto.so.3";

using Context = void;    // OpenSSL's EVP_MD_CTX
using Algorithm = void;  // and EVP_MD

struct CryptoApi {
  Context* (*context_new)() = nullptr;
  void (*context_free)(Context*) = nullptr;
  int (*context_copy)(Context*, const Context*) = nullptr;
  const Algorithm* (*sha256)() = nullptr;
  int (*init)(Context*, const Algorithm*, void*) = nullptr;
  int (*update)(Context*, const void*, std::size_t) = nullptr;
  int (*final)(Context*, unsigned char*, unsigned*) = nullptr;
};

CryptoApi g_crypto;
std::mutex g_mutex;
std::atomic<bool> g_is_loaded = false;

// SHA-256 itself cannot fail: what OpenSSL says no to is the memory that it wants.
void want(bool is_done) {
  if (!is_done) throw std::bad_alloc();
}

}  // namespace

Result<void> load_sha256() {
  if (g_is_loaded) return {};
  const std::lock_guard lock(g_mutex);
  if (g_is_loaded) return {};
  SharedLibrary library(kLibrary);
  CryptoApi api;
  library.find("EVP_MD_CTX_new", api.context_new);
  library.find("EVP_MD_CTX_free", api.context_free);
  library.find("EVP_MD_CTX_copy_ex", api.context_copy);
  library.find("EVP_sha256", api.sha256);
  library.find("EVP_DigestInit_ex", api.init);
  library.find("EVP_DigestUpdate", api.update);
  library.find("EVP_DigestFinal_ex", api.final);
  WICK_DO(library.check("no_libcrypto", "install OpenSSL's libraries (Debian: libssl3)"));
  g_crypto = api;
  g_is_loaded = true;
  return {};
}

struct Sha256::State {
  State() {
    if (const auto loaded = load_sha256(); !loaded)
      throw std::runtime_error(loaded.error().message);
    context = g_crypto.context_new();
    want(context != nullptr);
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() { g_crypto.context_free(context); }

  void start() { want(g_crypto.init(context, g_crypto.sha256(), nullptr) == 1); }

  Context* context = nullptr;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  state_->start();
}

Sha256::Sha256(const Sha256& other) : Sha256() {
  *this = other;
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) {
    want(g_crypto.context_copy(state_->context, other.state_->context) == 1);
  }
  return *this;
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  want(g_crypto.update(state_->context, bytes.data(), bytes.size()) == 1);
}

Digest Sha256::digest() {
  Digest digest = {};
  want(g_crypto.final(state_->context, digest.data(), nullptr) == 1);
  state_->start();
  return digest;
}

std::string Sha256::hex() {
  return to_hex(digest());
}

Digest sha256(std::string_view text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(text.data(), text.size())));
  return sum.digest();
}

std::string sha256_text(std::string_view text) {
  return to_hex(sha256(text));
}

bool is_sha256_hex(std::string_view text) noexcept {
  if (text.size() != 64) return false;
  for (const char c : text) {
    if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) return false;
  }
  return true;
}

}  // namespace wick
