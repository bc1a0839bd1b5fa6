// Splits an http(s) URL with libcurl's own parser, so that the checked URL is the one that is
// fetched. Plain values, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

struct UrlParts {
  std::string origin = {};  // "https://huggingface.co:443": scheme, host in lower case, port
  std::string path = {};    // "/org/repo/resolve/main/a%20b.gguf", as sent
  std::string plain = {};   // the URL without user, password and fragment: fit to record
  std::string shown = {};   // … and without the query, which may hold a signature: fit to print
};

// kInvalid for anything but http and https, control characters and URLs longer than 8 KiB.
Result<UrlParts> parse_url(const std::string& url);

// "a b.gguf" of "/x/a%20b.gguf": the last part of a path, decoded; may be empty or hold any byte.
std::string last_path_part(const UrlParts& url);

// `text` with every byte that a path may not hold as %XX; '/' stays.
std::string escape_path(std::string_view text);
// The same with '/' as %2F: one part of a path, or a value of a query.
std::string escape_path_part(std::string_view text);

}  // namespace wick
