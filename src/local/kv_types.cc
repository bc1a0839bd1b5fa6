#include "base/strings.h"
#include "local/local.h"

namespace wick {

namespace {

Result<KvType> parse_kv_type(std::string_view text) {
  std::string known;
  for (const KvType type : kKvTypes) {
    if (text == name(type)) return type;
    known += cat(known.empty() ? "" : ", ", name(type));
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_kv_type",
               .message = cat("the cache type '", printable(text), "' is not one of ", known),
               .hint = "one type, or one for keys and one for values: q8_0,q4_0"};
}

}  // namespace

Result<KvTypes> parse_kv_types(std::string_view text) {
  const std::size_t comma = text.find(',');
  WICK_TRY(const KvType k, parse_kv_type(text.substr(0, comma)));
  if (comma == std::string_view::npos) return KvTypes{k, k};
  WICK_TRY(const KvType v, parse_kv_type(text.substr(comma + 1)));
  return KvTypes{k, v};
}

}  // namespace wick
