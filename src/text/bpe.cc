// Two ways through the same order of merges. A short piece (nearly all are) keeps its symbols in an
// array and looks for the lowest rank again after every merge: n² steps of a few cycles. A long
// one keeps them in a linked list and its possible merges in a heap, so that a megabyte of one
// letter costs n log n. An entry of the heap is out of date when its symbol, or the symbol's
// neighbour, has merged since; then the two no longer have the length noted in the entry.
#include "text/bpe.h"

#include <algorithm>

#include "text/limits.h"
#include "text/utf8.h"

namespace wick {
namespace {

constexpr std::size_t kShort = 32;  // symbols
constexpr std::uint32_t kTieLimit = 0xFFFF;

bool comes_later(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) noexcept {
  if (a.key != b.key) return a.key > b.key;
  if (a.id != b.id) return a.id > b.id;
  return a.at > b.at;
}

}  // namespace

TokenId BpeModel::find(std::string_view text, const Vocab& vocab) const noexcept {
  if (text.size() > longest_word) return -1;
  const Vocab& texts = spelled.size() > 0 ? spelled : vocab;
  return words.find(text, [&](TokenId id) { return texts.bytes(id); });
}

// False, with nothing done, where a byte has no token or the piece is not short.
bool BpeModel::encode_short(std::string_view piece, std::vector<TokenId>& out) const {
  if (alphabet != Alphabet::kBytes || by_score || piece.size() > kShort) return false;
  std::array<TokenId, kShort> ids;
  std::array<Merge, kShort> merges;  // of symbol i with symbol i + 1
  std::size_t n = 0;
  for (const char c : piece) {
    const TokenId id = byte_ids[static_cast<unsigned char>(c)];
    if (id < 0) return false;
    ids[n++] = id;
  }
  for (std::size_t i = 0; i + 1 < n; ++i) {
    merges[i] = pairs.find(ids[i], ids[i + 1]);
  }
  while (n > 1) {
    std::size_t best = n;
    std::uint32_t best_rank = UINT32_MAX;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (merges[i].id >= 0 && merges[i].rank < best_rank) {
        best = i;
        best_rank = merges[i].rank;
      }
    }
    if (best == n) break;
    ids[best] = merges[best].id;
    for (std::size_t i = best + 1; i + 1 < n; ++i) {
      ids[i] = ids[i + 1];
      merges[i - 1] = merges[i];
    }
    --n;
    if (best > 0) merges[best - 1] = pairs.find(ids[best - 1], ids[best]);
    if (best + 1 < n) merges[best] = pairs.find(ids[best], ids[best + 1]);
  }
  out.insert(out.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n));
  return true;
}

void BpeModel::push_unknown(std::size_t begin, std::size_t bytes, BpeScratch& scratch) const {
  if (unknown < 0) return;
  auto& symbols = scratch.symbols;
  if (fuse_unknown && !symbols.empty() && symbols.back().id == unknown) {
    symbols.back().bytes += static_cast<std::uint32_t>(bytes);
    return;
  }
  symbols.push_back({.id = unknown,
                     .begin = static_cast<std::uint32_t>(begin),
                     .bytes = static_cast<std::uint32_t>(bytes),
                     .characters = 0});
}

void BpeModel::fill_bytes(std::string_view piece, BpeScratch& scratch) const {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const TokenId id = byte_ids[static_cast<unsigned char>(piece[i])];
    if (id < 0) {
      push_unknown(i, 1, scratch);
    } else {
      scratch.symbols.push_back({.id = id, .begin = static_cast<std::uint32_t>(i), .bytes = 1});
    }
  }
}

void BpeModel::fill_characters(std::string_view piece, const Vocab& vocab,
                               BpeScratch& scratch) const {
  for (std::size_t at = 0; at < piece.size();) {
    const Utf8Char next = decode_utf8(piece.substr(at));
    const auto bytes = next.is_valid ? static_cast<std::size_t>(next.length) : std::size_t{1};
    const std::string_view text = piece.substr(at, bytes);
    const TokenId id = next.is_valid ? find(text, vocab) : -1;
    const auto has_token = [&](char c) { return byte_ids[static_cast<unsigned char>(c)] >= 0; };
    if (id >= 0) {
      scratch.symbols.push_back({.id = id,
                                 .begin = static_cast<std::uint32_t>(at),
                                 .bytes = static_cast<std::uint32_t>(bytes)});
    } else if (std::all_of(text.begin(), text.end(), has_token)) {
      for (std::size_t i = 0; i < bytes; ++i) {
        scratch.symbols.push_back({.id = byte_ids[static_cast<unsigned char>(text[i])],
                                   .begin = static_cast<std::uint32_t>(at + i),
                                   .bytes = 1,
                                   .characters = 0});
      }
    } else {
      push_unknown(at, bytes, scratch);
    }
    at += bytes;
  }
}

