#include "hub/hf.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/sha256.h"
#include "base/strings.h"
#include "hub/checked_json.h"
#include "hub/durable.h"
#include "hub/store.h"
#include "net/http.h"
#include "net/url.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxListBytes = 8 << 20;
constexpr std::size_t kMaxListFiles = 20000;
constexpr int kMaxCacheDepth = 4;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_repo_word(std::string_view text) {
  if (text.empty() || text.size() > 96 || text.find("..") != std::string_view::npos) return false;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return text[0] != '.' && text[0] != '-' && std::all_of(text.begin(), text.end(), is_plain);
}

// Of a repository: parts that may be names in the store, none of them a way upwards.
bool is_repo_path(std::string_view text) {
  if (text.size() > 500) return false;
  while (true) {
    const std::size_t slash = text.find('/');
    if (!is_file_name(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

}  // namespace

Result<HubRef> parse_hub_ref(std::string_view spec) {
  const auto refuse = [&] {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_hub_name",
                 .message = cat("'", printable(spec), "' does not name a model on the hub"),
                 .hint = "it looks like hf:ORG/REPO, hf:ORG/REPO:Q4_K_M or hf:ORG/REPO:FILE.gguf"};
  };
  if (!spec.starts_with("hf:")) return refuse();
  const std::string_view text = spec.substr(3);
  const std::size_t colon = text.find(':');
  const std::string_view repo = text.substr(0, colon);
  const std::size_t slash = repo.find('/');
  if (slash == std::string_view::npos) return refuse();
  if (!is_repo_word(repo.substr(0, slash)) || !is_repo_word(repo.substr(slash + 1))) {
    return refuse();
  }
  HubRef ref{.repo = std::string(repo)};
  if (colon != std::string_view::npos) {
    ref.rest = text.substr(colon + 1);
    if (!is_repo_path(ref.rest)) return refuse();
  }
  return ref;
}

HubAccess hub_access() {
  HubAccess access{.base = environment("HF_ENDPOINT")};
  if (access.base.empty()) access.base = "https://huggingface.co";
  while (access.base.ends_with('/'))
    access.base.pop_back();
  const std::string token = environment("HF_TOKEN");
  const bool is_plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!token.empty() && is_plain) access.headers = {cat("Authorization: Bearer ", token)};
  return access;
}

std::string file_url(const HubAccess& access, const HubRef& ref, const HubFile& file) {
  return cat(access.base, "/", ref.repo, "/resolve/main/", escape_path(file.path));
}

Result<std::vector<HubFile>> parse_hub_list(std::string_view text) {
  WICK_TRY(const nlohmann::json json, parse_checked_json(text, "the hub's list of files"));
  if (!json.is_array() || json.size() > kMaxListFiles) {
    return Error{
        .code = ErrorCode::kCorrupt,
        .id = "bad_hub_list",
        .message = cat("the hub's list of files is no array of up to ", kMaxListFiles, " entries")};
  }
  std::vector<HubFile> files;
  for (const nlohmann::json& entry : json) {
    const auto path = json_text(entry, "path");
    if (!path || !is_repo_path(*path) || json_text(entry, "type") != "file") continue;
    HubFile file{.path = *path, .bytes = json_count(entry, "size").value_or(0)};
    // Of a file in LFS the object's name is the SHA-256 of its bytes; of others it is git's.
    if (const auto lfs = entry.find("lfs"); lfs != entry.end()) {
      const auto oid = json_text(*lfs, "oid");
      if (oid && is_sha256_hex(*oid)) file.sha256 = *oid;
      file.bytes = json_count(*lfs, "size").value_or(file.bytes);
    }
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  return files;
}

Result<std::vector<HubFile>> list_hub_files(const HubAccess& access, const HubRef& ref,
                                            const std::stop_token& stop) {
  const HttpRequest request{
      .url = cat(access.base, "/api/models/", ref.repo, "/tree/main?recursive=true"),
      .headers = access.headers,
      .stop = stop};
  WICK_TRY(const std::string text, http_get_text(request, kMaxListBytes));
  return parse_hub_list(text);
}

fs::path hub_cache_folder() {
  if (std::string place = environment("HF_HUB_CACHE"); !place.empty()) return place;
  if (std::string place = environment("HF_HOME"); !place.empty()) return fs::path(place) / "hub";
  if (std::string place = environment("XDG_CACHE_HOME"); !place.empty()) {
    return fs::path(place) / "huggingface/hub";
  }
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache/huggingface/hub";
}

std::vector<HubFile> list_cached_files(const HubRef& ref) {
  const fs::path cache = hub_cache_folder();
  if (cache.empty()) return {};
  std::string folder = cat("models--", ref.repo);
  folder.replace(folder.find('/'), 1, "--");
  const auto revision = read_small_file(cache / folder / "refs/main", 200);
  if (!revision) return {};
  std::string name = *revision;
  while (!name.empty() && (name.back() == '\n' || name.back() == ' '))
    name.pop_back();
  if (!is_file_name(name)) return {};
  const fs::path snapshot = cache / folder / "snapshots" / name;
  std::vector<HubFile> files;
  std::error_code code;
  fs::recursive_directory_iterator entries(snapshot, code);
  while (!code && entries != fs::recursive_directory_iterator() && files.size() < kMaxListFiles) {
    std::error_code gone;
    HubFile file{.path = entries->path().lexically_relative(snapshot).generic_string(),
                 .snapshot = snapshot};
    const bool is_file = entries->is_regular_file(gone);  // follows the cache's links
    if (is_file && !gone && is_repo_path(file.path)) {
      file.local = fs::canonical(entries->path(), gone);
      file.bytes = gone ? 0 : fs::file_size(file.local, gone);
      // The cache names what came from LFS by its SHA-256.
      const std::string blob = file.local.filename().string();
      if (is_sha256_hex(blob)) file.sha256 = blob;
      if (!gone) files.push_back(std::move(file));
    }
    if (entries.depth() >= kMaxCacheDepth) entries.disable_recursion_pending();
    entries.increment(code);
  }
  std::sort(files.begin(), files.end(),
            [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace wick
