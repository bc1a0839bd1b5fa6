#include "hub/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/sha256.h"
#include "hub/durable.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

// fsync takes 30 ms on a busy disk and nothing in memory; the tests of this program need no disk.
const bool kIsInMemory = fs::is_directory("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 0) == 0;

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class StoreTest : public testing::Test {
 protected:
  Store store() const { return *Store::open(dir_.path() / "store"); }

  // A blob in place, as a finished download leaves it.
  StoredFile blob(const std::string& name, std::string_view text) const {
    const StoredFile file{.name = name, .sha256 = sha256_text(text), .bytes = text.size()};
    write(store().blob_path(file.sha256), text);
    return file;
  }

  StoredModel model(const std::string& name, std::vector<StoredFile> files) const {
    return {.name = name, .source = "https://host/" + name, .files = std::move(files)};
  }

  fs::path record(const std::string& name) const { return store().root() / "models" / name; }

  test::TempDir dir_;
};

using HostileStoreTest = StoreTest;

TEST_F(StoreTest, SumsFilesAsTexts) {
  write(dir_.path() / "abc", "abc");
  EXPECT_EQ(*sha256_file(dir_.path() / "abc"), sha256_text("abc"));
}

TEST_F(StoreTest, FindsWhatWasAdded) {
  Store s = store();
  ASSERT_TRUE(s.add(model("tiny", {blob("tiny.gguf", "weights")})));
  const auto found = s.find("tiny");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, "https://host/tiny");
  ASSERT_EQ(found->files.size(), 1u);
  EXPECT_EQ(found->files[0].name, "tiny.gguf");
  EXPECT_EQ(read(s.path_of(*found)), "weights");
  EXPECT_TRUE(s.is_whole(*found));
}

TEST_F(StoreTest, ListIsSortedByName) {
  Store s = store();
  for (const char* name : {"c", "a", "b"})
    ASSERT_TRUE(s.add(model(name, {blob("x.gguf", "x")})));
  const auto models = s.list();
  ASSERT_TRUE(models);
  ASSERT_EQ(models->size(), 3u);
  EXPECT_EQ((*models)[0].name + (*models)[1].name + (*models)[2].name, "abc");
}

TEST_F(StoreTest, UnknownNameIsToldTheNearest) {
  Store s = store();
  ASSERT_TRUE(s.add(model("smollm2-135m", {blob("x.gguf", "x")})));
  const auto found = s.find("smolm2-135m");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(found.error().hint, "did you mean: smollm2-135m");
}

TEST_F(StoreTest, SplitModelIsReachedByItsOwnNames) {
  Store s = store();
  const StoredModel split =
      model("split", {blob("x-00001-of-00002.gguf", "one"), blob("x-00002-of-00002.gguf", "two")});
  ASSERT_TRUE(s.add(split));
  EXPECT_EQ(s.path_of(split).filename(), "x-00001-of-00002.gguf");
  EXPECT_EQ(read(s.path_of(split)), "one");
  EXPECT_EQ(read(s.path_of(split).parent_path() / "x-00002-of-00002.gguf"), "two");
}

TEST_F(StoreTest, FolderModelIsReachedAsAFolder) {
  Store s = store();
  const StoredModel folder =
      model("folder", {blob("config.json", "{}"), blob("model.safetensors", "weights")});
  ASSERT_TRUE(s.add(folder));
  EXPECT_EQ(read(s.path_of(folder) / "config.json"), "{}");
  EXPECT_EQ(read(s.path_of(folder) / "model.safetensors"), "weights");
}

TEST_F(StoreTest, AddNeedsItsBlobs) {
  Store s = store();
  StoredFile file{.name = "x.gguf", .sha256 = sha256_text("never there"), .bytes = 11};
  const auto added = s.add(model("x", {file}));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().id, "blob_missing");
  EXPECT_FALSE(s.find("x"));
}

TEST_F(StoreTest, VerifyFindsOneFlippedBit) {
  Store s = store();
  std::string text(3 << 20, 'w');
  const StoredModel m = model("big", {blob("a.gguf", "small"), blob("b.gguf", text)});
  ASSERT_TRUE(s.add(m));
  std::uint64_t seen = 0;
  ASSERT_TRUE(s.verify(m, [&](std::uint64_t done, std::uint64_t) { seen = done; }));
  EXPECT_EQ(seen, text.size() + 5);
  text[2'000'000] ^= 1;
  write(s.blob_path(m.files[1].sha256), text);
  const auto verified = s.verify(m, {});
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().id, "hash_mismatch");
  EXPECT_NE(verified.error().message.find("b.gguf"), std::string::npos);
  EXPECT_NE(verified.error().message.find(sha256_text(text)), std::string::npos);
}

