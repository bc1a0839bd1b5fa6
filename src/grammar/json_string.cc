// Escapes are exact digit by digit: behind "\u0" a state is alive only if some character that is
// written so may come. Four digits name one character; fewer name a range of them, and whether one
// of the range may come is a question about the content: is content ∩ (range · anything) empty?
// The first half of a pair of surrogates names 1,024 characters in the same way.
#include "grammar/json_string.h"

#include <string>
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/near_form.h"
#include "regex/code_points.h"

namespace wick::grammar {
using regex::ExprId;
using regex::ExprPool;

std::size_t JsonString::Hash::operator()(const Place& p) const noexcept {
  std::uint64_t h = (std::uint64_t{p.content} << 32U) | p.spelling.value;
  const auto where = static_cast<std::uint64_t>(p.where) << 16U |
                     static_cast<std::uint64_t>(p.spelling.where) << 8U | p.spelling.n_digits;
  h ^= where * 0x9E3779B97F4A7C15ULL;
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
  Place place = places_[state];
  if (place.where == Where::kBefore && byte == '"') {
    place.where = Where::kWithin;
    return state_of(place);
  }
  if (place.where != Where::kWithin) return kDeadState;
  const Spelled spelled = feed(place.spelling, byte);
  if (spelled.kind == Spelled::Kind::kWrong) return kDeadState;
  if (spelled.kind == Spelled::Kind::kStarted) return if_any(place, spelled);
  if (spelled.kind == Spelled::Kind::kEnd) {
    const bool may_end = automaton_->pool().is_nullable(place.content);
    return may_end ? state_of({.where = Where::kBehind}) : kDeadState;
  }
  for (const char c : bytes_of(spelled, byte)) {
    place.content = automaton_->step(place.content, static_cast<unsigned char>(c));
    if (place.content == regex::kNoExpr) return kFailedState;
    if (place.content == regex::kEmptySet) return kDeadState;
  }
  return state_of(place);
}

StateId JsonString::if_any(const Place& place, const Spelled& started) {
  switch (escapes_.may_start(*automaton_, place.content, started)) {
    case regex::Liveness::kLive:
      return state_of(place);
    case regex::Liveness::kDead:
      return kDeadState;
    case regex::Liveness::kUnknown:
      break;
  }
  return kFailedState;
}

bool EscapeStarts::surely_starts(regex::Automaton& automaton, ExprId content, char32_t character) {
  if (character >= 0xD800 && character < 0xE000) return false;
  std::string bytes;
  append_utf8(bytes, character);
  for (std::size_t i = 0; i < bytes.size() && content != regex::kNoExpr; ++i)
    content = automaton.step(content, static_cast<unsigned char>(bytes[i]));
  return content != regex::kNoExpr && content != regex::kEmptySet;
}

// Tokens begin with a thousand different numbers, and in most strings nearly any character may
// come. So the last one of the range is tried before the range as an expression is.
regex::Liveness EscapeStarts::may_start(regex::Automaton& automaton, ExprId content,
                                        const Spelled& started) {
  if (content == regex::kEmptySet) return regex::Liveness::kDead;
  char32_t first = 0, last = 0;
  const bool has_pairs = paired_characters(started, first, last);
  if (surely_starts(automaton, content, started.last) ||
      (has_pairs && surely_starts(automaton, content, last)))
    return regex::Liveness::kLive;
  const std::uint64_t key = std::uint64_t{started.first} << 32U | started.last << 1U |
                            static_cast<std::uint32_t>(started.with_pairs);
  const auto known = known_.try_emplace(key, regex::kNoExpr).first;
  ExprPool& pool = automaton.pool();
  if (known->second == regex::kNoExpr) {
    regex::CodePoints range(started.first, started.last);
    if (has_pairs) range.add(first, last);
    known->second = pool.concat(regex::character_of(pool, range), regex::kEverything);
  }
  return automaton.liveness(pool.intersect({content, known->second}));
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

}  // namespace wick::grammar
