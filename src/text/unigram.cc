// Viterbi's algorithm: the best way to each place, from left to right, by a walk of the trie from
// every character. A character that no token covers alone may be unknown, at the lowest score less
// kUnknownCost. Among equal sums the token that starts first wins, as in both libraries. Time and
// memory are in proportion to the text (times the longest token).
#include "text/unigram.h"

#include <algorithm>
#include <type_traits>

#include "base/utf8.h"
#include "text/limits.h"

namespace wick {
namespace {

constexpr double kUnknownCost = 10;
constexpr TokenId kNotReached = -2;
constexpr TokenId kUnknownWay = -1;
// SentencePiece starts its single-precision sums anew before they lose their fractions.
constexpr float kLargeSum = 100'000;

}  // namespace

template <class Real>
void UnigramModel::find_best(std::string_view piece, std::vector<Way<Real>>& ways) const {
  const Real unknown_score = static_cast<Real>(lowest_score) - static_cast<Real>(kUnknownCost);
  ways.assign(piece.size() + 1, Way<Real>{.id = kNotReached});
  std::size_t furthest = 0;
  for (std::size_t at = 0; at < piece.size();) {
    if constexpr (std::is_same_v<Real, float>) {
      const float sum = ways[at].score;
      if (sum < -kLargeSum || sum > kLargeSum) {
        for (std::size_t i = at; i <= furthest; ++i) {
          if (i == at || ways[i].id != kNotReached) ways[i].score -= sum;
        }
      }
    }
    const Real here = ways[at].score;
    const Utf8Char next = decode_utf8(piece.substr(at));
    const auto bytes = next.is_valid ? static_cast<std::size_t>(next.length) : std::size_t{1};
    const auto offer = [&](std::size_t end, TokenId id, Real score) {
      Way<Real>& way = ways[end];
      furthest = std::max(furthest, end);
      const Real sum = score + here;
      if (way.id != kNotReached && !(sum > way.score)) return;
      way = {.score = sum, .id = id, .begin = static_cast<std::uint32_t>(at)};
    };
    bool is_covered = false;
    trie_.prefixes(piece.substr(at), [&](std::size_t n, std::int32_t id) {
      offer(at + n, id, static_cast<Real>(scores[static_cast<std::size_t>(id)]));
      is_covered = is_covered || n == bytes;
    });
    if (!is_covered) offer(at + bytes, kUnknownWay, unknown_score);
    at += bytes;
  }
}

void UnigramModel::append_unknown(std::string_view text, std::vector<TokenId>& out) const {
  const auto id_of = [&](char c) { return byte_ids[static_cast<unsigned char>(c)]; };
  if (std::all_of(text.begin(), text.end(), [&](char c) { return id_of(c) >= 0; })) {
    for (const char c : text) {
      out.push_back(id_of(c));
    }
  } else if (unknown >= 0) {
    out.push_back(unknown);
  }
}

template <class Real>
void UnigramModel::encode_new(std::string_view piece, std::vector<Way<Real>>& ways,
                              Scratch& scratch, std::vector<TokenId>& out) const {
  find_best(piece, ways);
  scratch.ends.clear();
  for (auto end = static_cast<std::uint32_t>(piece.size()); end > 0; end = ways[end].begin) {
    scratch.ends.push_back(end);
  }
  std::uint32_t known_end = 0;  // unknown characters follow, which become one token
  for (std::size_t i = scratch.ends.size(); i-- > 0;) {
    const Way<Real>& way = ways[scratch.ends[i]];
    if (way.id == kUnknownWay) continue;
    if (way.begin > known_end) {
      append_unknown(piece.substr(known_end, way.begin - known_end), out);
    }
    out.push_back(way.id);
    known_end = scratch.ends[i];
  }
  if (known_end < piece.size()) append_unknown(piece.substr(known_end), out);
}

void UnigramModel::encode(std::string_view piece, const Vocab& /*vocab*/, Scratch& scratch,
                          std::vector<TokenId>& out) const {
  while (piece.size() > kMaxViterbiBytes) {  // 12 to 16 bytes of memory for each
    std::size_t part = kMaxViterbiBytes;
    while (part > kMaxViterbiBytes - 4 &&
           (static_cast<unsigned char>(piece[part]) & 0xC0U) == 0x80U) {
      --part;
    }
    encode(piece.substr(0, part), {}, scratch, out);
    piece.remove_prefix(part);
  }
  if (const auto ids = scratch.words.find(piece); !ids.empty()) {
    out.insert(out.end(), ids.begin(), ids.end());
    return;
  }
  const std::size_t before = out.size();
  if (is_single) {
    encode_new(piece, scratch.ways_single, scratch, out);
  } else {
    encode_new(piece, scratch.ways, scratch, out);
  }
  scratch.words.add(piece, std::span<const TokenId>(out).subspan(before));
}

}  // namespace wick
