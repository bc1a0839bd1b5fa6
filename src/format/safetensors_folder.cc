// A model as a folder: model.safetensors, or the shards that model.safetensors.index.json lists,
// with config.json and its siblings. File names from the index are plain names in the same folder;
// anything else is refused, so that a model cannot reach other files.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "format/hf_config.h"
#include "format/json_text.h"
#include "format/limits.h"
#include "format/safetensors.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";

using WeightMap = std::map<std::string, std::string>;  // tensor → file

std::string_view text_of(const MappedFile& file) noexcept {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool is_there(const fs::path& path) {
  std::error_code ignored;  // what cannot be seen is treated as absent
  return fs::exists(path, ignored);
}

bool is_plain_name(std::string_view name) noexcept {
  return name.ends_with(".safetensors") && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Result<MappedFile> map_json(const fs::path& path) {
  WICK_TRY(MappedFile file, MappedFile::open(path));
  if (file.bytes().size() > kMaxJsonFile) {
    return corrupt("json_too_large", cat(printable(path.string()), ": is ", file.bytes().size(),
                                         " bytes, wanted at most ", kMaxJsonFile));
  }
  return file;
}

Result<WeightMap> read_index(ModelParts& parts, const fs::path& path) {
  WICK_TRY(MappedFile mapped, map_json(path));
  const MappedFile& file = parts.files.emplace_back(std::move(mapped));
  WICK_TRY(const nlohmann::json index, parse_json_object(text_of(file), path.string()));
  const auto listed = index.find("weight_map");
  if (listed == index.end() || !listed->is_object() || listed->empty()) {
    return corrupt("bad_index", cat(printable(path.string()), ": weight_map is ",
                                    listed == index.end() ? "missing" : shown(*listed),
                                    ", wanted an object of tensor names and files"));
  }
  WeightMap map;
  for (const auto& [tensor, value] : listed->items()) {
    if (!value.is_string() || !is_plain_name(value.get_ref<const std::string&>())) {
      return corrupt("bad_index",
                     cat(printable(path.string()), ": tensor '", printable(tensor), "' is in ",
                         shown(value), ", wanted a .safetensors file of the same folder"));
    }
    map.emplace(tensor, value.get_ref<const std::string&>());
  }
  return map;
}

Result<void> append_shard(ModelParts& parts, const fs::path& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped && mapped.error().code == ErrorCode::kNotFound) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "missing_part",
                 .message = cat(printable(path.string()), ": is missing, a part of the model"),
                 .hint = "fetch the missing part into the same folder"};
  }
  WICK_TRY(MappedFile file, std::move(mapped));
  WICK_TRY(SafetensorsFile shard, parse_safetensors(file.bytes(), path.string()));
  parts.names.splice(parts.names.end(), shard.names);
  parts.tensors.insert(parts.tensors.end(), shard.tensors.begin(), shard.tensors.end());
  parts.files.push_back(std::move(file));
  return {};
}

Result<void> append_shards(ModelParts& parts, const fs::path& folder, const WeightMap& map) {
  std::set<std::string> shards;
  for (const auto& [tensor, file] : map)
    shards.insert(file);
  if (shards.size() > static_cast<std::size_t>(kMaxParts)) {
    return corrupt("too_many", cat(printable(folder.string()), ": the index names ", shards.size(),
                                   " files, at most ", kMaxParts, " are read"));
  }
  std::map<std::string_view, std::string_view> found;  // tensor → file
  for (const std::string& shard : shards) {
    const std::size_t first = parts.tensors.size();
    WICK_DO(append_shard(parts, folder / shard));
    for (std::size_t i = first; i < parts.tensors.size(); ++i) {
      found.emplace(parts.tensors[i].name, shard);
    }
  }
  for (const auto& [tensor, file] : map) {
    const auto at = found.find(tensor);
    if (at == found.end() || at->second != file) {
      return corrupt("missing_tensor",
                     cat(printable((folder / file).string()), ": tensor '", printable(tensor),
                         "' is not in this file, where ", kIndexName, " says that it is"));
    }
  }
  return {};
}

// Maps the file `name` of `folder` if there is one; its text stays valid as long as `parts`.
Result<std::optional<std::string_view>> text_beside(ModelParts& parts, const fs::path& folder,
                                                    const char* name) {
  if (!is_there(folder / name)) return std::optional<std::string_view>();
  WICK_TRY(MappedFile file, map_json(folder / name));
  const std::string_view text = text_of(file);
  parts.files.push_back(std::move(file));
  return std::optional(text);
}

