#include "server/json_out.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hex.h"

namespace wick::server {

namespace {

template <class Number>
void append_number(std::string& out, Number value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

constexpr auto kPlain = [] {
  std::array<bool, 256> plain = {};
  for (std::size_t byte = 0x20; byte < plain.size(); ++byte)
    plain[byte] = byte != '"' && byte != '\\' && byte != 0x7F;
  return plain;
}();

// Of eight bytes at once. A byte behind one that is not plain may be taken for such a one, too.
bool are_plain(const char* eight) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, eight, sizeof(bytes));
  const auto has_zero = [](std::uint64_t x) { return (x - kOnes) & ~x & kHigh; };
  const std::uint64_t is_control = (bytes - kOnes * 0x20) & ~bytes & kHigh;
  return (is_control | has_zero(bytes ^ (kOnes * '"')) | has_zero(bytes ^ (kOnes * '\\')) |
          has_zero(bytes ^ (kOnes * 0x7F))) == 0;
}

void append_special(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\\\n\r\t\b\f", kNames = "\"\\nrtbf";
  const std::size_t at = kShort.find(c);
  out += '\\';
  if (at != std::string_view::npos) {
    out += kNames[at];
    return;
  }
  out += "u00";
  append_hex(out, static_cast<unsigned char>(c), 2);
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const char* const from = at;
    while (end - at >= 8 && are_plain(at))
      at += 8;
    while (at != end && kPlain[static_cast<unsigned char>(*at)])
      ++at;
    out.append(from, static_cast<std::size_t>(at - from));
    if (at == end) return;
    append_special(out, *at++);
  }
}

bool JsonOut::needs_comma() const noexcept {
  if (out_.size() == begin_) return false;
  const char last = out_.back();
  return last != '{' && last != '[' && last != ':';
}

void JsonOut::separate() {
  if (needs_comma()) out_ += ',';
}

void JsonOut::append_whole(std::int64_t value) {
  append_number(out_, value);
}

JsonOut& JsonOut::open(char bracket) {
  separate();
  out_ += bracket;
  return *this;
}

JsonOut& JsonOut::close(char bracket) {
  out_ += bracket;
  return *this;
}

// Nearly all names are short and plain: these are appended at once.
JsonOut& JsonOut::key(std::string_view name) {
  char piece[48];
  constexpr std::size_t kAround = 4;  // ,"":
  const auto is_plain = [](char c) { return kPlain[static_cast<unsigned char>(c)]; };
  if (name.size() > sizeof(piece) - kAround || !std::all_of(name.begin(), name.end(), is_plain)) {
    text(name);
    out_ += ':';
    return *this;
  }
  char* at = piece;
  if (needs_comma()) *at++ = ',';
  *at++ = '"';
  at = std::copy(name.begin(), name.end(), at);
  *at++ = '"';
  *at++ = ':';
  out_.append(piece, static_cast<std::size_t>(at - piece));
  return *this;
}

JsonOut& JsonOut::text(std::string_view value) {
  separate();
  out_ += '"';
  append_escaped(out_, value);
  out_ += '"';
  return *this;
}

JsonOut& JsonOut::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  append_number(out_, value);
  return *this;
}

JsonOut& JsonOut::number(std::int64_t value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonOut& JsonOut::number(std::uint64_t value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonOut& JsonOut::boolean(bool value) {
  return raw(value ? "true" : "false");
}

JsonOut& JsonOut::null() {
  return raw("null");
}

}  // namespace wick::server
