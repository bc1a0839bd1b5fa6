#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace wick {

namespace {

struct Range4 {
  std::uint32_t first;
  int bits;
  AddressKind kind;
};

// IANA's registry of special-purpose IPv4 addresses. All others are public.
constexpr Range4 kRanges4[] = {
    {0x00000000, 8, AddressKind::kForbidden},   // this network
    {0x0A000000, 8, AddressKind::kPrivate},     // 10/8
    {0x64400000, 10, AddressKind::kPrivate},    // 100.64/10, shared by carriers
    {0x7F000000, 8, AddressKind::kLoopback},    // 127/8
    {0xA9FE0000, 16, AddressKind::kForbidden},  // 169.254/16, link-local
    {0xAC100000, 12, AddressKind::kPrivate},    // 172.16/12
    {0xC0000000, 24, AddressKind::kForbidden},  // 192.0.0/24
    {0xC0000200, 24, AddressKind::kForbidden},  // documentation
    {0xC0586300, 24, AddressKind::kForbidden},  // 6to4 relays
    {0xC0A80000, 16, AddressKind::kPrivate},    // 192.168/16
    {0xC6120000, 15, AddressKind::kForbidden},  // benchmarks
    {0xC6336400, 24, AddressKind::kForbidden},  // documentation
    {0xCB007100, 24, AddressKind::kForbidden},  // documentation
    {0xE0000000, 4, AddressKind::kForbidden},   // multicast
    {0xF0000000, 4, AddressKind::kForbidden},   // reserved, broadcast
};

AddressKind kind_of4(std::uint32_t address) noexcept {
  for (const Range4& range : kRanges4) {
    const std::uint32_t mask = ~std::uint32_t{0} << (32 - range.bits);
    if ((address & mask) == range.first) return range.kind;
  }
  return AddressKind::kPublic;
}

using Bytes6 = std::array<std::uint8_t, 16>;

std::uint32_t four(const Bytes6& bytes, std::size_t at) noexcept {
  return std::uint32_t{bytes[at]} << 24U | std::uint32_t{bytes[at + 1]} << 16U |
         std::uint32_t{bytes[at + 2]} << 8U | bytes[at + 3];
}

AddressKind kind_of6(const Bytes6& bytes) noexcept {
  const auto zeros = [&](std::size_t begin, std::size_t end) {
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                       bytes.begin() + static_cast<std::ptrdiff_t>(end),
                       [](std::uint8_t byte) { return byte == 0; });
  };
  const std::uint32_t head = four(bytes, 0);
  if (zeros(0, 15) && bytes[15] == 1) return AddressKind::kLoopback;
  if (zeros(0, 10) && bytes[10] == 0xFF && bytes[11] == 0xFF) return kind_of4(four(bytes, 12));
  if (head == 0x0064FF9B && zeros(4, 12)) return kind_of4(four(bytes, 12));  // NAT64
  if (head >> 16U == 0x2002) return kind_of4(four(bytes, 2));                // 6to4
  if ((bytes[0] & 0xFEU) == 0xFC) return AddressKind::kPrivate;
  // Teredo and other protocols (2001::/23), documentation.
  if (head >> 9U == 0x20010000U >> 9U || head == 0x20010DB8 || head >> 12U == 0x3FFF0000U >> 12U)
    return AddressKind::kForbidden;
  // Of the rest only 2000::/3 is given out.
  return (bytes[0] & 0xE0U) == 0x20 ? AddressKind::kPublic : AddressKind::kForbidden;
}

}  // namespace

AddressKind kind_of(const sockaddr& address, socklen_t size) noexcept {
  if (address.sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in in = {};
    std::memcpy(&in, &address, sizeof(in));
    return kind_of4(ntohl(in.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in = {};
    std::memcpy(&in, &address, sizeof(in));
    Bytes6 bytes;
    std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
    return kind_of6(bytes);
  }
  return AddressKind::kForbidden;
}

AddressKind kind_of_host(const std::string& host) noexcept {
  if (host == "localhost" || host == "localhost.") return AddressKind::kLoopback;
  in_addr four_bytes = {};
  if (::inet_aton(host.c_str(), &four_bytes) != 0) return kind_of4(ntohl(four_bytes.s_addr));
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const auto end = static_cast<std::ptrdiff_t>(host.find('%'));  // a zone: fe80::1%eth0
  std::array<char, 64> text = {};
  const std::size_t begin = is_bracketed ? 1 : 0;
  std::size_t length = host.size() - 2 * begin;
  if (end >= 0) length = static_cast<std::size_t>(end) - begin;
  if (length >= text.size()) return AddressKind::kPublic;
  std::copy_n(host.data() + begin, length, text.data());
  Bytes6 bytes;
  if (::inet_pton(AF_INET6, text.data(), bytes.data()) == 1) return kind_of6(bytes);
  return AddressKind::kPublic;
}

}  // namespace wick
