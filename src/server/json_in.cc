#include "server/json_in.h"

#include <simdjson.h>

#include "base/strings.h"
#include "chat/json_dom.h"
#include "server/limits.h"

namespace wick::server {

namespace {

Error invalid_json(std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "invalid_json",
          .message = cat("the body is not the JSON that is wanted: ", what),
          .hint = R"(send an object, {"model": …}, as application/json)"};
}

// `large`: of a body that is not small.
template <class Wanted>
Result<Wanted> parse(std::string_view body, const char* other, simdjson::dom::parser& large) {
  if (body.size() > kMaxBodyBytes) {
    return invalid_json(cat("it has ", body.size(), " bytes, the limit is ", kMaxBodyBytes));
  }
  simdjson::dom::element root;
  thread_local SmallJsonParser small(kMaxJsonLevels);
  auto error = small.parse(body, root);
  if (error == simdjson::CAPACITY) {
    if (large.allocate(body.size(), kMaxJsonLevels) != simdjson::SUCCESS)
      return invalid_json("there is no memory to read it");
    error = large.parse(body.data(), body.size()).get(root);
  }
  if (error != simdjson::SUCCESS) return invalid_json(simdjson::error_message(error));
  Wanted wanted;
  if (root.get(wanted) != simdjson::SUCCESS) return invalid_json(other);
  return wanted;
}

template <class Wanted>
auto read(std::string_view body, const char* other)
    -> Result<decltype(DomCopier(0).copy(std::declval<const Wanted&>()))> {
  simdjson::dom::parser parser(kMaxBodyBytes);
  WICK_TRY(const Wanted wanted, parse<Wanted>(body, other, parser));
  DomCopier copier(kMaxBodyValues);
  auto out = copier.copy(wanted);
  if (copier.is_full()) {
    return invalid_json(cat("it has more than ", kMaxBodyValues, " values and keys"));
  }
  return out;
}

}  // namespace

Result<Object> read_body(std::string_view body) {
  return read<simdjson::dom::object>(body, "it is no object");
}

Result<Array> read_list(std::string_view body) {
  return read<simdjson::dom::array>(body, "it is no list");
}

std::string read_text(std::string_view body, std::string_view key) {
  simdjson::dom::parser parser(kMaxBodyBytes);
  const auto object = parse<simdjson::dom::object>(body, "", parser);
  std::string text;
  if (!object) return text;
  for (const auto& field : *object) {
    std::string_view value;
    if (field.key != key) continue;
    text = field.value.get(value) == simdjson::SUCCESS ? value : std::string_view();
  }
  return text;
}

}  // namespace wick::server
