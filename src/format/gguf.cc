// A GGUF file is read once, front to back: header, keys, tensor table; then the table is held
// against the data after it. Invariants: no count is believed before the bytes that it needs at
// least are known to be there (by division, never by multiplication); every length is checked by
// subtraction (ByteReader); sizes of tensors come from checked_tensor_bytes alone. Cost: one pass
// over keys and table, nothing is copied but the table's entries.
#include "format/gguf.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/byte_reader.h"
#include "base/strings.h"
#include "format/gguf_types.h"
#include "format/limits.h"
#include "format/tensor_bytes.h"

namespace wick {

namespace {

constexpr std::uint32_t kMagic = 0x46554747;   // "GGUF" read as little-endian
constexpr std::uint64_t kMinKeyBytes = 14;     // u64 length, one letter, u32 type, one byte
constexpr std::uint64_t kMinTensorBytes = 25;  // u64 length, one letter, u32 rank, u32 type, u64
constexpr std::int64_t kDefaultAlignment = 32;

struct TensorRow {  // a row of the table, not yet checked against the data
  TensorView view = {};
  std::uint64_t offset = 0;  // from the start of the data
  std::uint64_t bytes = 0;
};

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, std::string_view path)
      : bytes_(bytes), reader_(bytes), path_(printable(path)) {}

  Result<GgufFile> parse() {
    WICK_DO(read_header());
    WICK_DO(read_keys());
    WICK_DO(read_alignment());
    WICK_DO(read_table());
    WICK_DO(place_tensors());
    WICK_DO(check_overlaps());
    return std::move(out_);
  }

 private:
  Result<void> read_header();
  Result<void> check_version(std::uint32_t version) const;
  Result<void> read_keys();
  Result<void> read_key(std::uint64_t index);
  Result<MetaValue> read_value(std::string_view key, std::uint32_t type);
  Result<MetaValue> read_array(std::string_view key);
  Result<void> skip_strings(std::string_view key, std::uint64_t count);
  Result<void> check_bools(std::string_view key, std::span<const std::byte> values) const;
  Result<void> read_alignment();
  Result<void> read_table();
  Result<TensorRow> read_row(std::uint64_t index);
  Result<Shape> read_shape(std::string_view tensor);
  Result<void> place_tensors();
  Result<void> check_overlaps() const;

  // "m.gguf: ends at byte 17, inside <what>"
  Error ends_inside(const char* id, const std::string& what) const {
    return truncated(id, cat(path_, ": ends at byte ", bytes_.size(), ", inside ", what));
  }

  Error ends_in_key(std::string_view key) const {
    return ends_inside("truncated_metadata", cat("the value of key '", printable(key), "'"));
  }

  std::span<const std::byte> bytes_;
  ByteReader reader_;
  std::string path_;
  std::uint64_t n_tensors_ = 0;
  std::uint64_t n_keys_ = 0;
  std::uint64_t alignment_ = kDefaultAlignment;
  std::vector<TensorRow> rows_ = {};
  GgufFile out_ = {};
};

Result<void> Parser::check_version(std::uint32_t version) const {
  if (version == 2 || version == 3) return {};
  if ((version & 0xFFFFU) == 0 && version != 0) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "big_endian",
                 .message = cat(path_, ": is big-endian, wick reads little-endian GGUF files"),
                 .hint = "convert it with gguf_convert_endian.py of the gguf package"};
  }
  return Error{.code = ErrorCode::kUnsupported,
               .id = "gguf_version",
               .message = cat(path_, ": is GGUF version ", version, ", wick reads 2 and 3"),
               .hint = version == 1 ? "convert the model again with a current converter" : ""};
}

