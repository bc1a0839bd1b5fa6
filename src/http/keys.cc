#include "http/keys.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/hex.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "http/limits.h"

namespace wick::http {

namespace {

constexpr std::string_view kPrefix = "sk-wick-";
constexpr std::size_t kPublicBytes = 12, kSecretBytes = 48;
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// In constant time.
bool are_equal(const Digest& a, const Digest& b) {
  volatile unsigned char differences = 0;  // so that the compiler does not end the loop early
  for (std::size_t i = 0; i < a.size(); ++i)
    differences = differences | (a[i] ^ b[i]);
  return differences == 0;
}

bool from_hex(std::string_view hex, Digest& digest) {
  if (hex.size() != 2 * digest.size()) return false;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* const at = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, digest[i], 16);
    if (error != std::errc() || end != at + 2) return false;
  }
  return true;
}

bool is_made_of_letters(std::string_view text) noexcept {
  return text.find_first_not_of(kLetters) == std::string_view::npos;
}

std::uint64_t tenant_of(std::string_view id) {
  const Digest digest = sha256(cat("wick tenant ", id));
  std::uint64_t tenant = 0;
  for (std::size_t i = 0; i < sizeof(tenant); ++i)
    tenant = tenant << 8 | digest[i];
  return std::max<std::uint64_t>(tenant, 1);
}

// "infer,admin"; false for any other word.
bool parse_scopes(std::string_view text, Key& key) {
  key.rules.may_infer = key.rules.may_admin = false;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    if (word != "infer" && word != "admin") return false;
    (word == "infer" ? key.rules.may_infer : key.rules.may_admin) = true;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return key.rules.may_infer || key.rules.may_admin;
}

template <class T>
bool parse_number(std::string_view digits, T most, T& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() && value > 0 && value <= most;
}

// "2027-01-31"
bool parse_day(std::string_view text, Key& key) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' ||
      !parse_number(text.substr(0, 4), 9999, year) ||
      !parse_number(text.substr(5, 2), 12U, month) || !parse_number(text.substr(8), 31U, day))
    return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || year < 1970) return false;
  const std::chrono::sys_seconds end = std::chrono::sys_days(date) + std::chrono::days(1);
  key.rules.expires = text;
  key.end_s = end.time_since_epoch().count();
  return true;
}

bool parse_models(std::string_view text, KeyRules& rules) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) rules.models.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return !rules.models.empty() && rules.models.size() <= kMaxKeyModels;
}

// A word behind the scopes.
bool parse_limit(std::string_view text, Key& key) {
  KeyRules& rules = key.rules;
  if (text == "blocked") return rules.is_blocked = true;
  const std::size_t equals = std::min(text.find('='), text.size() - 1);
  const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
  if (name == "rpm") return parse_number(value, kMaxKeyRequests, rules.per_minute);
  if (name == "parallel") return parse_number(value, kMaxKeyRequests, rules.parallel);
  if (name == "tpm") return parse_number(value, kMaxKeyTokens, rules.tokens_per_minute);
  if (name == "models") return parse_models(value, rules);
  if (name == "expires") return parse_day(value, key);
  if (value.empty()) return false;
  if (name == "name") {
    rules.name = value;
    return true;
  }
  if (name != "budget" || rules.budgets.size() >= kMaxKeyBudgets) return false;
  rules.budgets.emplace_back(value);
  return true;
}

// The words behind the scopes; what is wrong with them.
std::string parse_limits(std::istringstream& words, Key& key) {
  for (std::string limit; words >> limit;) {
    if (limit.starts_with('#')) break;
    if (!parse_limit(limit, key)) {
      return "a word is not rpm=N, parallel=N, tpm=N, models=A,B, budget=5/month, name=TEXT, "
             "expires=YYYY-MM-DD or blocked";
    }
  }
  return {};
}

// What is wrong with the line; nothing if it is right.
std::string parse_line(const std::string& line, Key& key) {
  std::istringstream words(line);
  std::string hash, scopes;
  words >> key.id >> hash >> scopes;
  if (key.id.size() != kPublicBytes || !is_made_of_letters(key.id))
    return cat("the public part has ", key.id.size(), " characters, not 12 letters and digits");
  if (!from_hex(hash, key.sha256)) return "the SHA-256 is not 64 hexadecimal digits";
  if (!parse_scopes(scopes, key)) return "the scopes are not infer, admin or infer,admin";
  key.tenant = tenant_of(key.id);
  return parse_limits(words, key);
}

}  // namespace

void copy_rule(std::string_view word, const KeyRules& from, KeyRules& to) {
  if (word == "name") to.name = from.name;
  if (word == "models") to.models = from.models;
  if (word == "budget") to.budgets = from.budgets;
  if (word == "rpm") to.per_minute = from.per_minute;
  if (word == "tpm") to.tokens_per_minute = from.tokens_per_minute;
  if (word == "parallel") to.parallel = from.parallel;
  if (word == "expires") to.expires = from.expires;
  if (word == "blocked") to.is_blocked = from.is_blocked;
}

