// Any bytes as a safetensors file: an error, or views that lie inside the bytes and can be read.
#include "format/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "fuzz/touch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = wick::parse_safetensors(bytes, "fuzz.safetensors");
  if (!file) {
    WICK_CHECK(!file.error().id.empty() && !file.error().message.empty(), "an error says why");
    return 0;
  }
  wick::test::touch(file->tensors, bytes);
  return 0;
}