BpeScratch::Candidate BpeModel::candidate(std::string_view piece, const Vocab& vocab,
                                          const BpeScratch& scratch,
                                          std::int32_t at) const noexcept {
  const auto& left = scratch.symbols[static_cast<std::size_t>(at)];
  const auto& right = scratch.symbols[static_cast<std::size_t>(left.next)];
  BpeScratch::Candidate found{.at = at, .bytes = left.bytes + right.bytes};
  if (!by_score) {
    const Merge merge = pairs.find(left.id, right.id);
    found.id = merge.id;
    found.key = merge.rank;
    return found;
  }
  const bool may_merge =
      left.characters > 0 && right.characters > 0 && right.begin == left.begin + left.bytes;
  if (!may_merge) return found;
  found.id = find(piece.substr(left.begin, found.bytes), vocab);
  if (found.id < 0) return found;
  // Hugging Face turns scores into ranked merges: among equal scores the longer left half, then the
  // longer right half, comes first.
  found.key = (std::uint64_t{ranks[static_cast<std::size_t>(found.id)]} << 32U) |
              ((kTieLimit - std::min(left.characters, kTieLimit)) << 16U) |
              (kTieLimit - std::min(right.characters, kTieLimit));
  return found;
}

void BpeModel::merge_many(std::string_view piece, const Vocab& vocab, BpeScratch& scratch) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  const auto n = static_cast<std::int32_t>(symbols.size());
  for (std::int32_t i = 0; i < n; ++i) {
    symbols[static_cast<std::size_t>(i)].prev = i - 1;
    symbols[static_cast<std::size_t>(i)].next = i + 1 < n ? i + 1 : -1;
  }
  heap.clear();
  for (std::int32_t i = 0; i + 1 < n; ++i) {
    const auto found = candidate(piece, vocab, scratch, i);
    if (found.id >= 0) heap.push_back(found);
  }
  std::make_heap(heap.begin(), heap.end(), comes_later);
  const auto push = [&](std::int32_t at) {
    if (at < 0 || symbols[static_cast<std::size_t>(at)].next < 0) return;
    const auto found = candidate(piece, vocab, scratch, at);
    if (found.id < 0) return;
    heap.push_back(found);
    std::push_heap(heap.begin(), heap.end(), comes_later);
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const auto merge = heap.back();
    heap.pop_back();
    auto& left = symbols[static_cast<std::size_t>(merge.at)];
    if (left.bytes == 0 || left.next < 0) continue;
    auto& right = symbols[static_cast<std::size_t>(left.next)];
    if (left.bytes + right.bytes != merge.bytes) continue;
    left.id = merge.id;
    left.bytes = merge.bytes;
    left.characters += right.characters;
    left.next = right.next;
    right.bytes = 0;
    if (right.next >= 0) symbols[static_cast<std::size_t>(right.next)].prev = merge.at;
    push(left.prev);
    push(merge.at);
  }
}

void BpeModel::encode(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
                      std::vector<TokenId>& out) const {
  for (; piece.size() > kMaxPieceBytes; piece.remove_prefix(kMaxPieceBytes)) {
    encode(piece.substr(0, kMaxPieceBytes), vocab, scratch, out);
  }
  if (ignore_merges) {
    if (const TokenId id = find(piece, vocab); id >= 0) {
      out.push_back(id);
      return;
    }
  }
  if (encode_short(piece, out)) return;
  scratch.symbols.clear();
  scratch.symbols.reserve(piece.size());
  if (alphabet == Alphabet::kBytes) {
    fill_bytes(piece, scratch);
  } else {
    fill_characters(piece, vocab, scratch);
  }
  if (scratch.symbols.empty()) return;
  merge_many(piece, vocab, scratch);
  for (std::int32_t at = 0; at >= 0; at = scratch.symbols[static_cast<std::size_t>(at)].next) {
    out.push_back(scratch.symbols[static_cast<std::size_t>(at)].id);
  }
}

}  // namespace wick
