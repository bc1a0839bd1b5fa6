// Escapes are exact digit by digit: behind "\u0" a state is alive only if some character that is
// written so may come. Four digits name one character; fewer name a range of them, and whether one
// of the range may come is a question about the content: is content ∩ (range · anything) empty?
// The first half of a pair of surrogates names 1,024 characters in the same way.
#include "grammar/json_string.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/near_form.h"
#include "regex/code_points.h"

namespace wick::grammar {
namespace {

using regex::ExprId;
using regex::ExprPool;

constexpr std::uint32_t kFirstHigh = 0xD800, kFirstLow = 0xDC00, kBehindLow = 0xE000;

constexpr bool is_high(std::uint32_t unit) noexcept {
  return unit >= kFirstHigh && unit < kFirstLow;
}

// The characters that begin with the first halves from `first` to `last`.
constexpr char32_t first_of_pair(std::uint32_t high) noexcept {
  return 0x10000 + ((high - kFirstHigh) << 10U);
}

int hex_digit(unsigned char byte) noexcept {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const unsigned lower = byte | 0x20U;
  return lower >= 'a' && lower <= 'f' ? static_cast<int>(lower - 'a') + 10 : -1;
}

}  // namespace

std::size_t JsonString::Hash::operator()(const Place& p) const noexcept {
  std::uint64_t h = (std::uint64_t{p.content} << 32U) | p.value;
  h ^= (static_cast<std::uint64_t>(p.where) << 8U | p.n_digits) * 0x9E3779B97F4A7C15ULL;
  h *= 0xD6E8FEB86659FD93ULL;
  return h ^ (h >> 32U);
}

Result<std::unique_ptr<JsonString>> JsonString::make(std::unique_ptr<regex::Automaton> automaton,
                                                     ExprId content) {
  ExprPool& pool = automaton->pool();
  pool.refuel();
  const ExprId text = pool.intersect({content, pool.any_text()});
  if (text == regex::kNoExpr) return pool.failure();
  WICK_TRY(const bool is_empty, automaton->is_empty(text));
  std::unique_ptr<JsonString> out(new JsonString(std::move(automaton)));
  if (!is_empty) out->start_ = out->state_of({.where = Where::kBefore, .content = text});
  return out;
}

Error JsonString::failure() const {
  if (!is_full_) return automaton_->pool().failure();
  return {ErrorCode::kUnsupported, "grammar_memory",
          cat("the constraint on a JSON string needs more than ", kMaxJsonStringStates, " states"),
          "Use smaller lengths."};
}

StateId JsonString::state_of(const Place& place) {
  const auto [known, is_new] = states_.try_emplace(place, static_cast<StateId>(places_.size()));
  if (!is_new) return known->second;
  if (places_.size() >= kMaxJsonStringStates) {
    states_.erase(known);
    is_full_ = true;
    return kFailedState;
  }
  places_.push_back(place);
  return known->second;
}

StateId JsonString::step(StateId state, unsigned char byte) {
  if (state == kFailedState) return kFailedState;
  const Place place = places_[state];
  switch (place.where) {
    case Where::kBefore:
      return byte == '"' ? state_of({.where = Where::kInside, .content = place.content})
                         : kDeadState;
    case Where::kInside:
      return inside(place, byte);
    case Where::kEscape:
      return escaped(place, byte);
    case Where::kHex:
      return hex(place, byte);
    case Where::kPair:
    case Where::kPairU: {
      const bool is_first = place.where == Where::kPair;
      if (byte != (is_first ? '\\' : 'u')) return kDeadState;
      Place next = place;
      next.where = is_first ? Where::kPairU : Where::kPairHex;
      return state_of(next);
    }
    case Where::kPairHex:
      return pair_hex(place, byte);
    case Where::kDead:
    case Where::kBehind:
      break;
  }
  return kDeadState;
}

StateId JsonString::inside(Place place, unsigned char byte) {
  if (byte == '"') {
    const bool is_whole = automaton_->pool().is_nullable(place.content);
    return is_whole ? state_of({.where = Where::kBehind}) : kDeadState;
  }
  if (byte == '\\') {
    place.where = Where::kEscape;
    return if_any(place, 0, 0xFFFF, true);
  }
  if (byte < 0x20) return kDeadState;
  place.content = automaton_->step(place.content, byte);
  if (place.content == regex::kNoExpr) return kFailedState;
  return place.content == regex::kEmptySet ? kDeadState : state_of(place);
}

StateId JsonString::escaped(const Place& place, unsigned char byte) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kCodes = "\"\\/\b\f\n\r\t";
  if (byte == 'u') {
    return state_of({.where = Where::kHex, .content = place.content});
  }
  const std::size_t i = kNames.find(static_cast<char>(byte));
  return i == std::string_view::npos ? kDeadState
                                     : behind(place, static_cast<unsigned char>(kCodes[i]));
}

