// The web page: the files of web/, which tools/embed_page embeds into the program. The page uses
// the public routes; its own files need no key.
//
//   GET /                        index.html, revalidated at each request (304 if unchanged)
//   GET /web/HASH/js/main.js     cached forever: HASH changes with the content
//
// Model output is untrusted, so the headers allow no code but these files, no request to another
// server, and no frame around the page.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

struct PageFile {
  std::string_view path, type;
  std::string_view tag;  // of its content
  std::string_view plain, gzip;
};

// Of the program; any thread.
std::span<const PageFile> page_files() noexcept;

http::Reply page(const SharedContext& context, const http::Request& request,
                 const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