// additional_chat_templates/NAME.jinja, by name.
Result<void> append_named_templates(ModelParts& parts, const fs::path& folder, HfTexts& texts) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder / "additional_chat_templates", ignored)) {
    if (entry.path().extension() == ".jinja") found.push_back(entry.path());
    if (found.size() > kMaxChatTemplates) {
      return corrupt("too_many_templates",
                     cat(printable(folder.string()), ": additional_chat_templates holds more than ",
                         kMaxChatTemplates, " templates"));
    }
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) {
    WICK_TRY(MappedFile file, map_json(path));
    texts.named_templates.emplace_back(path.stem().string(), text_of(file));
    parts.files.push_back(std::move(file));
  }
  return {};
}

Result<void> append_template_texts(ModelParts& parts, const fs::path& folder, HfTexts& texts) {
  WICK_TRY(texts.tokenizer_config, text_beside(parts, folder, "tokenizer_config.json"));
  WICK_TRY(texts.chat_template, text_beside(parts, folder, "chat_template.jinja"));
  WICK_TRY(texts.chat_template_json, text_beside(parts, folder, "chat_template.json"));
  return append_named_templates(parts, folder, texts);
}

Result<void> append_metadata(ModelParts& parts, const fs::path& folder,
                             std::span<const HfFamily> families) {
  HfTexts texts{.folder = folder.string(), .families = families};
  WICK_TRY(const auto config, text_beside(parts, folder, "config.json"));
  if (!config) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "missing_config",
                 .message = cat(printable(folder.string()),
                                ": has no config.json, which safetensors need beside them"),
                 .hint = "fetch config.json and tokenizer.json of the model into this folder"};
  }
  texts.config = *config;
  WICK_TRY(texts.generation_config, text_beside(parts, folder, "generation_config.json"));
  WICK_TRY(texts.tokenizer, text_beside(parts, folder, "tokenizer.json"));
  constexpr std::pair<std::string_view, const char*> kTokenizers[] = {
      {"tokenizer.huggingface.special_tokens", "special_tokens_map.json"},
      {"tokenizer.tekken.json", "tekken.json"},
      {"tokenizer.sentencepiece.model", "tokenizer.model"},
      {"tokenizer.tiktoken.model", "tiktoken.model"},
  };
  for (const auto& [key, file] : kTokenizers) {
    WICK_TRY(const auto bytes, text_beside(parts, folder, file));
    if (bytes) texts.tokenizers.emplace_back(key, *bytes);
  }
  WICK_TRY(texts.pooling, text_beside(parts, folder, "1_Pooling/config.json"));
  WICK_DO(append_template_texts(parts, folder, texts));
  WICK_TRY(parts.metadata, hf_metadata(texts));
  return {};
}

Error bad_modules(const fs::path& path, std::string_view what) {
  return Error{.code = ErrorCode::kUnsupported,
               .id = "unsupported_modules",
               .message = cat(printable(path.string()), ": ", what)};
}

// A dense layer after pooling: its one matrix, under GGUF's name.
Result<void> append_dense(ModelParts& parts, const fs::path& folder, int number) {
  const fs::path config_path = folder / "config.json";
  WICK_TRY(const MappedFile config, map_json(config_path));
  WICK_TRY(const nlohmann::json fields, parse_json_object(text_of(config), config_path.string()));
  const auto field = fields.find("activation_function");
  const bool is_text = field != fields.end() && field->is_string();
  const std::string act = is_text ? field->get<std::string>() : std::string();
  if (!act.ends_with("Identity")) {
    return bad_modules(config_path, cat("activation_function is '", printable(act),
                                        "', wick knows Identity after pooling"));
  }
  const std::size_t first = parts.tensors.size();
  WICK_DO(append_shard(parts, folder / kSingleName));
  for (std::size_t i = first; i < parts.tensors.size(); ++i) {
    if (parts.tensors[i].name != "linear.weight") {
      return bad_modules(folder, cat("has the tensor '", printable(parts.tensors[i].name),
                                     "', wick knows linear.weight alone"));
    }
    parts.names.push_back(cat("dense_", number, ".weight"));
    parts.tensors[i].name = parts.names.back();
  }
  return {};
}

