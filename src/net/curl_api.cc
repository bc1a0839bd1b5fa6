#include "net/curl_api.h"

#include <dlfcn.h>

#include <mutex>
#include <string_view>
#include <type_traits>

#include "base/strings.h"

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

Error unusable(std::string_view why) {
  return {.code = ErrorCode::kUnavailable,
          .id = "no_libcurl",
          .message = cat("libcurl cannot be loaded: ", printable(why)),
          .hint = "install libcurl (Debian: libcurl4); what needs no network works without it"};
}

// The name of the first function that the library lacks, or null.
const char* find_functions(void* library, CurlApi& api) {
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find("curl_global_init", api.global_init);
  find("curl_version", api.version);
  find("curl_free", api.free);
  find("curl_slist_append", api.slist_append);
  find("curl_slist_free_all", api.slist_free_all);
  find("curl_easy_init", api.easy_init);
  find("curl_easy_cleanup", api.easy_cleanup);
  find("curl_easy_setopt", api.easy_setopt);
  find("curl_easy_getinfo", api.easy_getinfo);
  find("curl_easy_perform", api.easy_perform);
  find("curl_easy_pause", api.easy_pause);
  find("curl_easy_strerror", api.easy_strerror);
  find("curl_easy_unescape", api.easy_unescape);
  find("curl_multi_init", api.multi_init);
  find("curl_multi_cleanup", api.multi_cleanup);
  find("curl_multi_setopt", api.multi_setopt);
  find("curl_multi_add_handle", api.multi_add_handle);
  find("curl_multi_remove_handle", api.multi_remove_handle);
  find("curl_multi_assign", api.multi_assign);
  find("curl_multi_socket_action", api.multi_socket_action);
  find("curl_multi_info_read", api.multi_info_read);
  find("curl_url", api.url);
  find("curl_url_cleanup", api.url_cleanup);
  find("curl_url_get", api.url_get);
  find("curl_url_set", api.url_set);
  find("curl_url_strerror", api.url_strerror);
  return missing;
}

}  // namespace

Result<void> load_curl() {
  const std::lock_guard lock(g_mutex);  // curl_global_init() is not thread-safe in every libcurl
  if (g_is_loaded) return {};
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return unusable(why == nullptr ? kLibrary : why);
  }
  CurlApi api;
  if (const char* const name = find_functions(library, api); name != nullptr)
    return unusable(cat(kLibrary, " has no ", name));
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
