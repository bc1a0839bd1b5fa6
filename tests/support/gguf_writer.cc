#include "support/gguf_writer.h"

#include <fstream>
#include <utility>

#include "base/check.h"

namespace wick::test {

namespace {

template <class T>
void put(Bytes& out, T value) {
  append(out, std::as_bytes(std::span(&value, 1)));
}

void put_text(Bytes& out, std::string_view text) {
  put<std::uint64_t>(out, text.size());
  append(out, std::as_bytes(std::span(text.data(), text.size())));
}

void put_integer(Bytes& out, std::int64_t value, MetaType type) {
  switch (type) {
    case MetaType::kU8:
    case MetaType::kI8:
    case MetaType::kBool:
      return put(out, static_cast<std::int8_t>(value));
    case MetaType::kU16:
    case MetaType::kI16:
      return put(out, static_cast<std::int16_t>(value));
    case MetaType::kU32:
    case MetaType::kI32:
      return put(out, static_cast<std::int32_t>(value));
    case MetaType::kU64:
    case MetaType::kI64:
      return put(out, value);
    default:
      WICK_CHECK(false, "not an integer type");
  }
}

void put_number(Bytes& out, double value, MetaType type) {
  if (type == MetaType::kF64) return put(out, value);
  WICK_CHECK(type == MetaType::kF32, "not a floating-point type");
  put(out, static_cast<float>(value));
}

Bytes array_head(MetaType element, std::size_t count) {
  Bytes out;
  put(out, static_cast<std::uint32_t>(element));
  put<std::uint64_t>(out, count);
  return out;
}

void pad(Bytes& out, std::uint64_t alignment) {
  while (out.size() % alignment != 0)
    out.push_back(std::byte{0});
}

std::uint32_t number(MetaType type) {
  return static_cast<std::uint32_t>(type);
}

}  // namespace

void append(Bytes& out, std::span<const std::byte> bytes) {
  const std::size_t at = out.size();
  out.resize(at + bytes.size());
  if (!bytes.empty()) std::memcpy(out.data() + at, bytes.data(), bytes.size());
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  WICK_CHECK(out.good(), "a test could not write its file");
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

GgufWriter::GgufWriter(const Options& options) : options_(options) {
  if (options.alignment != 32) {
    add_integer("general.alignment", static_cast<std::int64_t>(options.alignment));
  }
}

GgufWriter& GgufWriter::add_raw(std::string_view key, std::uint32_t type,
                                std::span<const std::byte> payload) {
  put_text(keys_, key);
  put(keys_, type);
  append(keys_, payload);
  ++n_keys_;
  return *this;
}

GgufWriter& GgufWriter::add_string(std::string_view key, std::string_view value) {
  Bytes payload;
  put_text(payload, value);
  return add_raw(key, number(MetaType::kString), payload);
}

GgufWriter& GgufWriter::add_integer(std::string_view key, std::int64_t value, MetaType type) {
  Bytes payload;
  put_integer(payload, value, type);
  return add_raw(key, number(type), payload);
}

GgufWriter& GgufWriter::add_number(std::string_view key, double value, MetaType type) {
  Bytes payload;
  put_number(payload, value, type);
  return add_raw(key, number(type), payload);
}

GgufWriter& GgufWriter::add_bool(std::string_view key, bool value) {
  return add_integer(key, value ? 1 : 0, MetaType::kBool);
}

GgufWriter& GgufWriter::add_strings(std::string_view key, const std::vector<std::string>& values) {
  Bytes payload = array_head(MetaType::kString, values.size());
  for (const std::string& value : values)
    put_text(payload, value);
  return add_raw(key, number(MetaType::kArray), payload);
}

GgufWriter& GgufWriter::add_integers(std::string_view key, const std::vector<std::int64_t>& values,
                                     MetaType type) {
  Bytes payload = array_head(type, values.size());
  for (const std::int64_t value : values)
    put_integer(payload, value, type);
  return add_raw(key, number(MetaType::kArray), payload);
}

GgufWriter& GgufWriter::add_numbers(std::string_view key, const std::vector<double>& values,
                                    MetaType type) {
  Bytes payload = array_head(type, values.size());
  for (const double value : values)
    put_number(payload, value, type);
  return add_raw(key, number(MetaType::kArray), payload);
}

GgufWriter& GgufWriter::add_bools(std::string_view key, const std::vector<bool>& values) {
  Bytes payload = array_head(MetaType::kBool, values.size());
  for (const bool value : values)
    put_integer(payload, value ? 1 : 0, MetaType::kBool);
  return add_raw(key, number(MetaType::kArray), payload);
}

GgufWriter& GgufWriter::add_tensor_of_id(std::string_view name, std::uint32_t gguf_type,
                                         const std::vector<std::int64_t>& shape, Bytes bytes) {
  tensors_.push_back({std::string(name), gguf_type, shape, std::move(bytes)});
  return *this;
}

Bytes GgufWriter::build() const {
  Bytes out;
  put<std::uint32_t>(out, 0x46554747);  // "GGUF"
  put(out, options_.version);
  put<std::uint64_t>(out, tensors_.size());
  put(out, n_keys_);
  append(out, keys_);
  Bytes data;
  for (const Tensor& tensor : tensors_) {
    put_text(out, tensor.name);
    put(out, static_cast<std::uint32_t>(tensor.shape.size()));
    for (std::size_t i = tensor.shape.size(); i-- > 0;)
      put(out, tensor.shape[i]);
    put(out, tensor.type);
    pad(data, options_.alignment);
    put<std::uint64_t>(out, data.size());
    append(data, tensor.bytes);
  }
  pad(out, options_.alignment);
  append(out, data);
  return out;
}

void GgufWriter::write(const std::filesystem::path& path) const {
  write_file(path, build());
}

}  // namespace wick::test
