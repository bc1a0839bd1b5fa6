// The metadata of a model file: keys and typed values, under GGUF's names. Values are views into
// the mapped file (or into strings that this object owns, for what was translated from
// config.json). Immutable after load; any thread. Accessors are typed and total: a key of another
// type, or a value out of range, reads as absent (optional forms) or as an error that names key,
// value seen and value wanted (need_ forms). Nothing else may look at the bytes.
//
//   WICK_TRY(const std::int64_t layers, meta.need_integer("llama.block_count", 1, kMaxLayers));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick {

constexpr std::uint64_t kStringHead = 8;  // a string in an array: u64 length, then the text

enum class MetaType : std::uint8_t {  // GGUF's numbers
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

// "u32", "string", …: as it stands in messages and in `wick model info`.
const char* name(MetaType type) noexcept;

// Bytes of one value of `type`; 0 for strings and arrays, which carry their own length.
std::size_t element_bytes(MetaType type) noexcept;

struct MetaValue {
  MetaType type = MetaType::kU8;
  MetaType element = MetaType::kU8;  // of an array
  std::uint64_t count = 1;           // elements of an array
  // Scalar or elements, little-endian; strings: the text, in arrays u64 length + text each.
  std::span<const std::byte> bytes = {};
};

struct MetaEntry {
  std::string_view key;
  MetaValue value;
};

class Metadata {
 public:
  Metadata();
  ~Metadata();
  Metadata(Metadata&&) noexcept;
  Metadata& operator=(Metadata&&) noexcept;

  std::span<const MetaEntry> entries() const noexcept;  // in the file's order
  const MetaValue* find(std::string_view key) const noexcept;

  bool has(std::string_view key) const noexcept { return find(key) != nullptr; }

  // Absent, of another kind, or out of range → nullopt. Any integer type reads as integer, any
  // number as number.
  std::optional<std::int64_t> integer(std::string_view key) const noexcept;
  std::optional<double> number(std::string_view key) const noexcept;
  std::optional<bool> boolean(std::string_view key) const noexcept;
  std::optional<std::string_view> string(std::string_view key) const noexcept;
  std::optional<std::vector<std::string_view>> strings(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(
      std::string_view key) const;  // a bool array reads as 0/1
  std::optional<std::vector<double>> numbers(std::string_view key) const;

  // Required values with their range.
  Result<std::int64_t> need_integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  Result<double> need_number(std::string_view key, double min, double max) const;
  Result<std::string_view> need_string(std::string_view key) const;
  // A scalar, or an array with one value for each of `count` layers; always `count` values in [min,
  // max].
  Result<std::vector<std::int64_t>> need_per_layer(std::string_view key, int count,
                                                   std::int64_t min, std::int64_t max) const;

  // Load time only. add() stores a view (the file outlives this object) and returns false if the
  // key exists. The set_ forms store a copy and replace an existing key.
  bool add(std::string_view key, const MetaValue& value);
  void set_integer(std::string_view key, std::int64_t value);
  void set_number(std::string_view key, double value);
  void set_boolean(std::string_view key, bool value);
  void set_string(std::string_view key, std::string_view value);
  void set_integers(std::string_view key, std::span<const std::int64_t> values);
  void set_numbers(std::string_view key, std::span<const double> values);
  void set_strings(std::string_view key, std::span<const std::string> values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wick
