#include "model/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/strings.h"
#include "model/arch/common.h"
#include "model/arch/described.h"
#include "model/rope.h"

namespace wick {

// The first "{}" is the layer's number, the second the expert's.
std::string with_numbers(std::string_view name, int layer, int expert) {
  const std::size_t at = name.find("{}");
  if (at == std::string_view::npos) return std::string(name);
  return cat(name.substr(0, at), layer, with_numbers(name.substr(at + 2), expert, 0));
}

// A checkpoint of a model that sees images, too, nests its language model; that of a model without
// its head lacks the first part of the names: "layers.0.…" for "model.layers.0.…".
std::vector<std::string> nested_names(const std::string& name) {
  constexpr std::string_view kModel = "model.";
  const std::string_view inside =
      name.starts_with(kModel) ? std::string_view(name).substr(kModel.size()) : name;
  return {name, cat(inside == name ? "" : "model.language_model.", inside),
          cat("language_model.", name), name.substr(name.find('.') + 1)};
}

namespace {

FoundTensor find_nested(const ModelFile& file, std::string name) {
  for (const std::string& spelling : nested_names(name)) {
    if (const TensorView* const view = file.find(spelling)) return {.view = view, .name = spelling};
  }
  return {.name = std::move(name)};
}

}  // namespace

FoundTensor find_tensor(const ModelFile& file, std::span<const NameRule> names,
                        std::string_view canonical, int layer, int expert) {
  FoundTensor found;
  if (file.format() == FileFormat::kSafetensors) {
    for (const NameRule& own : described_names(file)) {
      if (own.canonical != canonical) continue;
      found.name = with_numbers(own.hf, layer, expert);
      found.view = file.find(found.name);
      const auto is_its = [&](const NameRule& rule) { return rule.canonical == canonical; };
      const auto rule = std::find_if(names.begin(), names.end(), is_its);
      found.fix = rule == names.end() ? NameRule::Fix::kNone : rule->fix;
      if (found.view != nullptr) return found;
      found = {};
    }
    for (const NameRule& rule : names) {  // the first that the file has, or else the first
      if (rule.canonical != canonical) continue;
      FoundTensor one = find_nested(file, with_numbers(rule.hf, layer, expert));
      one.fix = rule.fix;
      if (found.name.empty() || one.view != nullptr) found = std::move(one);
      if (found.view != nullptr) return found;
    }
    if (!found.name.empty()) return found;
  }
  found.name = with_numbers(canonical, layer, expert);
  found.view = file.find(found.name);
  return found;
}

Error missing_tensor(const ModelFile& file, std::string_view name) {
  return Error{ErrorCode::kCorrupt, "missing_tensor",
               cat(file.path().string(), ": tensor '", name, "' is missing"), kVerifyHint};
}

namespace {

Error wrong_shape(const ModelFile& file, const FoundTensor& found, const Shape& want) {
  return {ErrorCode::kCorrupt, "tensor_shape",
          cat(file.path().string(), ": tensor '", found.name, "' is ", to_string(found.view->shape),
              ", the model needs ", to_string(want)),
          kVerifyHint};
}

bool is_turned(NameRule::Fix fix) noexcept {
  using enum NameRule::Fix;
  return fix == kTurned || fix == kTurnedEven || fix == kTurnedOdd;
}

}  // namespace

Result<const Weight*> Binder::upload(const TensorView& view, const WeightTransform& fix) {
  const auto rows = static_cast<std::size_t>(view.shape.dim[0]);
  const std::size_t taken =
      fix.row_count < 0 ? rows : static_cast<std::size_t>(fix.row_count * fix.blocks);
  weights_.bytes_on[device_] += view.bytes.size() / rows * taken;
  if (is_counting()) return static_cast<const Weight*>(nullptr);
  WICK_TRY(std::unique_ptr<Weight> weight, devices_[device_]->upload(view, fix));
  weights_.owned.push_back(std::move(weight));
  return weights_.owned.back().get();
}

Result<const Weight*> Binder::upload(std::string_view name, std::vector<float> values,
                                     const Shape& shape) {
  const std::vector<float>& kept = weights_.computed.emplace_back(std::move(values));
  return upload(
      {.name = name, .type = DType::kF32, .shape = shape, .bytes = std::as_bytes(std::span(kept))},
      {});
}

Result<const Weight*> Binder::bind(std::string_view canonical, const Wanted& want, int layer) {
  return bind(find_tensor(file_, names_, canonical, layer), want);
}

Result<const Weight*> Binder::bind(const FoundTensor& found, const Wanted& want) {
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  if (found.view->shape != want.shape) return wrong_shape(file_, found, want.shape);
  const std::size_t rows = static_cast<std::size_t>(want.shape.dim[0]);
  const std::size_t taken =
      want.count < 0 ? rows : static_cast<std::size_t>(want.count * want.blocks);
  TensorView view = *found.view;
  const bool is_permuted =
      found.fix == NameRule::Fix::kPermuteQ || found.fix == NameRule::Fix::kPermuteK;
  if (want.as != nullptr) view.shape = *want.as;
  weights_.bytes += view.bytes.size() / rows * taken;
  return upload(view, {.add_one = found.fix == NameRule::Fix::kAddOne,
                       .permute_heads = is_permuted ? want.heads : 0,
                       .row_begin = want.first,
                       .row_count = want.count,
                       .blocks = want.blocks});
}

Result<const Weight*> Binder::matrix(std::string_view canonical, const Matrix& want, int layer) {
  matrix_weights_ += want.out * want.in;
  const bool is_part = want.all > 0;
  WICK_TRY(const Weight* const weight,
           bind(canonical,
                {.shape = {.dim = {is_part ? want.all : want.out, want.in, 1, 1}, .rank = 2},
                 .heads = want.heads,
                 .first = want.first,
                 .count = is_part ? want.out / want.blocks : -1,
                 .blocks = want.blocks},
                layer));
  if (want.takes_adapters) WICK_DO(adapt(canonical, want, layer));
  return weight;
}

Result<const Weight*> Binder::table(std::string_view canonical, const Matrix& want, int layer) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  if (is_turned(found.fix)) {
    return turned(found, static_cast<int>(want.out), {.out = want.in, .in = 1}, true);
  }
  const Shape flat{.dim = {want.out * want.in, 1, 1, 1}, .rank = 1};
  const Shape matrix{.dim = {want.out, want.in, 1, 1}, .rank = 2};
  const Shape columns{.dim = {want.out, 1, want.in, 1}, .rank = 3};
  const bool has_middle = found.view != nullptr && found.view->shape == columns;
  return bind(found, {.shape = has_middle ? columns : matrix, .as = &flat});
}

