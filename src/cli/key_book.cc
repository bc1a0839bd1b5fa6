#include "cli/key_book.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/day.h"
#include "base/strings.h"
#include "hub/atomic_file.h"
#include "hub/durable.h"
#include "route/rules.h"

namespace wick {

namespace {

constexpr std::int64_t kMaxDays = 36'600;

class LimitedPass final : public server::KeyPass {
 public:
  explicit LimitedPass(std::shared_ptr<route::Limiter> limiter) : limiter_(std::move(limiter)) {}

  ~LimitedPass() override { limiter_->end(pass, has_begun_ ? pass.tokens : 0); }

  void begin() override { has_begun_ = true; }

  void used(std::int64_t tokens) override { limiter_->end(pass, tokens); }

  route::Limiter::Pass pass = {};

 private:
  std::shared_ptr<route::Limiter> limiter_;
  bool has_begun_ = false;
};

Error no_such_key(const std::string& id) {
  return {.code = ErrorCode::kNotFound,
          .id = "key_not_found",
          .message = cat("there is no key '", printable(http::without_secrets(id), 80), "'"),
          .hint = "wick key list"};
}

// "30d" from now, as the day that it ends at; anything else as it is.
std::string last_day(const std::string& expires, std::int64_t now_s) {
  std::int64_t days = 0;
  const char* const end = expires.data() + expires.size();
  const auto read = std::from_chars(expires.data(), end, days);
  if (read.ec != std::errc() || read.ptr + 1 != end || *read.ptr != 'd' || days < 1 ||
      days > kMaxDays)
    return expires;
  return day_text(now_s / 86'400 + days);
}

// A file for its owner alone.
Result<void> make_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return file_error(path, "create", errno);
  ::close(fd);
  return {};
}

Result<std::vector<route::Budget>> budgets_of_key(const std::string& id,
                                                  const http::KeyRules& rules) {
  std::vector<route::Budget> budgets;
  for (const std::string& text : rules.budgets) {
    WICK_TRY(route::Budget budget, route::parse_key_budget(text, id));
    for (const route::Budget& other : budgets) {
      if (other.name != budget.name) continue;
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_budget",
                   .message = cat("the key has two budgets of one window, ", printable(text, 80),
                                  " is the second")};
    }
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

// The words of a line in the file behind its scopes. `before`: the end that the key has already.
Result<std::string> line_of(http::KeyRules rules, const std::string& before) {
  const std::int64_t now_s = std::time(nullptr);
  rules.expires = last_day(rules.expires, now_s);
  WICK_DO(budgets_of_key({}, rules));
  WICK_TRY(std::string line, http::limits_line(rules));
  // Days in this form have the order of their texts.
  if (const std::string today = day_text(now_s / 86'400);
      !rules.expires.empty() && rules.expires < today && rules.expires != before) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_key",
                 .message = cat("the key would have expired already: expires is ", rules.expires,
                                ", today is ", today),
                 .hint = "--expires 30d, or wick key block"};
  }
  return line;
}

bool is_line_of(std::string_view line, const std::string& id) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin != std::string_view::npos && line.substr(begin).starts_with(cat(id, " "));
}

}  // namespace

Result<std::shared_ptr<KeyBook>> KeyBook::open(KeyBookOptions options) {
  std::shared_ptr<KeyBook> book(new KeyBook(std::move(options)));
  static_cast<void>(book->has_changed());
  WICK_DO(book->reload());
  return book;
}

Result<KeyBook::Entries> KeyBook::read() const {
  Entries entries;
  if (options_.may_be_missing && ::access(options_.path.c_str(), F_OK) != 0) return entries;
  WICK_TRY(const http::Keys keys, http::Keys::load(options_.path, true));
  for (http::Key& key : keys.all()) {
    Entry entry;
    WICK_TRY(entry.budgets, budgets_of_key(key.id, key.rules));
    if (key.rules.tokens_per_minute > 0) {
      entry.limiter = route::make_limiter(options_.limits.get(), cat("key ", key.id),
                                          {.tokens_per_minute = key.rules.tokens_per_minute});
    }
    entry.key = std::move(key);
    std::string id = entry.key.id;
    entries.emplace(std::move(id), std::move(entry));
  }
  return entries;
}

// A key whose limit is as before keeps what it has used.
Result<void> KeyBook::reload() {
  WICK_TRY(Entries entries, read());
  const std::lock_guard lock(mutex_);
  for (auto& [id, entry] : entries) {
    const auto before = entries_.find(id);
    if (before != entries_.end() &&
        before->second.key.rules.tokens_per_minute == entry.key.rules.tokens_per_minute)
      entry.limiter = before->second.limiter;
  }
  entries_ = std::move(entries);
  return {};
}

