#include "model/adapter.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "format/json_text.h"
#include "model/limits.h"
#include "model/tensors.h"

namespace wick {

namespace {

using nlohmann::json;

constexpr std::string_view kWeight = ".weight";

Error unsupported(const ModelFile& file, std::string_view what) {
  return Error{ErrorCode::kUnsupported, "unsupported_adapter",
               cat(printable(file.path().string()), ": ", what)};
}

std::string_view without_end(std::string_view name, std::string_view end) noexcept {
  return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

// Whether `module` is `key`, or ends with ".key".
bool is_named(std::string_view module, std::string_view key) noexcept {
  if (!module.ends_with(key)) return false;
  return module.size() == key.size() || module[module.size() - key.size() - 1] == '.';
}

// PEFT's fields that change the arithmetic, and the values that wick runs.
Result<void> check_fields(const ModelFile& file, const json& fields) {
  const auto type = fields.find("peft_type");
  if (type != fields.end() && *type != "LORA")
    return unsupported(file, cat("peft_type is ", printable(type->dump()), ", wick runs \"LORA\""));
  for (const char* const name :
       {"use_dora", "fan_in_fan_out", "lora_bias", "use_qalora", "alora_invocation_tokens",
        "layer_replication", "trainable_token_indices", "modules_to_save"}) {
    const auto field = fields.find(name);
    if (field == fields.end() || field->is_null() || *field == false || field->empty()) continue;
    return unsupported(file,
                       cat(name, " is ", printable(field->dump()), ", which wick cannot run"));
  }
  return {};
}

// The largest rank that PEFT's fields name, 0 = none.
int rank_of(const json& fields) {
  int most = 0;
  const auto add = [&](const json& value) {
    if (value.is_number_integer() && value >= 1 && value <= kMaxAdapterRank)
      most = std::max(most, value.get<int>());
  };
  if (const auto rank = fields.find("r"); rank != fields.end()) add(*rank);
  const auto patterns = fields.find("rank_pattern");
  if (patterns == fields.end() || !patterns->is_object()) return most;
  for (const json& value : *patterns)
    add(value);
  return most;
}

// The rank of A [rank, in], or of a stack of these.
std::int64_t rank_of(const TensorView& a) noexcept {
  return a.shape.dim[static_cast<std::size_t>(a.shape.rank - 2)];
}

// PEFT's name of a parameter's A: of a module whose parameters are the experts' matrices.
bool is_of_parameter(std::string_view name) noexcept {
  return name.ends_with(".experts.lora_A.weight") ||
         name.ends_with(".experts.base_layer.lora_A.weight");
}

}  // namespace

Result<Adapter> Adapter::open(const std::filesystem::path& path) {
  WICK_TRY(ModelFile file, ModelFile::open_adapter(path));
  Adapter adapter(std::move(file));
  const bool is_gguf = adapter.file_.format() == FileFormat::kGguf;
  WICK_DO(is_gguf ? adapter.read_gguf() : adapter.read_peft());
  WICK_DO(adapter.check_tensors());
  return adapter;
}

Result<void> Adapter::read_gguf() {
  const Metadata& meta = file_.metadata();
  const std::string_view kind = meta.string("general.type").value_or("model");
  const std::string_view type = meta.string("adapter.type").value_or("");
  if (kind != "adapter" || type != "lora") {
    return Error{ErrorCode::kInvalid, "not_an_adapter",
                 cat(printable(path().string()), ": general.type is '", printable(kind),
                     "', adapter.type is '", printable(type),
                     "'; a LoRA adapter has 'adapter' and "
                     "'lora'"),
                 "convert_lora_to_gguf.py writes such a file"};
  }
  if (meta.has("adapter.alora.invocation_tokens")) {
    return unsupported(file_, "has adapter.alora.invocation_tokens, which wick cannot run");
  }
  WICK_TRY(alpha_, meta.need_number("adapter.lora.alpha", 0, 1e9));
  return {};
}

Result<void> Adapter::read_peft() {
  const std::string config = cat(path().string(), ": adapter_config.json");
  WICK_TRY(const json fields,
           parse_json_object(file_.metadata().string("adapter.peft").value_or(""), config));
  WICK_DO(check_fields(file_, fields));
  const auto alpha = fields.find("lora_alpha");
  if (alpha == fields.end() || !alpha->is_number()) {
    return Error{ErrorCode::kCorrupt, "bad_adapter",
                 cat(printable(config), ": lora_alpha is ",
                     alpha == fields.end() ? "missing" : shown(*alpha), ", wanted a number")};
  }
  alpha_ = alpha->get<double>();
  configured_rank_ = rank_of(fields);
  const auto stabilized = fields.find("use_rslora");
  is_rank_stabilized_ = stabilized != fields.end() && *stabilized == true;
  const auto patterns = fields.find("alpha_pattern");
  if (patterns == fields.end() || !patterns->is_object()) return {};
  for (const auto& [key, value] : patterns->items()) {
    if (key.find_first_of("^$*+?[](){}|\\") != std::string::npos || !value.is_number()) {
      return unsupported(file_, cat("alpha_pattern has '", printable(key), "': ", shown(value),
                                    "; wick knows names of modules and numbers there"));
    }
    alphas_.emplace_back(key, value.get<double>());
  }
  return {};
}

// Each tensor is A or B of a matrix, and has its counterpart.
Result<void> Adapter::check_tensors() {
  const bool is_gguf = file_.format() == FileFormat::kGguf;
  const std::string_view ends[] = {is_gguf ? ".lora_a" : ".lora_A.weight",
                                   is_gguf ? ".lora_b" : ".lora_B.weight"};
  if (file_.tensors().empty()) return unsupported(file_, "has no tensor");
  for (const TensorView& tensor : file_.tensors()) {
    const bool is_a = tensor.name.ends_with(ends[0]), is_b = tensor.name.ends_with(ends[1]);
    if (!is_a && !is_b) {
      Error error =
          unsupported(file_, cat("tensor '", printable(tensor.name), "' ends neither with '",
                                 ends[0], "' nor with '", ends[1], "'"));
      error.hint = "PEFT: save_pretrained(…, save_embedding_layers=False), without modules_to_save";
      return error;
    }
    const std::string other = cat(without_end(tensor.name, ends[is_a ? 0 : 1]), ends[is_a ? 1 : 0]);
    if (file_.find(other) == nullptr) return missing_tensor(file_, other);
    const int rank = tensor.shape.rank;
    if (rank != 2 && !(is_gguf && rank == 3)) {
      return unsupported(file_,
                         cat("tensor '", printable(tensor.name), "' is ", to_string(tensor.shape),
                             ", wick adapts matrices, and in GGUF those of all experts"));
    }
    if (is_a) WICK_DO(check_rank(tensor));
  }
  return {};
}

// Of a parameter of experts only the binder knows how many there are.
Result<void> Adapter::check_rank(const TensorView& a) {
  const std::int64_t rank = is_of_parameter(a.name) ? configured_rank_ : rank_of(a);
  if (rank < 1 || rank > kMaxAdapterRank) {
    return unsupported(file_, cat("tensor '", printable(a.name), "' has rank ", rank,
                                  ", wanted are 1 to ", kMaxAdapterRank));
  }
  max_rank_ = std::max(max_rank_, static_cast<int>(rank));
  return {};
}

Adapter::Change Adapter::change_of(std::string_view module, const TensorView* a,
                                   const TensorView* b, std::int64_t rank,
                                   NameRule::Fix fix) const {
  double alpha = alpha_;
  for (const auto& [key, own] : alphas_) {
    if (is_named(module, key)) alpha = own;
  }
  const double by =
      is_rank_stabilized_ ? std::sqrt(static_cast<double>(rank)) : static_cast<double>(rank);
  const bool has_none = alpha == 0 && file_.format() == FileFormat::kGguf;
  return {.a = a,
          .b = b,
          .rank = rank,
          .scale = has_none ? 1 : static_cast<float>(alpha / by),
          .fix = fix};
}

std::optional<Adapter::Change> Adapter::find(std::span<const NameRule> names,
                                             std::string_view canonical, int layer,
                                             int expert) const {
  if (file_.format() == FileFormat::kGguf) {
    const std::string name = with_numbers(canonical, layer, expert);
    const TensorView* const a = file_.find(cat(name, ".lora_a"));
    if (a == nullptr) return std::nullopt;
    return change_of(name, a, file_.find(cat(name, ".lora_b")), rank_of(*a));
  }
  for (const NameRule& rule : names) {
    if (rule.canonical != canonical || !rule.hf.ends_with(kWeight)) continue;
    for (const std::string& name : nested_names(with_numbers(rule.hf, layer, expert))) {
      const std::string_view module = without_end(name, kWeight);
      const std::string own = cat("base_model.model.", module);
      const TensorView* const a = file_.find(cat(own, ".lora_A.weight"));
      if (a == nullptr) continue;
      return change_of(module, a, file_.find(cat(own, ".lora_B.weight")), a->shape.dim[0],
                       rule.fix);
    }
  }
  return std::nullopt;
}

std::optional<Adapter::Change> Adapter::find_parameter(std::span<const NameRule> names,
                                                       std::string_view canonical, int layer,
                                                       const Stack& want) const {
  if (file_.format() == FileFormat::kGguf) return std::nullopt;
  for (const NameRule& rule : names) {
    if (rule.canonical != canonical || rule.hf.ends_with(kWeight) ||
        rule.fix != NameRule::Fix::kNone) {
      continue;
    }
    for (const std::string& name : nested_names(with_numbers(rule.hf, layer))) {
      const std::string_view module = std::string_view(name).substr(0, name.rfind('.'));
      for (const std::string_view nested : {"", ".base_layer"}) {
        const std::string own = cat("base_model.model.", module, nested);
        const TensorView* const a = file_.find(cat(own, ".lora_A.weight"));
        if (a == nullptr) continue;
        const TensorView* const b = file_.find(cat(own, ".lora_B.weight"));
        const std::int64_t all = a->shape.dim[0], rank = all / want.n;
        if (rank < 1 || rank > max_rank_ || all % want.n != 0 || a->shape.dim[1] != want.in ||
            b->shape.dim[0] != want.out || b->shape.dim[1] != all) {
          continue;
        }
        return change_of(module, a, b, rank);
      }
    }
  }
  return std::nullopt;
}

Result<void> Adapter::check_architecture(std::string_view of_model) const {
  const auto own = file_.metadata().string("general.architecture");
  if (!own || *own == of_model) return {};
  return Error{ErrorCode::kInvalid, "adapter_architecture",
               cat(printable(path().string()), ": is an adapter of a model of architecture '",
                   printable(*own), "', the model is '", printable(of_model), "'"),
               "take an adapter that was trained on this model"};
}

}  // namespace wick
