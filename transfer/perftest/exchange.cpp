// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/exchange.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <thread>
#include <utility>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::perftest {
namespace {

using Clock = std::chrono::steady_clock;

/// The field ends at the first zero for perftest; ends of gdrkit know each other by what follows.
constexpr std::size_t version_bytes = 16;
constexpr char own_version[version_bytes] = "6.06\0gdrkit 1";
constexpr std::uint32_t told_page_bytes = 4096;
constexpr std::uint32_t cache_line_bytes = 64;
constexpr std::size_t text_bytes = 256;
constexpr char goodbye[] = "done";
constexpr auto time_between_tries = std::chrono::milliseconds(20);

[[noreturn]] void fail(const std::string& text) { throw Failure(ExitCode::failed, "gdrkit perftest: " + text); }

std::string name_of(const sockaddr_storage& address, socklen_t size_bytes) {
  char host[NI_MAXHOST] = "?";
  (void)::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size_bytes, host, sizeof host, nullptr, 0,
                      NI_NUMERICHOST);
  const std::string name = host;
  return name.rfind("::ffff:", 0) == 0 ? name.substr(7) : name;
}

int open_listener(int port) {
  const int socket = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_v6 = socket >= 0;
  const int used = is_v6 ? socket : ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  const int off = 0;
  (void)::setsockopt(used, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 six{};
  sockaddr_in four{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<std::uint16_t>(port));
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  if (is_v6) (void)::setsockopt(used, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const int bound = is_v6 ? ::bind(used, reinterpret_cast<sockaddr*>(&six), sizeof six)
                          : ::bind(used, reinterpret_cast<sockaddr*>(&four), sizeof four);
  if (bound == 0 && ::listen(used, 1) == 0) return used;
  const int error = errno;
  if (used >= 0) ::close(used);
  fail(format("cannot listen on TCP port %d: %s; choose another with -p on both ends", port, std::strerror(error)));
}

/// -1 with errno.
int connect_once(const addrinfo* list) {
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    const int socket = ::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) continue;
    if (::connect(socket, one->ai_addr, one->ai_addrlen) == 0) return socket;
    const int error = errno;
    ::close(socket);
    errno = error;
  }
  return -1;
}

std::uint64_t word_of(double value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}
double value_of(std::uint64_t word) {
  double value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace

std::string text_of(const PairAddress& address) {
  std::string text = format("%04x:%04x:%06x:%06x:%08x:%016" PRIx64 ":", address.lid, address.reads, address.number,
                            address.psn, address.rkey, address.address);
  if (address.has_gid) {
    for (const std::uint8_t byte : address.gid.bytes) text += format("%02x:", byte);
  }
  text += address.has_gid ? "00000000:" : "00000000";
  text += '\0';
  return text;
}

bool parse_pair_address(const std::string& text, bool has_gid, PairAddress* address) {
  unsigned lid = 0;
  PairAddress read;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4x:%4x:%6x:%6x:%8x:%16" SCNx64 ":%n", &lid, &read.reads, &read.number, &read.psn,
                  &read.rkey, &read.address, &used) != 6 ||
      used == 0) {
    return false;
  }
  read.lid = static_cast<std::uint16_t>(lid);
  read.has_gid = has_gid;
  for (int i = 0; has_gid && i < 16; ++i) {
    unsigned byte = 0;
    int length = 0;
    if (std::sscanf(text.c_str() + used, "%2x:%n", &byte, &length) != 1 || length != 3) return false;
    read.gid.bytes[i] = static_cast<std::uint8_t>(byte);
    used += length;
  }
  *address = read;
  return true;
}

Exchange Exchange::listen(int port, int listener, std::chrono::seconds limit) {
  const int listening = listener >= 0 ? listener : open_listener(port);
  // Somebody starts the client by hand: there is no limit, unless one command starts both.
  pollfd waiting{listening, POLLIN, 0};
  const int limit_ms = listener >= 0 ? static_cast<int>(std::chrono::milliseconds(limit).count()) : -1;
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, limit_ms);
  } while (ready < 0 && errno == EINTR);
  sockaddr_storage address{};
  socklen_t size_bytes = sizeof address;
  const int socket =
      ready > 0 ? ::accept4(listening, reinterpret_cast<sockaddr*>(&address), &size_bytes, SOCK_CLOEXEC) : -1;
  const int error = ready == 0 ? ETIMEDOUT : errno;
  ::close(listening);
  if (socket < 0)
    fail(std::string("waiting for the client: ") + std::strerror(error) + "; see the client's error message");
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {socket, name_of(address, size_bytes), false, limit};
}

Exchange Exchange::connect(const std::string& host, int port, bool waits, std::chrono::seconds limit) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int resolved = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (resolved != 0) fail("cannot find host " + printable(host) + ": " + ::gai_strerror(resolved));
  const auto deadline = Clock::now() + limit;
  int socket = connect_once(list);
  while (socket < 0 && waits && Clock::now() < deadline) {
    std::this_thread::sleep_for(time_between_tries);
    socket = connect_once(list);
  }
  const int error = errno;
  ::freeaddrinfo(list);
  if (socket < 0) {
    fail(format("cannot connect to %s, TCP port %d: %s; start the server there first, with the same -p",
                printable(host).c_str(), port, std::strerror(error)));
  }
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {socket, printable(host), true, limit};
}

