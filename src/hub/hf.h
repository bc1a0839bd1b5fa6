// The Hugging Face hub, and its cache on this machine: selects the files of a repository that form
// a model, and finds them. Never writes. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick {

// "hf:org/repo", "hf:org/repo:Q4_K_M", "hf:org/repo:folder/file.gguf".
struct HubRef {
  std::string repo = {};  // "org/repo"
  std::string rest = {};  // file or quant; empty: the best one there

  bool is_file() const noexcept {
    return rest.ends_with(".gguf") || rest.ends_with(".safetensors") ||
           rest.find('/') != std::string::npos;
  }
};

// kInvalid for anything that could leave the repository.
Result<HubRef> parse_hub_ref(std::string_view spec);

struct HubFile {
  std::string path = {};  // in the repository
  std::uint64_t bytes = 0;
  std::string sha256 = {};              // empty: the hub does not say
  std::filesystem::path local = {};     // of a file in the cache: its blob …
  std::filesystem::path snapshot = {};  // … and the folder that `path` is relative to
};

// Address and token of the hub: HF_ENDPOINT (default https://huggingface.co) and HF_TOKEN, which is
// sent to that origin only.
struct HubAccess {
  std::string base = {};
  std::vector<std::string> headers = {};
};

HubAccess hub_access();
std::string file_url(const HubAccess& access, const HubRef& ref, const HubFile& file);

// The answer of /api/models/REPO/tree/main?recursive=true.
Result<std::vector<HubFile>> parse_hub_list(std::string_view text);
Result<std::vector<HubFile>> list_hub_files(const HubAccess& access, const HubRef& ref,
                                            const std::stop_token& stop);
// The files of the newest snapshot (refs/main) in the Hugging Face cache; empty when there is none.
std::vector<HubFile> list_cached_files(const HubRef& ref);
std::filesystem::path hub_cache_folder();

// The files of the wanted model in a repository, the first part first: the named file; the GGUF
// whose name holds the quant (default Q4_K_M, Q4_K_S, Q4_0, Q4_1, Q5_K_M, Q8_0, then the only one);
// all parts of a split; without GGUF the safetensors with config.json and tokenizer. kNotFound
// lists the candidates.
Result<std::vector<HubFile>> pick_files(std::span<const HubFile> files, const HubRef& ref);

// 2 of 3 for "x-00002-of-00003.gguf"; 0 of 0 for a file that is no part.
struct SplitPart {
  int part = 0, n_parts = 0;
  std::string stem = {};  // "x"
};

SplitPart split_part(std::string_view file_name);

}  // namespace wick
