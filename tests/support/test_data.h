// Where the committed test data lies: test_data("text/texts.json") is tests/data/text/texts.json
// of the checkout that the test was built from.
#pragma once

#include <filesystem>
#include <string_view>

namespace wick::test {

std::filesystem::path test_data(std::string_view name);

// What tests of the label model run: WICK_TEST_MODEL, else where tools/fetch_test_data puts it.
std::filesystem::path default_model();

}  // namespace wick::test
