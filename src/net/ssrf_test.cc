// No endpoint leads where it may not: literals of every spelling, names whose addresses change
// between two look-ups, and redirects. getaddrinfo() and connect() of this program are replaced, so
// that a case says what a name means, and each address that anything tries to reach is seen.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/wake.h"
#include "net/transfers.h"
#include "net/url.h"
#include "support/scripted_upstream.h"

namespace {

using GetAddrInfo = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
using Connect = int (*)(int, const sockaddr*, socklen_t);

// What names mean while a case runs: the addresses of each look-up, the last ones again and again.
struct Net {
  std::mutex mutex;
  bool is_on = false;
  std::vector<std::vector<std::string>> lookups = {};
  std::size_t n_lookups = 0;
  std::vector<wick::AddressKind> reached = {};  // of every connect()
};

Net& net() {
  static Net one;
  return one;
}

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// Exported, so that libcurl finds these before the C library's.
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node,
                                                                  const char* service,
                                                                  const addrinfo* hints,
                                                                  addrinfo** out) {
  static const auto kReal = real<GetAddrInfo>("getaddrinfo");
  Net& one = net();
  const std::lock_guard lock(one.mutex);
  if (!one.is_on) return kReal(node, service, hints, out);
  if (one.lookups.empty()) return EAI_NONAME;
  const auto& addresses = one.lookups[std::min(one.n_lookups++, one.lookups.size() - 1)];
  addrinfo numeric = {};
  numeric.ai_flags = AI_NUMERICHOST;
  numeric.ai_socktype = SOCK_STREAM;
  addrinfo** end = out;
  *out = nullptr;
  for (const std::string& address : addresses) {
    if (kReal(address.c_str(), service, &numeric, end) != 0) continue;
    while (*end != nullptr)
      end = &(*end)->ai_next;
  }
  return *out == nullptr ? EAI_NONAME : 0;
}

extern "C" __attribute__((visibility("default"))) int connect(int fd, const sockaddr* to,
                                                              socklen_t size) {
  static const auto kReal = real<Connect>("connect");
  Net& one = net();
  {
    const std::lock_guard lock(one.mutex);
    if (one.is_on && (to->sa_family == AF_INET || to->sa_family == AF_INET6)) {
      one.reached.push_back(wick::kind_of(*to, size));
      errno = ECONNREFUSED;
      return -1;
    }
  }
  return kReal(fd, to, size);
}

namespace wick {
namespace {

class Ended final : public TransferSink {
 public:
  void head(TransferHead head) override { status = head.status; }

  TransferTake body(std::string_view bytes) override {
    text += bytes;
    return TransferTake::kProgress;
  }

  void end(std::optional<Error> error) override {
    id = error ? error->id : "";
    is_over = true;
    wake.set();
  }

  void wait() {
    while (!is_over) {
      const std::uint32_t seen = wake.signal();
      if (!is_over) wake.wait(seen);
    }
  }