Result<void> Parser::read_header() {
  const auto magic = reader_.read<std::uint32_t>();
  if (magic && *magic != kMagic) {
    const std::string_view seen(reinterpret_cast<const char*>(bytes_.data()), 4);
    return corrupt("bad_magic",
                   cat(path_, ": begins with '", printable(seen), "', a GGUF file with 'GGUF'"));
  }
  const auto version = reader_.read<std::uint32_t>();
  if (!version) return ends_inside("truncated_header", "the header (magic and version)");
  WICK_DO(check_version(*version));
  const auto n_tensors = reader_.read<std::uint64_t>();
  const auto n_keys = reader_.read<std::uint64_t>();
  if (!n_tensors || !n_keys) {
    return ends_inside("truncated_header", "the header (counts of tensors and keys)");
  }
  n_tensors_ = *n_tensors;
  n_keys_ = *n_keys;
  if (n_keys_ > kMaxMetaKeys || n_tensors_ > kMaxTensors) {
    return corrupt("too_many",
                   cat(path_, ": claims ", n_keys_, " keys and ", n_tensors_, " tensors, at most ",
                       kMaxMetaKeys, " and ", kMaxTensors, " are read"));
  }
  if (n_keys_ > reader_.remaining() / kMinKeyBytes) {
    return ends_inside("truncated_metadata", cat("the ", n_keys_, " keys that it claims"));
  }
  return {};
}

Result<void> Parser::read_keys() {
  for (std::uint64_t i = 0; i < n_keys_; ++i)
    WICK_DO(read_key(i));
  return {};
}

Result<void> Parser::read_key(std::uint64_t index) {
  const auto head = [&] { return cat("the name of key ", index + 1, " of ", n_keys_); };
  const auto length = reader_.read<std::uint64_t>();
  if (!length) return ends_inside("truncated_metadata", head());
  if (*length == 0 || *length > kMaxKeyBytes) {
    return corrupt("bad_key_name", cat(path_, ": ", head(), " is ", *length,
                                       " bytes long, wanted 1 to ", kMaxKeyBytes));
  }
  const auto key = reader_.take_text(*length);
  if (!key) return ends_inside("truncated_metadata", head());
  const auto type = reader_.read<std::uint32_t>();
  if (!type) return ends_in_key(*key);
  WICK_TRY(const MetaValue value, read_value(*key, *type));
  if (!out_.metadata.add(*key, value)) {
    return corrupt("duplicate_key", cat(path_, ": key '", printable(*key), "' appears twice"));
  }
  return {};
}

std::optional<MetaType> meta_type(std::uint32_t number) noexcept {
  if (number > static_cast<std::uint32_t>(MetaType::kF64)) return std::nullopt;
  return static_cast<MetaType>(number);
}

Result<MetaValue> Parser::read_value(std::string_view key, std::uint32_t type) {
  const auto known = meta_type(type);
  if (!known) {
    return corrupt("bad_value_type", cat(path_, ": key '", printable(key), "' has type ", type,
                                         ", GGUF knows types 0 to 12"));
  }
  if (*known == MetaType::kArray) return read_array(key);
  MetaValue value{.type = *known};
  std::optional<std::span<const std::byte>> bytes;
  if (*known == MetaType::kString) {
    const auto length = reader_.read<std::uint64_t>();
    if (!length) return ends_in_key(key);
    bytes = reader_.take(*length);
  } else {
    bytes = reader_.take(element_bytes(*known));
  }
  if (!bytes) return ends_in_key(key);
  value.bytes = *bytes;
  if (*known == MetaType::kBool) WICK_DO(check_bools(key, value.bytes));
  return value;
}

