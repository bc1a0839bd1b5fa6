// A piece seen before comes out of the word cache. Of a new one, symbols are filled in and merged
// (text/bpe_merge.cc). Two observations make that cheap:
//
// Bytes of one character. Text that is not ASCII has two to four bytes for each character, which
// nearly always merge into the character's token first. That is certain where the last of these
// merges has a lower rank than any merge that could come between: one of an unfinished end of the
// character (continuation bytes only) with what follows, or of what stands before with an
// unfinished start of it. The lowest rank goes first. Two tables hold, for each two bytes that meet
// at such a border, the lowest rank of a merge there.
//
// Words. A SentencePiece text is one piece. Where no token has "▁" behind another character, no
// merge crosses such a place, and the text may be cut there.
#include "text/bpe.h"

#include <algorithm>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/byte_trie.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"

namespace wick {
namespace {

constexpr std::uint32_t kNever = UINT32_MAX;
constexpr std::size_t kCharacterSlots = 1U << 14U;

constexpr std::size_t kBorders = 256 * 64;

// Of a continuation byte with any other, and of any byte with a lead byte.
std::size_t leaving(char left, char right) noexcept {
  return (static_cast<unsigned char>(left) & 0x3FU) * std::size_t{256} +
         static_cast<unsigned char>(right);
}

std::size_t entering(char left, char right) noexcept {
  return static_cast<unsigned char>(left) * std::size_t{64} +
         (static_cast<unsigned char>(right) & 0x3FU);
}

// Nothing but continuation bytes, as a part of a character that does not start it.
bool is_end_of_character(std::string_view bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; });
}

// A lead byte of an incomplete character.
bool is_start_of_character(std::string_view bytes) noexcept {
  const auto lead = static_cast<unsigned char>(bytes.front());
  const std::size_t whole = lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
  return lead >= 0xC0U && bytes.size() < whole && is_end_of_character(bytes.substr(1));
}

// `characters`: 0 if it may not merge.
void push_symbol(TokenId id, std::size_t begin, std::size_t bytes, std::uint32_t characters,
                 BpeScratch& scratch) {
  scratch.symbols.push_back({.id = id,
                             .begin = static_cast<std::uint32_t>(begin),
                             .bytes = static_cast<std::uint32_t>(bytes),
                             .characters = characters});
}

bool crosses_before_mark(std::string_view text) noexcept {
  for (std::size_t at = text.find(kSpaceMark, 1); at != std::string_view::npos;
       at = text.find(kSpaceMark, at + 1)) {
    const bool is_run = at >= kSpaceMark.size() &&
                        text.substr(at - kSpaceMark.size(), kSpaceMark.size()) == kSpaceMark;
    if (!is_run) return true;
  }
  return false;
}

}  // namespace