StateId JsonString::hex(Place place, unsigned char byte) {
  const int digit = hex_digit(byte);
  if (digit < 0) return kDeadState;
  place.value = place.value * 16 + static_cast<std::uint32_t>(digit);
  ++place.n_digits;
  if (place.n_digits == 4) {
    if (!is_high(place.value)) return behind(place, place.value);
    place = {.where = Where::kPair, .value = place.value, .content = place.content};
    const char32_t first = first_of_pair(place.value);
    return if_any(place, first, first + 0x3FF, false);
  }
  const unsigned missing = 4U * (4U - place.n_digits);
  const std::uint32_t first = place.value << missing;
  return if_any(place, first, first + (1U << missing) - 1, true);
}

StateId JsonString::pair_hex(Place place, unsigned char byte) {
  const int digit = hex_digit(byte);
  if (digit < 0) return kDeadState;
  const std::uint32_t high = place.n_digits == 0 ? place.value : place.value >> 16U;
  const std::uint32_t before = place.n_digits == 0 ? 0 : place.value & 0xFFFFU;
  const std::uint32_t low = before * 16 + static_cast<std::uint32_t>(digit);
  ++place.n_digits;
  place.value = (high << 16U) | low;
  const unsigned missing = 4U * (4U - place.n_digits);
  const std::uint32_t first = std::max(low << missing, kFirstLow);
  const std::uint32_t last = std::min((low << missing) + (1U << missing), kBehindLow);
  if (first >= last) return kDeadState;
  const std::uint32_t base = first_of_pair(high) - kFirstLow;
  if (place.n_digits == 4) return behind(place, base + low);
  return if_any(place, base + first, base + last - 1, false);
}

StateId JsonString::behind(const Place& place, char32_t code) {
  if (code >= kFirstHigh && code < kBehindLow) return kDeadState;
  std::string text;
  append_utf8(text, code);
  ExprId content = place.content;
  for (const char c : text) {
    content = automaton_->step(content, static_cast<unsigned char>(c));
    if (content == regex::kNoExpr) return kFailedState;
    if (content == regex::kEmptySet) return kDeadState;
  }
  return state_of({.where = Where::kInside, .content = content});
}

StateId JsonString::if_any(const Place& place, std::uint32_t first, std::uint32_t last,
                           bool with_pairs) {
  regex::CodePoints range(first, last);
  const std::uint32_t from = std::max(first, kFirstHigh), to = std::min(last, kFirstLow - 1);
  if (with_pairs && from <= to) range.add(first_of_pair(from), first_of_pair(to) + 0x3FF);
  ExprPool& pool = automaton_->pool();
  const ExprId one_of = pool.concat(regex::character_of(pool, range), regex::kEverything);
  switch (automaton_->liveness(pool.intersect({place.content, one_of}))) {
    case regex::Liveness::kLive:
      return state_of(place);
    case regex::Liveness::kDead:
      return kDeadState;
    case regex::Liveness::kUnknown:
      break;
  }
  return kFailedState;
}

// No spelling is shorter than what it spells, and an escape looks at most one character ahead.
StateId JsonString::near_form(StateId state, std::size_t max_bytes) {
  if (state == kFailedState) return state;
  constexpr std::size_t kLongestCharacter = 4;
  Place place = places_[state];
  place.content =
      grammar::near_form(automaton_->pool(), place.content, max_bytes + kLongestCharacter);
  const StateId near = state_of(place);
  return near == kFailedState ? state : near;
}

Result<std::string> JsonString::forced(StateId& state, std::size_t max_bytes) {
  begin(kMaskFuel);
  std::string out;
  while (out.size() < max_bytes && !accepts(state)) {
    StateId only = kDeadState;
    unsigned char its_byte = 0;
    for (unsigned b = 0; b < 256; ++b) {
      const StateId next = step(state, static_cast<unsigned char>(b));
      if (next == kFailedState) return failure();
      if (next == kDeadState) continue;
      if (only != kDeadState) return out;
      only = next;
      its_byte = static_cast<unsigned char>(b);
    }
    if (only == kDeadState) break;
    out.push_back(static_cast<char>(its_byte));
    state = only;
  }
  return out;
}

}  // namespace wick::grammar
