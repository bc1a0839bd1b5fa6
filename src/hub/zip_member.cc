#include "hub/zip_member.h"

#include <zip.h>

#include <memory>
#include <string>
#include <vector>

#include "base/shared_library.h"
#include "base/strings.h"

namespace wick {

namespace {

// libzip is loaded (dlopen) for the first archive.
struct ZipApi {
  decltype(&::zip_open) open = nullptr;
  decltype(&::zip_discard) discard = nullptr;
  decltype(&::zip_strerror) strerror = nullptr;
  decltype(&::zip_error_init_with_code) error_init_with_code = nullptr;
  decltype(&::zip_error_strerror) error_strerror = nullptr;
  decltype(&::zip_error_fini) error_fini = nullptr;
  decltype(&::zip_stat) stat = nullptr;
  decltype(&::zip_stat_init) stat_init = nullptr;
  decltype(&::zip_fopen_index) fopen_index = nullptr;
  decltype(&::zip_fread) fread = nullptr;
  decltype(&::zip_fclose) fclose = nullptr;
  decltype(&::zip_file_strerror) file_strerror = nullptr;
};

ZipApi g_zip;
LoadedOnce g_once;

Result<void> load_libzip() {
  return g_once([] {
    SharedLibrary library("libzip.so.4");
    library.find("zip_open", g_zip.open);
    library.find("zip_discard", g_zip.discard);
    library.find("zip_strerror", g_zip.strerror);
    library.find("zip_error_init_with_code", g_zip.error_init_with_code);
    library.find("zip_error_strerror", g_zip.error_strerror);
    library.find("zip_error_fini", g_zip.error_fini);
    library.find("zip_stat", g_zip.stat);
    library.find("zip_stat_init", g_zip.stat_init);
    library.find("zip_fopen_index", g_zip.fopen_index);
    library.find("zip_fread", g_zip.fread);
    library.find("zip_fclose", g_zip.fclose);
    library.find("zip_file_strerror", g_zip.file_strerror);
    return library.check("no_libzip", "install libzip (Debian: libzip4)");
  });
}

constexpr std::size_t kMemberReadBytes = 1 << 18;

struct ArchiveFree {
  void operator()(zip_t* archive) const { g_zip.discard(archive); }
};

struct MemberFree {
  void operator()(zip_file_t* member) const { g_zip.fclose(member); }
};

Error bad_archive(const std::filesystem::path& archive, std::string_view why) {
  return {.code = ErrorCode::kCorrupt,
          .id = "bad_archive",
          .message = cat(printable(archive.string()), ": ", why)};
}

Result<std::uint64_t> member_size(const std::filesystem::path& archive, std::string_view member,
                                  const zip_stat_t& info) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((info.valid & kNeeded) != kNeeded) {
    return bad_archive(archive, cat("member ", printable(member), " does not tell its size"));
  }
  if (info.encryption_method != ZIP_EM_NONE) {
    return bad_archive(archive, cat("member ", printable(member), " is encrypted"));
  }
  if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE) {
    return bad_archive(archive, cat("member ", printable(member), " uses compression method ",
                                    info.comp_method, ", wanted 0 (stored) or 8 (deflated)"));
  }
  if (info.size > kMaxMemberBytes) {
    return bad_archive(archive, cat("member ", printable(member), " claims ", info.size,
                                    " bytes, at most ", kMaxMemberBytes, " are taken"));
  }
  return info.size;
}

}  // namespace

Result<void> read_zip_member(
    const std::filesystem::path& archive, std::string_view member,
    const std::function<Result<void>(std::span<const std::byte>, std::uint64_t all)>& sink) {
  WICK_DO(load_libzip());
  int code = 0;
  const std::unique_ptr<zip_t, ArchiveFree> zip(
      g_zip.open(archive.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (!zip) {
    zip_error_t error;
    g_zip.error_init_with_code(&error, code);
    const std::string why = g_zip.error_strerror(&error);
    g_zip.error_fini(&error);
    return bad_archive(archive, cat("cannot be read as a zip archive: ", why));
  }
  const std::string name(member);
  zip_stat_t info;
  g_zip.stat_init(&info);
  if (g_zip.stat(zip.get(), name.c_str(), ZIP_FL_ENC_RAW, &info) != 0) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "no_such_member",
                 .message = cat(printable(archive.string()), " holds no ", printable(member))};
  }
  WICK_TRY(const std::uint64_t all, member_size(archive, member, info));
  const std::unique_ptr<zip_file_t, MemberFree> file(g_zip.fopen_index(zip.get(), info.index, 0));
  if (!file) return bad_archive(archive, g_zip.strerror(zip.get()));
  std::vector<std::byte> buffer(kMemberReadBytes);
  std::uint64_t done = 0;
  while (true) {
    const zip_int64_t n = g_zip.fread(file.get(), buffer.data(), buffer.size());
    if (n < 0) return bad_archive(archive, g_zip.file_strerror(file.get()));
    if (n == 0) break;
    // The claim is also the limit: an archive that unpacks to more is a trap.
    if (static_cast<std::uint64_t>(n) > all - done) {
      return bad_archive(archive,
                         cat(printable(member), " unpacks to more than its ", all, " bytes"));
    }
    done += static_cast<std::uint64_t>(n);
    WICK_DO(sink(std::span(buffer).first(static_cast<std::size_t>(n)), all));
  }
  if (done != all) {
    return bad_archive(archive,
                       cat(printable(member), " unpacks to ", done, " bytes, it claims ", all));
  }
  return {};
}

}  // namespace wick