void BpeModel::prepare(const Vocab& vocab) {
  leaving_ranks_.clear();
  if (alphabet == Alphabet::kBytes && !by_score) find_border_ranks(vocab);
  cuts_before_mark_ = alphabet == Alphabet::kCharacters && continuing_prefix.empty() &&
                      end_suffix.empty() && find_no_word_before_mark(vocab);
  std::vector<std::uint32_t> sorted;
  for (std::size_t id = 0; id < ranks.size(); ++id) {
    if (!spelled.bytes(static_cast<TokenId>(id)).empty()) sorted.push_back(ranks[id]);
  }
  std::sort(sorted.begin(), sorted.end());
  scores_repeat_ = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void BpeModel::find_border_ranks(const Vocab& vocab) {
  leaving_ranks_.assign(kBorders, kNever);
  entering_ranks_.assign(kBorders, kNever);

  // What a token is, seen once for all of its merges.
  struct Sides {
    bool is_plain = false;  // decodes to its own bytes
    bool is_end = false, is_start = false;
    char first = 0, last = 0;
  };

  std::vector<Sides> sides(static_cast<std::size_t>(vocab.size()));
  for (TokenId id = 0; id < vocab.size(); ++id) {
    const std::string_view bytes = vocab.bytes(id);
    if (!is_word_kind(vocab.kind(id)) || bytes.empty()) continue;
    sides[static_cast<std::size_t>(id)] = {.is_plain = true,
                                           .is_end = is_end_of_character(bytes),
                                           .is_start = is_start_of_character(bytes),
                                           .first = bytes.front(),
                                           .last = bytes.back()};
  }
  bool are_plain = true;
  pairs.for_each([&](TokenId left, TokenId right, Merge merge) {
    const Sides& before = sides[static_cast<std::size_t>(left)];
    const Sides& behind = sides[static_cast<std::size_t>(right)];
    are_plain = are_plain && before.is_plain && behind.is_plain;
    if (before.is_end) {
      auto& lowest = leaving_ranks_[leaving(before.last, behind.first)];
      lowest = std::min(lowest, merge.rank);
    }
    if (behind.is_start) {
      auto& lowest = entering_ranks_[entering(before.last, behind.first)];
      lowest = std::min(lowest, merge.rank);
    }
  });
  if (!are_plain) leaving_ranks_.clear();
}

bool BpeModel::find_no_word_before_mark(const Vocab& vocab) const {
  if (find(kSpaceMark, vocab) < 0) return false;
  const Vocab& texts = spelled.size() > 0 ? spelled : vocab;
  bool is_crossed = false;
  if (by_score) {
    for (TokenId id = 0; id < texts.size() && !is_crossed; ++id) {
      is_crossed = crosses_before_mark(texts.bytes(id));
    }
  }
  pairs.for_each([&](TokenId left, TokenId right, Merge) {
    const std::string_view before = texts.bytes(left);
    const bool is_run = before.size() >= kSpaceMark.size() &&
                        before.substr(before.size() - kSpaceMark.size()) == kSpaceMark;
    if (!is_run && texts.bytes(right).substr(0, kSpaceMark.size()) == kSpaceMark) is_crossed = true;
  });
  return !is_crossed;
}

TokenId BpeModel::find(std::string_view text, const Vocab& vocab) const noexcept {
  if (text.size() > longest_word) return -1;
  const Vocab& texts = spelled.size() > 0 ? spelled : vocab;
  return words.find(text, [&](TokenId id) { return texts.bytes(id); });
}

void BpeModel::push_unknown(std::size_t begin, std::size_t bytes, BpeScratch& scratch) const {
  if (unknown < 0) return;
  auto& symbols = scratch.symbols;
  if (fuse_unknown && !symbols.empty() && symbols.back().id == unknown) {
    symbols.back().bytes += static_cast<std::uint32_t>(bytes);
    return;
  }
  push_symbol(unknown, begin, bytes, 0, scratch);
}

// What the bytes of one character merge into when nothing stands beside them.
BpeScratch::Character BpeModel::whole_character(std::string_view bytes,
                                                char32_t code) const noexcept {
  BpeScratch::Character character{.code = code};
  std::array<TokenId, 4> ids{};
  std::size_t n = 0;
  for (const char c : bytes) {
    ids[n++] = byte_ids[static_cast<unsigned char>(c)];
  }
  if (std::any_of(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n),
                  [](TokenId id) { return id < 0; })) {
    return character;
  }
  while (n > 1) {
    Merge best{.rank = kNever};
    std::size_t where = n;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const Merge merge = pairs.find(ids[i], ids[i + 1]);
      if (merge.id >= 0 && merge.rank < best.rank) {
        best = merge;
        where = i;
      }
    }
    if (where == n) return character;
    ids[where] = best.id;
    std::copy(ids.begin() + static_cast<std::ptrdiff_t>(where) + 2,
              ids.begin() + static_cast<std::ptrdiff_t>(n),
              ids.begin() + static_cast<std::ptrdiff_t>(where) + 1);
    --n;
    character.last_rank = std::max(character.last_rank, best.rank);
  }
  character.id = ids[0];
  return character;
}

// The token of the character at `at`, and its bytes; -1 where they may not be merged beforehand.
TokenId BpeModel::find_whole_character(std::string_view piece, std::size_t at, BpeScratch& scratch,
                                       std::size_t& bytes) const {
  const Utf8Char next = decode_utf8(piece.substr(at));
  if (!next.is_valid || leaving_ranks_.empty()) return -1;
  if (scratch.characters.empty()) scratch.characters.resize(kCharacterSlots);
  auto& character = scratch.characters[next.code % kCharacterSlots];
  const auto n = static_cast<std::size_t>(next.length);
  if (character.code != next.code) {
    character = whole_character(piece.substr(at, n), next.code);
  }
  const std::size_t end = at + n;
  const bool is_alone =
      (at == 0 || character.last_rank < entering_ranks_[entering(piece[at - 1], piece[at])]) &&
      (end == piece.size() ||
       character.last_rank < leaving_ranks_[leaving(piece[end - 1], piece[end])]);
  if (!is_alone) return -1;
  bytes = n;
  return character.id;
}

// Hands the tokens to merge to push(id, at, bytes), -1 for a byte that has none; until it says no.
template <class Push>
void BpeModel::split_bytes(std::string_view piece, BpeScratch& scratch, const Push& push) const {
  for (std::size_t at = 0; at < piece.size();) {
    const auto byte = static_cast<unsigned char>(piece[at]);
    std::size_t bytes = 1;
    TokenId id = byte < 0xC0 ? -1 : find_whole_character(piece, at, scratch, bytes);
    if (id < 0) {
      id = byte_ids[byte];
      bytes = 1;
    }
    if (!push(id, at, bytes)) return;
    at += bytes;
  }
}