Result<MetaValue> Parser::read_array(std::string_view key) {
  const auto type = reader_.read<std::uint32_t>();
  const auto count = reader_.read<std::uint64_t>();
  if (!type || !count) return ends_in_key(key);
  const auto element = meta_type(*type);
  if (!element) {
    return corrupt("bad_value_type", cat(path_, ": key '", printable(key), "' is an array of type ",
                                         *type, ", GGUF knows types 0 to 12"));
  }
  if (*element == MetaType::kArray) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "nested_array",
                 .message = cat(path_, ": key '", printable(key),
                                "' is an array of arrays, wick reads flat arrays only")};
  }
  const bool is_text = *element == MetaType::kString;
  const std::uint64_t each = is_text ? kStringHead : element_bytes(*element);
  if (*count > reader_.remaining() / each) {
    return ends_inside("truncated_metadata", cat("the ", *count, " ", name(*element),
                                                 " values of key '", printable(key), "'"));
  }
  MetaValue value{.type = MetaType::kArray, .element = *element, .count = *count};
  if (is_text) {
    const std::size_t begin = reader_.position();
    WICK_DO(skip_strings(key, *count));
    value.bytes = bytes_.subspan(begin, reader_.position() - begin);
    return value;
  }
  value.bytes = *reader_.take(*count * each);  // fits: *count <= remaining / each
  if (*element == MetaType::kBool) WICK_DO(check_bools(key, value.bytes));
  return value;
}

Result<void> Parser::skip_strings(std::string_view key, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = reader_.read<std::uint64_t>();
    if (!length || !reader_.take(*length)) {
      return ends_inside("truncated_metadata",
                         cat("string ", i, " of the ", count, " of key '", printable(key), "'"));
    }
  }
  return {};
}

Result<void> Parser::check_bools(std::string_view key, std::span<const std::byte> values) const {
  for (const std::byte value : values) {
    if (value > std::byte{1}) {
      return corrupt("bad_bool", cat(path_, ": key '", printable(key), "' holds the truth value ",
                                     std::to_integer<int>(value), ", wanted 0 or 1"));
    }
  }
  return {};
}

Result<void> Parser::read_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  if (!out_.metadata.has(kKey)) return {};
  auto alignment = out_.metadata.need_integer(kKey, kMinAlignment, kMaxAlignment);
  if (!alignment) return wrap(std::move(alignment).error(), path_);
  if ((*alignment & (*alignment - 1)) != 0) {
    return corrupt("bad_alignment",
                   cat(path_, ": ", kKey, " is ", *alignment, ", wanted a power of two from ",
                       kMinAlignment, " to ", kMaxAlignment));
  }
  alignment_ = static_cast<std::uint64_t>(*alignment);
  return {};
}

Result<void> Parser::read_table() {
  if (n_tensors_ > reader_.remaining() / kMinTensorBytes) {
    return ends_inside("truncated_table", cat("the table of ", n_tensors_, " tensors"));
  }
  rows_.reserve(static_cast<std::size_t>(n_tensors_));
  for (std::uint64_t i = 0; i < n_tensors_; ++i) {
    WICK_TRY(const TensorRow row, read_row(i));
    rows_.push_back(row);
  }
  return {};
}

Result<TensorRow> Parser::read_row(std::uint64_t index) {
  const auto which = [&] { return cat("the name of tensor ", index + 1, " of ", n_tensors_); };
  const auto length = reader_.read<std::uint64_t>();
  if (!length) return ends_inside("truncated_table", which());
  if (*length == 0 || *length > kMaxTensorNameBytes) {
    return corrupt("bad_tensor_name", cat(path_, ": ", which(), " is ", *length,
                                          " bytes long, wanted 1 to ", kMaxTensorNameBytes));
  }
  const auto name = reader_.take_text(*length);
  if (!name) return ends_inside("truncated_table", which());
  TensorRow row;
  row.view.name = *name;
  WICK_TRY(row.view.shape, read_shape(*name));
  const auto type = reader_.read<std::uint32_t>();
  const auto offset = reader_.read<std::uint64_t>();
  if (!type || !offset) {
    return ends_inside("truncated_table",
                       cat("type and offset of tensor '", printable(*name), "'"));
  }
  const auto known = dtype_from_gguf(*type);
  if (!known) return unsupported_type(path_, *name, *type);
  row.view.type = *known;
  row.offset = *offset;
  const auto size = checked_tensor_bytes(*known, row.view.shape);
  if (!size) {
    return corrupt("bad_tensor_shape",
                   cat(path_, ": tensor '", printable(*name), "' is ", to_string(row.view.shape),
                       " of ", dtype_info(*known).name, ", wanted positive dimensions and rows of ",
                       "a multiple of ", dtype_info(*known).block_len, " weights"));
  }
  row.bytes = *size;
  return row;
}

