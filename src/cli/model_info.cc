#include "cli/model_info.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "chat/chat_template.h"
#include "cli/report.h"
#include "engine/engine.h"
#include "local/chat_templates.h"
#include "model/memory_shape.h"
#include "model/placement.h"
#include "model/sequence_memory.h"
#include "model/spec.h"

namespace wick {

namespace {

JsonValue describe_template(const ChatTemplates& templates, std::string_view name) {
  const auto tmpl = templates.pick(name, false);
  if (!tmpl) return cat("not understood: ", to_string(tmpl.error()));
  const TemplateFacts facts = facts_of(**tmpl);
  const auto& reads = (*tmpl)->variables();
  return json_object({{"system", facts.has_system},
                      {"tools", facts.has_tools},
                      {"documents", facts.has_documents},
                      {"thinking", facts.has_thinking},
                      {"reads", Array(reads.begin(), reads.end())}});
}

// What the template can do; of several, each under its name.
JsonValue describe_templates(const Metadata& meta) {
  const ChatTemplates templates(meta);
  if (templates.is_empty()) return "none";
  const auto names = templates.names();
  if (names.size() == 1) return describe_template(templates, names[0]);
  Object out;
  for (const std::string& name : names)
    out[name] = describe_template(templates, name);
  return out;
}

struct HeadCounts {
  int heads = 0, kv_heads = 0, head_dim = 0;
};

HeadCounts heads_of(const GqaSpec& gqa) noexcept {
  return {gqa.n_heads, gqa.n_kv_heads, gqa.head_dim};
}

HeadCounts heads_of(const MlaSpec& mla) noexcept {
  return {mla.n_heads, 1, mla.nope_dim + mla.rope_dim};
}

HeadCounts heads_of(const DeltaSpec& delta) noexcept {
  return {delta.n_v_heads, delta.n_k_heads, delta.k_dim};
}

// A type's cache for one sequence, and the context that fits beside `weights` into `memory`, up to
// the model's own.
JsonValue describe_cache(const DecoderSpec& spec, KvType type, std::uint64_t weights,
                         std::uint64_t memory) {
  const auto cost_of = [&](int context) {
    return memory_cost(spec, {.k_type = type,
                              .v_type = type,
                              .max_seqs = 1,
                              .context = context,
                              .positions = context,
                              .max_batch_tokens = EngineOptions{}.prefill_chunk});
  };
  const auto fits = [&](int context) {
    const MemoryCost cost = cost_of(context);
    return weights + cost.fixed +
               cost.per_position * static_cast<std::uint64_t>(blocks_for(context)) * kBlockTokens <=
           memory;
  };
  int least = 0, most = spec.ctx_train;  // `least` fits, or is 0
  while (least < most) {
    const int middle = most - (most - least) / 2;
    if (fits(middle)) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  const MemoryCost cost = cost_of(spec.ctx_train);
  return json_object({{"bytes_per_token", cost.per_position},
                      {"fixed_bytes", cost.fixed},
                      {"context_in_memory", least}});
}

bool is_whole(const KvShape& shape, int granule) noexcept {
  return shape.k_dim % granule == 0 && shape.v_dim % granule == 0;
}

bool is_whole(const StateShape&, int) noexcept {
  return true;
}

// Whether heads are as wide as a cache of this type wants them.
bool can_hold(const DecoderSpec& spec, KvType type) noexcept {
  return std::all_of(spec.blocks.begin(), spec.blocks.end(), [type](const BlockSpec& block) {
    const int granule = kv_granule(type);
    return std::visit([granule](const auto& shape) noexcept { return is_whole(shape, granule); },
                      memory_shape(block));
  });
}

JsonValue describe_caches(const DecoderSpec& spec, std::uint64_t weights, std::uint64_t memory) {
  Object out;
  for (const KvType type : kKvTypes) {
    if (spec.encoder && type != fitted({}, spec).k_type) continue;
    if (!can_hold(spec, type)) continue;
    out[std::string(name(type))] = describe_cache(spec, type, weights, memory);
  }
  return out;
}

}  // namespace

Result<Object> describe(const ModelFile& file, std::uint64_t memory_bytes) {
  const Metadata& meta = file.metadata();
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const DecoderSpec spec, arch->spec(file));
  std::map<std::string_view, std::uint64_t> types;
  std::uint64_t parameters = 0;
  for (const TensorView& tensor : file.tensors()) {
    const auto& dims = tensor.shape.dim;
    std::uint64_t n = 1;  // no overflow: format has checked the tensor's size
    for (const std::int64_t dim : dims)
      n *= static_cast<std::uint64_t>(dim);
    parameters += n;
    types[dtype_info(tensor.type).name] += n;
  }
  WICK_TRY(const PartBytes parts, part_bytes(file, *arch));
  const std::uint64_t weights =
      parts.embedding + parts.mixers + parts.feed_forwards + parts.head;
  const EngineOptions options = fitted({}, spec);
  Object mix;
  for (const auto& [type, n] : types)
    mix[type] = n;
  const HeadCounts first =
      std::visit([](const auto& mixer) { return heads_of(mixer); }, spec.blocks.front().mixer);
  return json_object(
      {{"name", meta.string("general.name").value_or("")},
       {"architecture", arch->gguf_name},
       {"parameters", parameters},
       {"kind", spec.encoder ? "encoder" : "decoder"},
       {"license", meta.string("general.license").value_or("")},
       {"bytes", file.bytes()},
       {"types", mix},
       {"parts", json_object({{"embedding", parts.embedding},
                              {"mixers", parts.mixers},
                              {"feed_forwards", parts.feed_forwards},
                              {"head", parts.head}})},
       {"context", spec.ctx_train},
       {"layers", spec.blocks.size()},
       {"d_model", spec.d_model},
       {"heads", first.heads},
       {"kv_heads", first.kv_heads},
       {"head_dim", first.head_dim},
       {"vocabulary", spec.vocab},
       {"kv_bytes_per_token", kv_bytes_per_position(spec, options.k_type, options.v_type)},
       {"cache", describe_caches(spec, weights, memory_bytes)},
       {"memory", memory_bytes},
       {"tokenizer", meta.string("tokenizer.ggml.model").value_or("tokenizer.json")},
       {"chat_template", describe_templates(meta)}});
}

}  // namespace wick
