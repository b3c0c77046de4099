// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/node/local_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace gdrkit::shmem {
namespace {

struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;
};

LocalAddress local_address(const Token& name) {
  const std::string text = "gdrkit-shmem-" + to_text(name);
  LocalAddress local;
  local.address.sun_family = AF_UNIX;
  // The first byte stays 0: an abstract name.
  std::memcpy(local.address.sun_path + 1, text.data(), text.size());
  local.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return local;
}

UniqueFd local_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

}  // namespace

base::Result<UniqueFd> listen_locally(const Token& name) {
  const LocalAddress local = local_address(name);
  UniqueFd socket = local_socket();
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&local.address), local.size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return base::fail(errno, "cannot open a UNIX socket for the PEs of this machine: %s", std::strerror(errno));
  }
  return socket;
}

base::Result<UniqueFd> connect_locally(const Token& name, const Deadline& deadline) {
  const LocalAddress local = local_address(name);
  UniqueFd socket = local_socket();
  if (!socket) return base::fail(errno, "cannot open a UNIX socket: %s", std::strerror(errno));
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&local.address), local.size) != 0) {
    // EAGAIN: more PEs connect at this moment than the system lets wait.
    if ((errno != EAGAIN && errno != EINTR) || deadline.has_passed()) {
      return base::fail(errno, "cannot connect to a PE of this machine: %s", std::strerror(errno));
    }
    const timespec pause{0, 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return socket;
}

bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace gdrkit::shmem
