// The routes of the web page: what its files are sent as. What the page does is tests/page.
#include "server/page.h"

#include <gtest/gtest.h>

#include "server/server_fixture_test.h"

namespace wick::server {
namespace {

using namespace test;

struct Page {
  Server server{always({})};

  Got get(std::string_view path, std::vector<http::Header> headers = {}) {
    http::Request request{.method = "GET", .path = std::string(path)};
    request.headers = std::move(headers);
    const http::Route* const route = server.route("GET", path, request.rest);
    Got got;
    if (route == nullptr) return got;
    const http::Reply reply = route->handler(std::move(request), std::make_shared<Wake>());
    const auto& response = std::get<http::Response>(reply);
    got.status = response.status;
    got.type = response.type;
    got.body = response.body;
    got.headers = response.headers;
    return got;
  }
};

const http::Header kGzip = {"accept-encoding", "br, gzip;q=0.8"};

TEST(ServerPage, EachFileNeedsNoKeyAndHasItsType) {
  Page page;
  std::string rest;
  ASSERT_GT(page_files().size(), 20U);
  for (const PageFile& file : page_files()) {
    const Got got = page.get(file.path);
    EXPECT_EQ(got.status, 200) << file.path;
    EXPECT_EQ(got.type, file.type) << file.path;
    EXPECT_EQ(got.body, file.plain) << file.path;
    EXPECT_EQ(page.server.route("GET", file.path, rest)->access, http::Access::kOpen);
  }
  EXPECT_EQ(page.get("/").type, "text/html; charset=utf-8");
}

TEST(ServerPage, AllItsFilesTogetherAreSmall) {
  std::size_t bytes = 0;
  for (const PageFile& file : page_files())
    bytes += file.gzip.size();
  EXPECT_LE(bytes, 400'000U);
}

TEST(ServerPage, TheFirstFileNamesTheFolderOfTheOthers) {
  Page page;
  const std::string html = page.get("/").body;
  EXPECT_EQ(html.find("{{"), std::string::npos);
  for (std::size_t at = html.find("web/"); at != std::string::npos;
       at = html.find("web/", at + 1)) {
    const std::string path = cat("/", html.substr(at, html.find('"', at) - at));
    EXPECT_EQ(page.get(path).status, 200) << path;
  }
}

TEST(ServerPage, NoFileHasCodeOrStyleWithinMarkup) {
  Page page;
  const std::string html = page.get("/").body;
  for (const char* const word : {"<style", " style=", " onclick=", " onload=", "javascript:"})
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  for (std::size_t at = html.find("<script"); at != std::string::npos;
       at = html.find("<script", at + 1))
    EXPECT_NE(html.substr(at, html.find('>', at) - at).find(" src="), std::string::npos);
}

TEST(ServerPage, IsCompressedForWhoReadsThat) {
  Page page;
  const Got small = page.get("/", {kGzip});
  EXPECT_EQ(small.header("content-encoding"), "gzip");
  EXPECT_TRUE(small.body.starts_with("\x1F\x8B"));
  EXPECT_EQ(small.header("vary"), "accept-encoding");
  const std::vector<std::string> plain = {"", "br", "gzip;q=0", "gzip; q=0.00", "xgzip", "gzip2"};
  for (const std::string& accepted : plain) {
    const Got got = page.get("/", {{"accept-encoding", accepted}});
    EXPECT_EQ(got.header("content-encoding"), "") << accepted;
    EXPECT_TRUE(got.body.starts_with("<!doctype html>")) << accepted;
  }
  EXPECT_EQ(page.get("/", {{"accept-encoding", "deflate,GZIP ; q=0.1"}}).body, small.body);
}

TEST(ServerPage, IsNotSentAgainToWhoHasIt) {
  Page page;
  const Got plain = page.get("/"), small = page.get("/", {kGzip});
  const std::string tag = plain.header("etag");
  EXPECT_NE(tag, small.header("etag"));  // other bytes
  for (const std::string& told : {tag, cat("W/", tag), cat("\"x\", ", tag), std::string("*")}) {
    const Got got = page.get("/", {{"if-none-match", told}});
    EXPECT_EQ(got.status, 304) << told;
    EXPECT_EQ(got.body, "");
    EXPECT_EQ(got.header("etag"), tag);
  }
  EXPECT_EQ(page.get("/", {{"if-none-match", small.header("etag")}}).status, 200);
}

TEST(ServerPage, OnlyNamedFilesAreKeptForEver) {
  Page page;
  EXPECT_EQ(page.get("/").header("cache-control"), "no-cache");
  for (const PageFile& file : page_files()) {
    if (file.path == "/") continue;
    EXPECT_EQ(page.get(file.path).header("cache-control"), "public, max-age=31536000, immutable");
  }
}

TEST(ServerPage, AllowsNoCodeButItsOwnAndNoOtherHost) {
  Page page;
  for (const PageFile& file : page_files()) {
    const std::string policy = page.get(file.path).header("content-security-policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self';")) << file.path;
    for (const char* const weak : {"unsafe", "http:", "https:", "*", "data:", "blob:"})
      EXPECT_EQ(policy.find(weak), std::string::npos) << weak;
    for (const char* const rule :
         {"connect-src 'self'", "img-src 'self'", "base-uri 'none'", "form-action 'none'",
          "frame-ancestors 'none'", "require-trusted-types-for 'script'"})
      EXPECT_NE(policy.find(rule), std::string::npos) << rule;
    EXPECT_EQ(page.get(file.path).header("referrer-policy"), "no-referrer");
  }
}

TEST(ServerPage, OtherFilesAreNotThere) {
  Page page;
  for (const char* const path : {"/web/", "/web/index.html", "/web/0123456789abcdef/js/main.js",
                                 "/web/../LICENSE", "/web//etc/passwd"}) {
    const Got got = page.get(path);
    EXPECT_EQ(got.status, 404) << path;
    EXPECT_EQ(got.header("cache-control"), "") << path;  // the transport's: no-store
  }
}

TEST(ServerPage, IsNotThereIfItIsNotWanted) {
  Server server(always({}), {.version = "1", .has_page = false});
  std::string rest;
  EXPECT_EQ(server.route("GET", "/", rest), nullptr);
  EXPECT_EQ(server.route("GET", page_files().back().path, rest), nullptr);
  EXPECT_NE(server.route("GET", "/health", rest), nullptr);
}

}  // namespace
}  // namespace wick::server
