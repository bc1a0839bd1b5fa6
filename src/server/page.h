// The web page: the files of web/, as tools/embed_page wrote them into the program. Its code asks
// the same routes as everybody else; the files themselves need no key.
//
//   GET /                        index.html, asked for anew each time (304 if it is the same)
//   GET /web/HASH/js/main.js     kept by browsers for ever: another content has another HASH
//
// What a model writes is hostile, so the answer's headers allow no code but these files, no
// request to anybody but this server, and no frame around the page.
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
