#include "text/added_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "unicode/classes.h"
#include "unicode/table.h"

namespace wick {
namespace {

// \w as Rust's regular expressions have it, which bound a single word.
bool is_word(char32_t code) noexcept {
  constexpr char32_t kNonJoiner = 0x200C, kJoiner = 0x200D;
  return is_word(unicode_atoms()[static_cast<std::size_t>(unicode_atom(code))]) ||
         code == kNonJoiner || code == kJoiner;
}

// The character that ends at text[end); invalid at the start of the text or behind a bad byte.
Utf8Char last_char(std::string_view text, std::size_t end) noexcept {
  for (std::size_t n = 1; n <= 4 && n <= end; ++n) {
    const Utf8Char c = decode_utf8(text.substr(end - n, n));
    if (c.is_valid && static_cast<std::size_t>(c.length) == n) return c;
  }
  return {};
}

Utf8Char first_char(std::string_view text, std::size_t begin) noexcept {
  return begin < text.size() ? decode_utf8(text.substr(begin)) : Utf8Char{};
}

// The end of text[from, end) without the white space at its end; `from` at least.
std::size_t without_space_behind(std::string_view text, std::size_t from,
                                 std::size_t end) noexcept {
  while (end > from) {
    const Utf8Char c = last_char(text, end);
    if (!c.is_valid || !is_white_space(c.code)) break;
    end -= static_cast<std::size_t>(c.length);
  }
  return std::max(end, from);
}

// Where the white space ends that stands at text[begin).
std::size_t behind_space(std::string_view text, std::size_t begin) noexcept {
  while (begin < text.size()) {
    const Utf8Char c = first_char(text, begin);
    if (!c.is_valid || !is_white_space(c.code)) break;
    begin += static_cast<std::size_t>(c.length);
  }
  return begin;
}

bool is_within(const std::vector<Span>& spans, std::size_t begin, std::size_t end) noexcept {
  const auto next = std::upper_bound(spans.begin(), spans.end(), begin,
                                     [](std::size_t at, const Span& s) { return at < s.begin; });
  return next != spans.begin() && end <= std::prev(next)->end;
}

}  // namespace

bool AddedTokens::build(std::vector<AddedToken> tokens) {
  tokens_ = std::move(tokens);
  may_start_.fill(false);
  std::vector<ByteTrie::Key> keys;
  for (std::size_t i = tokens_.size(); i-- > 0;) {  // of equal keys the trie keeps the last
    const std::string& text = tokens_[i].text;
    keys.push_back({text, static_cast<std::int32_t>(i)});
    if (!text.empty()) may_start_[static_cast<unsigned char>(text[0])] = true;
  }
  const auto first = std::find(may_start_.begin(), may_start_.end(), true);
  const bool is_only = std::count(may_start_.begin(), may_start_.end(), true) == 1;
  only_start_ = is_only ? static_cast<int>(first - may_start_.begin()) : -1;
  return trie_.build(std::move(keys));
}

std::size_t AddedTokens::longest_match() const noexcept {
  std::size_t longest = 1;
  for (const AddedToken& token : tokens_) {
    if (token.takes_left_space || token.takes_right_space) return 0;
    longest = std::max(longest, token.text.size());
  }
  return longest;
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text, const Match& last,
                                                    const std::vector<Span>& trusted,
                                                    AddedWork& work) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t begin = last.next; begin < text.size() && !work.is_too_much(); ++begin) {
    if (only_start_ >= 0)
      begin = std::min(text.find(static_cast<char>(only_start_), begin), text.size());
    if (begin == text.size()) break;
    if (!may_start_[static_cast<unsigned char>(text[begin])]) continue;
    const AddedToken* best = nullptr;
    std::size_t best_end = begin;
    const auto look = [&](std::size_t bytes, std::int32_t index) {
      const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
      if (token.is_control && !is_within(trusted, begin, begin + bytes)) return;
      best = &token;
      best_end = begin + bytes;
    };
    work.done += begin + trie_.prefixes(text.substr(begin), look) - best_end;
    if (best == nullptr) continue;
    if (best->is_single_word) {
      const Utf8Char before = last_char(text, begin);
      const Utf8Char behind = first_char(text, best_end);
      if ((before.is_valid && is_word(before.code)) || (behind.is_valid && is_word(behind.code))) {
        begin = best_end - 1;  // Hugging Face looks on after it, too
        continue;
      }
    }
    Match match{
        .span = {begin, best_end}, .id = best->id, .next = best_end, .space_end = last.space_end};
    if (best->takes_right_space) {
      // Neighbors in one stretch of white space do not each look through all of it.
      match.span.end = behind_space(text, std::max(best_end, last.space_end));
      match.space_end = match.span.end;
    }
    if (best->takes_left_space) {
      match.span.begin = without_space_behind(text, last.span.end, begin);
      if (match.span.end <= last.span.end) {
        begin = best_end - 1;  // nothing is left for it, so Hugging Face drops it
        continue;
      }
    }
    return match;
  }
  return std::nullopt;
}

}  // namespace wick
