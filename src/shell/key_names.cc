#include "shell/key_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/strings.h"
#include "shell/paths.h"

namespace wick::shell {

namespace {

// The first kKeys hold credentials. All in lower case: names are compared without it.
constexpr std::size_t kKeys = 37;
constexpr std::array<std::string_view, 74> kList = {
    ".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/id_dsa", ".ssh", ".gnupg",
    ".gnupg/private-keys-v1.d/a.key", ".aws", ".aws/credentials", ".kube", ".kube/config",
    ".docker/config.json", ".config/gh/hosts.yml", ".config/gcloud/credentials.db",
    ".password-store", ".password-store/mail.gpg", ".netrc", ".pgpass", ".pypirc", ".npmrc",
    ".vault-token", ".my.cnf", ".git-credentials", ".env", ".env.local", ".htpasswd", ".s3cfg",
    ".boto", "wallet.dat", "etc/shadow", "etc/gshadow", "etc/ssh/ssh_host_rsa_key",
    "etc/ssl/private/server.key", "private_key.pem", "cert.p12", "cert.pfx", "passwords.kdbx",
    // ordinary
    "src", "x/main.c", "x/list.h", "lib/util.so", "a.out", "x/readme.md", "license",
    "makefile", "index.html", "style.css", "app.js", "package.json", "config.json", "config",
    "config.yml", "hosts.yml", "cargo.toml", "nginx.conf", "openssl.cnf", "vimrc", "data.csv",
    "data.dat", "users.db", "notes.txt", "setup.py", "run.sh", "app.log", "photo.jpg", "mail.gpg",
    "backup.tar.gz", "create.sql", "environment.yml", "private.h", "keyboard.c", "shell.sh",
    "etc/hosts", "web.xml"};
// What may be between the start and a name.
constexpr std::array<std::string_view, 4> kBefore = {"", "home/u/", "root/", "x/"};

// The names from `first` to `end` with each of `before`, one after the other, and where each ends.
// The byte between them is one that no pattern has.
template <std::size_t kFirst, std::size_t kEnd, std::size_t kStarts>
struct Joined {
  static constexpr std::size_t kSize = [] {
    std::size_t n = 0;
    for (std::size_t i = kFirst; i < kEnd; ++i) {
      for (std::size_t k = 0; k < kStarts; ++k)
        n += kBefore[k].size() + kList[i].size() + 1;
    }
    return n;
  }();

  std::array<char, kSize> bytes = {};
  std::array<std::uint16_t, (kEnd - kFirst) * kStarts> ends = {};

  constexpr Joined() {
    std::size_t at = 0, n = 0;
    for (std::size_t i = kFirst; i < kEnd; ++i) {
      for (std::size_t k = 0; k < kStarts; ++k) {
        for (const char c : kBefore[k])
          bytes[at++] = c;
        for (const char c : kList[i])
          bytes[at++] = c;
        ends[n++] = static_cast<std::uint16_t>(at);
        bytes[at++] = '\0';
      }
    }
  }

  constexpr std::string_view text() const noexcept { return {bytes.data(), bytes.size()}; }

