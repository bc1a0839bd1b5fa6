#include "text/added_tokens.h"

#include <algorithm>

#include "unicode/table.h"
#include "unicode/classes.h"
#include "base/utf8.h"

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

// The nodes are made level by level from the sorted tokens: a node is the run of tokens that share
// its prefix, and its edges are the runs within that share one byte more.
void AddedTokens::build(std::vector<AddedToken> tokens) {
  struct Run {
    std::uint32_t node, begin, end, depth;
  };

  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.text < b.text; });
  tokens_ = std::move(tokens);
  nodes_.assign(1, Node{});
  edges_.clear();
  std::vector<Run> runs{{0, 0, static_cast<std::uint32_t>(tokens_.size()), 0}};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Run run = runs[r];
    std::uint32_t at = run.begin;
    while (at < run.end && tokens_[at].text.size() == run.depth) {
      Node& node = nodes_[run.node];
      if (node.token < 0 && run.depth > 0) node.token = static_cast<std::int32_t>(at);
      ++at;
    }
    nodes_[run.node].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (at < run.end) {
      const char byte = tokens_[at].text[run.depth];
      std::uint32_t end = at;
      while (end < run.end && tokens_[end].text[run.depth] == byte) {
        ++end;
      }
      const auto child = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({});
      edges_.push_back({static_cast<unsigned char>(byte), child});
      ++nodes_[run.node].n_edges;
      runs.push_back({child, at, end, run.depth + 1});
      at = end;
    }
  }
  roots_.fill(-1);
  for (std::uint32_t i = 0; i < nodes_[0].n_edges; ++i) {
    roots_[edges_[i].byte] = static_cast<std::int32_t>(edges_[i].node);
  }
  only_root_ = nodes_[0].n_edges == 1 ? edges_[0].byte : -1;
}

std::int32_t AddedTokens::step(std::uint32_t node, unsigned char byte) const noexcept {
  const Node& from = nodes_[node];
  for (std::uint32_t i = 0; i < from.n_edges; ++i) {
    const Edge& edge = edges_[from.first_edge + i];
    if (edge.byte == byte) return static_cast<std::int32_t>(edge.node);
  }
  return -1;
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text, const Match& last,
                                                    const std::vector<Span>& trusted,
                                                    AddedWork& work) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t begin = last.next; begin < text.size() && !work.is_too_much(); ++begin) {
    if (only_root_ >= 0)
      begin = std::min(text.find(static_cast<char>(only_root_), begin), text.size());
    if (begin == text.size()) break;
    std::int32_t node = roots_[static_cast<unsigned char>(text[begin])];
    if (node < 0) continue;
    const AddedToken* best = nullptr;
    std::size_t best_end = begin;
    std::size_t end = begin + 1;
    for (; node >= 0; ++end) {
      const std::int32_t index = nodes_[static_cast<std::size_t>(node)].token;
      if (index >= 0) {
        const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
        if (!token.is_control || is_within(trusted, begin, end)) {
          best = &token;
          best_end = end;
        }
      }
      if (end >= text.size()) break;
      node = step(static_cast<std::uint32_t>(node), static_cast<unsigned char>(text[end]));
    }
    work.done += end - best_end;
    if (best == nullptr) continue;
    if (best->is_single_word) {
      const Utf8Char before = last_char(text, begin);
      const Utf8Char behind = first_char(text, best_end);
      if ((before.is_valid && is_word(before.code)) || (behind.is_valid && is_word(behind.code))) {
        begin = best_end - 1;  // Hugging Face looks on behind it, too
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