// What sentence-transformers lists in modules.json: pooling and normalization are metadata and
// defaults, dense layers are weights.
Result<void> append_modules(ModelParts& parts, const fs::path& folder) {
  const fs::path path = folder / "modules.json";
  if (!is_there(path)) return {};
  WICK_TRY(const MappedFile file, map_json(path));
  const auto modules = nlohmann::json::parse(text_of(file), nullptr, false);
  if (!modules.is_array()) return bad_modules(path, "is no list of modules");
  int number = 2;  // of the first dense layer in GGUF
  for (const nlohmann::json& module : modules) {
    const bool is_module = module.is_object() && module.contains("type") &&
                           module["type"].is_string() && module.contains("path") &&
                           module["path"].is_string();
    if (!is_module) return bad_modules(path, "has an entry without path and type");
    const auto type = module["type"].get<std::string>();
    const auto name = module["path"].get<std::string>();
    const auto is_a = [&](std::string_view suffix) { return type.ends_with(suffix); };
    if (is_a(".Transformer") || is_a(".Pooling") || is_a(".Normalize")) continue;
    if (!is_a(".Dense") || name.empty() || name.find_first_of("/\\.") != std::string::npos) {
      return bad_modules(path, cat("has the module '", printable(type), "' in '", printable(name),
                                   "', wick knows Transformer, Pooling, Dense and Normalize"));
    }
    WICK_DO(append_dense(parts, folder / name, number++));
  }
  return {};
}

}  // namespace

Result<Metadata> read_chat_templates(const fs::path& path) {
  ModelParts parts;
  HfTexts texts{.folder = path.string()};
  Metadata out;
  if (path.extension() == ".jinja") {
    WICK_TRY(MappedFile file, map_json(path));
    out.set_string("tokenizer.chat_template", text_of(file));
    return out;
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    WICK_DO(append_template_texts(parts, path, texts));
  } else {
    WICK_TRY(MappedFile file, map_json(path));
    texts.folder = path.parent_path().string();
    texts.tokenizer_config = text_of(file);
    parts.files.push_back(std::move(file));
  }
  WICK_DO(hf_chat_templates(texts, out));
  return out;
}

Result<ModelParts> open_safetensors(const fs::path& path, std::span<const HfFamily> families) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path folder = is_folder ? path : path.parent_path();
  ModelParts parts;
  WeightMap map;
  if (is_there(folder / kIndexName)) {
    WICK_TRY(map, read_index(parts, folder / kIndexName));
  }
  const std::string file = path.filename().string();
  const bool is_listed =
      std::any_of(map.begin(), map.end(), [&](const auto& entry) { return entry.second == file; });
  if (is_listed || (is_folder && !map.empty())) {
    WICK_DO(append_shards(parts, folder, map));
  } else if (!is_folder) {
    WICK_DO(append_shard(parts, path));
  } else if (is_there(folder / kSingleName)) {
    WICK_DO(append_shard(parts, folder / kSingleName));
  } else {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "missing_weights",
                 .message = cat(printable(folder.string()), ": holds neither ", kSingleName,
                                " nor ", kIndexName),
                 .hint = "name a .gguf file, or the folder that holds the model's safetensors"};
  }
  WICK_DO(append_modules(parts, folder));
  WICK_DO(append_metadata(parts, folder, families));
  return parts;
}

Result<ModelParts> open_peft(const fs::path& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path folder = is_folder ? path : path.parent_path();
  const fs::path weights = is_folder ? path / "adapter_model.safetensors" : path;
  if (!is_there(weights)) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "no_adapter",
                 .message = cat(printable(folder.string()), ": has no adapter_model.safetensors"),
                 .hint = is_there(folder / "adapter_model.bin")
                             ? "save adapter_model.bin as safetensors: model.save_pretrained(…)"
                             : "a LoRA adapter is a .gguf file or a folder of PEFT's"};
  }
  ModelParts parts;
  WICK_DO(append_shard(parts, weights));
  WICK_TRY(const auto config, text_beside(parts, folder, "adapter_config.json"));
  if (!config) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "missing_config",
                 .message = cat(printable(folder.string()),
                                ": has no adapter_config.json, which has the adapter's scale"),
                 .hint = "fetch adapter_config.json of the adapter into this folder"};
  }
  parts.metadata.set_string("adapter.peft", *config);
  return parts;
}

}  // namespace wick