  // The i-th one behind `before`.
  constexpr std::string_view path(std::size_t i, std::size_t before) const noexcept {
    const std::size_t n = i * kStarts + before;
    const std::size_t begin = n == 0 ? 0 : ends[n - 1] + 1U;
    return text().substr(begin, ends[n] - begin);
  }
};

constexpr Joined<0, kKeys, 1> kKeyNames;
constexpr Joined<kKeys, kList.size(), 1> kOtherNames;
constexpr Joined<0, kKeys, kBefore.size()> kKeyPaths;
constexpr Joined<0, kList.size(), kBefore.size()> kPaths;

// A name or pattern that holds one of these, not as the beginning of a longer word, is of keys.
constexpr std::string_view kWords[] = {
    "id_rsa",      "id_ed25519", "id_ecdsa", "id_dsa", "shadow", ".netrc",     ".pgpass",
    ".ssh",        ".aws",       ".gnupg",   ".kube",  ".p12",   ".pfx",       ".kdbx",
    "credentials", ".pem",       ".key",     ".npmrc", ".pypirc", "private key"};

constexpr std::size_t kMaxPattern = 256;  // bytes; a longer one may match any name
constexpr std::size_t kMaxGlobs = 32;
constexpr int kMaxGroups = 8;

// shadow.css, credentials.md: text about something else.
bool is_of_code(std::string_view name) {
  static constexpr std::string_view kEnds[] = {
      ".css", ".scss", ".c",  ".h",  ".cc",   ".cpp",  ".hpp",  ".js",  ".ts",  ".tsx", ".jsx",
      ".py",  ".rb",   ".go", ".rs", ".java", ".html", ".md",   ".rst", ".glsl", ".frag", ".vert"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return name.ends_with(end); });
}

bool has_key_word(std::string_view lower) {
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    const std::size_t at = lower.find(word);
    if (at == std::string_view::npos) return false;
    const bool is_word = word[0] != '.' && word.find('_') == std::string_view::npos;
    if (is_word && is_of_code(lower)) return false;
    const std::size_t end = at + word.size();  // not .keyboard
    return end >= lower.size() || !(lower[end] >= 'a' && lower[end] <= 'z');
  });
}

// Globs that together match at least what a regular expression does: `a.*\(b\|c\)` is a*b and a*c.
// The kinds of expressions differ in which of ( | { have a backslash; either counts.
class Globs {
 public:
  static std::vector<std::string> of(std::string_view regex) {
    Globs reader(regex);
    std::vector<std::string> out = reader.either(0);
    if (reader.at_ < regex.size()) out.emplace_back("*");
    return out;
  }

 private:
  explicit Globs(std::string_view text) : text_(text) {}

  // The operator here, with or without a backslash; '\0' if there is none.
  char operator_here(std::size_t& size) const {
    if (at_ >= text_.size()) return '\0';
    const bool is_escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
    const char c = text_[at_ + (is_escaped ? 1 : 0)];
    size = is_escaped ? 2 : 1;
    const std::string_view kinds = is_escaped ? "(|){+?" : "(|){+?*";
    return kinds.find(c) == std::string_view::npos ? '\0' : c;
  }

  std::vector<std::string> either(int depth) {
    std::vector<std::string> out = both(depth);
    std::size_t size = 0;
    while (operator_here(size) == '|') {
      at_ += size;
      for (std::string& one : both(depth))
        out.push_back(std::move(one));
      if (out.size() > kMaxGlobs) out = {"*"};
    }
    return out;
  }

  std::vector<std::string> both(int depth) {
    std::vector<std::string> out = {""};
    while (at_ < text_.size()) {
      std::size_t size = 0;
      const char op = operator_here(size);
      if (op == '|' || op == ')') break;
      std::vector<std::string> next = atom(depth);
      if (quantified()) next = {"*"};
      std::vector<std::string> all;
      for (const std::string& a : out) {
        for (const std::string& b : next)
          all.push_back(a + b);
      }
      out = std::move(all);
      if (out.size() > kMaxGlobs) out = {"*"};
    }
    return out;
  }

  std::vector<std::string> atom(int depth) {
    std::size_t size = 0;
    const char op = operator_here(size);
    if (op == '(' && depth < kMaxGroups) {
      at_ += size;
      std::vector<std::string> out = either(depth + 1);
      if (operator_here(size) == ')') at_ += size;
      return out;
    }
    const char c = text_[at_++];
    if (c == '^' || c == '$') return {""};
    if (c == '.') return {"?"};
    if (c == '[') {
      const std::size_t close = text_.find(']', at_ + 1);
      at_ = close == std::string_view::npos ? text_.size() : close + 1;
      return {"?"};
    }
    if (c != '\\' || at_ >= text_.size()) return {std::string(1, c == '*' ? '?' : c)};
    const char escaped = text_[at_++];
    const bool is_class = (escaped >= 'a' && escaped <= 'z') || (escaped >= 'A' && escaped <= 'Z');
    return {std::string(1, is_class || escaped == '*' ? '?' : escaped)};
  }

