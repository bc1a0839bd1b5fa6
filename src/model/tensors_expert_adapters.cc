// Binder: LoRA adapters of experts. GGUF has A and B of all experts as two tensors of three
// dimensions; PEFT has two matrices for each expert, or, of checkpoints whose experts are one
// parameter (target_parameters), two matrices for all: A is [experts * rank, in], B [out, rank *
// experts], in which column r * experts + e belongs to expert e.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/strings.h"
#include "model/limits.h"
#include "model/tensors.h"

namespace wick {

namespace {

Shape matrix_shape(std::int64_t rows, std::int64_t cols) noexcept {
  return {.dim = {rows, cols, 1, 1}, .rank = 2};
}

// `view` as numbers, row by row.
std::vector<float> numbers_of(const TensorView& view) {
  const auto rows = static_cast<std::size_t>(view.shape.dim[0]);
  const auto cols = static_cast<std::size_t>(view.shape.dim[1]);
  const std::size_t bytes = view.bytes.size() / rows;
  std::vector<float> values(rows * cols);
  for (std::size_t r = 0; r < rows; ++r)
    decode_row(view.type, view.bytes.subspan(r * bytes, bytes),
               std::span(values).subspan(r * cols, cols));
  return values;
}

}  // namespace

// GGUF: the rows of B that `part` needs, of each expert.
Result<LowRank> Binder::stacked_change(const Adapter& adapter, const Adapter::Change& change,
                                       const ExpertPart& part) {
  const std::int64_t n = part.n, rank = change.rank, rows = part.all > 0 ? part.all : part.out;
  const Shape low{.dim = {n, rank, part.in, 1}, .rank = 3};
  const Shape high{.dim = {n, rows, rank, 1}, .rank = 3};
  if (change.a->shape != low) return wrong_change(adapter, *change.a, low);
  if (change.b->shape != high) return wrong_change(adapter, *change.b, high);
  TensorView a = *change.a, b = *change.b;
  a.shape = matrix_shape(n * rank, part.in);
  b.shape = matrix_shape(n * rows, rank);
  LowRank bound{.scale = change.scale};
  WICK_TRY(bound.a, upload_low(a, {}));
  WICK_TRY(bound.b, upload_low(b, {.row_begin = part.first,
                                   .row_count = part.all > 0 ? part.out : -1,
                                   .blocks = part.all > 0 ? part.n : 1}));
  adapted_.insert(change.a);
  return bound;
}

// PEFT's target_parameters.
Result<LowRank> Binder::parameter_change(const Adapter::Change& change, const ExpertPart& part) {
  const auto n = static_cast<std::size_t>(part.n), rank = static_cast<std::size_t>(change.rank);
  const auto out = static_cast<std::size_t>(part.out), first = static_cast<std::size_t>(part.first);
  const std::vector<float> stored = numbers_of(*change.b);
  std::vector<float> b(n * out * rank);
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t i = 0; i < out; ++i) {
      for (std::size_t r = 0; r < rank; ++r)
        b[(e * out + i) * rank + r] = stored[(first + i) * rank * n + r * n + e];
    }
  }
  LowRank bound{.scale = change.scale};
  WICK_TRY(bound.a, upload_low(*change.a, {}));
  weights_.adapter_bytes += b.size() * sizeof(float);
  WICK_TRY(bound.b, upload(change.b->name, std::move(b),
                           matrix_shape(std::int64_t{part.n} * part.out, change.rank)));
  adapted_.insert(change.a);
  return bound;
}

// A matrix for each expert, or for some. Ranks and scales may differ: A of a smaller rank is
// continued with zeros, B has its scale.
Result<std::optional<LowRank>> Binder::single_changes(const Adapter& adapter,
                                                      const ExpertPart& part, int layer) {
  std::vector<std::optional<Adapter::Change>> changes;
  std::int64_t most = 0;
  for (int expert = 0; expert < part.n && !part.single.empty(); ++expert) {
    changes.push_back(adapter.find(names_, part.single, layer, expert));
    if (!changes.back()) continue;
    const Adapter::Change& one = *changes.back();
    const Shape low = matrix_shape(one.rank, part.in), high = matrix_shape(part.out, one.rank);
    if (one.a->shape != low) return wrong_change(adapter, *one.a, low);
    if (one.b->shape != high) return wrong_change(adapter, *one.b, high);
    adapted_.insert(one.a);
    most = std::max(most, one.rank);
  }
  if (most == 0) return std::optional<LowRank>();
  const auto in = static_cast<std::size_t>(part.in), out = static_cast<std::size_t>(part.out);
  const auto rank = static_cast<std::size_t>(most);
  std::vector<float> a(changes.size() * rank * in), b(changes.size() * out * rank);
  for (std::size_t e = 0; e < changes.size(); ++e) {
    if (!changes[e]) continue;
    const std::vector<float> low = numbers_of(*changes[e]->a), high = numbers_of(*changes[e]->b);
    const auto own = static_cast<std::size_t>(changes[e]->rank);
    std::copy(low.begin(), low.end(), a.begin() + static_cast<std::ptrdiff_t>(e * rank * in));
    for (std::size_t i = 0; i < out * own; ++i)
      b[(e * out + i / own) * rank + i % own] = high[i] * changes[e]->scale;
  }
  LowRank bound;
  weights_.adapter_bytes += (a.size() + b.size()) * sizeof(float);
  WICK_TRY(bound.a, upload(part.single, std::move(a), matrix_shape(part.n * most, part.in)));
  WICK_TRY(bound.b,
           upload(part.single, std::move(b), matrix_shape(std::int64_t{part.n} * part.out, most)));
  return std::optional(bound);
}

Result<std::vector<LowRank>> Binder::expert_changes(std::span<const ExpertPart> parts, int layer) {
  std::vector<LowRank> all;
  for (const Adapter& adapter : adapters_) {
    const auto keep = [&](LowRank change) {
      change.adapter = static_cast<int>(&adapter - adapters_.data());
      if (!is_counting()) all.push_back(change);
    };
    for (const ExpertPart& part : parts) {
      const std::int64_t rows = part.all > 0 ? part.all : part.out;
      if (const auto stack = adapter.find(names_, part.stacked, layer)) {
        WICK_TRY(const LowRank change, stacked_change(adapter, *stack, part));
        keep(change);
        break;
      }
      const auto parameter = adapter.find_parameter(names_, part.stacked, layer,
                                                    {.n = part.n, .out = rows, .in = part.in});
      if (parameter) {
        WICK_TRY(const LowRank change, parameter_change(*parameter, part));
        keep(change);
        break;
      }
      WICK_TRY(const std::optional<LowRank> change, single_changes(adapter, part, layer));
      if (!change) continue;
      keep(*change);
      break;
    }
  }
  return all;
}

}  // namespace wick