Result<const Weight*> Binder::lookup(std::string_view canonical, std::int64_t least,
                                     std::int64_t in, std::int64_t first) {
  const FoundTensor found = find_tensor(file_, names_, canonical);
  const std::int64_t rows =
      found.view == nullptr ? 1 : std::max(first + least, found.view->shape.dim[0]);
  const std::size_t before = weights_.bytes;
  WICK_TRY(const Weight* const weight, bind(found, {.shape = {.dim = {rows, in, 1, 1}, .rank = 2},
                                                    .first = first,
                                                    .count = first == 0 ? -1 : rows - first}));
  idle_bytes_ += weights_.bytes - before;
  return weight;
}

Result<const Weight*> Binder::row(std::string_view canonical, std::int64_t in, int layer) {
  const Shape row{.dim = {1, in, 1, 1}, .rank = 2};
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  const bool is_vector = found.view != nullptr && found.view->shape.rank == 1;
  matrix_weights_ += in;
  return bind(found,
              {.shape = is_vector ? Shape{.dim = {in, 1, 1, 1}, .rank = 1} : row, .as = &row});
}

Result<const Weight*> Binder::heads(std::string_view canonical, int n, const Matrix& of_head,
                                    int layer) {
  const Shape all{.dim = {n * of_head.out, of_head.in, 1, 1}, .rank = 2};
  matrix_weights_ += all.dim[0] * all.dim[1];
  return bind(canonical, {.shape = {.dim = {n, of_head.out, of_head.in, 1}, .rank = 3}, .as = &all},
              layer);
}