TEST_F(StoreTest, VerifyNamesAMissingFile) {
  Store s = store();
  const StoredModel m = model("gone", {blob("a.gguf", "a")});
  ASSERT_TRUE(s.add(m));
  fs::remove(s.path_of(m));
  EXPECT_EQ(s.verify(m, {}).error().id, "blob_missing");
  EXPECT_FALSE(s.is_whole(m));
}

TEST_F(StoreTest, RemoveKeepsWhatAnotherModelUses) {
  Store s = store();
  const StoredFile shared = blob("a.gguf", "shared"), own = blob("b.gguf", "own");
  ASSERT_TRUE(s.add(model("one", {shared, own})));
  ASSERT_TRUE(s.add(model("two", {shared})));
  ASSERT_TRUE(s.remove("one"));
  EXPECT_TRUE(fs::exists(s.blob_path(shared.sha256)));
  EXPECT_FALSE(fs::exists(s.blob_path(own.sha256)));
  EXPECT_FALSE(fs::exists(s.root() / "links/one"));
  ASSERT_TRUE(s.remove("two"));
  EXPECT_FALSE(fs::exists(s.blob_path(shared.sha256)));
}

TEST_F(StoreTest, RemoveOfAnUnknownNameChangesNothing) {
  Store s = store();
  ASSERT_TRUE(s.add(model("one", {blob("a.gguf", "a")})));
  EXPECT_EQ(s.remove("two").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(s.find("one"));
}

TEST_F(StoreTest, LockIsHeldByOneAtATime) {
  const fs::path path = dir_.path() / "lock";
  auto first = FileLock::acquire(path, {}, {});
  ASSERT_TRUE(first);
  std::string owner;
  std::stop_source stop;
  const auto second = FileLock::acquire(path, stop.get_token(), [&](std::string_view text) {
    owner = text;
    stop.request_stop();
  });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(owner, "process " + std::to_string(::getpid()));
}

TEST_F(StoreTest, LockPassesToTheOneThatWaits) {
  const fs::path path = dir_.path() / "lock";
  std::atomic<int> inside = 0, most = 0, turns = 0;
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) {
      const auto lock = FileLock::acquire(path, {}, {});
      if (!lock) return;
      most = std::max(most.load(), ++inside);
      ++turns;
      --inside;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 10);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(HostileStoreTest, NamesThatCouldLeaveTheStoreAreNone) {
  Store s = store();
  const StoredFile file = blob("a.gguf", "a");
  write(dir_.path() / "outside.json", "{}");
  const std::vector<std::string> names = {"",
                                          ".",
                                          "..",
                                          "../../outside",
                                          "a/b",
                                          "/etc/passwd",
                                          "a\\b",
                                          std::string("a\0b", 3),
                                          "A",
                                          "a b",
                                          "-rf",
                                          "_a",
                                          "é",
                                          "a\n",
                                          std::string(101, 'a')};
  for (const std::string& name : names) {
    EXPECT_FALSE(is_model_name(name)) << name;
    EXPECT_EQ(s.find(name).error().code, ErrorCode::kNotFound) << name;
    EXPECT_EQ(s.remove(name).error().code, ErrorCode::kNotFound) << name;
    EXPECT_EQ(s.add(model(name, {file})).error().id, "bad_model_name") << name;
  }
  EXPECT_TRUE(is_model_name(std::string(100, 'a')));
  EXPECT_TRUE(fs::exists(dir_.path() / "outside.json"));
}

TEST_F(HostileStoreTest, FileNamesThatCouldLeaveTheLinksAreRefused) {
  Store s = store();
  for (const char* name : {"..", "../x", "a/b", "", ".hidden", "-o", "a\\b", "a\nb", "é"}) {
    StoredFile file = blob("ok", "a");
    file.name = name;
    EXPECT_FALSE(s.add(model("m", {file, blob("b", "b")}))) << name;
  }
  EXPECT_TRUE(fs::is_empty(s.root() / "links"));
  EXPECT_TRUE(fs::is_empty(s.root() / "models"));
}

TEST_F(HostileStoreTest, DamagedRecordsAreReportedInTheirPlace) {
  Store s = store();
  const std::string hex(64, 'a');
  const auto entry = [&](const std::string& name, const std::string& file) {
    return "{\"name\":\"" + name + R"(","source":"s","files":[)" + file + "]}";
  };
  const std::string good = R"({"name":"f","sha256":")" + hex + R"(","bytes":1})";
  const std::vector<std::string> texts = {
      "",
      "{",
      "[]",
      "null",
      "{}",
      entry("other", good),
      entry("x", ""),
      entry("x", good + "," + good),
      entry("x", R"({"name":"../../evil","sha256":")" + hex + R"(","bytes":1})"),
      entry("x", R"({"name":"f","sha256":"../../evil","bytes":1})"),
      entry("x", R"({"name":"f","sha256":")" + std::string(64, 'A') + R"(","bytes":1})"),
      entry("x", R"({"name":"f","sha256":")" + hex + R"(","bytes":-1})"),
      entry("x", R"({"name":"f","sha256":")" + hex + R"(","bytes":1.5})"),
      entry("x", R"({"name":1,"sha256":")" + hex + R"(","bytes":1})"),
      std::string(1000, '[') + std::string(1000, ']'),
      std::string(2 << 20, ' ') + entry("x", good)};
  for (const std::string& text : texts) {
    write(record("x.json"), text);
    const auto models = s.list();
    ASSERT_TRUE(models);
    ASSERT_EQ(models->size(), 1u);
    EXPECT_EQ((*models)[0].name, "x");
    EXPECT_NE((*models)[0].damage, "") << text.substr(0, 100);
    EXPECT_EQ(s.find("x").error().code, ErrorCode::kCorrupt) << text.substr(0, 100);
  }
  write(record("x.json"), entry("x", good));
  EXPECT_TRUE(s.find("x"));
}

