#include "support/test_data.h"

namespace wick::test {

// The only file that is compiled with the checkout's path: all others are alike in every checkout,
// so that ccache knows them again.
std::filesystem::path test_data(std::string_view name) {
  return std::filesystem::path(WICK_TEST_DATA) / name;
}

}  // namespace wick::test
