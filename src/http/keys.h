// The API keys of a server. A key is "sk-wick-<12 public>-<48 secret>"; its file has the public
// part and the SHA-256 of the secret, one key per line, so the file does not reveal keys:
//
//   # id  sha256 of the secret  scopes  limits
//   hV3kZ0qLx9Ta 9f86d081… infer
//   b7Yw2nC5mQ1e 2c26b46b… infer,admin rpm=600 parallel=8
//   Qe81mZpT4sXa 5feceb66… infer name=alice models=gpt-*,local/* tpm=50000 budget=5/month
//   Lm2xB90aTz4R 1b4f0e98… infer blocked
//
// Scopes, rpm, parallel, expires and blocked are checked here; models, tpm and budgets by who knows
// them (server/api_keys.h).
//
// Only public parts appear in logs and messages. Keys are immutable; KeyUse belongs to the loop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "http/handler.h"
#include "http/head.h"
#include "http/refusal.h"

namespace wick::http {

// What a line says behind the digest.
struct KeyRules {
  bool may_infer = true, may_admin = false;
  int per_minute = 0, parallel = 0;  // requests; 0 = no limit
  std::int64_t tokens_per_minute = 0;
  std::string name = {};                  // whose it is; "" = not told
  std::vector<std::string> models = {};   // patterns of names; empty: all
  std::vector<std::string> budgets = {};  // "5/month"
  std::string expires = {};               // "2027-01-31": its last day (UTC); "" = never
  bool is_blocked = false;                // until it is unblocked

  bool operator==(const KeyRules&) const = default;
};

// What `word` of a line says ("name", "models", "budget", "rpm", "tpm", "parallel", "expires" or
// "blocked") is in `to` as in `from`.
void copy_rule(std::string_view word, const KeyRules& from, KeyRules& to);

struct Key {
  std::string id = {};
  Digest sha256 = {};
  KeyRules rules = {};
  std::int64_t end_s = 0;    // Unix time when rules.expires is over; 0 = never
  std::uint64_t tenant = 0;  // made from the id; never 0
};

class Keys {
 public:
  // An empty file is an error unless the last key may have been revoked.
  static Result<Keys> load(const std::filesystem::path& path, bool may_be_empty = false);
  static Result<Keys> parse(std::string_view text, std::string_view name);

  // The key that equals `presented`; the secret is compared in constant time.
  const Key* find(std::string_view presented) const;

  std::size_t size() const noexcept { return keys_.size(); }

  std::vector<Key> all() const;  // by id

 private:
  std::map<std::string, Key, std::less<>> keys_;
};

// A page cannot set a header of its WebSocket, but its subprotocols: the key behind kKeySubprotocol
// there, and kSubprotocol, which the server then says it speaks.
inline constexpr std::string_view kSubprotocol = "wick", kKeySubprotocol = "wick-key.";

// The key of a request: "authorization: Bearer …", else "x-api-key: …", of a WebSocket else the
// subprotocol. Empty if none is there.
std::string_view presented_key(const Head& head);
// The words of sec-websocket-protocol.
std::vector<std::string_view> subprotocols(const Head& head);

struct NewKey {
  std::string key = {};   // shown once
  std::string line = {};  // for the file
};

Result<NewKey> make_key(bool may_admin);
// The 12 characters of a key, or of what is one's public part already; else "".
std::string_view public_part(std::string_view key) noexcept;
// The words of a line behind its scopes, each with a blank before it; kInvalid, id "bad_key", if
// the file could not be read with them.
Result<std::string> limits_line(const KeyRules& rules);

// `text` with the secrets of keys cut out of it, for logs.
std::string without_secrets(std::string_view text);

// Rate limits per key: running requests, and requests per minute.
class KeyUse {
 public:
  // Admits the request, or returns the refusal. `now_ns` is the current time.
  std::optional<Refusal> begin(const Key& key, std::int64_t now_ns);
  void end(const std::string& key_id);

 private:
  struct Use {
    int under_way = 0;
    double tokens = -1;  // of a bucket that holds a minute's; -1: full
    std::int64_t filled_ns = 0;
  };

  std::map<std::string, Use, std::less<>> uses_;
};

}  // namespace wick::http
