// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/perftest_wire.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char end_message[] = "done";
constexpr auto time_between_tries = std::chrono::milliseconds(20);

[[noreturn]] void fail(const std::string& text) { cli::fail("gdrkit perftest: " + text); }

std::string name_of(const sockaddr_storage& address, socklen_t size_bytes) {
  char host[NI_MAXHOST] = "?";
  (void)::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size_bytes, host, sizeof host, nullptr, 0,
                      NI_NUMERICHOST);
  const std::string name = host;
  return name.starts_with("::ffff:") ? name.substr(7) : name;
}

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// The addresses of a host; for "", every address of a server. Throws Failure.
AddressList addresses_of(const std::string& host, int port, int family, const char* what) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const int resolved =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (resolved == 0) return {list, ::freeaddrinfo};
  fail(std::string("cannot find ") + what + " " + cli::printable(host) +
       (family == AF_INET6 ? " as an IPv6 address" : "") + ": " + ::gai_strerror(resolved));
}

/// Returns -1 and sets errno on an error. An IPv6 socket accepts clients of both families, unless only IPv6 is
/// requested.
int listen_on(const addrinfo& one, bool is_ipv6_only) {
  const int socket = ::socket(one.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int on = 1;
  const int only = is_ipv6_only ? 1 : 0;
  (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (one.ai_family == AF_INET6) (void)::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  if (::bind(socket, one.ai_addr, one.ai_addrlen) == 0 && ::listen(socket, SOMAXCONN) == 0) return socket;
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

int open_listener(int port, const ExchangeRoute& route) {
  const std::string& source = route.source;
  int listening = -1;
  for (const int family : {AF_INET6, AF_INET}) {
    if (listening >= 0 || (family == AF_INET && (route.is_ipv6_only || !source.empty()))) continue;
    const int lookup_family = source.empty() || route.is_ipv6_only ? family : AF_UNSPEC;
    listening = listen_on(*addresses_of(source, port, lookup_family, "the source address"), route.is_ipv6_only);
  }
  if (listening >= 0) return listening;
  fail(cli::format("cannot listen on TCP port %d%s%s: %s; choose another port with -p on client and server", port,
                   source.empty() ? "" : " of ", cli::printable(source).c_str(), std::strerror(errno)));
}

/// Returns -1 and sets errno on an error.
int connect_once(const addrinfo* list, const ExchangeRoute& route) {
  errno = EADDRNOTAVAIL;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    const int socket = ::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) continue;
    bool is_bound = true;
    if (!route.source.empty()) {
      const AddressList source = addresses_of(route.source, 0, AF_UNSPEC, "the source address");
      is_bound = ::bind(socket, source->ai_addr, source->ai_addrlen) == 0;
    }
    if (is_bound && ::connect(socket, one->ai_addr, one->ai_addrlen) == 0) return socket;
    const int error = errno;
    ::close(socket);
    errno = error;
  }
  return -1;
}

/// A connection that has not sent its hello yet: a client or another program. It does not block other connections.
struct PendingClient {
  base::UniqueFd socket;
  std::string name;
  Clock::time_point came;
};
constexpr std::size_t most_pending = 64;  // at this limit the oldest one is closed once hello_limit has passed
constexpr auto hello_limit = std::chrono::seconds(1);

/// A client first sends its perftest version, which begins with a digit.
constexpr int hello_bytes = 16;

/// Returns whether the socket received perftest's hello. Call it after hello_bytes have arrived or the connection has
/// ended.
bool has_perftest_hello(int socket) {
  char bytes[hello_bytes];
  return ::recv(socket, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT) == hello_bytes && bytes[0] >= '0' &&
         bytes[0] <= '9';
}

/// The exchange over TCP.
class SocketWire : public Wire {
 public:
  SocketWire(base::UniqueFd socket, std::string peer, bool is_client, std::chrono::seconds limit)
      : Wire(std::move(peer), is_client, limit), socket_(std::move(socket)) {}

  void send(const void* bytes, std::size_t size_bytes, const std::string& step) override;
  void receive(void* bytes, std::size_t size_bytes, const std::string& step) override;
  [[nodiscard]] bool has_message(const std::string& step) override;
  void end() noexcept override;
  [[nodiscard]] bool is_rdma_cm() const noexcept override { return false; }

 private:
  void wait(short events, std::chrono::steady_clock::time_point deadline, const std::string& step) const;

  base::UniqueFd socket_;
};

void SocketWire::wait(short events, Clock::time_point deadline, const std::string& step) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{socket_.get(), events, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready > 0) return;
    if (ready == 0) silent(step);
    if (errno != EINTR) lost(step, std::string("cannot be polled (") + std::strerror(errno) + ")");
  }
}

void SocketWire::send(const void* bytes, std::size_t size_bytes, const std::string& step) {
  const auto until = end_of_limit();
  const auto* at = static_cast<const char*>(bytes);
  while (size_bytes > 0) {
    wait(POLLOUT, until, step);
    const ssize_t sent = ::send(socket_.get(), at, size_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) lost(step, std::string("has ended the connection (") + std::strerror(errno) + ")");
    at += sent;
    size_bytes -= static_cast<std::size_t>(sent);
  }
}

