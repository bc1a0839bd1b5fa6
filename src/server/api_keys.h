// What API keys may do beyond what the transport checks (http/keys.h): the models they may ask for,
// their tokens of a minute, and for admins how keys are made, changed and revoked. The routes see
// only this interface; cli/ implements it with the key file. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/keys.h"

namespace wick::server {

struct KeyBudget {
  std::string budget = {};                         // "5/month"
  std::string cap = {}, used = {}, reserved = {};  // dollars
};

struct KeyInfo {
  std::string id = {};
  http::KeyRules rules = {};
  std::vector<KeyBudget> budgets = {};  // those of the rules
};

// A request of a key that was let through. It costs no tokens until it begins; then all that it
// reserved, unless it says what it used.
class KeyPass {
 public:
  virtual ~KeyPass() = default;
  virtual void begin() = 0;
  virtual void used(std::int64_t tokens) = 0;  // once, at its end
};

class ApiKeys {
 public:
  virtual ~ApiKeys() = default;
  // `names`: all names of one model.
  virtual bool may_ask(const std::string& key, std::span<const std::string> names) = 0;
  // kUnavailable, id "rate_limit_exceeded", with retry_after_s; kInvalid if the request is larger
  // than the limit. Null for a key without such a limit.
  virtual Result<std::shared_ptr<KeyPass>> enter(const std::string& key, std::int64_t tokens) = 0;

  struct Made {
    std::string key = {};   // shown once
    std::string line = {};  // of the file
    KeyInfo info = {};
  };

  // `rules.expires` may be "30d", which is from now.
  virtual Result<Made> make(const http::KeyRules& rules) = 0;
  virtual Result<std::vector<KeyInfo>> list() = 0;
  // Of one key, by its public part. kNotFound, id "key_not_found".
  virtual Result<KeyInfo> info(const std::string& id) = 0;
  virtual bool may_admin(const std::string& id) = 0;
  // `edit` gets the key as it is. kNotFound, id "key_not_found".
  virtual Result<KeyInfo> update(const std::string& id,
                                 const std::function<void(http::KeyRules&)>& edit) = 0;
  virtual Result<void> revoke(const std::string& id) = 0;  // kNotFound, id "key_not_found"
};

}  // namespace wick::server
