#include "hub/download.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/sha256.h"
#include "base/strings.h"
#include "hub/durable.h"
#include "hub/part.h"
#include "net/http.h"
#include "net/url.h"
#include "support/range_server.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPiece = 64 << 10;
constexpr std::uint64_t kSize = 5 * kPiece + 1234;  // six pieces, the last one short

test::RangeServer& server() {
  return test::range_server();
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class DownloadTest : public testing::Test {
 protected:
  DownloadTest() { ::setenv("no_proxy", "127.0.0.1", 1); }

  // Serves /NAME of this test with these settings on top of the size.
  void serve(const std::string& settings = "", std::uint64_t size = kSize) {
    const std::string json = cat("{\"path\": \"", path(), "\", \"size\": ", size,
                                 settings.empty() ? "" : ", ", settings, "}");
    ASSERT_TRUE(http_get_text({.url = server().url("/control?") + escape_path(json)}, 10));
  }

  std::string path() const {
    return cat("/", testing::UnitTest::GetInstance()->current_test_info()->name(), ".gguf");
  }

  std::string original() const { return *http_get_text({.url = server().url(path())}, 64 << 20); }

  // Requests since the last call.
  nlohmann::json requests() {
    const auto text = http_get_text({.url = server().url("/stats?" + path())}, 1 << 20);
    nlohmann::json all = nlohmann::json::parse(*text);
    nlohmann::json fresh = nlohmann::json::array();
    for (; n_seen_ < all.size(); ++n_seen_)
      fresh.push_back(all[n_seen_]);
    return fresh;
  }

  Result<StoredFile> fetch(std::string sha256 = "", std::uint64_t bytes = 0) {
    return download(store_, {.url = server().url(path()),
                             .name = path().substr(1),
                             .sha256 = std::move(sha256),
                             .bytes = bytes,
                             .piece_bytes = kPiece,
                             .retry_pause_ms = 1,
                             .note = [this](std::string_view note) { notes_ += cat(note, "\n"); },
                             .stop = stop_.get_token()});
  }

  // Downloads until the third piece is there, as a killed process leaves it.
  void fetch_three_pieces() {
    serve(cat("\"cut_after\": ", 3 * kPiece + 5000, ", \"cut_times\": 1"));
    store_ = *Store::open(dir_.path());
    bool is_cut = false;
    const auto got = download(store_, {.url = server().url(path()),
                                       .name = "x",
                                       .piece_bytes = kPiece,
                                       .progress =
                                           [&](std::uint64_t done, std::uint64_t, bool) {
                                             is_cut = done >= 3 * kPiece;
                                             if (is_cut) stop_.request_stop();
                                           },
                                       .stop = stop_.get_token()});
    ASSERT_FALSE(got);
    ASSERT_EQ(got.error().code, ErrorCode::kCancelled) << got.error().message;
    stop_ = std::stop_source();
    requests();
  }

  // The only file in blobs/ that ends so.
  fs::path only(std::string_view end) const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(store_.root() / "blobs")) {
      if (entry.path().string().ends_with(end)) found = entry.path();
    }
    return found;
  }

  void expect_whole(const Result<StoredFile>& got) {
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->bytes, kSize);
    EXPECT_EQ(*sha256_file(store_.blob_path(got->sha256)), got->sha256);
    serve();
    EXPECT_EQ(sha256_text(original()), got->sha256);
    EXPECT_EQ(only(".part"), "");
  }

  test::TempDir dir_;
  Store store_ = *Store::open(dir_.path());
  std::stop_source stop_;
  std::string notes_;
  std::size_t n_seen_ = 0;
};

TEST_F(DownloadTest, BringsTheFileInOneRequest) {
  serve();
  const auto got = fetch();
  const auto asked = requests();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0]["range"].is_null());
  expect_whole(got);
}

// A server that has lost a file says so with 0 bytes more often than a model has an empty one.
TEST_F(DownloadTest, AnEmptyFileIsRefusedAndLeavesNothing) {
  serve("", 0);
  const auto got = fetch();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().id, "empty_file");
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs"));
}

TEST_F(DownloadTest, AFailureBeforeTheFirstPieceLeavesNothing) {
  const auto absent = fetch();
  ASSERT_FALSE(absent);
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs")) << absent.error().message;
  serve("\"cut_after\": 1, \"cut_times\": 99, \"etag\": \"\"");
  ASSERT_FALSE(fetch());
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs"));
}

TEST_F(DownloadTest, ResumeFetchesOnlyWhatIsMissing) {
  fetch_three_pieces();
  const auto got = fetch();
  const auto asked = requests();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0]["range"], cat("bytes=", 3 * kPiece, "-", kSize - 1));
  EXPECT_EQ(asked[0]["status"], 206);
  expect_whole(got);
}

TEST_F(DownloadTest, ADamagedPieceIsFetchedAgainAndOnlyThat) {
  fetch_three_pieces();
  {
    std::fstream part(only(".part"), std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(kPiece + 17);
    part.put('\0').put('\1');
  }
  const auto got = fetch();
  const auto asked = requests();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0]["range"], cat("bytes=", kPiece, "-", 2 * kPiece - 1));
  EXPECT_EQ(asked[1]["range"], cat("bytes=", 3 * kPiece, "-", kSize - 1));
  expect_whole(got);
}

