// A row of the tool-call formats, and an answer: read whole and byte by byte it gives the same
// pieces, and what is held back is bounded.
#include "toolcalls/tool_calls.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "toolcalls/tool_format.h"

namespace {

std::string told(const std::vector<wick::ToolPiece>& pieces) {
  std::string out;
  for (const wick::ToolPiece& piece : pieces)
    out +=
        std::string(1, static_cast<char>('0' + static_cast<int>(piece.kind))) + piece.text + "\n";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto formats = wick::tool_formats();
  const wick::ToolFormat& format = formats[data[0] % formats.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<wick::ToolSignature> tools = {
      {"f", *wick::parse_json(R"({"properties": {"s": {"type": "string"}}})")}, {"g", {}}};
  wick::ToolCallSplit whole(format, tools), bytes(format, tools);
  std::vector<wick::ToolPiece> one, many;
  whole.push(text, one);
  whole.finish(one);
  for (const char c : text)
    bytes.push({&c, 1}, many);
  bytes.finish(many);
  WICK_CHECK(told(one) == told(many), "any split gives the same pieces");
  return 0;
}
