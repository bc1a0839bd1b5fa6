#include "server/lora.h"

#include <charconv>

#include "server/errors.h"
#include "server/fields.h"
#include "server/json_in.h"
#include "server/json_out.h"
#include "server/status.h"

namespace wick::server {

namespace {

// The shortest digits that are this number again.
std::string text_of(double value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {std::begin(digits), end};
}

std::optional<double> number_of(const JsonValue* value) noexcept {
  if (value == nullptr) return std::nullopt;
  if (const auto n = whole(*value)) return static_cast<double>(*n);
  if (value->number() == nullptr) return std::nullopt;
  return *value->number();
}

}  // namespace

Result<std::vector<std::string>> lora_texts(const Array& list, std::string_view field) {
  std::vector<std::string> texts;
  for (const JsonValue& one : list) {
    const Object* const adapter = one.object();
    const JsonValue* const id = adapter == nullptr ? nullptr : adapter->find("id");
    const auto scale = adapter == nullptr ? std::nullopt : number_of(adapter->find("scale"));
    if (id == nullptr || !whole(*id) || !scale) {
      return bad_field(field, "has the item ", seen(one),
                       ", wanted is an object with a whole number id and a number scale");
    }
    texts.push_back(cat(*whole(*id), ":", text_of(*scale)));
  }
  if (texts.empty()) texts.emplace_back("none");
  return texts;
}

http::Reply list_adapters(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& /*wake*/) {
  const auto name = find_model(*context, model_in(request));
  if (!name) return error_response(refusal(*context, name.error()));
  const auto adapters = context->provider->adapters(*name);
  if (!adapters) return error_response(refusal(*context, adapters.error()));
  http::Response response;
  JsonOut json(response.body);
  json.array();
  for (const AdapterInfo& one : *adapters) {
    json.object().field("id", one.id).field("name", one.name).field("path", one.path);
    json.field("scale", static_cast<double>(one.scale)).end_object();
  }
  json.end_array();
  return response;
}

http::Reply set_adapters(const SharedContext& context, const http::Request& request,
                         const std::shared_ptr<Wake>& /*wake*/) {
  const auto set = [&]() -> Result<void> {
    WICK_TRY(const std::string name, find_model(*context, model_in(request)));
    WICK_TRY(const Array list, read_list(request.body));
    WICK_TRY(const std::vector<std::string> texts, lora_texts(list, "the body"));
    return context->provider->set_adapters(name, texts);
  };
  if (const auto done = set(); !done) return error_response(refusal(*context, done.error()));
  return http::Response{.body = R"({"success":true})"};
}

}  // namespace wick::server
