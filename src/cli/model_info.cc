#include "cli/model_info.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "chat/chat_template.h"
#include "cli/json_out.h"
#include "model/kv_cache.h"
#include "model/spec.h"

namespace wick {

namespace {

Value count(std::uint64_t n) {
  return Value(static_cast<std::int64_t>(n));
}

// What a template reads tells what it can do.
Value template_facts(const Metadata& meta) {
  const auto text = meta.string("tokenizer.chat_template");
  if (!text) return "none";
  const auto tmpl = ChatTemplate::parse(*text);
  if (!tmpl) return cat("not understood: ", to_string(tmpl.error()));
  const auto& names = tmpl->variables();
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return json_object({{"tools", has("tools")},
                      {"thinking", has("enable_thinking")},
                      {"reads", Array(names.begin(), names.end())}});
}

}  // namespace

Result<Value> describe(const ModelFile& file) {
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
    mix[type] = count(n);
  const auto& first = std::get<GqaSpec>(spec.blocks.front().mixer);
  return json_object(
      {{"name", meta.string("general.name").value_or("")},
       {"architecture", arch->gguf_name},
       {"parameters", count(parameters)},
       {"bytes", count(file.bytes())},
       {"types", mix},
       {"context", spec.ctx_train},
       {"layers", count(spec.blocks.size())},
       {"d_model", spec.d_model},
       {"heads", first.n_heads},
       {"kv_heads", first.n_kv_heads},
       {"head_dim", first.head_dim},
       {"vocabulary", spec.vocab},
       {"kv_bytes_per_token", count(kv_bytes_per_position(spec, KvType::kBF16, KvType::kBF16))},
       {"tokenizer", meta.string("tokenizer.ggml.model").value_or("tokenizer.json")},
       {"chat_template", template_facts(meta)}});
}

}  // namespace wick
