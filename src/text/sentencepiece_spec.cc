#include "text/sentencepiece_spec.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "text/bpe.h"
#include "text/charsmap.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"

namespace wick {
namespace {

using Piece = SentencePieceSpec::Piece;

// Whether a text of a person may become the piece.
bool is_word(const Piece& piece) noexcept {
  return piece.kind == TokenKind::kNormal || piece.kind == TokenKind::kUserDefined;
}

class Filler {
 public:
  Filler(const SentencePieceSpec& spec, TokenizerParts& parts, std::vector<AddedToken>& added)
      : spec_(spec), parts_(parts), added_(added) {}

  Result<void> fill() {
    WICK_DO(fill_vocab());
    WICK_DO(fill_normalizer());
    parts_.decoding.strips_leading_space = spec_.adds_prefix || spec_.removes_extra_spaces;
    switch (spec_.model) {
      case SentencePieceSpec::Model::kUnigram:
        return fill_unigram();
      case SentencePieceSpec::Model::kWord:
        return fill_words();
      case SentencePieceSpec::Model::kBpe:
      case SentencePieceSpec::Model::kChar:
        return fill_bpe();
    }
    return {};
  }

 private:
  Result<void> fill_vocab() {
    std::size_t bytes = 0;
    for (const Piece& piece : spec_.pieces) {
      const auto id = static_cast<TokenId>(parts_.vocab.size());
      bytes += piece.text.size();
      if (piece.text.size() > kMaxTokenBytes || bytes > kMaxVocabBytes ||
          !std::isfinite(piece.score)) {
        return corrupt_vocab(cat("token ", id, " has ", piece.text.size(), " bytes (wick takes ",
                                 kMaxTokenBytes, ") or a score that is not a finite number"));
      }
      if (piece.kind == TokenKind::kByte) {
        WICK_TRY(const std::uint8_t byte, add_byte_token(piece.text, parts_.vocab));
        if (spec_.has_byte_fallback) byte_ids_[byte] = id;
        continue;
      }
      const bool is_control =
          piece.kind == TokenKind::kControl || piece.kind == TokenKind::kUnknown;
      parts_.vocab.add(is_control ? std::string(piece.text) : with_spaces(piece.text), piece.kind);
      if (piece.kind == TokenKind::kUnknown && unknown_ < 0) unknown_ = id;
      if (!is_control) continue;
      WICK_DO(check_added_text(piece.text, static_cast<std::size_t>(id)));
      added_.push_back({.text = std::string(piece.text), .id = id, .is_control = true});
    }
    return {};
  }

  std::vector<ByteTrie::Key> keys_of(bool only_user_defined) const {
    std::vector<ByteTrie::Key> keys;
    for (std::size_t i = 0; i < spec_.pieces.size(); ++i) {
      const Piece& piece = spec_.pieces[i];
      const bool is_wanted =
          only_user_defined ? piece.kind == TokenKind::kUserDefined : is_word(piece);
      if (is_wanted) keys.push_back({piece.text, static_cast<std::int32_t>(i)});
    }
    return keys;
  }

  Result<void> fill_normalizer() {
    if (spec_.charsmap.empty() && !spec_.removes_extra_spaces && !spec_.is_prefix_behind) {
      const std::string space(spec_.escapes_spaces ? kSpaceMark : " ");
      if (spec_.adds_prefix) parts_.normalizer.add(make_prepend(space));
      parts_.normalizer.add(make_replace(" ", space));
      return {};
    }
    SentencePieceNormalization how{.adds_prefix = spec_.adds_prefix,
                                   .removes_extra_spaces = spec_.removes_extra_spaces,
                                   .escapes_spaces = spec_.escapes_spaces,
                                   .is_prefix_behind = spec_.is_prefix_behind};
    WICK_TRY(how.map, Charsmap::parse(spec_.charsmap));
    if (!how.kept.build(keys_of(true))) return too_large_trie();
    parts_.normalizer.add(make_sentencepiece(std::move(how)));
    return {};
  }

  Result<void> fill_unigram() {
    UnigramModel model;
    model.is_single = true;
    model.unknown = unknown_;
    model.byte_ids = byte_ids_;
    float lowest = std::numeric_limits<float>::max();
    for (const Piece& piece : spec_.pieces) {
      // A user-defined symbol outbids whatever else could stand in its place.
      const double bonus = 0.1 * (static_cast<double>(piece.text.size()) - 1);
      const bool is_user_defined = piece.kind == TokenKind::kUserDefined;
      model.scores.push_back(is_user_defined ? static_cast<float>(bonus) : piece.score);
      if (piece.kind == TokenKind::kNormal) lowest = std::min(lowest, piece.score);
    }
    model.lowest_score = lowest;
    if (!model.build(keys_of(false))) return too_large_trie();
    parts_.model = std::move(model);
    return {};
  }

  // Pieces that start with "▁"; each is a token or unknown.
  Result<void> fill_words() {
    WordLevelModel model;
    model.unknown = unknown_;
    if (!model.build(keys_of(false))) return too_large_trie();
    model.cuts_before_mark = true;
    parts_.model = std::move(model);
    return {};
  }

  // Characters that merge by score, or, for kChar, do not merge.
  Result<void> fill_bpe() {
    BpeModel& model = parts_.model.emplace<BpeModel>();
    const std::size_t n = spec_.pieces.size();
    model.alphabet = BpeModel::Alphabet::kCharacters;
    model.by_score = spec_.model == SentencePieceSpec::Model::kBpe;
    model.is_leftmost_first = true;
    model.fuse_unknown = true;
    model.unknown = unknown_;
    model.byte_ids = byte_ids_;
    model.words.reserve(n);
    std::vector<double> scores;
    for (const Piece& piece : spec_.pieces) {
      model.spelled.add(is_word(piece) ? piece.text : std::string_view(), piece.kind);
      scores.push_back(piece.score);
    }
    for (std::size_t i = 0; i < n; ++i) {
      WICK_DO(add_word(static_cast<TokenId>(i), false, parts_.vocab, model));
    }
    if (model.by_score) model.ranks = dense_ranks(scores);
    if (!model.kept.build(keys_of(true))) return too_large_trie();
    return {};
  }

  const SentencePieceSpec& spec_;
  TokenizerParts& parts_;
  std::vector<AddedToken>& added_;
  ByteIds byte_ids_ = no_byte_ids();
  TokenId unknown_ = -1;
};

}  // namespace

std::string with_spaces(std::string_view spelled) {
  std::string out(spelled);
  replace_all(out, kSpaceMark, " ");
  return out;
}

Result<void> fill_sentencepiece(const SentencePieceSpec& spec, TokenizerParts& parts,
                                std::vector<AddedToken>& added) {
  if (spec.pieces.empty() || spec.pieces.size() > kMaxTokens) {
    return corrupt_vocab(
        cat("it has ", spec.pieces.size(), " tokens, wick takes 1 to ", kMaxTokens));
  }
  return Filler(spec, parts, added).fill();
}

}  // namespace wick
