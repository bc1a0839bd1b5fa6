#include "grammar/json_spelling.h"

#include <algorithm>
#include <string_view>

#include "base/hex.h"
#include "base/strings.h"

namespace wick::grammar {
namespace {

using Where = Spelling::Where;
using Kind = Spelled::Kind;

constexpr std::uint32_t kFirstHigh = 0xD800, kFirstLow = 0xDC00, kBehindLow = 0xE000;

// The characters that begin with the first halves from `first` to `last`.
constexpr char32_t first_of_pair(std::uint32_t high) noexcept {
  return 0x10000 + ((high - kFirstHigh) << 10U);
}

Spelled character(Spelling& place, std::uint32_t code) noexcept {
  place = {};
  const bool is_half = code >= kFirstHigh && code < kBehindLow;
  return {.kind = is_half ? Kind::kWrong : Kind::kCharacter, .first = code};
}

Spelled escaped(Spelling& place, unsigned char byte) noexcept {
  constexpr std::string_view kNames = "\"\\/bfnrt", kCodes = "\"\\/\b\f\n\r\t";
  if (byte == 'u') {
    place = {.where = Where::kHex};
    return {.kind = Kind::kMore};
  }
  const std::size_t i = kNames.find(static_cast<char>(byte));
  if (i == std::string_view::npos) return {};
  return character(place, static_cast<unsigned char>(kCodes[i]));
}

Spelled hex(Spelling& place, unsigned char byte) noexcept {
  const int digit = hex_value(static_cast<char>(byte));
  if (digit < 0) return {};
  place.value = place.value * 16 + static_cast<std::uint32_t>(digit);
  ++place.n_digits;
  if (place.n_digits == 4) {
    const bool is_high = place.value >= kFirstHigh && place.value < kFirstLow;
    if (!is_high) return character(place, place.value);
    place = {.where = Where::kPair, .value = place.value};
    const char32_t first = first_of_pair(place.value);
    return {.kind = Kind::kStarted, .first = first, .last = first + 0x3FF};
  }
  const unsigned missing = 4U * (4U - place.n_digits);
  const std::uint32_t first = place.value << missing;
  return {.kind = Kind::kStarted,
          .first = first,
          .last = first + (1U << missing) - 1,
          .with_pairs = true};
}

Spelled pair_hex(Spelling& place, unsigned char byte) noexcept {
  const int digit = hex_value(static_cast<char>(byte));
  if (digit < 0) return {};
  const std::uint32_t high = place.n_digits == 0 ? place.value : place.value >> 16U;
  const std::uint32_t before = place.n_digits == 0 ? 0 : place.value & 0xFFFFU;
  const std::uint32_t low = before * 16 + static_cast<std::uint32_t>(digit);
  ++place.n_digits;
  place.value = (high << 16U) | low;
  const unsigned missing = 4U * (4U - place.n_digits);
  const std::uint32_t first = std::max(low << missing, kFirstLow);
  const std::uint32_t last = std::min((low << missing) + (1U << missing), kBehindLow);
  if (first >= last) return {};
  const std::uint32_t base = first_of_pair(high) - kFirstLow;
  if (place.n_digits == 4) return character(place, base + low);
  return {.kind = Kind::kStarted, .first = base + first, .last = base + last - 1};
}

}  // namespace

Spelled feed(Spelling& place, unsigned char byte) noexcept {
  switch (place.where) {
    case Where::kInside:
      if (byte == '"') return {.kind = Kind::kEnd};
      if (byte < 0x20) return {};
      if (byte != '\\') return {.kind = Kind::kByte};
      place.where = Where::kEscape;
      return {.kind = Kind::kStarted, .first = 0, .last = 0xFFFF, .with_pairs = true};
    case Where::kEscape:
      return escaped(place, byte);
    case Where::kHex:
      return hex(place, byte);
    case Where::kPair:
    case Where::kPairU: {
      const bool is_first = place.where == Where::kPair;
      if (byte != (is_first ? '\\' : 'u')) return {};
      place.where = is_first ? Where::kPairU : Where::kPairHex;
      return {.kind = Kind::kMore};
    }
    case Where::kPairHex:
      return pair_hex(place, byte);
  }
  return {};
}

std::string bytes_of(const Spelled& spelled, unsigned char byte) {
  std::string out;
  if (spelled.kind == Kind::kByte) out = static_cast<char>(byte);
  if (spelled.kind == Kind::kCharacter) append_utf8(out, spelled.first);
  return out;
}

bool paired_characters(const Spelled& started, char32_t& first, char32_t& last) noexcept {
  const std::uint32_t from = std::max(started.first, kFirstHigh);
  const std::uint32_t to = std::min(started.last, kFirstLow - 1);
  if (!started.with_pairs || from > to) return false;
  first = first_of_pair(from);
  last = first_of_pair(to) + 0x3FF;
  return true;
}

}  // namespace wick::grammar