void BpeModel::fill_bytes(std::string_view piece, BpeScratch& scratch) const {
  split_bytes(piece, scratch, [&](TokenId id, std::size_t at, std::size_t bytes) {
    if (id < 0) {
      push_unknown(at, 1, scratch);
    } else {
      push_symbol(id, at, bytes, 1, scratch);
    }
    return true;
  });
}

// The same for a piece of few symbols, which needs nothing but their ids. False: it is none.
bool BpeModel::encode_few(std::string_view piece, BpeScratch& scratch,
                          std::vector<TokenId>& out) const {
  if (piece.size() > 4 * kShortPiece) return false;
  std::array<TokenId, kShortPiece> ids;
  std::size_t n = 0;
  bool fits = true;
  split_bytes(piece, scratch, [&](TokenId id, std::size_t, std::size_t) {
    fits = id >= 0 && n < ids.size();
    if (fits) ids[n++] = id;
    return fits;
  });
  if (fits) merge_few({ids.data(), n}, out);
  return fits;
}

// The text that the character at `at` is looked up by.
std::string_view BpeModel::spelled_character(std::string_view piece, std::size_t at,
                                             std::size_t bytes, BpeScratch& scratch) const {
  const bool has_prefix = at > 0 && !continuing_prefix.empty();
  const bool has_suffix = at + bytes == piece.size() && !end_suffix.empty();
  if (!has_prefix && !has_suffix) return piece.substr(at, bytes);
  scratch.affixed.clear();
  if (has_prefix) scratch.affixed += continuing_prefix;
  scratch.affixed += piece.substr(at, bytes);
  if (has_suffix) scratch.affixed += end_suffix;
  return scratch.affixed;
}

// The tokens of the bytes of `text`, or, where one has none, an unknown token.
void BpeModel::push_bytes(std::string_view piece, std::size_t at, std::size_t bytes,
                          std::string_view text, BpeScratch& scratch) const {
  const auto id_of = [&](char c) { return byte_ids[static_cast<unsigned char>(c)]; };
  if (!std::all_of(text.begin(), text.end(), [&](char c) { return id_of(c) >= 0; })) {
    push_unknown(at, bytes, scratch);
    return;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    push_symbol(id_of(text[i]), std::min(at + i, piece.size()), 1, 0, scratch);
  }
}

void BpeModel::fill_characters(std::string_view piece, const Vocab& vocab,
                               BpeScratch& scratch) const {
  for (std::size_t at = 0; at < piece.size();) {
    if (const auto symbol = kept.longest(piece.substr(at)); symbol.bytes > 0) {
      push_symbol(symbol.number, at, symbol.bytes, 0, scratch);
      at += symbol.bytes;
      continue;
    }
    const Utf8Char next = decode_utf8(piece.substr(at));
    const auto bytes = next.is_valid ? static_cast<std::size_t>(next.length) : std::size_t{1};
    const std::string_view text = spelled_character(piece, at, bytes, scratch);
    const TokenId id = next.is_valid ? find(text, vocab) : -1;
    if (id >= 0) {
      push_symbol(id, at, bytes, 1, scratch);
    } else {
      push_bytes(piece, at, bytes, text, scratch);
    }
    at += bytes;
  }
}

// A piece that was not in the cache.
void BpeModel::encode_new(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
                          std::vector<TokenId>& out) const {
  if (ignore_merges) {
    if (const TokenId id = find(piece, vocab); id >= 0) {
      out.push_back(id);
      return;
    }
  }
  scratch.symbols.clear();
  if (alphabet == Alphabet::kBytes) {
    if (!by_score && encode_few(piece, scratch, out)) return;
    fill_bytes(piece, scratch);
  } else {
    fill_characters(piece, vocab, scratch);
  }
  if (scratch.symbols.empty()) return;
  if (!by_score && scratch.symbols.size() > kShortPiece) merge_repeats(scratch);
  if (!by_score && scratch.symbols.size() <= kShortPiece) {
    std::array<TokenId, kShortPiece> ids;
    std::transform(scratch.symbols.begin(), scratch.symbols.end(), ids.begin(),
                   [](const BpeScratch::Symbol& symbol) { return symbol.id; });
    merge_few({ids.data(), scratch.symbols.size()}, out);
    return;
  }
  merge_many(piece, vocab, scratch);
  for (std::int32_t at = 0; at >= 0; at = scratch.symbols[static_cast<std::size_t>(at)].next) {
    out.push_back(scratch.symbols[static_cast<std::size_t>(at)].id);
  }
}