TEST_F(HostileStoreTest, DamagedRecordCanBeRemovedAndHidesNoBlob) {
  Store s = store();
  const StoredFile file = blob("a.gguf", "a");
  ASSERT_TRUE(s.add(model("sound", {file})));
  write(record("broken.json"), "{");
  ASSERT_TRUE(s.remove("sound"));
  EXPECT_TRUE(fs::exists(s.blob_path(file.sha256))) << "the damaged record may need it";
  ASSERT_TRUE(s.remove("broken"));
  EXPECT_TRUE(s.list()->empty());
}

TEST_F(HostileStoreTest, LinksInPlaceOfRecordsAndBlobsAreNotFollowed) {
  Store s = store();
  const StoredModel m = model("m", {blob("a.gguf", "a")});
  ASSERT_TRUE(s.add(m));
  fs::rename(record("m.json"), dir_.path() / "elsewhere.json");
  fs::create_symlink(dir_.path() / "elsewhere.json", record("m.json"));
  EXPECT_EQ(s.find("m").error().code, ErrorCode::kCorrupt);
  fs::rename(s.path_of(m), dir_.path() / "elsewhere");
  fs::create_symlink(dir_.path() / "elsewhere", s.path_of(m));
  EXPECT_FALSE(s.is_whole(m));
  EXPECT_EQ(s.verify(m, {}).error().id, "blob_missing");
  ASSERT_TRUE(s.remove("m"));
  EXPECT_TRUE(fs::exists(dir_.path() / "elsewhere.json"));
}

TEST_F(HostileStoreTest, PipeInPlaceOfARecordDoesNotHang) {
  Store s = store();
  ASSERT_EQ(::mkfifo(record("pipe.json").c_str(), 0600), 0);
  EXPECT_EQ(s.find("pipe").error().code, ErrorCode::kCorrupt);
}

TEST_F(HostileStoreTest, TemporaryNameThatIsALinkIsNotWrittenThrough) {
  Store s = store();
  write(dir_.path() / "victim", "precious");
  fs::create_symlink(dir_.path() / "victim", record("m.json.tmp"));
  EXPECT_FALSE(s.add(model("m", {blob("a.gguf", "a")})));
  EXPECT_EQ(read(dir_.path() / "victim"), "precious");
}

}  // namespace
}  // namespace wick
