#include "hub/store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "base/nearest.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "hub/checked_json.h"
#include "hub/durable.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 1000;        // of one model
constexpr std::size_t kMaxSourceBytes = 9000;  // a URL of the longest kind
constexpr std::size_t kReadBytes = 1 << 20;    // at a time, to hash them
constexpr std::string_view kRecordEnd = ".json";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<fs::path> default_root() {
  if (std::string home = environment("WICK_HOME"); !home.empty()) return fs::path(home);
  if (std::string data = environment("XDG_DATA_HOME"); !data.empty() && data[0] == '/') {
    return fs::path(data) / "wick";
  }
  if (std::string home = environment("HOME"); !home.empty()) {
    return fs::path(home) / ".local/share/wick";
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "no_home",
               .message = "there is no place for models: neither WICK_HOME nor HOME is set",
               .hint = "set WICK_HOME to a folder"};
}

Error damaged(std::string_view name, std::string_view why) {
  return {.code = ErrorCode::kCorrupt,
          .id = "damaged_record",
          .message = cat("the record of model '", printable(name), "' is damaged: ", why),
          .hint = cat("remove it with: wick model rm ", printable(name))};
}

Error bad_name(std::string_view name) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_model_name",
          .message = cat("'", printable(name), "' cannot be a model's name"),
          .hint = "names are up to 100 of a-z 0-9 . _ - and start with a letter or digit"};
}

std::optional<StoredFile> parse_file(const nlohmann::json& entry) {
  const auto file_name = json_text(entry, "name");
  const auto sha256 = json_text(entry, "sha256");
  const auto bytes = json_count(entry, "bytes");
  if (!file_name || !sha256 || !bytes) return std::nullopt;
  if (!is_file_name(*file_name) || !is_sha256_hex(*sha256)) return std::nullopt;
  return StoredFile{.name = *file_name, .sha256 = *sha256, .bytes = *bytes};
}

Result<StoredModel> parse_record(std::string_view name, std::string_view text) {
  const auto json = parse_checked_json(text, "it");
  if (!json) return damaged(name, json.error().message);
  StoredModel model{.name = std::string(name)};
  if (json_text(*json, "name") != model.name) return damaged(name, "it names another model");
  const auto source = json_text(*json, "source");
  if (!source || source->size() > kMaxSourceBytes) return damaged(name, "it names no source");
  model.source = *source;
  const auto files = json->find("files");
  if (files == json->end() || !files->is_array() || files->empty() || files->size() > kMaxFiles) {
    return damaged(name, "it lists no files");
  }
  std::set<std::string> names;
  for (const nlohmann::json& entry : *files) {
    auto file = parse_file(entry);
    if (!file) return damaged(name, "an entry of its files lacks a proper name, sha256 or size");
    if (!names.insert(file->name).second) {
      return damaged(name, cat("it lists ", file->name, " twice"));
    }
    model.files.push_back(std::move(*file));
  }
  return model;
}

std::string record_text(const StoredModel& model) {
  nlohmann::json files = nlohmann::json::array();
  for (const StoredFile& file : model.files) {
    files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  }
  const nlohmann::json json = {{"name", model.name}, {"source", model.source}, {"files", files}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<FileLock> lock_store(const fs::path& root) {
  return FileLock::acquire(root / "locks" / "store.lock", {}, {});
}

bool is_folder_model(const StoredModel& model) {
  return std::any_of(model.files.begin(), model.files.end(),
                     [](const StoredFile& file) { return file.name == "config.json"; });
}

Error missing_blob(const StoredModel& model, const StoredFile& file) {
  return {.code = ErrorCode::kNotFound,
          .id = "blob_missing",
          .message = cat("model '", model.name, "': the file ", file.name,
                         " is not in the store (wanted ", file.bytes, " bytes)"),
          .hint = "fetch it again with: wick model pull NAME"};
}

}  // namespace

bool is_model_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > 100) return false;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!is_plain && c != '.' && c != '_' && c != '-') return false;
  }
  return text[0] != '.' && text[0] != '_' && text[0] != '-';
}

bool is_file_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > 200) return false;
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e || c == '/' || c == '\\') return false;
  }
  return text[0] != '.' && text[0] != '-';
}

Result<Store> Store::open(const fs::path& root) {
  fs::path place = root;
  if (place.empty()) {
    WICK_TRY(place, default_root());
  }
  std::error_code code;
  place = fs::absolute(place, code);
  if (code) return file_error(root, "find", code.value());
  for (const char* folder : {"blobs", "models", "links", "locks", "tmp"}) {
    fs::create_directories(place / folder, code);
    if (code) return file_error(place / folder, "create", code.value());
  }
  return Store(std::move(place));
}

fs::path Store::blob_path(std::string_view sha256) const {
  return root_ / "blobs" / cat("sha256-", sha256);
}

fs::path Store::record_path(std::string_view name) const {
  return root_ / "models" / cat(name, kRecordEnd);
}

Result<StoredModel> Store::read_record(std::string_view name) const {
  auto text = read_small_file(record_path(name), kMaxRecordBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::move(text).error();
  if (!text) return damaged(name, text.error().message);
  return parse_record(name, *text);
}

Result<std::vector<StoredModel>> Store::list() const {
  std::error_code code;
  std::vector<StoredModel> models;
  fs::directory_iterator entries(root_ / "models", code);
  for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
    const std::string file = entries->path().filename().string();
    if (file.size() <= kRecordEnd.size() || !file.ends_with(kRecordEnd)) continue;
    std::string name = file.substr(0, file.size() - kRecordEnd.size());
    if (!is_model_name(name)) {
      models.push_back({.name = printable(name), .damage = "its name is not a model's name"});
      continue;
    }
    auto model = read_record(name);
    if (model) {
      models.push_back(*std::move(model));
    } else if (model.error().code != ErrorCode::kNotFound) {  // else: removed just now
      models.push_back({.name = std::move(name), .damage = model.error().message});
    }
  }
  if (code) return file_error(root_ / "models", "list", code.value());
  std::sort(models.begin(), models.end(),
            [](const StoredModel& a, const StoredModel& b) { return a.name < b.name; });
  return models;
}

