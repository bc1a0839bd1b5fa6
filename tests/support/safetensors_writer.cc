#include "support/safetensors_writer.h"

#include "base/strings.h"

namespace wick::test {

SafetensorsWriter& SafetensorsWriter::add(std::string_view name, std::string_view dtype,
                                          const std::vector<std::int64_t>& shape,
                                          const Bytes& bytes) {
  std::string dims;
  for (const std::int64_t dim : shape)
    dims += cat(dims.empty() ? "" : ",", dim);
  const std::size_t begin = data_.size();
  append(data_, bytes);
  return add_raw(cat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":[", dims,
                     "],\"data_offsets\":[", begin, ",", data_.size(), "]}"));
}

SafetensorsWriter& SafetensorsWriter::add_raw(std::string_view entry) {
  entries_ += cat(entries_.empty() ? "" : ",", entry);
  return *this;
}

Bytes SafetensorsWriter::build() const {
  return with_header(cat("{", entries_, "}"), data_);
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
  write_file(path, build());
}

Bytes SafetensorsWriter::with_header(std::string_view header, const Bytes& data) {
  std::string text(header);
  while (text.size() % 8 != 0)
    text += ' ';
  Bytes out = bytes_of<std::uint64_t>({text.size()});
  append(out, std::as_bytes(std::span(text.data(), text.size())));
  append(out, data);
  return out;
}

}  // namespace wick::test