Result<Keys> Keys::parse(std::string_view text, std::string_view name) {
  WICK_DO(load_sha256());
  Keys keys;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    Key key;
    std::string wrong = parse_line(line, key);
    if (wrong.empty() && keys.keys_.contains(key.id)) wrong = "the public part occurs twice";
    if (wrong.empty() && keys.keys_.size() >= std::size_t{kMaxKeys})
      wrong = cat("there are more than ", kMaxKeys, " keys");
    if (!wrong.empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_key_file",
                   .message = cat(printable(name), ":", number, ": ", wrong),
                   .hint = "wick key create makes one"};
    }
    keys.keys_.emplace(key.id, key);
  }
  return keys;
}

Result<Keys> Keys::load(const std::filesystem::path& path, bool may_be_empty) {
  const auto fail = [&](ErrorCode code, std::string_view what) {
    return Error{.code = code,
                 .id = "bad_key_file",
                 .message = cat(printable(path.string()), ": ", what),
                 .hint = "wick key create makes one"};
  };
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0)
    return fail(ErrorCode::kNotFound, "there is no such key file");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInvalid, "is not a regular file");
  if ((status.st_mode & S_IWOTH) != 0)
    return fail(ErrorCode::kInvalid, "everybody may write this key file (chmod o-w)");
  if (static_cast<std::uint64_t>(status.st_size) > kMaxKeyFileBytes)
    return fail(ErrorCode::kInvalid, cat("a key file has at most ", kMaxKeyFileBytes, " bytes"));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return fail(ErrorCode::kIo, "the key file cannot be read");
  WICK_TRY(Keys keys, parse(text.str(), path.string()));
  if (keys.size() == 0 && !may_be_empty)
    return fail(ErrorCode::kInvalid, "the key file holds no key");
  return keys;
}

std::vector<Key> Keys::all() const {
  std::vector<Key> out;
  for (const auto& [id, key] : keys_)
    out.push_back(key);
  return out;
}

const Key* Keys::find(std::string_view presented) const {
  static const Key kNobody;
  const std::size_t dash = kPrefix.size() + kPublicBytes;
  if (presented.size() != dash + 1 + kSecretBytes || !presented.starts_with(kPrefix) ||
      presented[dash] != '-')
    return nullptr;
  const auto found = keys_.find(presented.substr(kPrefix.size(), kPublicBytes));
  const Key& key = found == keys_.end() ? kNobody : found->second;
  const Digest digest = sha256(presented.substr(dash + 1));
  const bool is_it = are_equal(digest, key.sha256);
  return is_it && found != keys_.end() ? &key : nullptr;
}

std::string_view presented_key(const Head& head) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view value = head.header("authorization");
  if (ascii_lower(value.substr(0, kBearer.size())) == kBearer) {
    value.remove_prefix(kBearer.size());
    while (value.starts_with(' '))
      value.remove_prefix(1);
    return value;
  }
  if (const std::string_view key = head.header("x-api-key"); !key.empty() || !head.is_upgrade)
    return key;
  for (const std::string_view word : subprotocols(head)) {
    if (word.starts_with(kKeySubprotocol)) return word.substr(kKeySubprotocol.size());
  }
  return {};
}

std::vector<std::string_view> subprotocols(const Head& head) {
  std::vector<std::string_view> words;
  std::string_view rest = head.header("sec-websocket-protocol");
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    while (word.starts_with(' ') || word.starts_with('\t'))
      word.remove_prefix(1);
    while (word.ends_with(' ') || word.ends_with('\t'))
      word.remove_suffix(1);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::string_view public_part(std::string_view key) noexcept {
  const bool is_whole = key.starts_with(kPrefix) && key.size() > kPrefix.size() + kPublicBytes;
  const std::string_view id = is_whole ? key.substr(kPrefix.size(), kPublicBytes) : key;
  return id.size() == kPublicBytes && is_made_of_letters(id) ? id : std::string_view();
}

Result<NewKey> make_key(bool may_admin) {
  WICK_DO(load_sha256());
  std::string letters;
  while (letters.size() < kPublicBytes + kSecretBytes) {
    std::array<unsigned char, 64> bytes = {};
    if (::getentropy(bytes.data(), bytes.size()) != 0) {
      return Error{.code = ErrorCode::kIo,
                   .id = "no_random",
                   .message = "the system gives no random numbers"};
    }
    for (const unsigned char byte : bytes) {  // 248 = 4 · 62: each letter is as likely
      if (byte < 4 * kLetters.size() && letters.size() < kPublicBytes + kSecretBytes)
        letters += kLetters[byte % kLetters.size()];
    }
  }
  const std::string id = letters.substr(0, kPublicBytes), secret = letters.substr(kPublicBytes);
  return NewKey{
      .key = cat(kPrefix, id, "-", secret),
      .line = cat(id, " ", to_hex(sha256(secret)), may_admin ? " infer,admin" : " infer")};
}

namespace {

// One word of a line.
bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
  });
}

