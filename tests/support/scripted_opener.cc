// In a program that links this file, "scripted:NAME" is a model that answers as remote_script(NAME)
// has it, and "lines:FILE" one that says the lines of a file. If the file begins with "load", the
// model never ends loading.
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "provider/openers.h"
#include "support/scripted_provider.h"

namespace wick::test {
namespace {

const bool kIsAdded = add_opener("scripted", [](std::string_view name) {
  return Result<std::shared_ptr<Provider>>(std::make_shared<ScriptedProvider>(remote_script(name)));
});

const bool kHasLines = add_opener("lines", [](std::string_view name) {
  const std::string file(name);
  std::string line;
  if (std::ifstream in(file); std::getline(in, line) && line == "load") {
    std::ofstream(file + ".asked") << "\n";
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  return Result<std::shared_ptr<Provider>>(lines_provider(file));
});

}  // namespace
}  // namespace wick::test
