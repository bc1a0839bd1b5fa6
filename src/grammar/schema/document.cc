#include "grammar/schema/document.h"

#include <memory>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <vector>

#include "base/strings.h"
#include "format/json_reader.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

// Strings without escapes are views into `text`, others into what the reader keeps.
struct Storage {
  explicit Storage(std::string_view given) : text(given), in(text) {}

  std::string text;
  JsonReader in;
  std::pmr::monotonic_buffer_resource arena = std::pmr::monotonic_buffer_resource(16U << 10U);
};

// A value's parts lie on a stack until all of them are read; then they move to the arena.
class Builder {
 public:
  explicit Builder(Storage& storage) : in_(storage.in), arena_(storage.arena) {}

  Result<Json> read() {
    const Json out = value(0);
    if (is_too_large_) {
      return Error{ErrorCode::kUnsupported,
                   "schema_size",
                   cat("the JSON document has more than ", kMaxSchemaValues, " values or ",
                       kMaxSchemaDepth, " levels"),
                   {}};
    }
    if (in_.has_failed() || !in_.is_done()) {
      return Error{
          .code = ErrorCode::kInvalid,
          .id = "json_syntax",
          .message = cat("the text is not one JSON document: it is wrong at byte ", in_.position()),
          .offset = static_cast<std::int64_t>(in_.position())};
    }
    return out;
  }

 private:
  Json value(std::size_t depth) {
    if (++n_values_ > kMaxSchemaValues || depth > kMaxSchemaDepth) is_too_large_ = true;
    if (is_too_large_) return {};
    const char first = in_.peek();
    if (first == '{') return object(depth);
    if (first == '[') return array(depth);
    if (first == '"') return {.kind = Json::Kind::kString, .text = in_.string()};
    return scalar();
  }

  Json object(std::size_t depth) {
    Json out{.kind = Json::Kind::kObject};
    const std::size_t n_before = values_.size(), n_keys = keys_.size();
    std::string_view key;
    for (in_.open('{'); !is_too_large_ && in_.next_member(key);) {
      keys_.push_back(key);
      out.marks |= Json::mark(key);
      values_.push_back(value(depth + 1));
    }
    out.keys = kept(keys_, n_keys);
    out.items = kept(values_, n_before);
    return out;
  }

  Json array(std::size_t depth) {
    Json out{.kind = Json::Kind::kArray};
    const std::size_t n_before = values_.size();
    for (in_.open('['); !is_too_large_ && in_.next_item();)
      values_.push_back(value(depth + 1));
    out.items = kept(values_, n_before);
    return out;
  }

  Json scalar() {
    const std::string_view text = in_.skip();
    if (text == "true") return {.kind = Json::Kind::kTrue};
    if (text == "false") return {.kind = Json::Kind::kFalse};
    if (text == "null") return {};
    return {.kind = Json::Kind::kNumber, .text = text};
  }

  // The elements of `stack` from `from` on, moved to the arena.
  template <class T>
  std::span<const T> kept(std::vector<T>& stack, std::size_t from) {
    static_assert(std::is_trivially_destructible_v<T>);
    const std::size_t n = stack.size() - from;
    if (n == 0) return {};
    T* const to = static_cast<T*>(arena_.allocate(n * sizeof(T), alignof(T)));
    std::uninitialized_copy_n(stack.begin() + static_cast<std::ptrdiff_t>(from), n, to);
    stack.resize(from);
    return {to, n};
  }

  JsonReader& in_;
  std::pmr::monotonic_buffer_resource& arena_;
  std::vector<Json> values_ = {};
  std::vector<std::string_view> keys_ = {};
  std::size_t n_values_ = 0;
  bool is_too_large_ = false;
};

}  // namespace

const Json* Json::find_marked(std::string_view key) const noexcept {
  for (std::size_t i = keys.size(); i-- > 0;) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

Result<JsonDocument> read_document(std::string_view text) {
  const auto storage = std::make_shared<Storage>(text);
  WICK_TRY(const Json root, Builder(*storage).read());
  return JsonDocument{root, storage};
}

std::string_view described(Json::Kind kind) noexcept {
  switch (kind) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kFalse:
      return "false";
    case Json::Kind::kTrue:
      return "true";
    case Json::Kind::kNumber:
      return "a number";
    case Json::Kind::kString:
      return "a string";
    case Json::Kind::kArray:
      return "an array";
    case Json::Kind::kObject:
      return "an object";
  }
  return "";
}

}  // namespace wick::grammar
