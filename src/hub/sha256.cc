#include "hub/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/hex.h"
#include "base/strings.h"
#include "hub/durable.h"
#include "hub/store.h"

namespace wick {

namespace {

constexpr std::size_t kReadBytes = 1 << 20;

// SHA-256 itself cannot fail: what OpenSSL says no to is the memory that it wants.
void want(bool is_done) {
  if (!is_done) throw std::bad_alloc();
}

}  // namespace

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) { want(context != nullptr); }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() { EVP_MD_CTX_free(context); }

  void start() { want(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1); }

  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  state_->start();
}

Sha256::Sha256(const Sha256& other) : Sha256() {
  *this = other;
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) {
    want(EVP_MD_CTX_copy_ex(state_->context, other.state_->context) == 1);
  }
  return *this;
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  want(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest = {};
  want(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1);
  state_->start();
  return to_hex(digest);
}

std::string sha256_text(std::string_view text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(text.data(), text.size())));
  return sum.hex();
}

bool is_sha256_hex(std::string_view text) noexcept {
  if (text.size() != 64) return false;
  for (const char c : text) {
    if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) return false;
  }
  return true;
}

Result<std::string> sha256_file(
    const std::filesystem::path& path,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) {
  WICK_TRY(const FileHandle file, open_for_reading(path));
  WICK_TRY(const std::uint64_t all, regular_file_size(path));
  std::vector<std::byte> buffer(kReadBytes);
  Sha256 sum;
  std::uint64_t done = 0;
  while (true) {
    WICK_TRY(const std::size_t n, read_at(file, path, buffer, done));
    if (n == 0) return sum.hex();
    sum.add(std::span(buffer).first(n));
    done += n;
    if (progress) progress(done, all);
  }
}

}  // namespace wick