bool KeyBook::has_changed() {
  struct stat now = {};
  static_cast<void>(::stat(options_.path.c_str(), &now));
  const bool is_same = now.st_ino == seen_.st_ino && now.st_size == seen_.st_size &&
                       now.st_mtim.tv_sec == seen_.st_mtim.tv_sec &&
                       now.st_mtim.tv_nsec == seen_.st_mtim.tv_nsec;
  seen_ = now;
  return !is_same;
}

bool KeyBook::may_ask(const std::string& key, std::span<const std::string> names) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  // Revoked or blocked meanwhile.
  if (found == entries_.end() || found->second.key.rules.is_blocked) return false;
  const std::vector<std::string>& models = found->second.key.rules.models;
  return models.empty() || std::any_of(models.begin(), models.end(), [&](const std::string& one) {
           return std::any_of(names.begin(), names.end(),
                              [&](const std::string& name) { return route::matches(one, name); });
         });
}

Result<std::shared_ptr<server::KeyPass>> KeyBook::enter(const std::string& key,
                                                        std::int64_t tokens) {
  std::shared_ptr<route::Limiter> limiter;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) limiter = found->second.limiter;
  }
  if (limiter == nullptr) return std::shared_ptr<server::KeyPass>();
  const auto pass = std::make_shared<LimitedPass>(limiter);
  const std::int64_t now_ms = monotonic_ns() / 1'000'000;
  const std::int64_t wait_ms = limiter->take(tokens, now_ms, {}, pass->pass);
  if (wait_ms == 0) return std::shared_ptr<server::KeyPass>(pass);
  const std::int64_t most = limiter->options().tokens_per_minute;
  Error error{.code = ErrorCode::kInvalid,
              .id = "rate_limit_exceeded",
              .message = cat("key ", key, " may use ", most, " tokens a minute, this request ",
                             "may use ", tokens),
              .hint = "ask for fewer max_tokens"};
  if (wait_ms < 0) return error;  // in no minute
  error.code = ErrorCode::kUnavailable;
  error.retry_after_s = static_cast<int>((wait_ms + 999) / 1000);
  error.hint = cat("try again in ", error.retry_after_s, " s");
  return error;
}

// Under a lock, so that two programs do not lose each other's keys.
Result<void> KeyBook::change(const std::function<Result<std::string>(const std::string&)>& edit) {
  if (options_.may_be_missing) {  // so may its folder; acquire() reports a failure
    const auto folder = std::filesystem::path(options_.path).parent_path();
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
  }
  WICK_TRY(const FileLock lock, FileLock::acquire(cat(options_.path, ".lock"), {}, {}));
  if (options_.may_be_missing && ::access(options_.path.c_str(), F_OK) != 0)
    WICK_DO(make_file(options_.path));
  WICK_DO(read());  // a file that is wrong is not made worse
  std::ifstream in(options_.path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return file_error(options_.path, "read", EIO);
  WICK_TRY(const std::string now, edit(text.str()));
  WICK_TRY(AtomicFile file, AtomicFile::create(options_.path, {}));
  WICK_DO(file.add(now));
  WICK_DO(file.commit());
  WICK_DO(reload());
  if (options_.on_change) options_.on_change();
  return {};
}

Result<server::ApiKeys::Made> KeyBook::prepare(const http::KeyRules& rules) const {
  WICK_TRY(const std::string limits, line_of(rules, ""));
  WICK_TRY(const http::NewKey made, http::make_key(rules.may_admin));
  const std::string line = cat(made.line, limits, "\n");
  WICK_TRY(const http::Keys keys, http::Keys::parse(line, options_.path));
  Entry entry{.key = keys.all().front()};
  WICK_TRY(entry.budgets, budgets_of_key(entry.key.id, entry.key.rules));
  WICK_TRY(server::KeyInfo info, info_of(entry, nullptr));
  return Made{.key = made.key, .line = line, .info = std::move(info)};
}

Result<void> KeyBook::add(const Made& made) {
  return change([&](const std::string& text) -> Result<std::string> {
    return cat(text, text.empty() || text.ends_with('\n') ? "" : "\n", made.line);
  });
}

Result<server::ApiKeys::Made> KeyBook::make(const http::KeyRules& rules) {
  WICK_TRY(Made made, prepare(rules));
  WICK_DO(add(made));
  return made;
}

Result<void> KeyBook::change_line(
    const std::string& id, const std::function<Result<std::string>(const std::string&)>& edit) {
  return change([&](const std::string& text) -> Result<std::string> {
    std::string out;
    bool is_found = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool is_it = id.size() > 1 && is_line_of(line, id);
      is_found = is_found || is_it;
      if (!is_it) {
        out += cat(line, "\n");
        continue;
      }
      WICK_TRY(const std::string now, edit(line));
      out += now;
    }
    if (!is_found) return no_such_key(id);
    return out;
  });
}