TEST_F(DownloadTest, AShortenedPartIsNotBelieved) {
  fetch_three_pieces();
  fs::resize_file(only(".part"), 2 * kPiece + 1);
  const auto got = fetch();
  EXPECT_EQ(requests()[0]["range"], cat("bytes=", 2 * kPiece, "-", kSize - 1));
  expect_whole(got);
}

TEST_F(DownloadTest, AChangedFileStartsAgain) {
  fetch_three_pieces();
  serve("\"seed\": 1, \"etag\": \"\\\"other\\\"\"");
  const auto got = fetch();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(requests().size(), 1u) << "If-Range lets one answer serve";
  EXPECT_NE(notes_.find("starting again"), std::string::npos);
  EXPECT_EQ(got->sha256, sha256_text(original()));
}

TEST_F(DownloadTest, AServerWithoutRangesStartsAgain) {
  fetch_three_pieces();
  serve("\"ignore_range\": true");
  const auto got = fetch();
  EXPECT_EQ(requests().size(), 1u);
  expect_whole(got);
}

TEST_F(DownloadTest, WithoutAnEtagNothingIsResumedBlindly) {
  fetch_three_pieces();
  PartRecord record = *load_part(only(".json"));
  record.etag = "";
  ASSERT_TRUE(save_part(only(".json"), record));
  const auto got = fetch();
  EXPECT_TRUE(requests()[0]["range"].is_null());
  expect_whole(got);
}

TEST_F(DownloadTest, AChangedEtagIsNoticedWhereTheServerDoesNotNoticeIt) {
  fetch_three_pieces();
  serve("\"seed\": 1, \"etag\": \"\\\"new\\\"\", \"ignore_if_range\": true");
  const auto got = fetch();
  ASSERT_TRUE(got) << got.error().message;
  const auto asked = requests();
  EXPECT_EQ(asked[0]["status"], 206);
  EXPECT_EQ(asked[1]["status"], 200);
  EXPECT_EQ(got->sha256, sha256_text(original()));
}

TEST_F(DownloadTest, AShiftedRangeIsNotTaken) {
  fetch_three_pieces();
  serve("\"shift_range\": 1");
  const auto got = fetch();
  EXPECT_NE(notes_.find("changed while it was being fetched"), std::string::npos) << notes_;
  expect_whole(got);
}

TEST_F(DownloadTest, AShrunkFileGives416AndStartsAgain) {
  fetch_three_pieces();
  PartRecord record = *load_part(only(".json"));
  record.etag = "\"same\"";
  ASSERT_TRUE(save_part(only(".json"), record));
  serve("\"etag\": \"\\\"same\\\"\"", kPiece);
  const auto got = fetch();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->bytes, kPiece);
  EXPECT_EQ(requests()[0]["status"], 416);
}

TEST_F(DownloadTest, CutConnectionsAreContinuedAtTheLastByte) {
  serve(cat("\"cut_after\": ", kPiece + 7));
  const auto got = fetch();
  const auto asked = requests();
  EXPECT_EQ(asked.size(), 6u);
  EXPECT_EQ(asked[1]["range"], cat("bytes=", kPiece + 7, "-", kSize - 1));
  expect_whole(got);
}

TEST_F(DownloadTest, AServerThatGivesUpIsGivenUp) {
  serve("\"cut_after\": 0");
  const auto got = fetch();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(requests().size(), 1u) << "no byte ever came: the next source is tried at once";
}

TEST_F(DownloadTest, ACutWithoutEtagIsNotRetriedForEver) {
  serve(cat("\"etag\": \"\", \"cut_after\": ", 2 * kPiece));
  const auto got = fetch();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
  EXPECT_LE(requests().size(), 5u);
}

TEST_F(DownloadTest, WrongBytesAreRefusedAndNothingStays) {
  serve();
  const std::string wanted = sha256_text(original());
  serve("\"wrong_at\": 100000");
  const auto got = fetch(wanted);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(got.error().id, "hash_mismatch");
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs"));
}

TEST_F(DownloadTest, AnotherSizeIsRefusedBeforeFetching) {
  serve();
  const auto got = fetch("", kSize + 1);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().id, "size_mismatch");
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs") || fs::file_size(only(".part")) == 0);
}

TEST_F(DownloadTest, AFileOfUnknownLengthIsRefused) {
  serve("\"no_length\": true");
  EXPECT_EQ(fetch().error().id, "unknown_length");
}

TEST_F(DownloadTest, AKnownLengthServesWhereTheServerTellsNone) {
  serve("\"no_length\": true");
  expect_whole(fetch("", kSize));
}

TEST_F(DownloadTest, AKnownBlobNeedsNoRequest) {
  serve();
  const auto first = fetch();
  ASSERT_TRUE(first);
  requests();
  const auto second = fetch(first->sha256);
  ASSERT_TRUE(second);
  EXPECT_EQ(requests().size(), 0u);
  EXPECT_EQ(second->bytes, kSize);
}

