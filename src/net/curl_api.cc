#include "net/curl_api.h"

#include <mutex>

#include "base/shared_library.h"

namespace wick {

namespace {

#ifdef __APPLE__
constexpr const char* kLibrary = "libcurl.4.dylib";
#else
constexpr const char* kLibrary = "libcurl.so.4";
#endif

CurlApi g_api;
std::mutex g_mutex;
bool g_is_loaded = false;

void find_functions(SharedLibrary& library, CurlApi& api) {
  library.find("curl_global_init", api.global_init);
  library.find("curl_version", api.version);
  library.find("curl_free", api.free);
  library.find("curl_slist_append", api.slist_append);
  library.find("curl_slist_free_all", api.slist_free_all);
  library.find("curl_easy_init", api.easy_init);
  library.find("curl_easy_cleanup", api.easy_cleanup);
  library.find("curl_easy_setopt", api.easy_setopt);
  library.find("curl_easy_getinfo", api.easy_getinfo);
  library.find("curl_easy_perform", api.easy_perform);
  library.find("curl_easy_pause", api.easy_pause);
  library.find("curl_easy_strerror", api.easy_strerror);
  library.find("curl_easy_unescape", api.easy_unescape);
  library.find("curl_multi_init", api.multi_init);
  library.find("curl_multi_cleanup", api.multi_cleanup);
  library.find("curl_multi_setopt", api.multi_setopt);
  library.find("curl_multi_add_handle", api.multi_add_handle);
  library.find("curl_multi_remove_handle", api.multi_remove_handle);
  library.find("curl_multi_assign", api.multi_assign);
  library.find("curl_multi_socket_action", api.multi_socket_action);
  library.find("curl_multi_info_read", api.multi_info_read);
  library.find("curl_url", api.url);
  library.find("curl_url_cleanup", api.url_cleanup);
  library.find("curl_url_get", api.url_get);
  library.find("curl_url_set", api.url_set);
  library.find("curl_url_strerror", api.url_strerror);
}

}  // namespace

Result<void> load_curl() {
  const std::lock_guard lock(g_mutex);  // curl_global_init() is not thread-safe in every libcurl
  if (g_is_loaded) return {};
  SharedLibrary library(kLibrary);
  CurlApi api;
  find_functions(library, api);
  WICK_DO(library.check(
      "no_libcurl", "install libcurl (Debian: libcurl4); what needs no network works without it"));
  if (api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
  g_api = api;
  g_is_loaded = true;
  return {};
}

const CurlApi& curl() noexcept {
  return g_api;
}

}  // namespace wick