  Wake wake;
  std::atomic<bool> is_over = false;
  int status = 0;
  std::string id, text;
};

std::shared_ptr<Ended> ask(const std::string& url, AddressKind endpoint) {
  static const std::shared_ptr<Transfers> kTransfers = *Transfers::create();
  const auto sink = std::make_shared<Ended>();
  const auto transfer = kTransfers->start(
      {.url = url, .body = "{}", .endpoint = endpoint, .connect_ms = 2000, .total_ms = 5000}, sink);
  EXPECT_TRUE(transfer) << url;
  if (transfer) sink->wait();
  return sink;
}

// A case: what is asked for, as an endpoint of which kind, and what the name means each time.
struct Case {
  std::string url;
  AddressKind endpoint = AddressKind::kPublic;
  std::vector<std::vector<std::string>> lookups = {};
};

// The number of addresses that were reached and must not be.
int escapes(const Case& one) {
  {
    const std::lock_guard lock(net().mutex);
    net().is_on = true;
    net().lookups = one.lookups;
    net().n_lookups = 0;
    net().reached.clear();
  }
  const auto ended = ask(one.url, one.endpoint);
  const std::lock_guard lock(net().mutex);
  net().is_on = false;
  EXPECT_EQ(ended->status, 0) << one.url;
  EXPECT_NE(ended->id, "") << one.url;
  return static_cast<int>(
      std::count_if(net().reached.begin(), net().reached.end(),
                    [&](AddressKind kind) { return !may_connect(one.endpoint, kind); }));
}

// This machine, private networks and the clouds' metadata, in the spellings that programs read.
const std::vector<std::string> kLiterals = {"127.0.0.1",
                                            "127.1",
                                            "127.0.1",
                                            "2130706433",
                                            "0x7f000001",
                                            "0x7f.0x0.0x0.0x1",
                                            "0x7f.1",
                                            "017700000001",
                                            "0177.0.0.1",
                                            "0177.0.0.01",
                                            "127.127.127.127",
                                            "127.255.255.254",
                                            "0.0.0.0",
                                            "0",
                                            "0x0",
                                            "00",
                                            "localhost",
                                            "LOCALHOST",
                                            "localhost.",
                                            "[::1]",
                                            "[0:0:0:0:0:0:0:1]",
                                            "[0000:0000:0000:0000:0000:0000:0000:0001]",
                                            "[::]",
                                            "[::ffff:127.0.0.1]",
                                            "[::ffff:7f00:1]",
                                            "[0:0:0:0:0:ffff:7f00:1]",
                                            "[::127.0.0.1]",
                                            "[::7f00:1]",
                                            "[64:ff9b::127.0.0.1]",
                                            "[64:ff9b::7f00:1]",
                                            "[64:ff9b:1::7f00:1]",
                                            "[2002:7f00:1::]",
                                            "[2002:7f00:0001::1]",
                                            "10.0.0.1",
                                            "10.255.255.255",
                                            "167772161",
                                            "0x0a000001",
                                            "012.0.0.1",
                                            "10.1",
                                            "172.16.0.1",
                                            "172.31.255.255",
                                            "0xac100001",
                                            "2886729729",
                                            "192.168.0.1",
                                            "192.168.1",
                                            "3232235521",
                                            "0xc0a80001",
                                            "0300.0250.0.1",
                                            "100.64.0.1",
                                            "100.127.255.255",
                                            "[::ffff:10.0.0.1]",
                                            "[::ffff:a00:1]",
                                            "[::ffff:192.168.0.1]",
                                            "[64:ff9b::10.0.0.1]",
                                            "[64:ff9b::c0a8:1]",
                                            "[2002:a00:1::]",
                                            "[2002:c0a8:1::]",
                                            "[fc00::1]",
                                            "[fd00::1]",
                                            "[fd00:ec2::254]",
                                            "[fdff::1]",
                                            "169.254.169.254",
                                            "169.254.1",
                                            "2852039166",
                                            "0xa9fea9fe",
                                            "0xa9.0xfe.0xa9.0xfe",
                                            "025177524776",
                                            "0251.0376.0251.0376",
                                            "169.254.170.2",
                                            "169.254.0.1",
                                            "[::ffff:169.254.169.254]",
                                            "[::ffff:a9fe:a9fe]",
                                            "[64:ff9b::169.254.169.254]",
                                            "[64:ff9b::a9fe:a9fe]",
                                            "[2002:a9fe:a9fe::]",
                                            "[fe80::1]",
                                            "[fe80::a9fe:a9fe]",
                                            "[febf::1]",
                                            "[fec0::1]",
                                            "[ff02::1]",
                                            "[ff05::1:3]",
                                            "224.0.0.1",
                                            "239.255.255.250",
                                            "255.255.255.255",
                                            "240.0.0.1",
                                            "192.0.0.192",
                                            "192.0.2.1",
                                            "198.18.0.1",
                                            "198.51.100.1",
                                            "203.0.113.1",
                                            "[100::1]",
                                            "[2001::1]",
                                            "[2001:2::1]",
                                            "[2001:10::1]",
                                            "[2001:db8::1]",
                                            "[3fff::1]",
                                            "[5f00::1]",
                                            "127.0.0.1.",
                                            "0x7f000001.",
                                            "0x7F.0.0.1",
                                            "00000177.0.0.1",
                                            "0177.1",
                                            "0x0a.1",
                                            "127.0.0.%31",
                                            "%31%32%37.0.0.1",
                                            "%6c%6f%63%61%6c%68%6f%73%74",
                                            "lOcAlHoSt.",
                                            "[::1%25lo]",
                                            "[::1%251]",
                                            "[fe80::1%25lo]",
                                            "[::ffff:127.0.0.1%25lo]",
                                            "[::ffff:0:127.0.0.1]",
                                            "[::ffff:0:7f00:1]",
                                            "[64:ff9b:1:fffe::7f00:1]",
                                            "[64:ff9b::0.0.0.0]",
                                            "[64:ff9b::e000:1]",
                                            "[2002:e000:1::]",
                                            "[2002:0:0::]",
                                            "[2001:0:7f00:1::]",
                                            "[2001:20::1]",
                                            "[2001:1ff::1]",
                                            "[3ffe:ffff::1]",
                                            "[::2]",
                                            "[1::1]",
                                            "[4000::1]",
                                            "[e000::1]",
                                            "[ff0e::1]",
                                            "[fe00::1]",
                                            "0.1.2.3",
                                            "0x00ffffff",
                                            "192.0.0.8",
                                            "192.88.99.1",
                                            "198.19.255.255",
                                            "247.0.0.1",
                                            "172.16.1",
                                            "100.64.1",
                                            "[::ffff:100.64.0.1]",
                                            "[::ffff:0.0.0.0]",
                                            "[::ffff:224.0.0.1]"};

// Addresses that names may be given.
const std::vector<std::string> kAddresses = {"127.0.0.1",
                                             "127.8.8.8",
                                             "::1",
                                             "::ffff:127.0.0.1",
                                             "64:ff9b::7f00:1",
                                             "2002:7f00:1::",
                                             "10.1.2.3",
                                             "172.20.0.1",
                                             "192.168.178.1",
                                             "100.100.100.200",
                                             "fd00:ec2::254",
                                             "fc00::1",
                                             "::ffff:10.0.0.1",
                                             "64:ff9b::a00:1",
                                             "169.254.169.254",
                                             "::ffff:169.254.169.254",
                                             "64:ff9b::a9fe:a9fe",
                                             "fe80::1",
                                             "0.0.0.0",
                                             "::",
                                             "224.0.0.1",
                                             "255.255.255.255",
                                             "240.0.0.1",
                                             "198.18.0.1",
                                             "2001:db8::1",
                                             "::127.0.0.1",
                                             "::ffff:0:127.0.0.1",
                                             "64:ff9b:1::7f00:1",
                                             "2001:0:7f00:1::",
                                             "2001:20::1",
                                             "fec0::1",
                                             "ff02::1",
                                             "192.0.0.8",
                                             "192.88.99.1",
                                             "0.1.2.3",
                                             "100::1",
                                             "5f00::1"};
constexpr const char* kFar = "8.8.8.8";

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& host : kLiterals)
    for (const char* const scheme : {"https://", "http://"})
      all.push_back({.url = cat(scheme, host, "/v1"), .lookups = {{kFar}}});
  for (const std::string& address : kAddresses) {
    const std::string name = "https://rebind.example/v1";
    all.push_back({.url = name, .lookups = {{address}}});
    // Harmless at first, or beside it: what counts is the address of the socket.
    all.push_back({.url = name, .lookups = {{kFar}, {address}}});
    all.push_back({.url = name, .lookups = {{address}, {kFar}}});
    all.push_back({.url = name, .lookups = {{kFar, address}}});
    all.push_back({.url = name, .lookups = {{address, kFar}}});
    if (kind_of_host(address) != AddressKind::kPrivate) {
      all.push_back({.url = "http://box.lan/v1",
                     .endpoint = AddressKind::kPrivate,
                     .lookups = {{address, kFar, "10.0.0.1"}}});
    }
  }
  return all;
}

