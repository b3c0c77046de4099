// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/socket_io.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace gdrkit::shmem_impl::bootstrap {
namespace {

constexpr std::size_t most_fds = 253;  // SCM_MAX_FD of Linux

IoEnd end_of(int error) noexcept {
  if (error == EWOULDBLOCK) return EAGAIN;
  return error == EPIPE ? ECONNRESET : error;
}

/// Takes all received descriptors, so that none leaks if a later step fails.
void take_fds(msghdr* message, std::vector<base::UniqueFd>* fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      base::UniqueFd owner(fd);
      if (fds != nullptr) fds->push_back(std::move(owner));
    }
  }
}

}  // namespace

IoEnd read_some(int socket, void* data, std::size_t size_bytes, std::size_t* done, std::vector<base::UniqueFd>* fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(most_fds * sizeof(int))];
  while (*done < size_bytes) {
    iovec piece{static_cast<char*>(data) + *done, size_bytes - *done};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (fds != nullptr) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
    }
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return end_of(errno);
    if (got == 0) return ECONNRESET;
    if (fds != nullptr) {
      take_fds(&message, fds);
      if ((message.msg_flags & MSG_CTRUNC) != 0) return EMFILE;
    }
    *done += static_cast<std::size_t>(got);
  }
  return 0;
}

IoEnd write_some(int socket, const void* data, std::size_t size_bytes, std::size_t* done, std::span<const int> fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(most_fds * sizeof(int))];
  while (*done < size_bytes) {
    iovec piece{const_cast<char*>(static_cast<const char*>(data)) + *done, size_bytes - *done};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (*done == 0 && !fds.empty()) {
      std::memset(control, 0, sizeof control);
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(fds.size_bytes());
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(fds.size_bytes());
      std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
    }
    const ssize_t put = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return end_of(errno);
    *done += static_cast<std::size_t>(put);
  }
  return 0;
}

IoEnd wait_for(int socket, short events, const Deadline& deadline, short* happened) noexcept {
  for (;;) {
    pollfd entry{socket, events, 0};
    const int wait_ms = deadline.poll_ms();
    const int ready = ::poll(&entry, 1, wait_ms);
    if (ready > 0) {
      if (happened != nullptr) *happened = entry.revents;
      return (entry.revents & POLLNVAL) != 0 ? EBADF : 0;
    }
    if (ready < 0 && errno != EINTR) return errno;
    if (ready == 0 && deadline.has_passed()) return ETIMEDOUT;
  }
}

IoEnd read_all(int socket, void* data, std::size_t size_bytes, const Deadline& deadline,
               std::vector<base::UniqueFd>* fds) {
  std::size_t done = 0;
  for (;;) {
    const IoEnd end = read_some(socket, data, size_bytes, &done, fds);
    if (end != EAGAIN) return end;
    if (const IoEnd waited = wait_for(socket, POLLIN, deadline); waited != 0) return waited;
  }
}

}  // namespace gdrkit::shmem_impl::bootstrap
