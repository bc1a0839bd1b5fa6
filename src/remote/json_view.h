// A value of a frame as simdjson has parsed it: decoders read a few of a frame's fields, so that to
// copy all of them into a JsonValue took twice as long. A Json is valid within the call that
// it is passed to. Its functions are those of json_read.h: none stands for a value that is missing
// or null, and of two equal keys the later one counts.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/json_value.h"

namespace wick::remote {

class Json {
 public:
  Json() = default;  // none

  explicit operator bool() const noexcept { return document_ != nullptr; }

  Json find(std::string_view key) const;

  // Several in one pass: const auto [id, index] = call.find_all({"id", "index"});
  template <std::size_t N>
  std::array<Json, N> find_all(const std::string_view (&keys)[N]) const {
    std::array<Json, N> found;
    find_all(keys, found);
    return found;
  }

  std::optional<std::string_view> text() const;
  std::optional<double> number() const;  // also of an integer
  bool is_true() const;
  bool is_object() const;
  bool is_array() const;
  JsonValue copy() const;
  void each(const std::function<void(Json)>& visit) const;  // item of an array

 private:
  friend struct JsonAccess;  // simdjson's header is in json_view.cc alone

  void find_all(std::span<const std::string_view> keys, std::span<Json> found) const;

  const void* document_ = nullptr;
  [[maybe_unused]] std::size_t at_ = 0;  // json_view.cc reads both as one value of simdjson
};

inline Json find(Json value, std::string_view key) {
  return value.find(key);
}

std::string_view view_of(Json value);  // empty if it is no text
std::string text_of(Json value);
std::string text_of(Json value, std::string_view key);
std::optional<int> to_count(Json value);  // as count_at()
std::optional<int> count_at(Json value, std::string_view key);
int count_of(Json value, std::string_view key, int fallback = 0);
std::string to_json(Json value);

// Calls visit(Json) for the frame of a stream, or the whole of an answer that is none. What
// parse_frame() takes is taken.
Result<void> read_frame(std::string_view data, const std::function<void(Json frame)>& visit);

}  // namespace wick::remote