Result<server::KeyInfo> KeyBook::update(const std::string& id,
                                        const std::function<void(http::KeyRules&)>& edit) {
  WICK_DO(change_line(id, [&](const std::string& line) -> Result<std::string> {
    WICK_TRY(const http::Keys keys, http::Keys::parse(line, options_.path));
    http::KeyRules rules = keys.all().front().rules;
    const std::string before = rules.expires;
    edit(rules);
    WICK_TRY(const std::string limits, line_of(std::move(rules), before));
    std::istringstream words(line);
    std::string public_id, hash, scopes;
    words >> public_id >> hash >> scopes;
    const std::size_t comment = std::min(line.find(" #"), line.size());
    return cat(public_id, " ", hash, " ", scopes, limits, line.substr(comment), "\n");
  }));
  return info(id);
}

Result<void> KeyBook::revoke(const std::string& id) {
  return change_line(id, [](const std::string&) -> Result<std::string> { return std::string(); });
}

Result<std::string> KeyBook::id_of(const std::string& given) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(http::public_part(given)); found != entries_.end())
    return found->first;
  std::vector<std::string> ids;
  std::string shown;
  for (const auto& [id, entry] : entries_) {
    if (given.empty() || entry.key.rules.name != given) continue;  // "": a key without a name
    ids.push_back(id);
    shown += cat(shown.empty() ? "" : ", ", id);
  }
  if (ids.size() == 1) return ids.front();
  if (ids.empty()) return no_such_key(given);
  return Error{.code = ErrorCode::kInvalid,
               .id = "several_keys",
               .message = cat(ids.size(), " keys have the name '", printable(given, 80),
                              "': ", printable(shown, 1000)),
               .hint = "give the id of the one that is meant"};
}

Result<server::KeyInfo> KeyBook::info_of(const Entry& entry, route::Ledger* ledger) const {
  server::KeyInfo info{.id = entry.key.id, .rules = entry.key.rules};
  for (std::size_t i = 0; i < entry.budgets.size(); ++i) {
    route::BudgetState state;
    if (ledger != nullptr) {
      WICK_TRY(state, ledger->state(entry.budgets[i], std::time(nullptr)));
    }
    info.budgets.push_back({.budget = info.rules.budgets[i],
                            .cap = route::to_dollars(entry.budgets[i].cap),
                            .used = route::to_dollars(state.used),
                            .reserved = route::to_dollars(state.reserved)});
  }
  return info;
}

Result<std::vector<server::KeyInfo>> KeyBook::list() {
  Entries entries;
  {
    const std::lock_guard lock(mutex_);
    entries = entries_;
  }
  const bool has_budgets = std::any_of(entries.begin(), entries.end(),
                                       [](const auto& one) { return !one.second.budgets.empty(); });
  std::shared_ptr<route::Ledger> ledger;
  if (has_budgets) {
    WICK_TRY(ledger, this->ledger());
  }
  std::vector<server::KeyInfo> infos;
  for (const auto& [id, entry] : entries) {
    WICK_TRY(server::KeyInfo info, info_of(entry, ledger.get()));
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<server::KeyInfo> KeyBook::info(const std::string& id) {
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return no_such_key(id);
    entry = found->second;
  }
  std::shared_ptr<route::Ledger> ledger;
  if (!entry.budgets.empty()) {
    WICK_TRY(ledger, this->ledger());
  }
  return info_of(entry, ledger.get());
}

Result<std::shared_ptr<route::Ledger>> KeyBook::ledger() {
  const std::lock_guard lock(ledger_mutex_);
  if (ledger_ == nullptr && options_.open_ledger) {
    WICK_TRY(ledger_, options_.open_ledger());
  }
  return ledger_;
}

bool KeyBook::may_admin(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.key.rules.may_admin;
}

std::vector<route::Budget> KeyBook::budgets_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::vector<route::Budget>() : found->second.budgets;
}

}  // namespace wick
