// libcurl's handles with owners, and its one initialization. For the sources of net/ alone.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace wick {

struct EasyFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};

struct SlistFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

using CurlEasy = std::unique_ptr<CURL, EasyFree>;
using CurlHeaders = std::unique_ptr<curl_slist, SlistFree>;

// curl_global_init is not thread-safe in every libcurl; a static local is.
inline bool is_curl_ready() {
  static const bool is_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return is_ready;
}

// kInvalid for a line with a line break.
inline Result<CurlHeaders> curl_headers(std::span<const std::string> lines) {
  CurlHeaders list;
  for (const std::string& line : lines) {
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_header",
                   .message = "a request header holds a line break"};
    }
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) {
      return Error{.code = ErrorCode::kNoMemory, .message = "no memory for request headers"};
    }
    static_cast<void>(list.release());  // curl_slist_append returns the same list, one longer
    list.reset(longer);
  }
  return list;
}

}  // namespace wick
