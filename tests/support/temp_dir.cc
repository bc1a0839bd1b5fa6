#include "support/temp_dir.h"

#include <cstdlib>
#include <string>
#include <system_error>

namespace wick::test {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "wick-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace wick::test
