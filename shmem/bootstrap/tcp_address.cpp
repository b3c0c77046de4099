// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/tcp_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "shmem/bootstrap/socket_io.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

bool is_link_local(const sockaddr* address) noexcept {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

/// The lower the better; -1: of no use. An address of the link means nothing on other machines' interfaces.
int rank_of(const ifaddrs& entry, bool is_named) noexcept {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return -1;
  const int family = entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return -1;
  if (is_link_local(entry.ifa_addr) && !is_named) return -1;
  const int by_family = family == AF_INET ? 0 : is_link_local(entry.ifa_addr) ? 2 : 1;
  return (entry.ifa_flags & IFF_LOOPBACK) != 0 ? 10 + by_family : by_family;
}

socklen_t size_of(const sockaddr* address) noexcept {
  return address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

base::Result<base::UniqueFd> bound_listener(const TcpAddress& address) {
  base::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  const int no = 0;
  if (socket) {
    // A port whose last job has just ended may be used again.
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.family() == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (!socket || ::bind(socket.get(), address.get(), address.size()) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    const int error = errno;
    return base::fail(error, "cannot listen for the other PEs at %s: %s; use a free port of this node",
                      address.text().c_str(), std::strerror(error));
  }
  return socket;
}

/// 0 and a connected socket, or an errno.
int connect_once(const TcpAddress& address, const Deadline& deadline, base::UniqueFd* connected) {
  base::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  if (::connect(socket.get(), address.get(), address.size()) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (const IoEnd end = wait_for(socket.get(), POLLOUT, deadline); end != 0) return end;
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    if (error != 0) return error;
  }
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  *connected = std::move(socket);
  return 0;
}

/// Whether a retry may succeed once the other end or the network is up. The loopback's state does not change.
bool is_passing(const TcpAddress& address, int error) noexcept {
  if (address.is_loopback() && (error == ENETUNREACH || error == EADDRNOTAVAIL)) return false;
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == ECONNRESET ||
         error == EAGAIN || error == EADDRNOTAVAIL || error == ETIMEDOUT;
}

}  // namespace

TcpAddress::TcpAddress(const sockaddr* address, socklen_t size) noexcept : size_(size) {
  std::memcpy(&storage_, address, size);
}

std::uint16_t TcpAddress::port() const noexcept {
  return ntohs(family() == AF_INET ? reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port
                                   : reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
}

void TcpAddress::set_port(std::uint16_t port) noexcept {
  if (family() == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&storage_)->sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6*>(&storage_)->sin6_port = htons(port);
  }
}

bool TcpAddress::is_loopback() const noexcept {
  if (family() == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&address);
}

bool TcpAddress::is_of_this_machine() const noexcept {
  if (is_loopback()) return true;
  TcpAddress any_port = *this;
  any_port.set_port(0);
  const base::UniqueFd socket(::socket(family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket && ::bind(socket.get(), any_port.get(), any_port.size()) == 0;
}

std::string TcpAddress::text() const {
  char host[NI_MAXHOST] = "?";
  ::getnameinfo(get(), size_, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  const bool is_v6 = family() == AF_INET6;
  return (is_v6 ? "[" : "") + std::string(host) + (is_v6 ? "]:" : ":") + std::to_string(port());
}

base::Result<TcpAddress> address_of_interface(const std::string& interface) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return base::fail(errno, "cannot list the network interfaces: %s", std::strerror(errno));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
  const ifaddrs* best = nullptr;
  std::set<std::string> names;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const int rank = rank_of(*entry, !interface.empty());
    if (rank < 0) continue;
    names.insert(entry->ifa_name);
    if (!interface.empty() && interface != entry->ifa_name) continue;
    if (best == nullptr || rank < rank_of(*best, !interface.empty())) best = entry;
  }
  if (best != nullptr) return TcpAddress(best->ifa_addr, size_of(best->ifa_addr));
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  if (!interface.empty()) {
    return base::fail(ENODEV,
                      "cannot use GDRKIT_SHMEM_INTERFACE=%s: no network interface of this name is up; use one of %s",
                      interface.c_str(), known.c_str());
  }
  return base::fail(ENODEV, "cannot choose a network interface: all interfaces are down, including the loopback");
}

base::Result<std::vector<TcpAddress>> resolve(const std::string& host_and_port) {
  const std::size_t colon = host_and_port.rfind(':');
  std::string host = host_and_port.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : host_and_port.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const bool is_number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (host.empty() || !is_number || std::stoi(port) < 1 || std::stoi(port) > 65535) {
    return base::fail(EINVAL, "invalid address '%s' of PE 0: write host:port, with a port from 1 to 65535",
                      host_and_port.c_str());
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* first = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &first); error != 0) {
    return base::fail(EHOSTUNREACH, "cannot resolve '%s', the host name of PE 0: %s", host.c_str(),
                      ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(first, ::freeaddrinfo);
  std::vector<TcpAddress> addresses;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    addresses.emplace_back(entry->ai_addr, entry->ai_addrlen);
  }
  return addresses;
}

base::Result<base::UniqueFd> listen_at(const TcpAddress& address) { return bound_listener(address); }

base::Result<base::UniqueFd> listen_everywhere(std::uint16_t port) {
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_addr = in6addr_any;
  any6.sin6_port = htons(port);
  auto both = bound_listener(TcpAddress(reinterpret_cast<const sockaddr*>(&any6), sizeof any6));
  if (both || both.error().errno_value != EAFNOSUPPORT) return both;
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_addr.s_addr = htonl(INADDR_ANY);
  any4.sin_port = htons(port);
  return bound_listener(TcpAddress(reinterpret_cast<const sockaddr*>(&any4), sizeof any4));
}

base::Result<TcpAddress> address_of(int listener) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return base::fail(errno, "cannot read the address of a listening socket: %s", std::strerror(errno));
  }
  return TcpAddress(reinterpret_cast<const sockaddr*>(&storage), size);
}

base::Result<base::UniqueFd> connect_to(const std::vector<TcpAddress>& addresses, bool is_listening,
                                        const Deadline& deadline) {
  int error = EHOSTUNREACH;
  bool is_hopeless = false;
  for (int wait_ms = 10;; wait_ms = std::min(wait_ms * 2, 200)) {
    is_hopeless = true;
    for (const TcpAddress& address : addresses) {
      base::UniqueFd socket;
      error = connect_once(address, deadline, &socket);
      if (error == 0) return socket;
      is_hopeless = is_hopeless && !is_passing(address, error);
      if (error == ECONNREFUSED && is_listening) {
        return base::fail(ECONNRESET, "cannot connect to PE 0 at %s: PE 0 has ended; see the error message of PE 0",
                          address.text().c_str());
      }
    }
    if (is_hopeless || deadline.has_passed()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(wait_ms, deadline.poll_ms())));
  }
  const std::string where = addresses.empty() ? "an empty address" : addresses.front().text();
  if (is_hopeless) {
    return base::fail(error, "cannot connect to PE 0 at %s: %s; check that this node can reach the address",
                      where.c_str(), std::strerror(error));
  }
  return base::fail(
      ETIMEDOUT,
      "cannot connect to PE 0 at %s within %s: %s; start PE 0, and check that this node can reach the address",
      where.c_str(), deadline.limit_text().c_str(), std::strerror(error));
}

}  // namespace gdrkit::shmem_impl::bootstrap
