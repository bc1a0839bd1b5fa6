#include "cli/model_info.h"

#include <map>

#include "base/strings.h"
#include "chat/template_facts.h"
#include "cli/report.h"
#include "local/chat_templates.h"
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

}  // namespace

Result<Object> describe(const ModelFile& file) {
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
  Object mix;
  for (const auto& [type, n] : types)
    mix[type] = n;
  const HeadCounts first =
      std::visit([](const auto& mixer) { return heads_of(mixer); }, spec.blocks.front().mixer);
  return json_object(
      {{"name", meta.string("general.name").value_or("")},
       {"architecture", arch->gguf_name},
       {"parameters", parameters},
       {"bytes", file.bytes()},
       {"types", mix},
       {"context", spec.ctx_train},
       {"layers", spec.blocks.size()},
       {"d_model", spec.d_model},
       {"heads", first.heads},
       {"kv_heads", first.kv_heads},
       {"head_dim", first.head_dim},
       {"vocabulary", spec.vocab},
       {"kv_bytes_per_token", kv_bytes_per_position(spec, KvType::kBF16, KvType::kBF16)},
       {"tokenizer", meta.string("tokenizer.ggml.model").value_or("tokenizer.json")},
       {"chat_template", describe_templates(meta)}});
}

}  // namespace wick
