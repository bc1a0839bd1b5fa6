#include "server/json_in.h"

#include <simdjson.h>

#include "base/strings.h"
#include "server/limits.h"

namespace wick::server {

namespace {

Error invalid_json(std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "invalid_json",
          .message = cat("the body is not the JSON that is wanted: ", what),
          .hint = R"(send an object, {"model": …}, as application/json)"};
}

// simdjson has checked the depth.
class Copier {
 public:
  bool is_full() const noexcept { return n_values_ > kMaxBodyValues; }

  JsonValue copy(const simdjson::dom::element& from) {
    using simdjson::dom::element_type;
    if (++n_values_ > kMaxBodyValues) return {};
    switch (from.type()) {
      case element_type::NULL_VALUE:
        return nullptr;
      case element_type::BOOL:
        return from.get_bool().value_unsafe();
      case element_type::INT64:
        return std::int64_t{from.get_int64().value_unsafe()};
      case element_type::UINT64:  // beyond 63 bits, as chat/json_value.cc has it
        return static_cast<double>(from.get_uint64().value_unsafe());
      case element_type::DOUBLE:
        return from.get_double().value_unsafe();
      case element_type::STRING:
        return from.get_string().value_unsafe();
      case element_type::ARRAY:
        return copy(from.get_array().value_unsafe());
      default:
        return copy(from.get_object().value_unsafe());
    }
  }

  Object copy(const simdjson::dom::object& from) {
    Object out;
    for (const auto& field : from) {
      if (++n_values_ > kMaxBodyValues) break;
      out[field.key] = copy(field.value);
    }
    return out;
  }

  Array copy(const simdjson::dom::array& from) {
    Array out;
    for (const auto& item : from) {
      if (is_full()) break;
      out.push_back(copy(item));
    }
    return out;
  }

 private:
  std::size_t n_values_ = 0;
};

template <class Wanted>
Result<Wanted> parse(std::string_view body, const char* other, simdjson::dom::parser& parser) {
  if (body.size() > kMaxBodyBytes) {
    return invalid_json(cat("it has ", body.size(), " bytes, the limit is ", kMaxBodyBytes));
  }
  if (parser.allocate(body.size(), kMaxJsonLevels) != simdjson::SUCCESS) {
    return invalid_json("there is no memory to read it");
  }
  simdjson::dom::element root;
  const auto error = parser.parse(body.data(), body.size()).get(root);
  if (error != simdjson::SUCCESS) return invalid_json(simdjson::error_message(error));
  Wanted wanted;
  if (root.get(wanted) != simdjson::SUCCESS) return invalid_json(other);
  return wanted;
}

template <class Wanted>
auto read(std::string_view body, const char* other)
    -> Result<decltype(Copier().copy(std::declval<const Wanted&>()))> {
  simdjson::dom::parser parser(kMaxBodyBytes);
  WICK_TRY(const Wanted wanted, parse<Wanted>(body, other, parser));
  Copier copier;
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
