#include <algorithm>
#include <array>
#include <map>

#include "base/strings.h"
#include "hub/hf.h"
#include "hub/store.h"

namespace wick {

namespace {

constexpr std::array<std::string_view, 6> kQuantsInOrder = {"Q4_K_M", "Q4_K_S", "Q4_0",
                                                            "Q4_1",   "Q5_K_M", "Q8_0"};
// What a folder model needs beside its weights; the first is what makes it one.
constexpr std::array<std::string_view, 8> kFolderFiles = {
    "config.json",           "generation_config.json",      "tokenizer.json",
    "tokenizer_config.json", "special_tokens_map.json",     "tokenizer.model",
    "chat_template.jinja",   "model.safetensors.index.json"};
constexpr std::size_t kShownChoices = 12;
constexpr std::size_t kDigits = 5;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// "Q4_0" is a word of "x-Q4_0.gguf", not of "x-Q4_0_4_4.gguf" nor of "x-IQ4_0.gguf".
bool holds_word(std::string_view text, std::string_view word) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto is_part = [&](char c) { return is_alnum(c) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_alnum(text[at - 1])) && (end == text.size() || !is_part(text[end]))) {
      return true;
    }
  }
  return false;
}

// Models alone: no vision projectors, no data files of the quantizer.
bool is_model_gguf(const HubFile& file) {
  const std::string path = ascii_lower(file.path);
  return path.ends_with(".gguf") && file_name(path).find("mmproj") == std::string_view::npos &&
         file_name(path).find("imatrix") == std::string_view::npos;
}

std::string choices(std::span<const HubFile> files) {
  std::string text;
  std::size_t n = 0;
  for (const HubFile& file : files) {
    if (!is_model_gguf(file) || split_part(file.path).part > 1) continue;
    if (++n > kShownChoices) return text + ", …";
    text += cat(n == 1 ? "" : ", ", printable(file_name(file.path)));
  }
  return text;
}

Error nothing_there(std::span<const HubFile> files, const HubRef& ref, std::string_view why) {
  const std::string there = choices(files);
  return {
      .code = ErrorCode::kNotFound,
      .id = "no_such_file",
      .message = cat("hf:", printable(ref.repo), " ", why),
      .hint = there.empty() ? "see the repository's page for its files" : cat("it has: ", there)};
}

// The parts of the split that `one` belongs to, or `one` alone.
Result<std::vector<HubFile>> with_all_parts(std::span<const HubFile> files, const HubFile& one,
                                            const HubRef& ref) {
  const SplitPart wanted = split_part(one.path);
  if (wanted.part == 0) return std::vector<HubFile>{one};
  std::map<int, HubFile> parts;
  for (const HubFile& file : files) {
    const SplitPart part = split_part(file.path);
    if (part.stem == wanted.stem && part.n_parts == wanted.n_parts) parts[part.part] = file;
  }
  if (parts.size() != static_cast<std::size_t>(wanted.n_parts)) {
    return nothing_there(
        files, ref,
        cat("holds ", parts.size(), " of the ", wanted.n_parts, " parts of ", printable(one.path)));
  }
  std::vector<HubFile> out;
  for (const auto& [number, file] : parts)
    out.push_back(file);
  return out;
}

const HubFile* find_quant(std::span<const HubFile> files, std::string_view quant) {
  const std::string word = ascii_lower(quant);
  for (const bool is_exact : {true, false}) {
    for (const HubFile& file : files) {
      if (!is_model_gguf(file)) continue;
      const std::string path = ascii_lower(file.path);
      if (is_exact ? holds_word(path, word) : path.find(word) != std::string::npos) return &file;
    }
  }
  return nullptr;
}

const HubFile* find_default(std::span<const HubFile> files) {
  for (const std::string_view quant : kQuantsInOrder) {
    const std::string word = ascii_lower(quant);
    for (const HubFile& file : files) {
      if (is_model_gguf(file) && holds_word(ascii_lower(file.path), word)) return &file;
    }
  }
  const HubFile* only = nullptr;
  for (const HubFile& file : files) {
    if (!is_model_gguf(file) || split_part(file.path).part > 1) continue;
    if (only != nullptr) return nullptr;
    only = &file;
  }
  return only;
}

Result<std::vector<HubFile>> pick_folder(std::span<const HubFile> files, const HubRef& ref) {
  std::vector<HubFile> out;
  const HubFile* weights = nullptr;
  for (const HubFile& file : files) {
    if (file.path == kFolderFiles[0]) {
      out.insert(out.begin(), file);
    } else if (std::find(kFolderFiles.begin(), kFolderFiles.end(), file.path) !=
               kFolderFiles.end()) {
      out.push_back(file);
    }
    const SplitPart part = split_part(file.path);
    const bool is_shard = part.part == 1 && part.stem == "model";
    if (file.path == "model.safetensors") weights = &file;  // rather than shards of the same
    if (is_shard && file.path.ends_with(".safetensors") && weights == nullptr) weights = &file;
  }
  const bool is_model = std::any_of(out.begin(), out.end(),
                                    [](const HubFile& file) { return file.path == "config.json"; });
  if (!is_model || weights == nullptr) {
    return nothing_there(files, ref, "holds neither a GGUF nor safetensors with config.json");
  }
  WICK_TRY(const std::vector<HubFile> parts, with_all_parts(files, *weights, ref));
  out.insert(out.end(), parts.begin(), parts.end());
  return out;
}

}  // namespace

SplitPart split_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  std::string_view text = name.substr(0, dot);
  constexpr std::string_view kOf = "-of-";
  constexpr std::size_t kTail = 1 + kDigits + kOf.size() + kDigits;  // "-00001-of-00003"
  if (text.size() <= kTail) return {};
  const std::string_view tail = text.substr(text.size() - kTail);
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = at; i < at + kDigits; ++i) {
      if (tail[i] < '0' || tail[i] > '9') return 0;
      value = value * 10 + (tail[i] - '0');
    }
    return value;
  };
  if (tail[0] != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf) return {};
  const int part = number(1), n_parts = number(kTail - kDigits);
  if (part < 1 || part > n_parts) return {};
  return {
      .part = part, .n_parts = n_parts, .stem = std::string(text.substr(0, text.size() - kTail))};
}

Result<std::vector<HubFile>> pick_files(std::span<const HubFile> files, const HubRef& ref) {
  if (ref.is_file()) {
    for (const HubFile& file : files) {
      if (file.path == ref.rest) return with_all_parts(files, file, ref);
    }
    return nothing_there(files, ref, cat("holds no file ", printable(ref.rest)));
  }
  const HubFile* found = ref.rest.empty() ? find_default(files) : find_quant(files, ref.rest);
  if (found != nullptr) return with_all_parts(files, *found, ref);
  if (!ref.rest.empty()) {
    return nothing_there(files, ref, cat("holds no GGUF of ", printable(ref.rest)));
  }
  const bool is_gguf = std::any_of(files.begin(), files.end(), is_model_gguf);
  if (is_gguf) return nothing_there(files, ref, "holds several GGUF files; name one");
  return pick_folder(files, ref);
}

}  // namespace wick