Result<const Weight*> Binder::vector_part(std::string_view canonical, const Matrix& want,
                                          int layer) {
  return bind(canonical,
              {.shape = {.dim = {want.all, 1, 1, 1}, .rank = 1},
               .heads = want.heads,
               .first = want.first,
               .count = want.out},
              layer);
}

Result<BoundNorm> Binder::norm(std::string_view canonical, const NormSpec& spec, std::int64_t n,
                               int layer) {
  BoundNorm norm{.params = spec.params};
  WICK_TRY(norm.gain, vector(cat(canonical, ".weight"), n, layer));
  if (spec.has_bias) {
    WICK_TRY(norm.shift, vector(cat(canonical, ".bias"), n, layer));
  }
  return norm;
}

Result<const Weight*> Binder::head_gains(std::string_view canonical, int n, int dim, int layer) {
  const FoundTensor first = find_tensor(file_, names_, canonical, layer);
  if (first.fix != NameRule::Fix::kStack) return table(canonical, {n, dim}, layer);
  const auto rule = std::find_if(names_.begin(), names_.end(),
                                 [&](const NameRule& each) { return each.canonical == canonical; });
  std::vector<float> gains(static_cast<std::size_t>(n) * static_cast<std::size_t>(dim));
  for (int head = 0; head < n; ++head) {
    const std::string name = with_numbers(rule->hf, layer, head);
    const TensorView* const view = file_.find(name);
    if (view == nullptr) return missing_tensor(file_, name);
    const Shape want{.dim = {dim, 1, 1, 1}, .rank = 1};
    if (view->shape != want) return wrong_shape(file_, {.view = view, .name = name}, want);
    weights_.bytes += view->bytes.size();
    decode_row(
        view->type, view->bytes,
        std::span(gains).subspan(static_cast<std::size_t>(head) * static_cast<std::size_t>(dim),
                                 static_cast<std::size_t>(dim)));
  }
  return upload(first.name, std::move(gains), {.dim = {std::int64_t{n} * dim, 1, 1, 1}, .rank = 1});
}

bool Binder::has(std::string_view canonical, int layer) const {
  return find_tensor(file_, names_, canonical, layer).view != nullptr;
}

Result<std::vector<const Weight*>> Binder::experts(const Experts& which, const Matrix& of_each,
                                                   int layer) {
  const std::size_t before = weights_.bytes;
  matrix_weights_ += which.n_active * of_each.out * of_each.in;
  std::vector<const Weight*> bound;
  const FoundTensor stack = find_tensor(file_, names_, which.stacked, layer);
  if (stack.view != nullptr && is_turned(stack.fix)) {
    WICK_TRY(const Weight* const weight, turned(stack, which.n, of_each));
    bound.push_back(weight);
  } else if (stack.view != nullptr || which.single.empty()) {
    const Shape all{.dim = {which.n * of_each.out, of_each.in, 1, 1}, .rank = 2};
    WICK_TRY(const Weight* const weight,
             bind(stack, {.shape = {.dim = {which.n, of_each.out, of_each.in, 1}, .rank = 3},
                          .as = &all}));
    bound.push_back(weight);
  } else {
    const Shape one{.dim = {of_each.out, of_each.in, 1, 1}, .rank = 2};
    const FoundTensor first = find_tensor(file_, names_, which.single, layer, 0);
    for (int expert = 0; expert < which.n; ++expert) {
      const FoundTensor found = find_tensor(file_, names_, which.single, layer, expert);
      WICK_TRY(const Weight* const weight, bind(found, {.shape = one}));
      bound.push_back(weight);
      if (found.view->type == first.view->type) continue;
      return Error{ErrorCode::kUnsupported, "expert_types",
                   cat(file_.path().string(), ": tensor '", found.name, "' is ",
                       dtype_info(found.view->type).name, ", that of the layer's first expert ",
                       dtype_info(first.view->type).name, "; wick needs one type for all of them"),
                   "convert the model again, with all experts of a layer in one type"};
    }
  }
  const auto n = static_cast<std::size_t>(which.n);
  idle_bytes_ += (weights_.bytes - before) / n * (n - static_cast<std::size_t>(which.n_active));
  return bound;
}

