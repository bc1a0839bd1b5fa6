#include "grammar/schema/document.h"

#include "base/strings.h"
#include "format/json_reader.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

class Builder {
 public:
  explicit Builder(std::string_view text) : in_(text) {}

  Result<Json> read() {
    Json out;
    value(out, 0);
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
  void value(Json& out, std::size_t depth) {
    if (++n_values_ > kMaxSchemaValues || depth > kMaxSchemaDepth) is_too_large_ = true;
    if (is_too_large_) return;
    const char first = in_.peek();
    if (first == '{') {
      out.kind = Json::Kind::kObject;
      std::string_view key;
      for (in_.open('{'); !is_too_large_ && in_.next_member(key);) {
        value(out.add(key), depth + 1);
      }
    } else if (first == '[') {
      out.kind = Json::Kind::kArray;
      for (in_.open('['); !is_too_large_ && in_.next_item();) {
        value(out.items.emplace_back(), depth + 1);
      }
    } else if (first == '"') {
      out.kind = Json::Kind::kString;
      out.text = in_.string();
    } else {
      scalar(out);
    }
  }

  void scalar(Json& out) {
    const std::string_view text = in_.skip();
    if (text == "true") {
      out.kind = Json::Kind::kTrue;
    } else if (text == "false") {
      out.kind = Json::Kind::kFalse;
    } else if (text != "null") {
      out.kind = Json::Kind::kNumber;
      out.text = text;
    }
  }

  JsonReader in_;
  std::size_t n_values_ = 0;
  bool is_too_large_ = false;
};

}  // namespace

Json& Json::add(std::string_view key) {
  constexpr std::size_t kFew = 4;
  if (keys.empty()) {
    keys.reserve(kFew);
    items.reserve(kFew);
  }
  keys.emplace_back(key);
  marks |= mark(key);
  return items.emplace_back();
}

const Json* Json::find_marked(std::string_view key) const noexcept {
  for (std::size_t i = keys.size(); i-- > 0;) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

Result<Json> read_document(std::string_view text) {
  return Builder(text).read();
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
