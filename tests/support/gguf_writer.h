// Writes small GGUF files for tests: what a model's file holds, in the order of the calls. It
// checks nothing, so that tests can also write what a reader must refuse. Owned by one test.
//
//   GgufWriter gguf;
//   gguf.add_string("general.architecture", "llama").add_integer("llama.block_count", 2);
//   gguf.add_tensor("output_norm.weight", DType::kF32, {4}, bytes_of<float>({1, 1, 1, 1}));
//   gguf.write(dir.path() / "tiny.gguf");
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/metadata.h"
#include "quant/dtype.h"

namespace wick::test {

using Bytes = std::vector<std::byte>;

// The memory of `values`, for add_tensor.
template <class T>
Bytes bytes_of(std::span<const T> values) {
  Bytes bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return bytes_of(std::span<const T>(values));
}

template <class T>
Bytes bytes_of(std::initializer_list<T> values) {
  return bytes_of(std::span<const T>(values.begin(), values.size()));
}

void append(Bytes& out, std::span<const std::byte> bytes);

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

class GgufWriter {
 public:
  struct Options {
    std::uint32_t version = 3;
    std::uint64_t alignment = 32;  // written as general.alignment when it is not 32
  };

  GgufWriter() : GgufWriter(Options{}) {}

  explicit GgufWriter(const Options& options);

  GgufWriter& add_string(std::string_view key, std::string_view value);
  // `type` is one of the integer types; the value is cut to it.
  GgufWriter& add_integer(std::string_view key, std::int64_t value, MetaType type = MetaType::kU32);
  GgufWriter& add_number(std::string_view key, double value, MetaType type = MetaType::kF32);
  GgufWriter& add_bool(std::string_view key, bool value);
  GgufWriter& add_strings(std::string_view key, const std::vector<std::string>& values);
  GgufWriter& add_integers(std::string_view key, const std::vector<std::int64_t>& values,
                           MetaType type = MetaType::kI32);
  GgufWriter& add_numbers(std::string_view key, const std::vector<double>& values,
                          MetaType type = MetaType::kF32);
  GgufWriter& add_bools(std::string_view key, const std::vector<bool>& values);
  // A key with whatever type number and payload, for hostile files.
  GgufWriter& add_raw(std::string_view key, std::uint32_t type, std::span<const std::byte> payload);

  // `shape` is row-major, outermost first, as in TensorView; the file holds it reversed.
  GgufWriter& add_tensor(std::string_view name, DType type, const std::vector<std::int64_t>& shape,
                         Bytes bytes) {
    return add_tensor_of_id(name, static_cast<std::uint32_t>(dtype_info(type).gguf_id), shape,
                            std::move(bytes));
  }

  // With ggml's number of the type, also one that wick does not know.
  GgufWriter& add_tensor_of_id(std::string_view name, std::uint32_t gguf_type,
                               const std::vector<std::int64_t>& shape, Bytes bytes);

  Bytes build() const;
  void write(const std::filesystem::path& path) const;

 private:
  struct Tensor {
    std::string name = {};
    std::uint32_t type = 0;
    std::vector<std::int64_t> shape = {};
    Bytes bytes = {};
  };

  Options options_ = {};
  Bytes keys_ = {};
  std::uint64_t n_keys_ = 0;
  std::vector<Tensor> tensors_ = {};
};

}  // namespace wick::test
