// The file of API keys (http/keys.h) with what it says of models, tokens and budgets: for the
// server, whose routes make, change and revoke keys, and for `wick key`. Any thread; several
// processes may change one file.
//
//   WICK_TRY(const auto book, KeyBook::open({.path = "keys"}));
//   WICK_TRY(const auto made, book->make({.name = "alice", .budgets = {"5/month"}}));
#pragma once

#include <sys/stat.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/keys.h"
#include "route/ledger.h"
#include "route/limiter.h"
#include "server/api_keys.h"

namespace wick {

struct KeyBookOptions {
  std::string path = {};
  bool may_be_missing = false;  // the first key makes the file
  // For what budgets have used; empty: that is not told.
  std::function<Result<std::shared_ptr<route::Ledger>>()> open_ledger = {};
  std::function<void()> on_change = {};            // after make(), update() and revoke()
  std::shared_ptr<route::LimitStore> limits = {};  // of tokens; null: this process's own
};

class KeyBook final : public server::ApiKeys {
 public:
  static Result<std::shared_ptr<KeyBook>> open(KeyBookOptions options);

  bool may_ask(const std::string& key, std::span<const std::string> names) override;
  Result<std::shared_ptr<server::KeyPass>> enter(const std::string& key,
                                                 std::int64_t tokens) override;
  Result<Made> make(const http::KeyRules& rules) override;
  // The same in two steps, so that a program can show the key before it is valid: what cannot be
  // shown is not added.
  Result<Made> prepare(const http::KeyRules& rules) const;
  Result<void> add(const Made& made);
  Result<std::vector<server::KeyInfo>> list() override;
  Result<server::KeyInfo> info(const std::string& id) override;
  bool may_admin(const std::string& id) override;
  Result<server::KeyInfo> update(const std::string& id,
                                 const std::function<void(http::KeyRules&)>& edit) override;
  Result<void> revoke(const std::string& id) override;
  // The id of the key that `given` is: a whole key, an id, or a name that one key alone has.
  Result<std::string> id_of(const std::string& given);

  std::vector<route::Budget> budgets_of(const std::string& key);

  // Whether the file is another one than was read. One thread at a time.
  bool has_changed();
  // Reads it again; if it is wrong all stays as it is.
  Result<void> reload();

 private:
  struct Entry {
    http::Key key = {};
    std::vector<route::Budget> budgets = {};
    std::shared_ptr<route::Limiter> limiter = {};  // null: tokens are not limited
  };

  using Entries = std::map<std::string, Entry, std::less<>>;

  explicit KeyBook(KeyBookOptions options) : options_(std::move(options)) {}

  Result<Entries> read() const;
  Result<void> change(const std::function<Result<std::string>(const std::string&)>& edit);
  // Replaces the line of key `id` by what `edit` makes of it.
  Result<void> change_line(const std::string& id,
                           const std::function<Result<std::string>(const std::string&)>& edit);
  // Opened once, so that who asks for a key again and again does not slow those who spend.
  Result<std::shared_ptr<route::Ledger>> ledger();
  Result<server::KeyInfo> info_of(const Entry& entry, route::Ledger* ledger) const;

  const KeyBookOptions options_;
  std::mutex mutex_;
  Entries entries_;        // under the mutex
  struct stat seen_ = {};  // of has_changed()
  std::mutex ledger_mutex_;
  std::shared_ptr<route::Ledger> ledger_ = {};  // under its mutex; null: not opened yet
};

}  // namespace wick
