// Problem: bring `total` bytes to the disk so that a stop at any moment loses at most the piece
// being fetched, and never lets a bad byte pass for a good one.
//
// Idea: go through the pieces in order. A recorded piece is read back and hashed; if it is as
// recorded, it counts. The rest is fetched as gaps: one request from the first missing byte to the
// next recorded piece. A finished piece is flushed to the disk, then its hash is recorded, in this
// order. Both passes feed one running hash of the whole file, so that no second pass is needed.
//
// Invariant: at_ is the length of the prefix that is on the disk as hashed into whole_; piece_ is
// the hash of the unfinished piece's bytes before at_. After kill -9 only the record speaks.
#include "hub/download.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "base/sha256.h"
#include "base/strings.h"
#include "hub/durable.h"
#include "hub/part.h"
#include "net/http.h"
#include "net/url.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = 1 << 20;
constexpr int kMaxTriesWithoutProgress = 4;
constexpr int kMaxRestarts = 3;  // a server that changes its file all the time is given up on

bool is_strong(std::string_view etag) {
  return etag.size() > 2 && etag.front() == '"' && etag.back() == '"';
}

class Download {
 public:
  Download(const DownloadRequest& request, const Store& store, fs::path part, fs::path record_path,
           std::string plain_url)
      : request_(request),
        store_(store),
        part_(std::move(part)),
        record_path_(std::move(record_path)),
        url_(std::move(plain_url)) {}

  Result<StoredFile> run();  // a failure leaves what can be resumed, and nothing else

 private:
  bool is_resumable() const;
  Result<void> fetch_all();
  Result<void> take_recorded();
  Result<bool> check_piece(std::size_t i);
  Result<void> fetch_gap();
  Error gap_error(Result<HttpResponse> answer);
  bool on_head(const HttpResponse& response);
  bool on_body(std::span<const std::byte> bytes);
  Result<void> accept_head(const HttpResponse& response);
  Result<void> begin_anew(const HttpResponse& response);
  Result<void> store_bytes(std::span<const std::byte> bytes);
  Result<void> finish_piece(std::size_t i);
  Result<void> check_room() const;
  Result<StoredFile> finish();
  void forget();
  void report(bool is_checking) const;

  std::size_t piece_at(std::uint64_t at) const {
    return static_cast<std::size_t>(at / record_.piece_bytes);
  }

  std::uint64_t gap_end() const;

  const DownloadRequest& request_;
  const Store& store_;
  fs::path part_, record_path_;
  std::string url_;
  FileHandle file_ = {};
  PartRecord record_ = {};
  bool is_known_ = false;  // size and pieces are known, from a record or an answer
  std::uint64_t at_ = 0;
  std::uint64_t fetched_ = 0;  // bytes received by this process
  Sha256 whole_ = {}, piece_ = {};
  int restarts_ = 0;
  bool is_ranged_ = false;             // the request under way asks for a part
  bool is_restart_wanted_ = false;     // the resource changed: ask for all of it
  std::optional<Error> failure_ = {};  // what made a sink end the request
};

void Download::report(bool is_checking) const {
  if (request_.progress) request_.progress(at_, is_known_ ? record_.total : 0, is_checking);
}

void Download::forget() {
  ::unlink(record_path_.c_str());
  ::unlink(part_.c_str());
}

// Recorded pieces may be completed only by bytes of the same file: by a strong ETag of the same
// URL, or because the hash of the whole decides in the end.
bool Download::is_resumable() const {
  if (!request_.sha256.empty()) return true;
  return record_.url == url_ && is_strong(record_.etag);
}

std::uint64_t Download::gap_end() const {
  std::size_t i = piece_at(at_);
  while (i < record_.pieces.size() && record_.pieces[i].empty())
    ++i;
  return i < record_.pieces.size() ? record_.piece_begin(i) : record_.total;
}