TEST(HostileAddresses, NoSpellingAndNoNameLeadsIn) {
  const std::vector<Case> all = cases();
  EXPECT_GE(all.size(), 200U);
  for (const Case& one : all) {
    std::string meant;
    for (const auto& lookup : one.lookups)
      meant += cat(" ", lookup.front());
    EXPECT_EQ(escapes(one), 0) << one.url << meant;
  }
}

// The test would see an escape: an address that is allowed is reached.
TEST(HostileAddresses, WhatIsAllowedIsTried) {
  const Case far{.url = "https://far.example/v1", .lookups = {{kFar}}};
  EXPECT_EQ(escapes(far), 0);
  const std::lock_guard lock(net().mutex);
  EXPECT_EQ(net().reached, std::vector<AddressKind>{AddressKind::kPublic});
}

TEST(HostileAddresses, RedirectsAreNotFollowedAndProxiesNotAsked) {
  test::ScriptedUpstream inside({{.bytes = {test::http_head("200 OK", "text/plain"), "secret"}}});
  for (const char* const status :
       {"301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "300 Many"}) {
    for (const std::string& target : {inside.url("/x"), std::string("http://169.254.169.254/"),
                                      std::string("file:///etc/passwd"), std::string("//[::1]/")}) {
      test::ScriptedUpstream outside(
          {{.bytes = {test::http_head(
                status, "text/plain",
                cat("Location: ", target, "\r\nRefresh: 0; url=", target, "\r\n"))}}});
      const auto ended = ask(outside.url("/v1"), AddressKind::kLoopback);
      EXPECT_EQ(ended->status, std::atoi(status)) << target;
      EXPECT_EQ(ended->text, "");
    }
  }
  ::setenv("https_proxy", inside.url().c_str(), 1);
  ::setenv("all_proxy", inside.url().c_str(), 1);
  EXPECT_EQ(escapes({.url = "https://far.example/v1", .lookups = {{"127.0.0.1"}}}), 0);
  ::unsetenv("https_proxy");
  ::unsetenv("all_proxy");
  EXPECT_TRUE(inside.requests().empty());
}

}  // namespace
}  // namespace wick
