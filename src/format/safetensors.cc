// The header is parsed as JSON, each entry is turned into a row that is held against the data, then
// the rows are sorted by place: they must tile the data exactly, as the format demands, so that no
// byte belongs to two tensors and none is left over.
#include "format/safetensors.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/byte_reader.h"
#include "base/strings.h"
#include "format/json_text.h"
#include "format/limits.h"
#include "format/tensor_bytes.h"

namespace wick {

namespace {

using nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::string_view kMetadataName = "__metadata__";

struct Row {
  TensorView view = {};
  std::uint64_t begin = 0;  // in the data
  std::uint64_t end = 0;
  bool is_buffer = false;  // 64-bit integers: not a weight, passed over
};

struct Header {
  std::string path = {};  // printable
  std::uint64_t data_begin = 0;
  std::uint64_t data_bytes = 0;
};

Error tensor_error(const Header& header, const char* id, std::string_view tensor,
                   const std::string& what) {
  return corrupt(id, cat(header.path, ": tensor '", printable(tensor), "' ", what));
}

std::optional<DType> dtype_from_safetensors(std::string_view name) noexcept {
  if (name == "F32") return DType::kF32;
  if (name == "F16") return DType::kF16;
  if (name == "BF16") return DType::kBF16;
  return std::nullopt;
}

// A whole number from 0 to int64's end.
std::optional<std::uint64_t> natural(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return number;
}

const json* field(const json& object, const char* name) {
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

Result<DType> read_dtype(const Header& header, std::string_view tensor, const json* value) {
  if (value == nullptr || !value->is_string()) {
    return tensor_error(header, "bad_tensor_type", tensor, "has no dtype");
  }
  const auto& text = value->get_ref<const std::string&>();
  if (const auto type = dtype_from_safetensors(text)) return *type;
  return Error{.code = ErrorCode::kUnsupported,
               .id = "unsupported_tensor_type",
               .message = cat(header.path, ": tensor '", printable(tensor), "' is of type ",
                              printable(text), ", wick reads F32, F16 and BF16 safetensors"),
               .hint = "take the unquantized model, or a GGUF file of it"};
}

Result<Shape> read_shape(const Header& header, std::string_view tensor, const json* value) {
  if (value == nullptr || !value->is_array()) {
    return tensor_error(header, "bad_tensor_shape", tensor, "has no shape");
  }
  if (value->size() > kMaxRank) {
    return tensor_error(header, "bad_tensor_rank", tensor,
                        cat("has ", value->size(), " dimensions, wanted at most ", kMaxRank));
  }
  Shape shape;
  for (const json& item : *value) {
    const auto dim = natural(item);
    if (!dim || *dim == 0) {
      return tensor_error(header, "bad_tensor_shape", tensor,
                          cat("has a dimension of ", shown(item), ", wanted 1 or more"));
    }
    shape.dim[static_cast<std::size_t>(shape.rank++)] = static_cast<std::int64_t>(*dim);
  }
  return shape;
}

Result<Row> read_row(const Header& header, std::string_view tensor, const json& entry) {
  if (tensor.empty() || tensor.size() > kMaxTensorNameBytes) {
    return tensor_error(
        header, "bad_tensor_name", tensor,
        cat("has a name of ", tensor.size(), " bytes, wanted 1 to ", kMaxTensorNameBytes));
  }
  if (!entry.is_object()) {
    return tensor_error(header, "bad_tensor_entry", tensor,
                        cat("is ", shown(entry), ", wanted an object"));
  }
  Row row;
  row.view.name = tensor;
  const json* const type = field(entry, "dtype");
  row.is_buffer = type != nullptr && *type == "I64";
  row.view.type = DType::kF32;
  if (!row.is_buffer) {
    WICK_TRY(row.view.type, read_dtype(header, tensor, type));
  }
  WICK_TRY(row.view.shape, read_shape(header, tensor, field(entry, "shape")));
  const json* place = field(entry, "data_offsets");
  const bool is_pair = place != nullptr && place->is_array() && place->size() == 2;
  const auto begin = is_pair ? natural((*place)[0]) : std::nullopt;
  const auto end = is_pair ? natural((*place)[1]) : std::nullopt;
  if (!begin || !end || *begin > *end) {
    return tensor_error(header, "bad_tensor_offset", tensor,
                        "wants data_offsets of two numbers, the second not smaller");
  }
  row.begin = *begin;
  row.end = *end;
  const auto size = checked_tensor_bytes(row.view.type, row.view.shape);
  const std::uint64_t taken = (row.end - row.begin) / (row.is_buffer ? 2 : 1);
  if (!size || *size != taken) {
    return tensor_error(
        header, "bad_tensor_size", tensor,
        cat("is ", to_string(row.view.shape), " of ", dtype_info(row.view.type).name, " in ",
            row.end - row.begin, " bytes, wanted ", size ? cat(*size) : "a size below 2^63"));
  }
  return row;
}

Result<Header> read_header(std::span<const std::byte> bytes, std::string_view path) {
  Header header{.path = printable(path)};
  ByteReader reader(bytes);
  const auto length = reader.read<std::uint64_t>();
  if (!length) {
    return truncated("truncated_header", cat(header.path, ": ends at byte ", bytes.size(),
                                             ", inside the length of the header (8 bytes)"));
  }
  const auto first = ByteReader(bytes.subspan(kLengthBytes)).read<char>();
  if (*length > kMaxSafetensorsHeader || (first && *first != '{')) {
    return corrupt("bad_magic",
                   cat(header.path, ": is not a safetensors file: claims a header of ", *length,
                       " bytes, wanted at most ", kMaxSafetensorsHeader, " that begin with '{'"));
  }
  if (*length > reader.remaining()) {
    return truncated("truncated_header", cat(header.path, ": ends at byte ", bytes.size(),
                                             ", inside its header of ", *length, " bytes"));
  }
  header.data_begin = kLengthBytes + *length;
  header.data_bytes = bytes.size() - header.data_begin;
  return header;
}

// The rows of all tensors, ascending by place, tile the data.
Result<void> check_places(const Header& header, const std::vector<Row>& rows) {
  std::uint64_t at = 0;
  for (const Row& row : rows) {
    if (row.end > header.data_bytes) {
      return truncated(
          "truncated_tensor",
          cat(header.path, ": tensor '", printable(row.view.name), "' needs bytes ", row.begin,
              " to ", row.end, " of the tensor data, which is ", header.data_bytes, " bytes long"));
    }
    if (row.begin != at) {
      return tensor_error(header, row.begin < at ? "overlapping_tensors" : "bad_tensor_offset",
                          row.view.name,
                          cat("is at offset ", row.begin, " of the data, wanted ", at,
                              ", where the tensor before it ends"));
    }
    const auto alignment =
        static_cast<std::uint64_t>(dtype_info(row.view.type).block_bytes);  // of one number
    if ((header.data_begin + row.begin) % alignment != 0) {
      return tensor_error(header, "misaligned_tensor", row.view.name,
                          cat("is at byte ", header.data_begin + row.begin,
                              " of the file, wanted a multiple of ", alignment));
    }
    at = row.end;
  }
  if (at == header.data_bytes) return {};
  return corrupt("trailing_bytes", cat(header.path, ": the tensors take ", at, " of the ",
                                       header.data_bytes, " bytes of data, wanted all of them"));
}

}  // namespace

Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> bytes, std::string_view path) {
  WICK_TRY(const Header header, read_header(bytes, path));
  const auto text = bytes.subspan(kLengthBytes, header.data_begin - kLengthBytes);
  WICK_TRY(const json entries,
           parse_json_object({reinterpret_cast<const char*>(text.data()), text.size()}, path,
                             JsonNames::kUnique));
  if (entries.size() > kMaxTensors) {
    return corrupt("too_many", cat(header.path, ": names ", entries.size(), " tensors, at most ",
                                   kMaxTensors, " are read"));
  }
  SafetensorsFile out;
  std::vector<Row> rows;
  for (const auto& [tensor, entry] : entries.items()) {
    if (tensor == kMetadataName) continue;
    WICK_TRY(Row row, read_row(header, tensor, entry));
    row.view.name = out.names.emplace_back(tensor);
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  WICK_DO(check_places(header, rows));
  for (Row& row : rows) {
    if (row.is_buffer) continue;
    row.view.bytes = bytes.subspan(static_cast<std::size_t>(header.data_begin + row.begin),
                                   static_cast<std::size_t>(row.end - row.begin));
    out.tensors.push_back(row.view);
  }
  return out;
}

bool has_safetensors_magic(std::span<const std::byte> bytes) noexcept {
  ByteReader reader(bytes);
  const auto length = reader.read<std::uint64_t>();
  return length && *length <= kMaxSafetensorsHeader && reader.read<char>() == '{';
}

}  // namespace wick
