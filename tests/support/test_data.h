// Where the committed test data lies: test_data("text/texts.json") is tests/data/text/texts.json
// of the checkout that the test was built from.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace wick::test {

std::filesystem::path test_data(std::string_view name);

// The bytes of a file as numbers of type T.
template <class T>
std::vector<T> read_values(const std::filesystem::path& path) {
  std::vector<T> values(std::filesystem::file_size(path) / sizeof(T));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

// Where tools/fetch_test_data puts files: ~/.cache/wick-test. May be missing.
std::filesystem::path cache();
// A file there. Throws where it is missing, and
// says so: GoogleTest makes that a failure of the one test.
std::filesystem::path fetched(const std::filesystem::path& name);

// What tests of the label model run: WICK_TEST_MODEL, else where tools/fetch_test_data puts it.
// Throws as fetched() does.
std::filesystem::path default_model();

}  // namespace wick::test