Result<Shape> Parser::read_shape(std::string_view tensor) {
  const auto rank = reader_.read<std::uint32_t>();
  if (!rank) {
    return ends_inside("truncated_table", cat("the shape of tensor '", printable(tensor), "'"));
  }
  if (*rank > kMaxRank) {
    return corrupt("bad_tensor_rank", cat(path_, ": tensor '", printable(tensor), "' has ", *rank,
                                          " dimensions, wanted at most ", kMaxRank));
  }
  Shape shape;
  shape.rank = static_cast<int>(*rank);
  for (std::size_t i = *rank; i-- > 0;) {  // the file has the innermost dimension first
    const auto dim = reader_.read<std::uint64_t>();
    if (!dim) {
      return ends_inside("truncated_table", cat("the shape of tensor '", printable(tensor), "'"));
    }
    if (*dim == 0 || *dim > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return corrupt("bad_tensor_shape", cat(path_, ": tensor '", printable(tensor),
                                             "' has a dimension of ", *dim, ", wanted 1 or more"));
    }
    shape.dim[i] = static_cast<std::int64_t>(*dim);
  }
  return shape;
}

Result<void> Parser::place_tensors() {
  if (rows_.empty()) return {};
  const std::uint64_t size = bytes_.size();
  const std::uint64_t position = reader_.position();
  const std::uint64_t padding = (alignment_ - position % alignment_) % alignment_;
  const std::uint64_t begin = position + std::min<std::uint64_t>(padding, size - position);
  const std::uint64_t room = size - begin;  // bytes of tensor data that are there
  out_.tensors.reserve(rows_.size());
  for (TensorRow& row : rows_) {
    const std::string_view tensor = row.view.name;
    if (row.offset % alignment_ != 0) {
      return corrupt("bad_tensor_offset",
                     cat(path_, ": tensor '", printable(tensor), "' is at offset ", row.offset,
                         ", wanted a multiple of ", alignment_));
    }
    if (row.offset > room || row.bytes > room - row.offset) {
      return truncated("truncated_tensor",
                       cat(path_, ": tensor '", printable(tensor), "' needs ", row.bytes,
                           " bytes at offset ", row.offset, " of the tensor data, which is ", room,
                           " bytes long (file: ", size, " bytes)"));
    }
    row.view.bytes = bytes_.subspan(static_cast<std::size_t>(begin + row.offset),
                                    static_cast<std::size_t>(row.bytes));
    out_.tensors.push_back(row.view);
  }
  WICK_TRY(const auto index, index_by_name(out_.tensors, path_));
  return {};
}

Result<void> Parser::check_overlaps() const {
  std::vector<const TensorRow*> order;
  order.reserve(rows_.size());
  for (const TensorRow& row : rows_)
    order.push_back(&row);
  std::sort(order.begin(), order.end(),
            [](const TensorRow* a, const TensorRow* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorRow& before = *order[i - 1];
    const TensorRow& row = *order[i];
    if (row.offset - before.offset < before.bytes) {
      return corrupt("overlapping_tensors",
                     cat(path_, ": tensors '", printable(before.view.name), "' (", before.bytes,
                         " bytes at offset ", before.offset, ") and '", printable(row.view.name),
                         "' (at offset ", row.offset, ") overlap"));
    }
  }
  return {};
}

}  // namespace

Result<GgufFile> parse_gguf(std::span<const std::byte> bytes, std::string_view path) {
  return Parser(bytes, path).parse();
}

bool has_gguf_magic(std::span<const std::byte> bytes) noexcept {
  ByteReader reader(bytes);
  return reader.read<std::uint32_t>() == kMagic;
}

}  // namespace wick