  bool quantified() {
    std::size_t size = 0;
    bool is_any = false;
    for (char op = operator_here(size); op == '*' || op == '+' || op == '?' || op == '{';
         op = operator_here(size)) {
      is_any = true;
      at_ += size;
      if (op != '{') continue;
      const std::size_t close = text_.find('}', at_);
      at_ = close == std::string_view::npos ? text_.size() : close + 1;
    }
    return is_any;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string without_backslashes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\\') out += c;
  }
  return out;
}

std::vector<std::string> globs_of(const NamePattern& pattern) {
  if (pattern.text.size() > kMaxPattern) return {"*"};
  const std::string lower = ascii_lower(pattern.text);
  if (pattern.kind == NamePattern::kRegex) return Globs::of(lower);
  return {without_backslashes(lower)};
}

// A name that the glob matches: the glob without what stands for other text.
std::string sample_of(std::string_view glob) {
  std::string out;
  for (const char c : glob) {
    if (c != '*' && c != '?' && c != '[' && c != ']') out += c;
  }
  return out;
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_in_paths(std::string_view part, bool is_of_keys) {
  const auto holds = [&](std::string_view text) { return text.find(part) != text.npos; };
  if (part.find('/') != std::string_view::npos)
    return holds(is_of_keys ? kKeyPaths.text() : kPaths.text());
  return holds(kKeyNames.text()) || (!is_of_keys && holds(kOtherNames.text())) ||
         std::any_of(kBefore.begin(), kBefore.end(), holds);
}

// Whether a name of the list (of its keys) may match below an unknown folder: not if a part of the
// glob that stands for itself is in none of their paths.
bool is_in_list(std::string_view glob, bool is_of_keys) {
  for (std::size_t at = 0; at < glob.size();) {
    const std::size_t end = std::min(glob.find_first_of("*?[", at), glob.size());
    if (end > at && !is_in_paths(glob.substr(at, end - at), is_of_keys)) return false;
    if (end < glob.size() && glob[end] == '[') return true;
    at = end + 1;
  }
  return true;
}

bool any_may_match(const std::vector<std::string>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return may_match(glob, name); });
}

}  // namespace

KeyNames::KeyNames(const std::vector<NamePattern>& patterns, std::vector<std::string> starts)
    : starts_(std::move(starts)) {
  for (std::string& start : starts_) {
    if (!start.empty() && !start.ends_with('/')) start += '/';
  }
  for (const NamePattern& pattern : patterns) {
    for (const std::string& glob : globs_of(pattern)) {
      if (has_key_word(glob) && spelled_.size() < NameSet().size() - kList.size())
        spelled_.push_back(sample_of(glob));
    }
  }
}

bool KeyNames::matches_below(const std::vector<std::string>& globs, std::string_view path) const {
  return std::any_of(starts_.begin(), starts_.end(), [&](const std::string& start) {
    return start.empty() ? any_may_match(globs, path) : any_may_match(globs, cat(start, path));
  });
}

Chosen KeyNames::chosen_by(const NamePattern& pattern) const {
  const std::vector<std::string> globs = globs_of(pattern);
  const bool is_name = pattern.kind == NamePattern::kName;
  Chosen out;
  const bool is_anywhere = is_name || (starts_.size() == 1 && starts_[0].empty());
  const auto may_be = [](std::string_view glob) { return is_in_list(glob, false); };
  const bool is_none = is_anywhere && std::none_of(globs.begin(), globs.end(), may_be);
  for (std::size_t i = 0; i < kList.size(); ++i) {
    bool is_match = false;
    for (std::size_t k = 0; k < kBefore.size() && !is_match && !is_none && !is_name; ++k)
      is_match = matches_below(globs, kPaths.path(i, k));
    out.may[i] = is_match || (is_name && !is_none && any_may_match(globs, last_name(kList[i])));
  }
  for (std::size_t i = 0; i < spelled_.size(); ++i) {
    const std::string& name = spelled_[i];
    bool is_match = any_may_match(globs, name) || any_may_match(globs, last_name(name));
    for (std::size_t k = 0; k < kBefore.size() && !is_match && !is_name; ++k)
      is_match = matches_below(globs, cat(kBefore[k], name));
    const bool is_part = !is_name && name.find('/') == std::string::npos;
    out.may[kList.size() + i] = is_part || is_match;
  }
  // Surely matched: a name by a glob without brackets and in its own case.
  const bool is_sure =
      is_name && pattern.text.find_first_of("[\\") == std::string::npos &&
      (pattern.is_any_case || globs.front() == pattern.text);
  if (is_sure) out.may_not = ~out.may;
  return out;
}