TEST_F(DownloadTest, FinishedButUnrecordedIsNotFetchedAgain) {
  serve();
  const auto first = fetch();
  ASSERT_TRUE(first);
  requests();
  const auto second = fetch();  // its record is still there, as after kill -9
  ASSERT_TRUE(second);
  EXPECT_EQ(second->sha256, first->sha256);
  EXPECT_EQ(requests().size(), 0u);
}

TEST_F(DownloadTest, StatusesAreTold) {
  serve("\"status\": 404");
  EXPECT_EQ(fetch().error().code, ErrorCode::kNotFound);
  serve("\"status\": 503");
  EXPECT_EQ(fetch().error().code, ErrorCode::kUnavailable);
}

TEST_F(DownloadTest, AFullDiskIsToldAndTheGoodPiecesStay) {
  serve();
  // A limit on the size of files stands in for a full disk: both make write(2) fail.
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit tight = {.rlim_cur = 2 * kPiece + 100, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const auto got = fetch();
  ::setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kIo);
  EXPECT_EQ(got.error().id, "disk_full");
  EXPECT_NE(got.error().hint, "");
  requests();
  const auto second = fetch();
  EXPECT_EQ(requests()[0]["range"], cat("bytes=", 2 * kPiece, "-", kSize - 1));
  expect_whole(second);
}

TEST_F(DownloadTest, TwoAtOnceFetchOnce) {
  serve("\"chunk_pause_s\": 0.01");
  Result<StoredFile> other = Error{};
  std::thread thread([&] { other = fetch(); });
  const auto mine = fetch();
  thread.join();
  const auto asked = requests();
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_NE(notes_.find("is fetching"), std::string::npos);
  ASSERT_TRUE(other);
  expect_whole(mine);
}

TEST_F(DownloadTest, StopKeepsTheGoodPieces) {
  fetch_three_pieces();
  const auto record = load_part(only(".json"));
  ASSERT_TRUE(record);
  EXPECT_EQ(std::count(record->pieces.begin(), record->pieces.end(), ""), 3);
}

using HostileDownloadTest = DownloadTest;

TEST_F(HostileDownloadTest, DamagedRecordsStartAgain) {
  fetch_three_pieces();
  const fs::path path = only(".json");
  const std::string good = read(path);
  const std::string hex(64, 'a');
  const std::vector<std::string> texts = {
      "",
      "[]",
      good.substr(0, good.size() / 2),
      R"({"url":"","etag":"","sha256":"","total":1,"piece_bytes":0,"pieces":[]})",
      cat(R"({"url":"","etag":"","sha256":"","total":18446744073709551615,)",
          R"("piece_bytes":1024,"pieces":[]})"),
      R"({"url":"","etag":"","sha256":"../..","total":1,"piece_bytes":1024,"pieces":[""]})",
      R"({"url":"","etag":"","sha256":"","total":1,"piece_bytes":1024,"pieces":["x"]})",
      R"({"url":"","etag":"","sha256":"","total":1,"piece_bytes":1024,"pieces":["",""]})"};
  for (const std::string& text : texts) {
    ASSERT_TRUE(write_small_file(path, text));
    EXPECT_FALSE(load_part(path)) << text;
  }
  const auto got = fetch();
  EXPECT_TRUE(requests()[0]["range"].is_null());
  expect_whole(got);
}

// Totals near 2^64 made the number of pieces wrap to 0.
TEST_F(HostileDownloadTest, LengthsThatNoDiskHoldsAreRefused) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t claimed : {kMost, kMost - (kMost >> 20U), kMaxDownloadBytes + 1}) {
    serve(cat("\"cut_after\": 10, \"claims\": ", claimed));
    const auto got = fetch();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().id, "file_too_large") << claimed << ": " << got.error().message;
    EXPECT_EQ(requests().size(), 1U) << claimed;
  }
  EXPECT_EQ(new_part(kMaxDownloadBytes, kPiece).pieces.size(), 1U << 16U);
  EXPECT_LE(new_part(kMaxDownloadBytes, kPiece).piece_bytes, kMaxDownloadPieceBytes);
}

TEST_F(HostileDownloadTest, RecordTruncatedAnywhereIsAnError) {
  fetch_three_pieces();
  const std::string good = read(only(".json"));
  const fs::path path = dir_.path() / "record.json";
  for (std::size_t n = 0; n + 1 < good.size(); n += 3) {
    fs::remove(path);
    std::ofstream(path) << good.substr(0, n);
    ASSERT_FALSE(load_part(path)) << n;
  }
}

TEST_F(HostileDownloadTest, ALinkInPlaceOfThePartIsNotWrittenThrough) {
  fetch_three_pieces();
  const fs::path part = only(".part");
  std::ofstream(dir_.path() / "victim") << "precious";
  fs::remove(part);
  fs::create_symlink(dir_.path() / "victim", part);
  EXPECT_FALSE(fetch());
  EXPECT_EQ(read(dir_.path() / "victim"), "precious");
}

}  // namespace
}  // namespace wick
