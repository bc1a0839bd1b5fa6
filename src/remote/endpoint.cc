#include "remote/endpoint.h"

#include "base/nearest.h"
#include "base/strings.h"
#include "net/address.h"
#include "net/url.h"

namespace wick::remote {

namespace {

Error bad_endpoint(const Endpoint& endpoint, std::string id, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = std::move(id),
          .message = cat("the provider '", printable(endpoint.name), "' ", what)};
}

}  // namespace

Result<const Kind*> find_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return &kind;
    names.emplace_back(kind.name);
  }
  const std::string near = nearest_names(name, names);
  return Error{.code = ErrorCode::kInvalid,
               .id = "no_such_kind",
               .message = cat("there is no kind of provider '", printable(name), "'"),
               .hint = near.empty() ? "docs/providers.md lists them" : cat("the nearest: ", near)};
}

AddressKind address_kind(const Endpoint& endpoint) {
  const auto url = parse_url(endpoint.url);
  if (!url) return AddressKind::kForbidden;
  const std::size_t begin = url->origin.find("://") + 3;
  const std::string host = url->origin.substr(begin, url->origin.rfind(':') - begin);
  const AddressKind literal = kind_of_host(host);
  return literal == AddressKind::kPublic && endpoint.is_private ? AddressKind::kPrivate : literal;
}

Result<Endpoint> complete(Endpoint endpoint) {
  if (endpoint.url.empty()) endpoint.url = endpoint.kind->url;
  if (endpoint.url.empty()) return bad_endpoint(endpoint, "bad_url", "has no endpoint");
  while (endpoint.url.ends_with('/'))
    endpoint.url.pop_back();
  const auto parsed = parse_url(endpoint.url);
  if (!parsed) {
    Error error = parsed.error();
    if (error.id == "bad_url") error.hint = "an endpoint looks like https://host/v1";
    return error;
  }
  const UrlParts& url = *parsed;
  if (url.plain != url.shown || endpoint.url.find('@') != std::string::npos ||
      endpoint.url.find('#') != std::string::npos)
    return bad_endpoint(endpoint, "bad_url", "has an endpoint with a user, a query or a fragment");
  const AddressKind kind = address_kind(endpoint);
  if (kind == AddressKind::kForbidden)
    return bad_endpoint(endpoint, "bad_url", "has an endpoint at an address that none may have");
  if (kind == AddressKind::kPublic && !url.origin.starts_with("https://"))
    return bad_endpoint(endpoint, "plain_http", "is on another network and not reached by https");
  if (!endpoint.api_version.empty() || endpoint.kind->name != "azure") return endpoint;
  return bad_endpoint(endpoint, "no_api_version", "is of the kind azure and needs api_version");
}

}  // namespace wick::remote
