// SentencePiece's tokenizer.model → TokenizerParts: a protocol buffer "ModelProto" with the pieces,
// what the trainer was told, and the normalizer (docs/formats/sentencepiece.md).
#include <bit>
#include <cstdint>
#include <string_view>

#include "base/strings.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/pipeline.h"
#include "text/sentencepiece_spec.h"

namespace wick {
namespace {

// The fields of a protocol buffer message, one after another, out of bytes that may say anything.
// Groups, which nothing uses any more, end the message as damaged. One thread.
//
//   for (ProtoReader in(bytes); in.next();) {
//     if (in.field() == 1) text = in.bytes();
//   }
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  // Goes to the next field; false at the end and after the first fault.
  bool next() noexcept {
    if (rest_.empty()) return false;
    bytes_ = {};
    integer_ = fixed_ = 0;
    std::uint64_t tag = 0;
    if (!read_varint(tag) || (tag >> 3U) == 0 || (tag >> 3U) > 0x1FFFFFFFU) return fail();
    field_ = static_cast<std::uint32_t>(tag >> 3U);
    switch (tag & 7U) {
      case 0:
        return read_varint(integer_) || fail();
      case 1:
        return read_fixed(8) || fail();
      case 2: {
        std::uint64_t n = 0;
        if (!read_varint(n) || n > rest_.size()) return fail();
        bytes_ = rest_.substr(0, static_cast<std::size_t>(n));
        rest_.remove_prefix(static_cast<std::size_t>(n));
        return true;
      }
      case 5:
        return read_fixed(4) || fail();
      default:
        return fail();
    }
  }

  bool has_failed() const noexcept { return has_failed_; }

  std::uint32_t field() const noexcept { return field_; }

  // The value of the field as the caller's type; 0 or empty if the field has another type.
  std::string_view bytes() const noexcept { return bytes_; }

  std::uint64_t integer() const noexcept { return integer_; }

  bool flag() const noexcept { return integer_ != 0; }

  float number() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(fixed_)); }

 private:
  bool fail() noexcept {
    has_failed_ = true;
    rest_ = {};
    return false;
  }

  bool read_varint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool read_fixed(std::size_t n) noexcept {
    if (n > rest_.size()) return false;
    for (std::size_t i = 0; i < n; ++i) {
      fixed_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    }
    rest_.remove_prefix(n);
    return true;
  }

  std::string_view rest_;
  std::string_view bytes_ = {};
  std::uint64_t integer_ = 0, fixed_ = 0;
  std::uint32_t field_ = 0;
  bool has_failed_ = false;
};

// Numbers of fields and values, as sentencepiece_model.proto gives them.
enum ModelField : std::uint32_t { kPieces = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5 };

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
  const auto kind = kind_of_type(static_cast<std::int64_t>(type));
  if (type == 0 || !kind) {
    return corrupt_vocab(
        cat("tokenizer.model: token ", id, " is of type ", type, ", SentencePiece knows 1 to 6"));
  }
  piece.kind = *kind;
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
Result<void> check_denormalizer(std::string_view bytes) {
  SentencePieceSpec spec;
  WICK_DO(read_normalizer_spec(bytes, spec));
  if (spec.charsmap.empty()) return {};
  return Error{.code = ErrorCode::kUnsupported,
               .id = "tokenizer_denormalizer",
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
      case kNormalizer:
        WICK_DO(read_normalizer_spec(in.bytes(), file.spec));
        break;
      case kDenormalizer:
        WICK_DO(check_denormalizer(in.bytes()));
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
  WICK_TRY(const File file, read_file(bytes));
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  TokenizerParts parts;
  std::vector<AddedToken> added;
  WICK_DO(fill_sentencepiece(file.spec, parts, added));
  const auto control = [&](std::int64_t id) {
    const TokenId token = parts.vocab.checked(id);
    return parts.vocab.kind(token) == TokenKind::kControl ? token : TokenId{-1};
  };
  parts.bos = control(file.bos);
  parts.eos = control(file.eos);
  WICK_DO(finish_parts(meta, settings, true, std::move(added), parts));
  return parts;
}

}  // namespace wick