// True when piece `i` on the disk is as recorded; then it is part of the prefix.
Result<bool> Download::check_piece(std::size_t i) {
  std::vector<std::byte> buffer(kReadBytes);
  Sha256 whole = whole_;
  Sha256 piece;
  const std::uint64_t end = record_.piece_end(i);
  for (std::uint64_t at = record_.piece_begin(i); at < end;) {
    if (request_.stop.stop_requested()) {
      return Error{.code = ErrorCode::kCancelled, .id = "cancelled", .message = "stopped"};
    }
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, kReadBytes));
    const auto bytes = std::span(buffer).first(wanted);
    WICK_TRY(const std::size_t n, read_at(file_, part_, bytes, at));
    if (n != wanted) return false;
    whole.add(bytes);
    piece.add(bytes);
    at += n;
  }
  if (piece.hex() != record_.pieces[i]) return false;
  whole_ = whole;
  at_ = end;
  return true;
}

// Moves over recorded pieces up to the next byte that is missing.
Result<void> Download::take_recorded() {
  while (at_ < record_.total && at_ == record_.piece_begin(piece_at(at_))) {
    const std::size_t i = piece_at(at_);
    if (record_.pieces[i].empty()) break;
    WICK_TRY(const bool is_good, check_piece(i));
    if (!is_good) {
      if (request_.note) request_.note(cat("piece ", i, " is damaged on disk; fetching it again"));
      record_.pieces[i].clear();
      break;
    }
    report(true);
  }
  return {};
}

Result<void> Download::check_room() const {
  struct statvfs info = {};
  if (::statvfs(part_.parent_path().c_str(), &info) != 0) return {};  // then writing will tell
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < record_.pieces.size(); ++i) {
    if (record_.pieces[i].empty()) missing += record_.piece_end(i) - record_.piece_begin(i);
  }
  const std::uint64_t room = std::uint64_t{info.f_bavail} * info.f_frsize;
  if (missing <= room) return {};
  return Error{
      .code = ErrorCode::kIo,
      .id = "disk_full",
      .message = cat(request_.name, " needs ", human_bytes(missing), " more, ",
                     printable(part_.parent_path().string()), " has room for ", human_bytes(room)),
      .hint = "make room there, or set WICK_HOME to a folder on a larger disk"};
}

// The answer is the whole file: whatever was there gives way.
Result<void> Download::begin_anew(const HttpResponse& response) {
  if (is_ranged_ && request_.note) {
    request_.note(cat(request_.name, ": the server sends the whole file; starting again"));
  }
  if (is_ranged_ && ++restarts_ > kMaxRestarts) {
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "unstable_source",
                 .message = cat(printable(url_), " had to be started again ", kMaxRestarts,
                                " times: the server changes the file or serves no ranges")};
  }
  std::uint64_t total = request_.bytes;
  if (response.total_bytes) {
    total = *response.total_bytes;
    if (request_.bytes != 0 && total != request_.bytes) {
      return Error{.code = ErrorCode::kCorrupt,
                   .id = "size_mismatch",
                   .message = cat(request_.name, " at ", printable(url_), " has ", total,
                                  " bytes, wanted ", request_.bytes)};
    }
  } else if (total == 0) {
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "unknown_length",
                 .message = cat(printable(url_),
                                ": the server does not say how long the file is, "
                                "so that a cut could not be noticed")};
  }
  if (total == 0) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "empty_file",
                 .message = cat(request_.name, " at ", printable(url_),
                                " has 0 bytes, wanted is a file that holds something")};
  }
  if (total > kMaxDownloadBytes) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "file_too_large",
                 .message = cat(request_.name, " at ", printable(url_), " has ", total,
                                " bytes, at most ", kMaxDownloadBytes, " are taken")};
  }
  const auto piece_bytes = std::clamp(request_.piece_bytes, kMinPieceBytes, kMaxDownloadPieceBytes);
  ::unlink(record_path_.c_str());
  record_ = new_part(total, piece_bytes);
  record_.url = url_;
  record_.etag = response.etag;
  is_known_ = true;
  at_ = 0;
  whole_ = Sha256();
  piece_ = Sha256();
  if (::ftruncate(file_.fd(), 0) != 0) return file_error(part_, "write", errno);
  return check_room();
}