Chosen KeyNames::chosen_by_sample(std::string_view path) const {
  Chosen out;
  if (is_credential(path, "")) {
    out.may.reset();
    for (std::size_t i = 0; i < kKeys; ++i)
      out.may.set(i);
  }
  return out;
}

Keys KeyNames::keys_of(const NameSet& names) const noexcept {
  bool has_key = false;
  bool is_ordinary = false;
  for (std::size_t i = 0; i < kList.size() + spelled_.size(); ++i) {
    const bool is_listed = i >= kKeys && i < kList.size();
    has_key = has_key || (names[i] && !is_listed);
    is_ordinary = is_ordinary || (names[i] && is_listed);
  }
  return !has_key ? Keys::kNone : is_ordinary ? Keys::kSome : Keys::kMeant;
}

namespace {

// Whether one of the globs spells out a key or matches one of the list, and none matches an
// ordinary name.
bool are_meant_for_keys(const std::vector<std::string>& globs, bool is_name) {
  const auto may_be = [](std::string_view glob) { return is_in_list(glob, true); };
  bool has_key = std::any_of(globs.begin(), globs.end(), has_key_word);
  if (!has_key && std::none_of(globs.begin(), globs.end(), may_be)) return false;
  const auto matches = [&](std::size_t i) {
    if (is_name) return any_may_match(globs, last_name(kList[i]));
    for (std::size_t k = 0; k < kBefore.size(); ++k) {
      if (any_may_match(globs, kPaths.path(i, k))) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < kKeys && !has_key; ++i)
    has_key = matches(i);
  for (std::size_t i = kKeys; i < kList.size() && has_key; ++i)
    has_key = !matches(i);
  return has_key;
}

NamePattern pattern_of_glob(std::string_view glob) {
  const bool is_path = glob.find('/') != std::string_view::npos;
  return {.kind = is_path ? NamePattern::kPath : NamePattern::kName,
          .text = is_path ? cat("*", glob) : std::string(glob)};
}

}  // namespace

bool is_meant_for_keys(std::string_view glob) {
  const NamePattern pattern = pattern_of_glob(glob);
  return are_meant_for_keys(globs_of(pattern), pattern.kind == NamePattern::kName);
}

bool mentions_keys(std::string_view word) {
  if (word.size() > kMaxPattern) return false;
  const std::string lower = ascii_lower(word);
  if (has_key_word(without_backslashes(lower))) return true;
  constexpr std::size_t kMinLetters = 3;
  const auto n_letters = std::count_if(lower.begin(), lower.end(),
                                       [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (static_cast<std::size_t>(n_letters) < kMinLetters) return false;
  if (lower.find_first_of("*?[.(+{\\|") == std::string::npos) {  // plain: a part of names
    return kKeyNames.text().find(lower) != std::string_view::npos &&
           kOtherNames.text().find(lower) == std::string_view::npos;
  }
  return is_meant_for_keys(lower) ||
         are_meant_for_keys(
             globs_of({.kind = NamePattern::kRegex, .text = cat(".*", lower, ".*")}), false);
}

bool may_hold_keys(std::string_view folder, std::string_view home) {
  if (folder.empty() || folder == "/") return true;
  for (const std::string_view homes : {"/home/", "/Users/"}) {
    if (folder.starts_with(homes) && folder.find('/', homes.size()) == std::string_view::npos)
      return true;
  }
  const auto is_below = [](std::string_view path, std::string_view place) {  // or the same
    return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
  };
  const auto is_in = [&](std::string_view path) { return is_below(path, folder); };
  const auto is_at = [&](std::string_view place) { return is_below(folder, place); };
  return is_in("/etc/shadow") || is_in("/root/.ssh/id_rsa") || is_in("/home") || is_in("/Users") ||
         is_at("/root/.ssh") || (!home.empty() && is_in(cat(home, "/.ssh/id_rsa")));
}

}  // namespace wick::shell
