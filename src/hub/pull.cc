#include "hub/pull.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "hub/durable.h"
#include "hub/part.h"
#include "hub/sources.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

// What a pull is asked for, once the name is understood.
struct PullSources {
  std::string name = {};  // of the model in the store; empty: derived from the source
  std::vector<CatalogSource> sources = {};
};

Error unknown_name(const Store& store, std::string_view what) {
  std::vector<std::string> names;
  for (const CatalogRow& row : catalog())
    names.emplace_back(row.name);
  if (const auto models = store.list()) {
    for (const StoredModel& model : *models)
      names.push_back(model.name);
  }
  const std::string near = nearest_names(what, names);
  return {.code = ErrorCode::kNotFound,
          .id = "no_such_model",
          .message = cat("there is no model '", printable(what), "' here or in the catalog"),
          .hint = near.empty() ? "see: wick model list, or name a file, hf:ORG/REPO or a URL"
                               : cat("did you mean: ", near)};
}

// A model name out of a file's or repository's name: "Llama-3.2-1B-Q4_K_M.gguf" →
// "llama-3.2-1b-q4_k_m".
std::string model_name(std::string_view title) {
  std::string text(title);
  if (const SplitPart part = split_part(title); part.part != 0) text = part.stem;
  for (const std::string_view end : {".gguf", ".safetensors"}) {
    if (text.ends_with(end)) text.erase(text.size() - end.size());
  }
  std::string name;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    const bool is_start = name.empty() && (c == '.' || c == '_' || c == '-');
    if (!is_start) name += is_plain ? c : '-';
  }
  name.resize(std::min<std::size_t>(name.size(), 80));
  return is_model_name(name) ? name : cat("model-", sha256_text(title).substr(0, 8));
}

// Another model of that name keeps it.
std::string free_name(const Store& store, const Fetched& fetched) {
  std::string name = model_name(fetched.title);
  const auto other = store.find(name);
  const bool is_other = other && other->source != fetched.source;
  if (find_catalog(name) == nullptr && !is_other) return name;
  return cat(name, "-", sha256_text(fetched.source).substr(0, 8));
}

Result<PullSources> find_sources(const Store& store, std::string_view what) {
  if (const CatalogRow* row = find_catalog(what)) {
    return PullSources{.name = std::string(row->name),
                       .sources = {row->sources.begin(), row->sources.end()}};
  }
  if (is_source_spec(what)) return PullSources{.sources = {{.spec = what, .sha256 = ""}}};
  const auto stored = store.find(what);
  if (!stored && stored.error().code != ErrorCode::kNotFound) return stored.error();
  if (!stored) return unknown_name(store, what);
  return PullSources{.name = stored->name, .sources = {}};
}

// The model when all of it is here.
Result<StoredModel> already_here(const Store& store, const PullSources& pull_sources) {
  if (!pull_sources.name.empty()) {
    WICK_TRY(StoredModel model, store.find(pull_sources.name));
    if (store.is_whole(model)) return model;
  } else {
    WICK_TRY(const std::vector<StoredModel> models, store.list());
    const StoredModel* model = find_by_source(models, pull_sources.sources[0].spec);
    if (model != nullptr && store.is_whole(*model)) return *model;
  }
  return Error{.code = ErrorCode::kNotFound, .id = "not_here", .message = "not in the store"};
}

Result<StoredModel> record(Store& store, const PullSources& pull_sources, Fetched fetched) {
  StoredModel model{
      .name = pull_sources.name.empty() ? free_name(store, fetched) : pull_sources.name,
      .source = std::move(fetched.source),
      .files = std::move(fetched.files)};
  WICK_DO(store.add(model));
  drop_finished_parts(store.root() / "blobs", model.files);
  return model;
}

bool is_final(const Error& error) {  // another source cannot help
  return error.code == ErrorCode::kCancelled || error.code == ErrorCode::kIo ||
         error.code == ErrorCode::kNoMemory;
}