// Nothing if a line can have them.
std::optional<Error> wrong_rule(const KeyRules& rules) {
  const auto wrong = [](std::string message, std::string hint) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_key",
                 .message = std::move(message),
                 .hint = std::move(hint)};
  };
  const auto shown = [](std::string_view text) { return printable(text, 80); };
  if (!is_word(rules.name))
    return wrong(cat("the key's name '", shown(rules.name), "' has blanks or control characters"),
                 "a name is one word: al-ice");
  for (const std::string& model : rules.models) {
    if (model.empty() || !is_word(model) || model.find(',') != std::string::npos)
      return wrong(cat("the key's model '", shown(model),
                       "' is empty or has blanks, commas or control characters"),
                   "models are names or patterns of names: gpt-*,local/*");
  }
  if (rules.models.size() > kMaxKeyModels)
    return wrong(cat("the key has ", rules.models.size(), " models, the limit is ", kMaxKeyModels),
                 "a pattern stands for several: gpt-*");
  for (const std::string& budget : rules.budgets) {
    if (budget.empty() || !is_word(budget))
      return wrong(cat("the key's budget '", shown(budget), "' is no amount"), "5/month");
  }
  if (rules.budgets.size() > kMaxKeyBudgets)
    return wrong(
        cat("the key has ", rules.budgets.size(), " budgets, the limit is ", kMaxKeyBudgets), "");
  Key key;
  if (!rules.expires.empty() && !parse_day(rules.expires, key))
    return wrong(cat("expires is '", shown(rules.expires), "', not a day or a number of days"),
                 "--expires 2027-01-31, or --expires 30d");
  return std::nullopt;
}

}  // namespace

Result<std::string> limits_line(const KeyRules& rules) {
  if (auto wrong = wrong_rule(rules)) return *std::move(wrong);
  std::string line;
  const auto number = [&](std::string_view name, std::int64_t value) {
    if (value != 0) line += cat(" ", name, "=", value);
  };
  if (!rules.name.empty()) line += cat(" name=", rules.name);
  number("rpm", rules.per_minute);
  number("tpm", rules.tokens_per_minute);
  number("parallel", rules.parallel);
  std::string models;
  for (const std::string& model : rules.models)
    models += cat(models.empty() ? " models=" : ",", model);
  line += models;
  for (const std::string& budget : rules.budgets)
    line += cat(" budget=", budget);
  if (!rules.expires.empty()) line += cat(" expires=", rules.expires);
  if (rules.is_blocked) line += " blocked";
  // What is read back must be what was meant.
  Key read{.rules = {.may_infer = rules.may_infer, .may_admin = rules.may_admin}};
  std::istringstream words(line);
  const std::string wrong = parse_limits(words, read);
  if (wrong.empty() && read.rules == rules) return line;
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_key",
               .message = cat("the key cannot be written: '", printable(line, 200),
                              "' does not have its limits")};
}

std::string without_secrets(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = std::min(text.find(kPrefix, at), text.size());
    shown += text.substr(at, found - at);
    at = found;
    if (at == text.size()) break;
    const std::size_t end =
        std::min(text.find_first_not_of(kLetters, at + kPrefix.size()), text.size());
    shown += text.substr(at, std::min(end - at, kPrefix.size() + kPublicBytes));
    at = end;
    if (at < text.size() && text[at] == '-') {
      shown += "-…";
      at = std::min(text.find_first_not_of(kLetters, at + 1), text.size());
    }
  }
  return shown;
}

std::optional<Refusal> KeyUse::begin(const Key& key, std::int64_t now_ns) {
  Use& use = uses_[key.id];
  if (key.rules.parallel > 0 && use.under_way >= key.rules.parallel) {
    return Refusal{.status = 429,
                   .code = "rate_limit_exceeded",
                   .message = cat("key ", key.id, " has ", use.under_way,
                                  " requests under way, as many as it may"),
                   .retry_after_s = 1};
  }
  if (key.rules.per_minute > 0) {
    const double full = key.rules.per_minute, per_ns = full / 60e9;
    if (use.tokens < 0) use.tokens = full;
    use.tokens = std::min(full, use.tokens + static_cast<double>(now_ns - use.filled_ns) * per_ns);
    use.filled_ns = now_ns;
    if (use.tokens < 1) {
      return Refusal{
          .status = 429,
          .code = "rate_limit_exceeded",
          .message = cat("key ", key.id, " may ask ", key.rules.per_minute, " times a minute"),
          .retry_after_s = static_cast<int>(std::ceil((1 - use.tokens) / per_ns / 1e9))};
    }
    use.tokens -= 1;
  }
  ++use.under_way;
  return std::nullopt;
}

void KeyUse::end(const std::string& key_id) {
  const auto found = uses_.find(key_id);
  if (found != uses_.end() && found->second.under_way > 0) --found->second.under_way;
}

}  // namespace wick::http
