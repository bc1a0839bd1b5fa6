// Which addresses a connection may have. Names are resolved by others, so the rule is applied to
// the address of the socket itself, for every connect (net/transfers.h). Pure functions.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace wick {

enum class AddressKind : std::uint8_t {
  kPublic,
  kPrivate,    // 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7
  kLoopback,   // 127/8, ::1
  kForbidden,  // link-local (169.254/16 has the clouds' metadata), multicast, reserved, no address
};

// IPv6 addresses that carry an IPv4 one (::ffff:0:0/96, 64:ff9b::/96, 2002::/16) are of its kind.
AddressKind kind_of(const sockaddr& address, socklen_t size) noexcept;

// Of a URL's host: what an IP literal or "localhost" is; kPublic for every other name, whose
// addresses are not known yet. Literals of every spelling that libcurl and the system read
// (2130706433, 0x7f.1) count.
AddressKind kind_of_host(const std::string& host) noexcept;

// Where the operator's own endpoint is private or loopback, connections may be of that kind alone;
// else they must be public.
inline bool may_connect(AddressKind endpoint, AddressKind address) noexcept {
  return address == endpoint && address != AddressKind::kForbidden;
}

}  // namespace wick