Result<const Weight*> Binder::transposed_heads(std::string_view canonical, int n,
                                               const Matrix& of_head, int rows, int layer) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  const auto in = static_cast<std::size_t>(of_head.in), out = static_cast<std::size_t>(rows);
  const std::size_t heads = static_cast<std::size_t>(n);
  if (is_counting()) {
    weights_.bytes_on[device_] += heads * in * out * sizeof(float);
    return static_cast<const Weight*>(nullptr);
  }
  const std::size_t row_bytes = found.view->bytes.size() / (heads * std::size_t(of_head.out));
  std::vector<float> row(in), turned(heads * in * out);
  for (std::size_t i = 0; i < heads * out; ++i) {
    const std::size_t at = i / out * static_cast<std::size_t>(of_head.out) + i % out;
    decode_row(found.view->type, found.view->bytes.subspan(at * row_bytes, row_bytes), row);
    for (std::size_t c = 0; c < in; ++c)
      turned[(i / out * in + c) * out + i % out] = row[c];
  }
  return upload(found.name, std::move(turned), {.dim = {n * of_head.in, rows, 1, 1}, .rank = 2});
}

Result<const Weight*> Binder::negated_exp(const FoundTensor& found, std::int64_t n) {
  const Shape want{.dim = {n, 1, 1, 1}, .rank = 1};
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  if (found.view->shape != want) return wrong_shape(file_, found, want);
  weights_.bytes += found.view->bytes.size();
  std::vector<float> values(static_cast<std::size_t>(n));
  decode_row(found.view->type, found.view->bytes, values);
  for (float& value : values)
    value = -static_cast<float>(std::exp(static_cast<double>(value)));
  return upload(found.name, std::move(values), want);
}

Result<const Weight*> Binder::turned(const FoundTensor& found, int n, const Matrix& of_each,
                                     bool is_bias) {
  using Fix = NameRule::Fix;
  const std::int64_t step = found.fix == Fix::kTurned ? 1 : 2;
  const std::int64_t first = found.fix == Fix::kTurnedOdd ? 1 : 0;
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  const TensorView& view = *found.view;
  Shape want{.dim = {n, of_each.in, of_each.out * step, 1}, .rank = 3};
  if (is_bias) want = {.dim = {n, of_each.out * step, 1, 1}, .rank = 2};
  if (view.shape != want) return wrong_shape(file_, found, want);
  if (dtype_info(view.type).block_len != 1) {
    return Error{ErrorCode::kUnsupported, "turned_type",
                 cat(file_.path().string(), ": tensor '", found.name, "' is ",
                     dtype_info(view.type).name, ", a transposed one must be F32, F16 or BF16")};
  }
  const std::int64_t count = n * of_each.out * of_each.in;
  const std::size_t size = view.bytes.size() / static_cast<std::size_t>(count * step);
  const std::size_t bytes = size * static_cast<std::size_t>(count);
  weights_.bytes += bytes;
  weights_.bytes_on[device_] += bytes;
  if (is_counting()) return static_cast<const Weight*>(nullptr);
  std::vector<std::byte>& to = weights_.turned.emplace_back(bytes);
  std::byte* at = to.data();
  for (std::int64_t row = 0; row < n * of_each.out; ++row) {
    const std::int64_t expert = row / of_each.out, column = row % of_each.out * step + first;
    for (std::int64_t i = 0; i < of_each.in; ++i, at += size) {
      const std::int64_t from = (expert * of_each.in + i) * of_each.out * step + column;
      std::memcpy(at, view.bytes.data() + static_cast<std::size_t>(from) * size, size);
    }
  }
  Shape shape{.dim = {n * of_each.out, of_each.in, 1, 1}, .rank = 2};
  if (is_bias) shape = {.dim = {n * of_each.out, 1, 1, 1}, .rank = 1};
  WICK_TRY(std::unique_ptr<Weight> weight,
           devices_[device_]->upload(
               {.name = found.name, .type = view.type, .shape = shape, .bytes = to}, {}));
  weights_.owned.push_back(std::move(weight));
  return weights_.owned.back().get();
}

