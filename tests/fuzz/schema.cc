// A JSON schema, a NUL byte, a text: a refusal with a name, or a recognizer and a machine that
// agree. What the recognizer accepts the machine accepts too, and the short end of a text completes
// it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "grammar/schema/machine.h"
#include "grammar/schema/recognizer.h"
#include "fuzz/refusal.h"

using wick::grammar::JsonMachine;
using wick::grammar::SchemaRecognizer;
using wick::grammar::StateId;
using wick::test::check_refusal;

namespace {

constexpr std::uint64_t kFuel = 20'000;

void check_machine(std::string_view schema, std::string_view text) {
  auto compiled = wick::grammar::compile_schema(schema, {});
  WICK_CHECK(compiled, "what masks support compiles");
  const auto accepts = JsonMachine(*std::move(compiled)).accepts(text);
  if (!accepts) return check_refusal(accepts.error());
  WICK_CHECK(*accepts, "a document of the masks is one of the schema");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view schema = input.substr(0, input.find('\0'));
  const std::string_view text = input.substr(std::min(input.size(), schema.size() + 1));
  const auto made = SchemaRecognizer::parse(schema, {});
  if (!made) {
    check_refusal(made.error());
    return 0;
  }
  SchemaRecognizer& recognizer = **made;
  recognizer.begin(kFuel);
  const StateId state = recognizer.step_all(recognizer.start(), text.substr(0, 64));
  if (state == wick::grammar::kFailedState) {
    check_refusal(recognizer.failure());
    return 0;
  }
  if (state == wick::grammar::kDeadState) return 0;
  const auto end = recognizer.shortest(state);
  if (!end) {
    check_refusal(end.error());
    return 0;
  }
  recognizer.begin(kFuel);
  const StateId last = recognizer.step_all(state, *end);
  if (last == wick::grammar::kFailedState) return 0;
  WICK_CHECK(recognizer.accepts(last), "the short end completes the text");
  check_machine(schema, std::string(text.substr(0, 64)) + *end);
  return 0;
}