Result<void> Download::accept_head(const HttpResponse& response) {
  if (response.status == 200) return begin_anew(response);
  if (!is_ranged_ || (response.status != 206 && response.status != 416)) {
    return http_status_error(response.status, request_.url);
  }
  const bool is_same_etag = record_.url != url_ || record_.etag.empty() || response.etag.empty() ||
                            record_.etag == response.etag;
  const bool is_same_size = !response.total_bytes || *response.total_bytes == record_.total;
  const bool is_asked_range = response.range_from == at_;
  is_restart_wanted_ = response.status == 416 || !is_same_etag || !is_same_size || !is_asked_range;
  if (!is_restart_wanted_) return {};
  return Error{.code = ErrorCode::kUnavailable,
               .id = "changed",
               .message = cat(printable(url_), " changed while it was being fetched")};
}

bool Download::on_head(const HttpResponse& response) {
  auto accepted = accept_head(response);
  if (!accepted) failure_ = std::move(accepted).error();
  return !failure_;
}

bool Download::on_body(std::span<const std::byte> bytes) {
  auto stored = store_bytes(bytes);
  if (!stored) failure_ = std::move(stored).error();
  return !failure_;
}

Result<void> Download::store_bytes(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (at_ >= record_.total) {
      return Error{.code = ErrorCode::kCorrupt,
                   .id = "size_mismatch",
                   .message = cat(printable(url_), " sends more than the ", record_.total,
                                  " bytes that it announced")};
    }
    const std::size_t i = piece_at(at_);
    const auto room = record_.piece_end(i) - at_;
    const auto now =
        bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), room)));
    WICK_DO(write_at(file_, part_, now, at_));
    whole_.add(now);
    piece_.add(now);
    at_ += now.size();
    fetched_ += now.size();
    bytes = bytes.subspan(now.size());
    if (at_ == record_.piece_end(i)) WICK_DO(finish_piece(i));
  }
  report(false);
  return {};
}

Result<void> Download::finish_piece(std::size_t i) {
  WICK_DO(sync_file(file_, part_));
  record_.pieces[i] = piece_.hex();
  return save_part(record_path_, record_);
}

Error Download::gap_error(Result<HttpResponse> answer) {
  if (failure_ && (answer || answer.error().code == ErrorCode::kCancelled)) return *failure_;
  if (!answer) return std::move(answer).error();
  return {
      .code = ErrorCode::kUnavailable,
      .id = "cut",
      .message = cat(printable(url_), ": the answer ended at byte ", at_, " of ", record_.total)};
}

// One request: the bytes from at_ to the next recorded piece, or the whole file.
Result<void> Download::fetch_gap() {
  HttpRequest http{.url = request_.url, .headers = request_.headers, .stop = request_.stop};
  is_ranged_ = is_known_ && at_ > 0;
  std::uint64_t end = is_known_ ? gap_end() : 0;
  if (is_known_ && end < record_.total) is_ranged_ = true;
  if (is_ranged_) {
    http.from = at_;
    http.to = end - 1;
    if (record_.url == url_ && is_strong(record_.etag)) http.if_range = record_.etag;
  }
  failure_.reset();
  is_restart_wanted_ = false;
  auto answer = http_get(
      http, [this](const HttpResponse& response) { return on_head(response); },
      [this](std::span<const std::byte> bytes) { return on_body(bytes); });
  if (is_known_) end = std::max(end, gap_end());
  if (answer && !failure_ && is_known_ && (at_ == record_.total || at_ >= end)) return {};
  return gap_error(std::move(answer));
}

