// In a program that links this file, "scripted:NAME" is a model that answers as remote_script(NAME)
// has it, and "lines:FILE" one that says the lines of a file.
#include "provider/openers.h"
#include "support/scripted_provider.h"

namespace wick::test {
namespace {

const bool kIsAdded = add_opener("scripted", [](std::string_view name) {
  return Result<std::shared_ptr<Provider>>(std::make_shared<ScriptedProvider>(remote_script(name)));
});

const bool kHasLines = add_opener("lines", [](std::string_view name) {
  return Result<std::shared_ptr<Provider>>(lines_provider(std::string(name)));
});

}  // namespace
}  // namespace wick::test
