#include <algorithm>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

namespace wick {
namespace {

// Bytes of the longest end of `text` that a stop sequence starts with: it may yet become one.
std::size_t possible_stop(std::string_view text, const std::vector<std::string>& stops) noexcept {
  std::size_t longest = 0;
  for (const std::string& stop : stops) {
    for (std::size_t n = std::min(stop.size() - 1, text.size()); n > longest; --n) {
      if (text.substr(text.size() - n) == std::string_view(stop).substr(0, n)) longest = n;
    }
  }
  return longest;
}

// Where the stop sequence starts that is complete first (the longest of several), npos if none is.
std::size_t first_stop(std::string_view text, const std::vector<std::string>& stops) noexcept {
  std::size_t begin = std::string_view::npos;
  std::size_t end = std::string_view::npos;
  for (const std::string& stop : stops) {
    const std::size_t at = text.find(stop);
    if (at == std::string_view::npos) continue;
    const std::size_t here = at + stop.size();
    if (here < end || (here == end && at < begin)) {
      begin = at;
      end = here;
    }
  }
  return begin;
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, bool is_continuing,
                       std::vector<std::string> stops, std::vector<TokenId> shown)
    : tokenizer_(&tokenizer),
      stops_(std::move(stops)),
      shown_tokens_(std::move(shown)),
      strip_space_(tokenizer.decoding().strips_leading_space && !is_continuing) {
  stops_.erase(std::remove(stops_.begin(), stops_.end(), std::string()), stops_.end());
  std::size_t longest_stop = 0;
  for (const std::string& stop : stops_) {
    longest_stop = std::max(longest_stop, stop.size());
  }
  // Held back are less than a stop sequence, less than a character, a space, and a token that may
  // be the last; then another one comes.
  const std::size_t most = longest_stop + 5 + 2 * tokenizer.longest_token_bytes();
  held_.reserve(most);
  shown_.reserve(most * kReplacementChar.size());
}

std::string_view TextStream::push(TokenId id) noexcept {
  shown_.clear();
  const auto is_listed = [&] {
    return std::find(shown_tokens_.begin(), shown_tokens_.end(), id) != shown_tokens_.end();
  };
  if (stopped_ || (tokenizer_->is_hidden(id) && !is_listed())) return {};
  if (tokenizer_->decoding().joins_repeats && id == last_) return {};
  last_ = id;
  std::string_view bytes = tokenizer_->bytes(id);
  if (strip_space_) {
    const auto first = tokenizer_->edge_text(id, TextEdge::kStart);
    strip_space_ = !first && bytes.empty();
    if (!first && bytes.starts_with(' ')) bytes.remove_prefix(1);
    bytes = first.value_or(bytes);
  }
  held_ += bytes;
  n_last_ = tokenizer_->edge_text(id, TextEdge::kEnd) ? bytes.size() : 0;
  return release(false);
}

std::string_view TextStream::finish() noexcept {
  shown_.clear();
  if (const auto last = tokenizer_->edge_text(last_, TextEdge::kEnd); last && !stopped_) {
    held_.resize(held_.size() - n_last_);
    held_ += *last;
  }
  return release(true);
}

std::string_view TextStream::release(bool is_last) noexcept {
  const std::string_view held = held_;
  std::size_t n = held.size();
  if (const std::size_t stop = first_stop(held, stops_); stop != std::string_view::npos) {
    stopped_ = true;
    n = stop;
  } else {
    if (!is_last) n -= std::max(possible_stop(held, stops_), n_last_);
    // It may turn out to be the last one, which is not shown.
    const bool ends_in_space = n == held.size() && n_last_ == 0 && held.ends_with(' ');
    if (tokenizer_->decoding().strips_trailing_space && ends_in_space) --n;
    if (!is_last) n = complete_utf8(held.substr(0, n));
  }
  append_repaired(shown_, held.substr(0, n));
  held_.erase(0, stopped_ ? held_.size() : n);
  return shown_;
}

}  // namespace wick
