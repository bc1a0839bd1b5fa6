// RFC 3986, §5.2: a reference against a base address.
#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "grammar/schema/sources.h"

namespace wick::grammar {
namespace {

struct Address {
  std::string_view scheme = {}, authority = {}, path = {}, query = {};
  bool has_scheme = false, has_authority = false, has_query = false;
};

Address parse(std::string_view text) {
  Address out;
  const std::size_t colon = text.find_first_of(":/?#");
  if (colon != std::string_view::npos && colon > 0 && text[colon] == ':') {
    out.scheme = text.substr(0, colon);
    out.has_scheme = true;
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    const std::size_t end = std::min(text.find_first_of("/?", 2), text.size());
    out.authority = text.substr(2, end - 2);
    out.has_authority = true;
    text.remove_prefix(end);
  }
  const std::size_t query = text.find('?');
  if (query != std::string_view::npos) {
    out.query = text.substr(query + 1);
    out.has_query = true;
    text = text.substr(0, query);
  }
  out.path = text;
  return out;
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool is_absolute = path.starts_with('/');
  bool ends_open = false;
  for (std::size_t at = is_absolute ? 1 : 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    ends_open = part == "." || part == "..";
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (part != ".") {
      parts.push_back(part);
    }
    at = end + 1;
  }
  std::string out = is_absolute ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.append(i == 0 ? "" : "/").append(parts[i]);
  if (ends_open && !parts.empty()) out += '/';
  return out;
}

std::string merged(const Address& base, std::string_view path) {
  if (base.has_authority && base.path.empty()) return cat("/", path);
  const std::size_t slash = base.path.rfind('/');
  return cat(slash == std::string_view::npos ? "" : base.path.substr(0, slash + 1), path);
}

std::string joined(const Address& a, std::string_view path) {
  std::string out;
  if (a.has_scheme) out.append(a.scheme).append(":");
  if (a.has_authority) out.append("//").append(a.authority);
  out.append(path);
  if (a.has_query) out.append("?").append(a.query);
  return out;
}

}  // namespace

std::string resolve_address(std::string_view base, std::string_view reference,
                            std::string& fragment) {
  const std::size_t hash = reference.find('#');
  fragment = hash == std::string_view::npos ? "" : reference.substr(hash + 1);
  reference = reference.substr(0, hash);
  if (reference.empty()) return std::string(base);
  const Address from = parse(base);
  Address to = parse(reference);
  if (to.has_scheme) {
    return joined(to, to.path.starts_with('/') ? without_dots(to.path) : std::string(to.path));
  }
  to.scheme = from.scheme;
  to.has_scheme = from.has_scheme;
  if (to.has_authority) return joined(to, without_dots(to.path));
  to.authority = from.authority;
  to.has_authority = from.has_authority;
  if (to.path.empty()) return joined(to, from.path);
  return joined(
      to, without_dots(to.path.starts_with('/') ? std::string(to.path) : merged(from, to.path)));
}

}  // namespace wick::grammar
