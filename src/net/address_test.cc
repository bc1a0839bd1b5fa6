#include "net/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace wick {

namespace {

AddressKind kind(const char* text) {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET6, text, &six.sin6_addr) == 1)
    return kind_of(reinterpret_cast<const sockaddr&>(six), sizeof(six));
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, text, &four.sin_addr), 1) << text;
  return kind_of(reinterpret_cast<const sockaddr&>(four), sizeof(four));
}

TEST(Address, KindsOfIpv4AndIpv6) {
  for (const char* const text : {"8.8.8.8", "172.32.0.1", "100.128.0.1", "192.169.0.1", "126.1.2.3",
                                 "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888"})
    EXPECT_EQ(kind(text), AddressKind::kPublic) << text;
  for (const char* const text :
       {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fc00::1",
        "fd12::1", "::ffff:10.1.2.3", "64:ff9b::10.0.0.1", "2002:0a00:0001::"})
    EXPECT_EQ(kind(text), AddressKind::kPrivate) << text;
  for (const char* const text : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"})
    EXPECT_EQ(kind(text), AddressKind::kLoopback) << text;
  for (const char* const text :
       {"169.254.169.254", "0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "fe80::1", "ff02::1",
        "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::", "2001::1",
        "::ffff:0.0.0.0", "198.18.0.1", "::127.0.0.1", "240.0.0.1", "100::1", "fec0::1"})
    EXPECT_EQ(kind(text), AddressKind::kForbidden) << text;
}

TEST(Address, HostsOfEverySpelling) {
  for (const char* const host : {"127.0.0.1", "2130706433", "0x7f.1", "017700000001", "127.1",
                                 "[::1]", "localhost", "[::ffff:7f00:1]"})
    EXPECT_EQ(kind_of_host(host), AddressKind::kLoopback) << host;
  for (const char* const host : {"2852039166", "0xa9fea9fe", "[fe80::1%eth0]", "0", "[::]"})
    EXPECT_EQ(kind_of_host(host), AddressKind::kForbidden) << host;
  EXPECT_EQ(kind_of_host("api.openai.com"), AddressKind::kPublic);
  EXPECT_EQ(kind_of_host("127.0.0.1.example.com"), AddressKind::kPublic);
}

TEST(Address, AConnectionIsOfTheKindOfItsEndpointAlone) {
  EXPECT_TRUE(may_connect(AddressKind::kPublic, AddressKind::kPublic));
  EXPECT_FALSE(may_connect(AddressKind::kPublic, AddressKind::kLoopback));
  EXPECT_FALSE(may_connect(AddressKind::kPrivate, AddressKind::kLoopback));
  EXPECT_FALSE(may_connect(AddressKind::kForbidden, AddressKind::kForbidden));
  sockaddr none = {};
  none.sa_family = AF_UNIX;
  EXPECT_EQ(kind_of(none, sizeof(none)), AddressKind::kForbidden);
}

}  // namespace

}  // namespace wick