Exchange::Exchange(Exchange&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      peer_(std::move(other.peer_)),
      is_client_(other.is_client_),
      limit_(other.limit_),
      is_own_(other.is_own_),
      version_(std::move(other.version_)) {}

Exchange::~Exchange() {
  if (socket_ >= 0) ::close(socket_);
}

void Exchange::lost(const std::string& step, const std::string& how) const {
  fail(std::string(is_client_ ? "server " : "client ") + peer_ + " " + how + " at: " + step +
       "; see the error message of that end");
}

void Exchange::wait(short events, Clock::time_point deadline, const char* step) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{socket_, events, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready > 0) return;
    if (ready == 0) {
      lost(step, format("said nothing for %lld s", static_cast<long long>(limit_.count())));
    }
    if (errno != EINTR) lost(step, std::string("cannot be waited for (") + std::strerror(errno) + ")");
  }
}

void Exchange::send(const void* bytes, std::size_t size_bytes, const char* step) {
  const auto deadline = Clock::now() + limit_;
  const auto* at = static_cast<const char*>(bytes);
  while (size_bytes > 0) {
    wait(POLLOUT, deadline, step);
    const ssize_t sent = ::send(socket_, at, size_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) lost(step, std::string("has ended the connection (") + std::strerror(errno) + ")");
    at += sent;
    size_bytes -= static_cast<std::size_t>(sent);
  }
}

void Exchange::receive(void* bytes, std::size_t size_bytes, const char* step) {
  const auto deadline = Clock::now() + limit_;
  auto* at = static_cast<char*>(bytes);
  while (size_bytes > 0) {
    wait(POLLIN, deadline, step);
    const ssize_t received = ::recv(socket_, at, size_bytes, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (received <= 0) lost(step, "has ended the connection");
    at += received;
    size_bytes -= static_cast<std::size_t>(received);
  }
}

void Exchange::swap_bytes(const void* own, void* theirs, std::size_t size_bytes, const char* step) {
  if (is_client_) send(own, size_bytes, step);
  receive(theirs, size_bytes, step);
  if (!is_client_) send(own, size_bytes, step);
}

void Exchange::begin() {
  char theirs[version_bytes] = {};
  swap_bytes(own_version, theirs, version_bytes, "exchange of versions");
  is_own_ = std::memcmp(theirs, own_version, version_bytes) == 0;
  theirs[version_bytes - 1] = '\0';
  version_ = printable(theirs);
  (void)swap_value(htobe32(told_page_bytes), "exchange of page sizes");
  (void)swap_value(htobe32(cache_line_bytes), "exchange of cache line sizes");
}

int Exchange::swap_mtu(int mtu) {
  const char own[2] = {static_cast<char>('0' + mtu), '\0'};
  char theirs[2] = {};
  swap_bytes(own, theirs, sizeof own, "exchange of MTUs");
  if (theirs[0] < '1' || theirs[0] > '5') lost("exchange of MTUs", "sent what is no MTU");
  return theirs[0] - '0';
}

PairAddress Exchange::swap(const PairAddress& own, const char* step) {
  const std::string text = text_of(own);
  std::string theirs(text.size(), '\0');
  swap_bytes(text.data(), theirs.data(), text.size(), step);
  PairAddress address;
  if (!parse_pair_address(theirs, own.has_gid, &address)) {
    lost(step,
         "sent what is no address of a queue pair: it runs another test, or one end has a GID (-x) and the other not");
  }
  return address;
}

SharedResult Exchange::swap(const SharedResult& own) {
  const auto word = [this](std::uint64_t value) { return be64toh(swap_value(htobe64(value), "exchange of results")); };
  SharedResult theirs;
  theirs.size_bytes = word(own.size_bytes);
  theirs.iterations = word(own.iterations);
  theirs.peak = value_of(word(word_of(own.peak)));
  theirs.average = value_of(word(word_of(own.average)));
  theirs.rate = value_of(word(word_of(own.rate)));
  return theirs;
}

std::string Exchange::swap_text(const std::string& own, const char* step) {
  char mine[text_bytes] = {};
  char theirs[text_bytes] = {};
  std::memcpy(mine, own.data(), std::min(own.size(), text_bytes - 1));
  swap_bytes(mine, theirs, text_bytes, step);
  theirs[text_bytes - 1] = '\0';
  return printable(theirs);
}

void Exchange::end() {
  // Whether the other end still reads it makes no difference.
  (void)::send(socket_, goodbye, sizeof goodbye, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)::shutdown(socket_, SHUT_WR);
}

bool Exchange::has_message(const std::string& step) {
  pollfd waiting{socket_, POLLIN, 0};
  if (::poll(&waiting, 1, 0) <= 0) return false;
  char byte = 0;
  const ssize_t peeked = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EINTR)) lost(step, "has ended the connection");
  return peeked > 0;
}

}  // namespace gdrkit::tools::perftest