Result<void> Download::fetch_all() {
  int tries = 0;
  while (true) {
    if (is_known_) WICK_DO(take_recorded());
    if (is_known_ && at_ == record_.total) return {};
    const std::uint64_t before = fetched_;
    auto got = fetch_gap();
    if (got) continue;
    if (is_restart_wanted_) {
      if (++restarts_ > kMaxRestarts) return std::move(got).error();
      if (request_.note) request_.note(cat(got.error().message, "; starting again"));
      is_known_ = false;
      at_ = 0;
      continue;
    }
    // Only a connection that has worked is worth a wait: a dead host must fail at once, so that the
    // next source is tried.
    const bool is_transient =
        got.error().code == ErrorCode::kUnavailable && !failure_ && fetched_ > 0;
    tries = fetched_ > before ? 0 : tries + 1;
    if (!is_transient || tries >= kMaxTriesWithoutProgress) return std::move(got).error();
    if (!is_resumable()) {  // then the next answer starts from the first byte
      if (++restarts_ > kMaxRestarts) return std::move(got).error();
      is_known_ = false;
    }
    const auto pause = std::chrono::milliseconds(request_.retry_pause_ms) * (1 << tries);
    const auto until = std::chrono::steady_clock::now() + pause;
    while (std::chrono::steady_clock::now() < until && !request_.stop.stop_requested()) {
      std::this_thread::sleep_for(
          std::min<std::chrono::milliseconds>(pause, std::chrono::milliseconds(20)));
    }
  }
}

Result<StoredFile> Download::finish() {
  const std::string sha256 = whole_.hex();
  if (!request_.sha256.empty() && sha256 != request_.sha256) {
    forget();
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "hash_mismatch",
                 .message = cat(request_.name, " from ", printable(url_), " has SHA-256 ", sha256,
                                ", wanted ", request_.sha256),
                 .hint = "the source holds another file; nothing of it was kept"};
  }
  record_.sha256 = sha256;
  WICK_DO(sync_file(file_, part_));
  WICK_DO(save_part(record_path_, record_));
  WICK_DO(move_durably(part_, store_.blob_path(sha256)));
  return StoredFile{.name = request_.name, .sha256 = sha256, .bytes = record_.total};
}

Result<StoredFile> Download::run() {
  auto recorded = load_part(record_path_);
  if (recorded) {
    record_ = *std::move(recorded);
    // Finished by an earlier process that was stopped before it could record the model?
    const auto bytes = record_.sha256.empty() ? Result<std::uint64_t>(Error{})
                                              : regular_file_size(store_.blob_path(record_.sha256));
    if (bytes && *bytes == record_.total && record_.url == url_) {
      return StoredFile{.name = request_.name, .sha256 = record_.sha256, .bytes = record_.total};
    }
    is_known_ = is_resumable() && regular_file_size(part_) &&
                (request_.bytes == 0 || request_.bytes == record_.total);
  }
  WICK_TRY(file_, open_for_writing(part_));
  if (!is_known_) ::unlink(record_path_.c_str());
  if (auto fetched = fetch_all(); !fetched) {
    const auto& pieces = record_.pieces;
    const bool is_empty = std::all_of(pieces.begin(), pieces.end(),
                                      [](const std::string& piece) { return piece.empty(); });
    if (is_empty) forget();  // there is nothing that another try could go on from
    return std::move(fetched).error();
  }
  return finish();
}

}  // namespace

Result<StoredFile> download(const Store& store, const DownloadRequest& request) {
  WICK_TRY(const UrlParts url, parse_url(request.url));
  WICK_DO(load_sha256());
  const bool is_pinned = is_sha256_hex(request.sha256);
  const std::string key = is_pinned ? cat("sha256-", request.sha256)
                                    : cat("url-", sha256_text(url.plain).substr(0, 32));
  const fs::path blobs = store.root() / "blobs";
  WICK_TRY(
      const FileLock lock,
      FileLock::acquire(
          store.root() / "locks" / cat(key, ".lock"), request.stop, [&](std::string_view owner) {
            if (!request.note) return;
            request.note(cat(owner, " is fetching ", request.name, " already; waiting for it"));
          }));
  if (is_pinned) {
    const auto bytes = regular_file_size(store.blob_path(request.sha256));
    if (bytes && (request.bytes == 0 || *bytes == request.bytes)) {
      ::unlink((blobs / cat(key, ".part")).c_str());  // left by a source that gave up
      ::unlink((blobs / cat(key, ".json")).c_str());
      return StoredFile{.name = request.name, .sha256 = request.sha256, .bytes = *bytes};
    }
  }
  Download work(request, store, blobs / cat(key, ".part"), blobs / cat(key, ".json"), url.plain);
  return work.run();
}

}  // namespace wick