Result<StoredModel> try_sources(Store& store, const PullSources& pull_sources,
                                const PullOptions& options) {
  std::string reasons;
  for (std::size_t i = 0; i < pull_sources.sources.size(); ++i) {
    const CatalogSource& source = pull_sources.sources[i];
    auto fetched = fetch_source(store, source.spec, source.sha256, options);
    if (fetched) return record(store, pull_sources, *std::move(fetched));
    if (is_final(fetched.error())) return std::move(fetched).error();
    if (pull_sources.sources.size() == 1) {
      Error error = std::move(fetched).error();
      if (error.code == ErrorCode::kUnavailable && error.hint.empty()) {
        error.hint = "without a network a file will do: wick chat ./model.gguf";
      }
      return error;
    }
    const std::string reason =
        cat("not from ", source_label(source.spec), " (", fetched.error().message, ")");
    if (options.note && i + 1 < pull_sources.sources.size()) {
      options.note(cat(reason, "; trying ", source_label(pull_sources.sources[i + 1].spec)));
    }
    reasons += cat(i == 0 ? "" : ", ", reason);
  }
  return Error{.code = ErrorCode::kUnavailable,
               .id = "no_source",
               .message = cat(pull_sources.name, " could not be fetched: ", reasons),
               .hint = "without a network a file will do: wick chat ./model.gguf"};
}

}  // namespace

Result<StoredModel> pull(Store& store, std::string_view what, const PullOptions& options) {
  WICK_DO(load_sha256());
  WICK_TRY(PullSources pull_sources, find_sources(store, what));
  if (auto model = already_here(store, pull_sources)) {
    drop_finished_parts(store.root() / "blobs", model->files);  // killed just before it could
    return model;
  }
  const std::string key = cat("pull-", sha256_text(what).substr(0, 32), ".lock");
  const auto on_wait = [&](std::string_view owner) {
    if (options.note) options.note(cat(owner, " is pulling it already; waiting"));
  };
  WICK_TRY(const FileLock lock,
           FileLock::acquire(store.root() / "locks" / key, options.stop, on_wait));
  if (auto model = already_here(store, pull_sources)) return model;
  std::string origin;
  if (pull_sources.sources.empty()) {  // a stored model that lacks files: from where it came
    WICK_TRY(const StoredModel stored, store.find(pull_sources.name));
    origin = stored.source;
    pull_sources.sources.push_back({.spec = origin, .sha256 = ""});
  }
  return try_sources(store, pull_sources, options);
}

namespace {

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".gguf") ||
         text.ends_with(".safetensors");
}

// A folder counts as a model only when it is named as a path or holds one, so that a folder that
// happens to be called like a model does not hide it.
bool is_local(const fs::path& path, std::string_view text) {
  std::error_code code;
  if (fs::is_regular_file(path, code)) return true;
  if (!fs::is_directory(path, code)) return false;
  return looks_like_path(text) || fs::exists(path / "config.json", code);
}

// In the Hugging Face cache: the first GGUF part, or the folder that holds config.json.
fs::path cached_path(std::string_view spec, std::string_view sha256) {
  const auto ref = parse_hub_ref(spec);
  if (!ref) return {};
  const std::vector<HubFile> there = list_cached_files(*ref);
  const auto files = pick_files(there, *ref);
  if (!files || (!sha256.empty() && files->front().sha256 != sha256)) return {};
  return files->front().path == "config.json" ? files->front().snapshot
                                              : files->front().snapshot / files->front().path;
}

Error not_here(std::string_view model) {
  return {.code = ErrorCode::kNotFound,
          .id = "not_here",
          .message = cat(printable(model), " is not on this machine"),
          .hint = cat("fetch it with: wick model pull ", printable(model))};
}

}  // namespace

Result<Located> locate(const Store& store, std::string_view model) {
  const bool is_path = model.find('\0') == std::string_view::npos && !model.empty();
  if (is_path && is_local(fs::path(model), model)) return Located{.path = fs::path(model)};
  if (is_source_spec(model)) {
    WICK_TRY(const std::vector<StoredModel> models, store.list());
    const StoredModel* stored = find_by_source(models, model);
    if (stored != nullptr && store.is_whole(*stored)) {
      return Located{.path = store.path_of(*stored)};
    }
    fs::path cached = cached_path(model, "");
    if (cached.empty()) return not_here(model);
    return Located{.path = std::move(cached)};
  }
  const CatalogRow* row = find_catalog(model);
  const auto stored = store.find(model);
  if (stored && store.is_whole(*stored)) {
    return Located{.path = store.path_of(*stored), .row = row};
  }
  if (row != nullptr) {
    for (const CatalogSource& source : row->sources) {
      fs::path cached = cached_path(source.spec, source.sha256);
      if (!cached.empty()) return Located{.path = std::move(cached), .row = row};
    }
    return Located{.row = row};
  }
  if (stored) return not_here(model);  // the record is, files of it are not
  if (stored.error().code != ErrorCode::kNotFound) return stored.error();
  if (looks_like_path(model)) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "file_not_found",
                 .message = cat("there is no file ", printable(model)),
                 .hint = "see what is here: wick model list"};
  }
  return unknown_name(store, model);
}

}  // namespace wick