Result<StoredModel> Store::find(std::string_view name) const {
  if (is_model_name(name)) {
    auto model = read_record(name);
    if (model || model.error().code != ErrorCode::kNotFound) return model;
  }
  WICK_TRY(const std::vector<StoredModel> models, list());
  std::vector<std::string> names;
  for (const StoredModel& model : models)
    names.push_back(model.name);
  const std::string near = nearest_names(name, names);
  return Error{.code = ErrorCode::kNotFound,
               .id = "no_such_model",
               .message = cat("there is no model '", printable(name), "' in the store"),
               .hint = near.empty() ? "see: wick model list" : cat("did you mean: ", near)};
}

fs::path Store::path_of(const StoredModel& model) const {
  if (model.files.empty()) return {};
  if (model.files.size() == 1) return blob_path(model.files[0].sha256);
  const fs::path folder = root_ / "links" / model.name;
  return is_folder_model(model) ? folder : folder / model.files[0].name;
}

bool Store::is_whole(const StoredModel& model) const {
  return !model.files.empty() &&
         std::all_of(model.files.begin(), model.files.end(), [&](const StoredFile& file) {
           const auto bytes = regular_file_size(blob_path(file.sha256));
           return bytes && *bytes == file.bytes;
         });
}

Result<void> Store::verify(
    const StoredModel& model,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) const {
  std::uint64_t all = 0, before = 0;
  for (const StoredFile& file : model.files)
    all += file.bytes;
  for (const StoredFile& file : model.files) {
    const fs::path path = blob_path(file.sha256);
    if (!regular_file_size(path)) return missing_blob(model, file);
    WICK_TRY(const std::string seen, sha256_file(path, [&](std::uint64_t done, std::uint64_t) {
               if (progress) progress(before + done, all);
             }));
    if (seen != file.sha256) {
      return Error{
          .code = ErrorCode::kCorrupt,
          .id = "hash_mismatch",
          .message = cat("model '", model.name, "': ", file.name, " (", printable(path.string()),
                         ") has SHA-256 ", seen, ", wanted ", file.sha256),
          .hint = cat("wick model rm ", model.name, ", then pull it again")};
    }
    before += file.bytes;
  }
  return {};
}

Result<void> Store::link_files(const StoredModel& model) const {
  const fs::path folder = root_ / "links" / model.name;
  std::error_code code;
  fs::remove_all(folder, code);  // of an older record; never follows links
  if (!code && model.files.size() > 1) fs::create_directory(folder, code);
  for (const StoredFile& file : model.files) {
    if (code || model.files.size() == 1) break;
    const fs::path target = fs::path("../../blobs") / cat("sha256-", file.sha256);
    fs::create_symlink(target, folder / file.name, code);
  }
  if (code) return file_error(folder, "link files in", code.value());
  return {};
}

Result<void> Store::add(const StoredModel& model) {
  if (!is_model_name(model.name)) return bad_name(model.name);
  // Whatever is written must read back: the reader's rules are the only ones.
  const std::string text = record_text(model);
  WICK_DO(parse_record(model.name, text));
  WICK_TRY(const FileLock lock, lock_store(root_));
  for (const StoredFile& file : model.files) {
    const auto bytes = regular_file_size(blob_path(file.sha256));
    if (!bytes || *bytes != file.bytes) return missing_blob(model, file);
  }
  WICK_DO(link_files(model));
  return write_small_file(record_path(model.name), text);
}

Result<void> Store::remove(std::string_view name) {
  WICK_TRY(const FileLock lock, lock_store(root_));
  const auto found = find(name);
  if (!found && found.error().code == ErrorCode::kNotFound) return found.error();
  const fs::path record = record_path(name);  // find accepted the name
  if (::unlink(record.c_str()) != 0) return file_error(record, "remove", errno);
  WICK_DO(sync_folder(record.parent_path()));
  std::error_code code;
  fs::remove_all(root_ / "links" / std::string(name), code);
  if (!found) return {};
  WICK_TRY(const std::vector<StoredModel> others, list());
  std::set<std::string> used;
  for (const StoredModel& other : others) {
    if (!other.damage.empty()) return {};
    for (const StoredFile& file : other.files)
      used.insert(file.sha256);
  }
  for (const StoredFile& file : found->files) {
    if (!used.contains(file.sha256)) ::unlink(blob_path(file.sha256).c_str());
  }
  return {};
}

Result<std::string> sha256_file(
    const std::filesystem::path& path,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) {
  WICK_TRY(const FileHandle file, open_for_reading(path));
  WICK_TRY(const std::uint64_t all, regular_file_size(path));
  WICK_DO(load_sha256());
  std::vector<std::byte> buffer(kReadBytes);
  Sha256 sum;
  std::uint64_t done = 0;
  while (true) {
    WICK_TRY(const std::size_t n, read_at(file, path, buffer, done));
    if (n == 0) return sum.hex();
    sum.add(std::span(buffer).first(n));
    done += n;
    if (progress) progress(done, all);
  }
}

}  // namespace wick
