// Secrets in a text: by shape and by the name before them here, by the words of a command in
// secrets.cc. A miss is worse than a mask too many.
#include <algorithm>
#include <array>

#include "assist/history.h"
#include "assist/secrets.h"
#include "base/strings.h"

namespace wick::assist {

namespace {

constexpr std::string_view kMask = "***";
constexpr std::size_t kMinToken = 12;  // bytes behind a known beginning
constexpr std::size_t kMinMixed = 32;  // … of a word of upper case, lower case and digits

// Beginnings of tokens of well-known services.
constexpr std::string_view kBeginnings[] = {"sk-",      "sk_live_",
                                            "rk_live_", "sk_test_",
                                            "ghp_",     "gho_",
                                            "ghu_",     "ghs_",
                                            "ghr_",     "github_pat_",
                                            "glpat-",   "xoxb-",
                                            "xoxp-",    "xoxa-",
                                            "xoxs-",    "AKIA",
                                            "ASIA",     "AIza",
                                            "hf_",      "npm_",
                                            "pypi-",    "eyJ",
                                            "dop_v1_",  "ya29.",
                                            "SG.",      "AGE-SECRET-KEY-",
                                            "shpat_",   "dckr_pat_"};

bool is_token_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '+' || c == '/' || c == '=';
}

bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::size_t end_of_token(std::string_view text, std::size_t at) {
  while (at < text.size() && is_token_byte(text[at]))
    ++at;
  return at;
}

// Letters of both cases and digits: no word, no hash, no path.
bool is_mixed(std::string_view token) {
  const auto has = [&](char low, char high) {
    return std::any_of(token.begin(), token.end(), [&](char c) { return c >= low && c <= high; });
  };
  return token.size() >= kMinMixed && has('a', 'z') && has('A', 'Z') && has('0', '9') &&
         std::count(token.begin(), token.end(), '/') <= 2;
}

// A value ends at a blank, or at its quote.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  constexpr std::string_view kOpen = "\xE2\x80\x9C", kClose = "\xE2\x80\x9D";  // “…”
  if (text.substr(at).starts_with(kOpen)) {
    const std::size_t close = text.find(kClose, at);
    return close == std::string_view::npos ? text.size() : close + kClose.size();
  }
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (quote == '"' && text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size());
  }
  return std::min(text.find_first_of(" \t\r\n;&|\"'", at), text.size());
}

// Behind the name at [begin, end): where its value begins; npos if it has none. `NAME=v`, `name: v`
// and `--name v`, `Bearer v`, `"name": "v"`, "the name is v".
std::size_t value_behind(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t at = end;
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  const std::size_t before = at;
  while (at < text.size() && text[at] == ' ')
    ++at;
  if (at < text.size() && (text[at] == '=' || text[at] == ':')) {
    ++at;
    while (at < text.size() && text[at] == ' ')
      ++at;
    return at < text.size() ? at : std::string_view::npos;
  }
  constexpr std::string_view kIs = "is ";
  if (at > before && text.substr(at).starts_with(kIs) && at + kIs.size() < text.size())
    return at + kIs.size();
  constexpr std::string_view kTo = "to ";  // set the password to "a b"
  const std::string_view value = text.substr(std::min(at + kTo.size(), text.size()));
  if (at > before && text.substr(at).starts_with(kTo) &&
      (value.starts_with('"') || value.starts_with('\'')))
    return at + kTo.size();
  const std::string_view name = text.substr(begin, end - begin);
  const bool takes_next = (name.starts_with("--") && !name.ends_with("stdin")) ||
                          ascii_lower(name) == "bearer" || ascii_lower(name) == "basic";
  return takes_next && at > before && at < text.size() ? at : std::string_view::npos;
}

// "scheme://user:secret@": the end of the secret; 0 if `at`, behind "://", has none.
ByteRange secret_of_url(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_of(" \t\n/\"'", at), text.size());
  const std::string_view host = text.substr(at, end - at);
  const std::size_t mail = host.rfind('@'), colon = host.find(':');
  if (mail == std::string_view::npos || colon == std::string_view::npos || colon > mail)
    return {0, 0};
  return {at + colon + 1, at + mail};
}

// What stands at `at` and is to be masked: [first, second), empty if nothing is.
ByteRange secret_at(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("-----BEGIN ")) return {at, text.size()};
  if (text.substr(at).starts_with("://")) return secret_of_url(text, at + 3);
  if (at > 0 && is_name_byte(text[at - 1])) return {0, 0};  // within a word
  const std::size_t end = end_of_token(text, at);
  const std::string_view token = text.substr(at, end - at);
  for (const std::string_view beginning : kBeginnings) {
    if (token.starts_with(beginning) && token.size() >= beginning.size() + kMinToken)
      return {at, end};
  }
  if (is_mixed(token) && token.find('=') >= token.size() - 2) return {at, end};
  constexpr std::string_view kUser = "-u ";  // name:secret, as of curl
  if (text.substr(at).starts_with(kUser)) {
    std::size_t stop = end_of_value(text, at + kUser.size());
    if (text[stop - 1] == '\'' || text[stop - 1] == '"') --stop;
    const std::size_t colon = text.substr(0, stop).find(':', at);
    if (colon != std::string_view::npos) return {colon + 1, stop};
  }
  std::size_t name_end = at;
  while (name_end < text.size() && is_name_byte(text[name_end]))
    ++name_end;
  const std::string_view name = text.substr(at, name_end - at);
  // "Authorization: Basic …"
  const bool is_scheme = (name == "Basic" || name == "basic") && text.substr(0, at).ends_with(": ");
  const char before = at > 0 ? text[at - 1] : ' ';
  const bool is_query = name == "key" && (before == '?' || before == '&');
  if (name.empty() || before == '$' || (!is_scheme && !is_query && !is_secret_name(name)))
    return {0, 0};
  std::size_t value = value_behind(text, at, name_end);
  if (value == std::string_view::npos) return {0, 0};
  for (const std::string_view scheme : {"bearer ", "basic ", "token ", "digest "}) {
    if (ascii_lower(text.substr(value, scheme.size())) == scheme) value += scheme.size();
  }
  return {std::min(value, text.size()), end_of_value(text, value)};
}

}  // namespace

std::string masked(std::string_view text) {
  std::vector<ByteRange> secrets = secrets_of_command(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto [begin, end] = secret_at(text, at);
    if (end <= begin) continue;
    secrets.emplace_back(begin, end);
    at = std::max(at, end - 1);
  }
  std::sort(secrets.begin(), secrets.end());
  std::string out;
  std::size_t copied = 0;
  for (const auto& [begin, end] : secrets) {
    if (begin >= copied) out += cat(text.substr(copied, begin - copied), kMask);  // else: goes on
    copied = std::max(copied, end);
  }
  return out + std::string(text.substr(std::min(copied, text.size())));
}

}  // namespace wick::assist