void BpeModel::encode_word(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
                           std::vector<TokenId>& out) const {
  for (; piece.size() > kMaxPieceBytes; piece.remove_prefix(kMaxPieceBytes)) {
    encode_word(piece.substr(0, kMaxPieceBytes), vocab, scratch, out);
  }
  if (const auto ids = scratch.words.find(piece); !ids.empty()) {
    out.insert(out.end(), ids.begin(), ids.end());
    return;
  }
  const std::size_t before = out.size();
  encode_new(piece, vocab, scratch, out);
  scratch.words.add(piece, std::span<const TokenId>(out).subspan(before));
}

void BpeModel::encode(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
                      std::vector<TokenId>& out) const {
  while (cuts_before_mark_) {
    const std::size_t n = kSpaceMark.size();
    std::size_t cut = piece.find(kSpaceMark, 1);
    while (cut != std::string_view::npos && cut >= n && piece.substr(cut - n, n) == kSpaceMark) {
      cut = piece.find(kSpaceMark, cut + n);
    }
    if (cut == std::string_view::npos) break;
    encode_word(piece.substr(0, cut), vocab, scratch, out);
    piece.remove_prefix(cut);
  }
  if (!piece.empty()) encode_word(piece, vocab, scratch, out);
}

Result<void> add_word(TokenId id, bool may_repeat, const Vocab& vocab, BpeModel& model) {
  const Vocab& texts = model.spelled.size() > 0 ? model.spelled : vocab;
  const std::string_view text = texts.bytes(id);
  if (const TokenId later = id + kAhead; later < texts.size()) {
    __builtin_prefetch(model.words.place(texts.bytes(later)), 1);
  }
  if (text.empty()) return {};
  const auto text_of = [&](TokenId other) { return texts.bytes(other); };
  const auto added = model.words.add(text, id, text_of);
  if (added == StringIndex::Added::kTooManyCollisions) {
    return collision("the texts of the tokens");
  }
  if (added == StringIndex::Added::kAlreadyThere && !may_repeat) {
    return corrupt_vocab(cat("token ", id, " repeats token ", model.words.find(text, text_of),
                             ", '", printable(text), "'"));
  }
  model.longest_word = std::max(model.longest_word, text.size());
  return {};
}

void fill_byte_ids(const Vocab& vocab, BpeModel& model) {
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    model.byte_ids[static_cast<std::size_t>(byte)] = model.find(std::string_view(&text, 1), vocab);
  }
}

std::vector<std::uint32_t> dense_ranks(std::span<const double> scores) {
  std::vector<std::uint32_t> ranks(scores.size());
  std::vector<TokenId> order(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    order[i] = static_cast<TokenId>(i);
  }
  const auto score = [&](TokenId id) { return scores[static_cast<std::size_t>(id)]; };
  std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) { return score(a) > score(b); });
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && score(order[i]) != score(order[i - 1])) ++rank;
    ranks[static_cast<std::size_t>(order[i])] = rank;
  }
  return ranks;
}

Result<void> fill_pairs_by_rank(const Vocab& vocab, BpeModel& model) {
  std::vector<ByteTrie::Key> keys;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    if (vocab.kind(id) == TokenKind::kNormal) keys.push_back({vocab.bytes(id), id});
  }
  ByteTrie trie;
  if (!trie.build(std::move(keys))) return too_large_trie();

  struct Half {
    std::uint32_t bytes;
    TokenId id;
  };

  struct Pair {
    TokenId left, right, both;
  };

  std::vector<Half> lefts;
  std::vector<Pair> pairs;
  std::size_t steps = 0;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    const std::string_view text = vocab.bytes(id);
    if (vocab.kind(id) != TokenKind::kNormal || text.size() < 2) continue;
    lefts.clear();
    trie.prefixes(text.substr(0, text.size() - 1), [&](std::size_t bytes, std::int32_t left) {
      lefts.push_back({static_cast<std::uint32_t>(bytes), left});
    });
    for (const Half left : lefts) {
      const TokenId right = model.find(text.substr(left.bytes), vocab);
      if (right >= 0) pairs.push_back({left.id, right, id});
      steps += text.size() - left.bytes;
    }
    if (pairs.size() > kMaxMerges || steps > kMaxRankWork) {
      return corrupt_vocab(cat("its tokens are made of each other in more than ", kMaxMerges,
                               " ways, the last one seen was token ", id));
    }
  }
  model.pairs.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    const Merge merge{.rank = static_cast<std::uint32_t>(pair.both), .id = pair.both};
    if (!model.pairs.add(pair.left, pair.right, merge)) return collision("the merges");
  }
  return {};
}

}  // namespace wick
