// SentencePiece's tokenizer.model → TokenizerParts: a protocol buffer "ModelProto" with the pieces,
// what the trainer was told, and the normalizer (docs/formats/sentencepiece.md).
#include "base/strings.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"
#include "text/loaders.h"
#include "text/protobuf.h"
#include "text/sentencepiece_spec.h"
#include "text/token_settings.h"

namespace wick {
namespace {

// Numbers of fields and values, as sentencepiece_model.proto gives them.
enum ModelField : std::uint32_t { kPieces = 1, kTrainer = 2, kNormaliser = 3, kDenormaliser = 5 };

enum PieceField : std::uint32_t { kText = 1, kScore = 2, kType = 3 };

enum TrainerField : std::uint32_t {
  kModelType = 3,
  kSpaceAsSuffix = 24,
  kByteFallback = 35,
  kBosId = 41,
  kEosId = 42
};

enum NormalizerField : std::uint32_t {
  kCharsmap = 2,
  kDummyPrefix = 3,
  kExtraSpaces = 4,
  kEscapeSpaces = 5
};

Error damaged(std::string_view where) {
  return corrupt_vocab(cat("tokenizer.model: ", where, " ends in the middle of a field"));
}

struct File {
  SentencePieceSpec spec = {};
  std::int64_t bos = 1, eos = 2;  // the trainer's defaults
};

Result<SentencePieceSpec::Piece> read_piece(std::string_view bytes, std::size_t id) {
  SentencePieceSpec::Piece piece;
  std::uint64_t type = 1;
  ProtoReader in(bytes);
  while (in.next()) {
    if (in.field() == kText) piece.text = in.bytes();
    if (in.field() == kScore) piece.score = in.number();
    if (in.field() == kType) type = in.integer();
  }
  if (in.has_failed()) return damaged(cat("token ", id));
  constexpr TokenKind kKinds[] = {TokenKind::kNormal,      TokenKind::kUnknown, TokenKind::kControl,
                                  TokenKind::kUserDefined, TokenKind::kUnused,  TokenKind::kByte};
  if (type < 1 || type > std::size(kKinds)) {
    return corrupt_vocab(cat("tokenizer.model: token ", id, " is of type ", type,
                             ", SentencePiece knows 1 to ", std::size(kKinds)));
  }
  piece.kind = kKinds[type - 1];
  return piece;
}

Result<void> read_trainer(std::string_view bytes, File& file) {
  ProtoReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kModelType:
        if (in.integer() < 1 || in.integer() > 4) {
          return corrupt_vocab(cat("tokenizer.model: the model is of type ", in.integer(),
                                   ", SentencePiece knows 1 to 4"));
        }
        file.spec.model = static_cast<SentencePieceSpec::Model>(in.integer());
        break;
      case kSpaceAsSuffix:
        file.spec.is_prefix_behind = in.flag();
        break;
      case kByteFallback:
        file.spec.has_byte_fallback = in.flag();
        break;
      case kBosId:
        file.bos = static_cast<std::int32_t>(in.integer());
        break;
      case kEosId:
        file.eos = static_cast<std::int32_t>(in.integer());
        break;
      default:
        break;
    }
  }
  return in.has_failed() ? Result<void>(damaged("the trainer's part")) : Result<void>();
}

Result<void> read_normalizer_spec(std::string_view bytes, SentencePieceSpec& spec) {
  ProtoReader in(bytes);
  while (in.next()) {
    if (in.field() == kCharsmap) spec.charsmap = in.bytes();
    if (in.field() == kDummyPrefix) spec.adds_prefix = in.flag();
    if (in.field() == kExtraSpaces) spec.removes_extra_spaces = in.flag();
    if (in.field() == kEscapeSpaces) spec.escapes_spaces = in.flag();
  }
  return in.has_failed() ? Result<void>(damaged("the normalizer's part")) : Result<void>();
}

// Texts are only shown again as they were where nothing is rewritten; wick does not rewrite them.
Result<void> check_denormaliser(std::string_view bytes) {
  SentencePieceSpec spec;
  WICK_DO(read_normalizer_spec(bytes, spec));
  if (spec.charsmap.empty()) return {};
  return Error{.code = ErrorCode::kUnsupported,
               .id = "tokenizer_denormaliser",
               .message =
                   "tokenizer.model rewrites what a model says (a denormalizer_spec with a "
                   "charsmap), which wick does not build"};
}

Result<File> read_file(std::string_view bytes) {
  File file;
  ProtoReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kPieces: {
        if (file.spec.pieces.size() >= kMaxTokens) {
          return corrupt_vocab(cat("tokenizer.model has more than ", kMaxTokens, " tokens"));
        }
        WICK_TRY(const auto piece, read_piece(in.bytes(), file.spec.pieces.size()));
        file.spec.pieces.push_back(piece);
        break;
      }
      case kTrainer:
        WICK_DO(read_trainer(in.bytes(), file));
        break;
      case kNormaliser:
        WICK_DO(read_normalizer_spec(in.bytes(), file.spec));
        break;
      case kDenormaliser:
        WICK_DO(check_denormaliser(in.bytes()));
        break;
      default:
        break;
    }
  }
  if (in.has_failed()) return damaged("the file");
  return file;
}

}  // namespace

Result<TokenizerParts> load_sentencepiece_tokenizer(std::string_view bytes, const Metadata& meta) {
  if (bytes.size() > kMaxTokenizerJson) {
    return corrupt_vocab(
        cat("tokenizer.model has ", bytes.size(), " bytes, wick takes ", kMaxTokenizerJson));
  }
  WICK_TRY(const File file, read_file(bytes));
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  TokenizerParts parts;
  std::vector<AddedToken> added;
  WICK_DO(fill_sentencepiece(file.spec, parts, added));
  const auto control = [&](std::int64_t id) {
    const bool is_there = id >= 0 && id < parts.vocab.size();
    const auto token = is_there ? static_cast<TokenId>(id) : TokenId{-1};
    return parts.vocab.kind(token) == TokenKind::kControl ? token : TokenId{-1};
  };
  parts.bos = control(file.bos);
  parts.eos = control(file.eos);
  WICK_DO(finish_parts(meta, settings, true, std::move(added), parts));
  return parts;
}

}  // namespace wick
