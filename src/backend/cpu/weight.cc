#include "backend/cpu/weight.h"

#include <limits>
#include <string>
#include <utility>

#include "base/strings.h"
#include "kernels/cpu/matmul.h"

namespace wick {
namespace {

Error bad_tensor(ErrorCode code, const TensorView& tensor, std::string what) {
  return {.code = code,
          .id = "tensor_unfit",
          .message = cat("tensor '", tensor.name, "' ", to_string(tensor.shape), " ",
                         dtype_info(tensor.type).name, ": ", what),
          .hint = "compare `wick model info FILE` with the model's original"};
}

// Row 2 i + h of a head is stored as row h * (rows of a head / 2) + i.
std::vector<std::int32_t> halves_to_pairs(int rows, int heads) {
  std::vector<std::int32_t> map(static_cast<std::size_t>(rows));
  const int per_head = rows / heads;
  for (int r = 0; r < rows; ++r) {
    const int inside = r % per_head;
    map[static_cast<std::size_t>(r)] = r - inside + inside % 2 * (per_head / 2) + inside / 2;
  }
  return map;
}

Result<void> check_dimensions(const TensorView& tensor) {
  if (tensor.shape.rank < 1 || tensor.shape.rank > 2) {
    return bad_tensor(ErrorCode::kUnsupported, tensor,
                      cat("has ", tensor.shape.rank, " dimensions, a weight has 1 or 2"));
  }
  for (int i = 0; i < tensor.shape.rank; ++i) {
    const std::int64_t dim = tensor.shape.dim[static_cast<std::size_t>(i)];
    if (dim < 1 || dim > std::numeric_limits<int>::max()) {
      return bad_tensor(ErrorCode::kUnsupported, tensor,
                        cat("dimension ", dim, " is out of range, at most 2147483647 works"));
    }
  }
  return {};
}

// Rows [first, first + count) of each of n blocks.
std::vector<std::int32_t> rows_of_blocks(int rows_of_block, int first, int count, int n) {
  std::vector<std::int32_t> map;
  for (int block = 0; block < n; ++block) {
    for (int r = 0; r < count; ++r)
      map.push_back(block * rows_of_block + first + r);
  }
  return map;
}

// The part of the outermost dimension, or of each block of it, that `fix` takes: {first, count}.
Result<std::pair<int, int>> part_of(const TensorView& tensor, const WeightTransform& fix) {
  if (fix.blocks < 1 || tensor.shape.dim[0] % fix.blocks != 0 ||
      (fix.blocks > 1 && (tensor.shape.rank != 2 || fix.permute_heads > 0))) {
    return bad_tensor(ErrorCode::kInvalid, tensor, cat("is not ", fix.blocks, " blocks of rows"));
  }
  const std::int64_t all = tensor.shape.dim[0] / fix.blocks;
  const std::int64_t first = fix.row_begin;
  if (first < 0 || first > all || fix.row_count > all - first || fix.row_count == 0) {
    return bad_tensor(
        ErrorCode::kInvalid, tensor,
        cat("rows ", first, " to ", first + fix.row_count, " are wanted, it has ", all));
  }
  const std::int64_t count = fix.row_count < 0 ? all - first : fix.row_count;
  if (fix.permute_heads > 0 && count % (2 * static_cast<std::int64_t>(fix.permute_heads)) != 0) {
    return bad_tensor(ErrorCode::kInvalid, tensor,
                      cat(count, " rows are not ", fix.permute_heads, " heads of an even size"));
  }
  return std::pair(static_cast<int>(first), static_cast<int>(count));
}

void read_vector(const TensorView& tensor, const WeightTransform& fix, int first,
                 CpuWeight& weight) {
  std::vector<float> all(static_cast<std::size_t>(tensor.shape.dim[0]));
  decode_row(tensor.type, tensor.bytes, all);
  std::vector<std::int32_t> map;
  if (fix.permute_heads > 0) map = halves_to_pairs(weight.cols, fix.permute_heads);
  weight.values.resize(static_cast<std::size_t>(weight.cols));
  for (std::size_t i = 0; i < weight.values.size(); ++i) {
    const std::size_t from = map.empty() ? i : static_cast<std::size_t>(map[i]);
    weight.values[i] = all[static_cast<std::size_t>(first) + from] + (fix.add_one ? 1.0F : 0.0F);
  }
}

}  // namespace

Result<std::unique_ptr<CpuWeight>> make_cpu_weight(const TensorView& tensor,
                                                   const WeightTransform& fix) {
  WICK_DO(check_dimensions(tensor));
  WICK_TRY(const auto part, part_of(tensor, fix));
  const auto [first, count] = part;
  auto weight = std::make_unique<CpuWeight>();
  weight->type = tensor.type;
  weight->shape = tensor.shape;
  weight->shape.dim[0] = std::int64_t{count} * fix.blocks;
  const bool is_vector = tensor.shape.rank == 1;
  weight->rows = is_vector ? 1 : count * fix.blocks;
  weight->cols = is_vector ? count : static_cast<int>(tensor.shape.dim[1]);
  // A row of the file: for a vector the whole tensor, whatever part of it is taken.
  const auto stored = row_bytes(tensor.type, is_vector ? tensor.shape.dim[0] : weight->cols);
  const std::size_t stored_rows = is_vector ? 1 : static_cast<std::size_t>(tensor.shape.dim[0]);
  if (!stored || tensor.bytes.size() / stored_rows != *stored) {
    return bad_tensor(ErrorCode::kCorrupt, tensor,
                      cat("holds ", tensor.bytes.size(), " bytes, which is not its shape's size"));
  }
  if (is_vector) {
    read_vector(tensor, fix, first, *weight);
    return weight;
  }
  if (fix.add_one) {
    return bad_tensor(ErrorCode::kInvalid, tensor, "only vectors are stored minus one");
  }
  if (needs_quantized(tensor.type) && weight->cols % 32 != 0) {
    return bad_tensor(ErrorCode::kUnsupported, tensor, "its rows are not a multiple of 32 wide");
  }
  weight->row_bytes = *stored;
  weight->data = tensor.bytes.data();
  if (fix.blocks > 1) {
    const int rows_of_block = static_cast<int>(tensor.shape.dim[0]) / fix.blocks;
    weight->row_map = rows_of_blocks(rows_of_block, first, count, fix.blocks);
    return weight;
  }
  weight->data += static_cast<std::size_t>(first) * *stored;
  if (fix.permute_heads > 0) weight->row_map = halves_to_pairs(count, fix.permute_heads);
  return weight;
}

}  // namespace wick
