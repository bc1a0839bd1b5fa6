#include "http/handler.h"

namespace wick::http {

std::string_view Request::header(std::string_view name) const noexcept {
  for (const Header& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

}  // namespace wick::http
