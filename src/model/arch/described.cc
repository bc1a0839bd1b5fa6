#include "model/arch/described.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/strings.h"
#include "model/arch/common.h"

namespace wick {

namespace {

using nlohmann::json;

struct Description {
  std::string name = {}, model_type = {}, defaults = "{}";
  Arch base = {};
  std::optional<Act> act = {};
  std::optional<RopeParams::Layout> rotation = {};
  bool is_parallel = false;
  std::optional<float> embedding_scale = {}, residual_scale = {}, attention_scale = {},
      logit_scale = {};
  std::deque<std::string> texts = {};  // of `names`
  std::vector<NameRule> names = {};
  std::vector<HfFamily> families = {};
};

struct Registry {
  std::deque<Description> all = {};  // their texts stay where they are
  std::vector<Arch> archs = {};
  std::atomic<bool> is_read = false;
};

Registry& registry() {
  static Registry one;
  return one;
}

const Description* find(const ModelFile& file) noexcept {
  const auto name = file.metadata().string("general.architecture");
  for (const Description& one : registry().all) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

Error bad(std::string_view what) {
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_architecture",
               .message = cat("the description of an architecture: ", what),
               .hint = "docs/adding-a-model.md lists its fields"};
}

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

constexpr Choice<Act> kActs[] = {{"silu", Act::kSilu},
                                 {"gelu", Act::kGelu},
                                 {"gelu_tanh", Act::kGeluTanh},
                                 {"relu2", Act::kRelu2}};
constexpr Choice<RopeParams::Layout> kRotations[] = {{"halves", RopeParams::kHalves},
                                                     {"pairs", RopeParams::kPairs},
                                                     {"none", RopeParams::kNone}};

template <class Value, std::size_t N>
Result<void> choose(const json& field, std::string_view name, const Choice<Value> (&choices)[N],
                    std::optional<Value>& out) {
  std::string known;
  for (const Choice<Value>& choice : choices) {
    if (field.is_string() && field.get_ref<const std::string&>() == choice.name) {
      out = choice.value;
      return {};
    }
    known += cat(known.empty() ? "" : ", ", choice.name);
  }
  return bad(cat(name, " is ", printable(field.dump()), ", known are ", known));
}

Result<void> read_text(const json& field, std::string_view name, std::string& out) {
  if (!field.is_string() || field.get_ref<const std::string&>().empty()) {
    return bad(cat(name, " is ", printable(field.dump()), ", wanted a text"));
  }
  out = field.get<std::string>();
  return {};
}

Result<void> read_factor(const json& field, std::string_view name, std::optional<float>& out) {
  const double value = field.is_number() ? field.get<double>() : 0;
  if (!std::isfinite(value) || std::abs(value) < 1e-6 || std::abs(value) > 1e6) {
    return bad(cat(name, " is ", printable(field.dump()), ", wanted a number from 1e-6 to 1e6"));
  }
  out = static_cast<float>(value);
  return {};
}

Result<void> read_tensors(const json& field, Description& out) {
  if (!field.is_object()) return bad("tensors is no object");
  for (const auto& [hf, canonical] : field.items()) {
    std::string name;
    WICK_DO(read_text(canonical, cat("tensors['", printable(hf), "']"), name));
    const std::string_view own = out.texts.emplace_back(hf);
    out.names.push_back({own, out.texts.emplace_back(std::move(name))});
  }
  return {};
}

Result<void> read_field(const std::string& name, const json& field, std::span<const Arch> known,
                        Description& out) {
  if (name == "name") return read_text(field, name, out.name);
  if (name == "model_type") return read_text(field, name, out.model_type);
  if (name == "tensors") return read_tensors(field, out);
  if (name == "activation") return choose(field, name, kActs, out.act);
  if (name == "rotation") return choose(field, name, kRotations, out.rotation);
  if (name == "embedding_scale") return read_factor(field, name, out.embedding_scale);
  if (name == "residual_scale") return read_factor(field, name, out.residual_scale);
  if (name == "attention_scale") return read_factor(field, name, out.attention_scale);
  if (name == "logit_scale") return read_factor(field, name, out.logit_scale);
  if (name == "defaults") {
    if (!field.is_object()) return bad("defaults is no object");
    out.defaults = field.dump();
    return {};
  }
  if (name == "parallel") {
    if (!field.is_boolean()) return bad("parallel is neither true nor false");
    out.is_parallel = field.get<bool>();
    return {};
  }
  if (name != "like") return bad(cat("the field '", printable(name), "' is unknown"));
  std::string like;
  WICK_DO(read_text(field, name, like));
  for (const Arch& arch : known) {
    if (arch.gguf_name == like) out.base = arch;
  }
  if (out.base.spec != nullptr) return {};
  return bad(cat("like is '", printable(like), "', which wick does not know"));
}

struct SetAct {
  Act act;

  void operator()(DenseSpec& ffn) const noexcept { ffn.act = act; }

  void operator()(MoeSpec& ffn) const noexcept { ffn.act = act; }

  void operator()(DenseMoeSpec& ffn) const noexcept { ffn.dense.act = ffn.experts.act = act; }
};

Result<DecoderSpec> described_spec(const ModelFile& file) {
  const Description& own = *find(file);
  WICK_TRY(DecoderSpec spec, own.base.spec(file));
  if (own.embedding_scale) spec.embed_scale = *own.embedding_scale;
  if (own.logit_scale) spec.logit_scale = *own.logit_scale;
  if (own.is_parallel) set_parallel(spec);
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    BlockSpec& block = spec.blocks[static_cast<std::size_t>(i)];
    if (own.residual_scale) block.residual_scale = *own.residual_scale;
    if (own.act) std::visit(SetAct{*own.act}, block.ffn);
    GqaSpec* const attention = attention_of(spec, i);
    if (attention == nullptr) continue;
    if (own.attention_scale) attention->scale = *own.attention_scale;
    if (own.rotation) attention->rope.layout = *own.rotation;
  }
  return spec;
}

}  // namespace

std::span<const NameRule> described_names(const ModelFile& file) noexcept {
  const Description* const own = find(file);
  return own == nullptr ? std::span<const NameRule>() : own->names;
}

std::span<const Arch> described_archs() noexcept {
  registry().is_read.store(true);
  return registry().archs;
}

Result<void> describe_arch(std::string_view text, std::span<const Arch> known) {
  Registry& all = registry();
  if (all.is_read.load()) return bad("a model was opened before");
  const json fields = json::parse(text, nullptr, false);
  if (!fields.is_object()) return bad("it is no JSON object");
  Description own;
  for (const auto& [name, field] : fields.items())
    WICK_DO(read_field(name, field, known, own));
  if (own.name.empty()) return bad("name is missing");
  if (own.base.spec == nullptr) return bad("like is missing");
  const auto is_taken = [&](const Arch& arch) { return arch.gguf_name == own.name; };
  if (std::any_of(known.begin(), known.end(), is_taken) ||
      std::any_of(all.archs.begin(), all.archs.end(), is_taken)) {
    return bad(cat("the name '", printable(own.name), "' is taken"));
  }
  Description& kept = all.all.emplace_back(std::move(own));
  if (!kept.model_type.empty()) {
    kept.families.push_back({.model_type = kept.model_type, .defaults = kept.defaults.c_str()});
  }
  all.archs.push_back({.gguf_name = kept.name,
                       .spec = described_spec,
                       .names = kept.base.names,
                       .families = kept.families,
                       .is_encoder = kept.base.is_encoder});
  return {};
}

}  // namespace wick
