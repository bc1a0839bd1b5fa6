// wick trash: the trash of the desktop (freedesktop.org).
#include "assist/trash.h"

#include <filesystem>
#include <memory>

#include "base/strings.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/report.h"

namespace wick {

namespace {

struct TrashOptions {
  std::vector<std::string> files = {};
  std::string restored = {};
  bool is_list = false, is_json = false;
};

// The newest one that was at this path.
Result<int> restore_path(const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  const auto folder = std::filesystem::weakly_canonical(whole.parent_path(), failed);
  const auto wanted = (folder / whole.filename()).lexically_normal();
  for (const assist::Trashed& one : assist::list_trash()) {
    if (one.original.lexically_normal() != wanted) continue;
    WICK_DO(assist::restore(one));
    print({"restored: ", printable(one.original.string(), 4096), "\n"});
    return kExitOk;
  }
  return Error{.code = ErrorCode::kNotFound,
               .id = "not_in_trash",
               .message = cat(printable(wanted.string()), " is not in the trash"),
               .hint = "wick trash --list"};
}

void list_files(bool is_json) {
  for (const assist::Trashed& one : assist::list_trash()) {
    if (is_json) {
      print_json(json_object({{"path", one.original.string()},
                              {"file", one.file.string()},
                              {"deleted", one.deleted}}));
    } else {
      print({printable(one.deleted), "  ", printable(one.original.string(), 4096), "\n"});
    }
  }
}

Result<int> run_trash(const TrashOptions& o) {
  if (!o.restored.empty()) return restore_path(o.restored);
  if (o.is_list) return list_files(o.is_json), kExitOk;
  if (o.files.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = "no file is named",
                 .hint = "wick trash FILE..., --list, or --restore PATH"};
  }
  for (const std::string& file : o.files) {
    WICK_TRY(const assist::Trashed moved, assist::move_to_trash(file));
    print({"in the trash: ", printable(moved.original.string(), 4096), "\n"});
  }
  return kExitOk;
}

}  // namespace

Action setup_trash(Flags flags) {
  const auto o = std::make_shared<TrashOptions>();
  flags.texts("FILE", o->files, "file, link or folder to move to the trash");
  flags.toggle("--list", o->is_list, "list the trash, newest first");
  flags.text("--restore", o->restored, "restore the file that was last trashed from this path");
  flags.toggle("--json", o->is_json, "with --list: print one JSON object per line");
  return [o] { return run_trash(*o); };
}

}  // namespace wick
