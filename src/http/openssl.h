// OpenSSL's functions that http/ calls: libssl is loaded (dlopen) when the first
// certificate is read. With libcrypto it took a third of the time of `wick check`.
#pragma once

#include "base/result.h"

namespace wick::http {

// kUnavailable where it is not installed. Any thread, before all else of OpenSSL.
Result<void> load_openssl();

}  // namespace wick::http
