#include "support/test_data.h"

#include <cstdlib>

namespace wick::test {

// The only file that is compiled with the checkout's path: all others are alike in every checkout,
// so that ccache knows them again.
std::filesystem::path test_data(std::string_view name) {
  return std::filesystem::path(WICK_TEST_DATA) / name;
}

std::filesystem::path default_model() {
  if (const char* path = std::getenv("WICK_TEST_MODEL")) return path;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) /
         ".cache/wick-test/SmolLM2-135M-Instruct.Q4_1.gguf";
}

}  // namespace wick::test
