// Writes small safetensors files for tests, in the order of the calls. It checks nothing, so that
// tests can also write what a reader must refuse. Owned by one test.
//
//   SafetensorsWriter file;
//   file.add("model.norm.weight", "F32", {4}, bytes_of<float>({1, 1, 1, 1}));
//   file.write(dir.path() / "model.safetensors");
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/gguf_writer.h"

namespace wick::test {

class SafetensorsWriter {
 public:
  // `name` and `dtype` go into JSON as they are.
  SafetensorsWriter& add(std::string_view name, std::string_view dtype,
                         const std::vector<std::int64_t>& shape, const Bytes& bytes);
  // An entry of the header as it is: "\"x\": {…}".
  SafetensorsWriter& add_raw(std::string_view entry);

  Bytes build() const;
  void write(const std::filesystem::path& path) const;

  // A file with this header, padded to 8 bytes, and this data.
  static Bytes with_header(std::string_view header, const Bytes& data);

 private:
  std::string entries_ = {};
  Bytes data_ = {};
};

}  // namespace wick::test
