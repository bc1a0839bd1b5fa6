#include "support/test_data.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace wick::test {

// The only file that is compiled with the checkout's path: all others are alike in every checkout,
// so that ccache knows them again.
std::filesystem::path test_data(std::string_view name) {
  return std::filesystem::path(WICK_TEST_DATA) / name;
}

namespace {

std::filesystem::path must_exist(std::filesystem::path path) {
  if (std::filesystem::exists(path)) return path;
  throw std::runtime_error("this test needs " + path.string() +
                           ", which is not there: run tools/fetch_test_data");
}

}  // namespace

std::filesystem::path cache() {
  const char* const home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / ".cache/wick-test";
}

std::filesystem::path fetched(const std::filesystem::path& name) {
  return must_exist(cache() / name);
}

std::filesystem::path default_model() {
  const char* const named = std::getenv("WICK_TEST_MODEL");
  return named != nullptr ? must_exist(named) : fetched("SmolLM2-135M-Instruct.Q4_1.gguf");
}

}  // namespace wick::test
