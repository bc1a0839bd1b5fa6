// libcurl's handles with owners. For the sources of net/ alone.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "net/curl_api.h"

namespace wick {

struct EasyFree {
  void operator()(CURL* easy) const { curl().easy_cleanup(easy); }
};

struct SlistFree {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};

using CurlEasy = std::unique_ptr<CURL, EasyFree>;
using CurlHeaders = std::unique_ptr<curl_slist, SlistFree>;

// kInvalid for a line with a line break.
inline Result<void> check_headers(std::span<const std::string> lines) {
  for (const std::string& line : lines) {
    const auto ends_line = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
    if (std::none_of(line.begin(), line.end(), ends_line)) continue;
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_header",
                 .message = "a request header holds a line break"};
  }
  return {};
}

inline Result<CurlHeaders> curl_headers(std::span<const std::string> lines) {
  WICK_DO(check_headers(lines));
  CurlHeaders list;
  for (const std::string& line : lines) {
    curl_slist* longer = curl().slist_append(list.get(), line.c_str());
    if (longer == nullptr) {
      return Error{.code = ErrorCode::kNoMemory, .message = "no memory for request headers"};
    }
    static_cast<void>(list.release());  // curl_slist_append returns the same list, one longer
    list.reset(longer);
  }
  return list;
}

}  // namespace wick