Result<const Weight*> Binder::vector(std::string_view canonical, std::int64_t n, int layer,
                                     int heads) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  if (found.fix == NameRule::Fix::kNegatedExp) return negated_exp(found, n);
  return bind(found, {.shape = {.dim = {n, 1, 1, 1}, .rank = 1}, .heads = heads});
}

Result<const Weight*> Binder::ones(std::int64_t n) {
  return upload("ones", std::vector<float>(static_cast<std::size_t>(n), 1.0F),
                {.dim = {n, 1, 1, 1}, .rank = 1});
}

Result<float> Binder::number(std::string_view canonical, int layer) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  const Shape want{.dim = {1, 1, 1, 1}, .rank = 1};
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  if (found.view->shape != want) return wrong_shape(file_, found, want);
  weights_.bytes += found.view->bytes.size();
  float value = 0;
  decode_row(found.view->type, found.view->bytes, std::span(&value, 1));
  return value;
}

Result<const Weight*> Binder::long_factors(const GqaSpec& spec) {
  const bool is_long = context_ > spec.rope.ctx_orig;
  const std::int64_t n = spec.rope.dim / 2;
  const std::string_view tensor =
      is_long ? "rope_factors_long.weight" : "rope_factors_short.weight";
  if (file_.format() == FileFormat::kGguf) return vector(tensor, n);
  const std::string_view key = is_long ? "wick.rope_long_factors" : "wick.rope_short_factors";
  const auto values = file_.metadata().numbers(key).value_or(std::vector<double>());
  if (std::int64_t(values.size()) != n) {
    return Error{
        ErrorCode::kCorrupt, "bad_hyperparameter",
        cat(file_.path().string(), ": config.json has ", values.size(),
            is_long ? " long" : " short", " factors of the rotation, the model needs ", n)};
  }
  return upload(tensor, std::vector<float>(values.begin(), values.end()),
                {.dim = {n, 1, 1, 1}, .rank = 1});
}

// As llama.cpp's converter writes them: a divisor so large that a feature stays where it is.
Result<const Weight*> Binder::proportional_factors(const GqaSpec& spec) {
  constexpr float kStill = 1e30F;
  const double part = file_.metadata().number("wick.rope_partial").value_or(1);
  const auto n = static_cast<std::size_t>(spec.rope.dim / 2);
  std::vector<float> factors(n, kStill);
  const auto moving = static_cast<std::size_t>(part * spec.rope.dim / 2);
  std::fill_n(factors.begin(), std::min(moving, n), 1.0F);
  return upload("rope_freqs.weight", std::move(factors),
                {.dim = {static_cast<std::int64_t>(n), 1, 1, 1}, .rank = 1});
}

Result<const Weight*> Binder::rope_factors(const GqaSpec& spec) {
  const int dim = spec.rope.dim;
  const Weight*& bound = rope_factors_[device_];
  if (bound != nullptr && bound->shape.dim[0] == dim / 2) return bound;
  if (spec.rope_factors == RopeFactors::kLong) {
    WICK_TRY(bound, long_factors(spec));
    return bound;
  }
  if (spec.rope_factors == RopeFactors::kProportional) {
    WICK_TRY(bound, proportional_factors(spec));
    return bound;
  }
  if (file_.find("rope_freqs.weight") != nullptr) {
    WICK_TRY(bound, vector("rope_freqs.weight", dim / 2));
    return bound;
  }
  WICK_TRY(const Llama3Scaling scaling, llama3_scaling(Hparams(file_)));
  WICK_TRY(bound, upload("rope_freqs.weight", llama3_rope_factors(scaling, dim),
                         {.dim = {dim / 2, 1, 1, 1}, .rank = 1}));
  return bound;
}

}  // namespace wick