void SocketWire::receive(void* bytes, std::size_t size_bytes, const std::string& step) {
  const auto until = end_of_limit();
  auto* at = static_cast<char*>(bytes);
  while (size_bytes > 0) {
    wait(POLLIN, until, step);
    const ssize_t received = ::recv(socket_.get(), at, size_bytes, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (received <= 0) lost(step, "has ended the connection");
    at += received;
    size_bytes -= static_cast<std::size_t>(received);
  }
}

void SocketWire::end() noexcept {
  // Ignores errors: the other end may have closed the connection.
  (void)::send(socket_.get(), end_message, sizeof end_message, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)::shutdown(socket_.get(), SHUT_WR);
}

bool SocketWire::has_message(const std::string& step) {
  pollfd waiting{socket_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 0) <= 0) return false;
  char byte = 0;
  const ssize_t peeked = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EINTR)) lost(step, "has ended the connection");
  return peeked > 0;
}

}  // namespace

void Wire::lost(const std::string& step, const std::string& how) const {
  cli::fail(std::string("gdrkit perftest: ") + (is_client_ ? "server " : "client ") + peer_ + " " + how + " during '" +
            step + "'; see the error message of the " + (is_client_ ? "server" : "client"));
}

void Wire::silent(const std::string& step) const {
  lost(step, cli::format("sent nothing for %lld s", static_cast<long long>(limit_.count())));
}

std::unique_ptr<Wire> listen_by_tcp(int port, int listener, std::chrono::seconds limit, const ExchangeRoute& route) {
  const base::UniqueFd listening(listener >= 0 ? listener : open_listener(port, route));
  // A user starts the client by hand, so there is no limit, unless one command starts both.
  const bool has_limit = listener >= 0;
  const Clock::time_point end = Clock::now() + limit;
  std::deque<PendingClient> pending;
  for (;;) {
    const bool is_full = pending.size() >= most_pending && Clock::now() - pending.front().came < hello_limit;
    std::vector<pollfd> entries{{is_full ? -1 : listening.get(), POLLIN, 0}};
    for (const PendingClient& client : pending) entries.push_back({client.socket.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const bool is_over = has_limit && left <= 0;
    const int wait_ms = is_full ? 100 : has_limit ? static_cast<int>(left) : -1;
    const int ready = is_over ? 0 : ::poll(entries.data(), entries.size(), wait_ms);
    if ((ready < 0 && errno == EINTR) || (ready == 0 && is_full && !is_over)) continue;
    if (ready <= 0) {
      fail(std::string("cannot wait for the client: ") + std::strerror(ready == 0 ? ETIMEDOUT : errno) +
           "; see the client's error message");
    }
    for (std::size_t i = pending.size(); i-- > 0;) {
      if (entries[i + 1].revents == 0) continue;
      if (has_perftest_hello(pending[i].socket.get())) {
        const int one = 1;
        (void)::setsockopt(pending[i].socket.get(), SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
        (void)::setsockopt(pending[i].socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return std::make_unique<SocketWire>(std::move(pending[i].socket), pending[i].name, false, limit);
      }
      pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (entries[0].revents == 0) continue;
    sockaddr_storage address{};
    socklen_t size_bytes = sizeof address;
    base::UniqueFd socket(::accept4(listening.get(), reinterpret_cast<sockaddr*>(&address), &size_bytes, SOCK_CLOEXEC));
    if (socket.get() < 0) {
      if (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED) continue;
      fail(std::string("cannot accept a client: ") + std::strerror(errno) +
           "; check the limit of open files (ulimit -n)");
    }
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVLOWAT, &hello_bytes, sizeof hello_bytes);
    if (pending.size() >= most_pending) pending.pop_front();
    pending.push_back({std::move(socket), name_of(address, size_bytes), Clock::now()});
  }
}

std::unique_ptr<Wire> connect_by_tcp(const std::string& host, int port, bool waits, std::chrono::seconds limit,
                                     const ExchangeRoute& route) {
  const AddressList list = addresses_of(host, port, route.is_ipv6_only ? AF_INET6 : AF_UNSPEC, "host");
  const auto deadline = Clock::now() + limit;
  int socket = connect_once(list.get(), route);
  while (socket < 0 && waits && Clock::now() < deadline) {
    std::this_thread::sleep_for(time_between_tries);
    socket = connect_once(list.get(), route);
  }
  if (socket < 0) {
    fail(cli::format("cannot connect to %s, TCP port %d: %s; start the server first, with the same -p",
                     cli::printable(host).c_str(), port, std::strerror(errno)));
  }
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return std::make_unique<SocketWire>(base::UniqueFd(socket), cli::printable(host), true, limit);
}

}  // namespace gdrkit::transfer::perftest
