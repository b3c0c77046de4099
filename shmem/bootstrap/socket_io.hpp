// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reads and writes of sockets that never block for longer than a deadline.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <vector>

#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/unique_fd.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// How a transfer ended: 0 done, EAGAIN nothing more to be done now, ECONNRESET the other end is closed, ETIMEDOUT, or
/// the system's errno.
using IoEnd = int;

/// Sockets are not blocking; these do what can be done now. `done` counts on over calls. Received descriptors are
/// appended to `fds` (nullptr: any that come are closed), close-on-exec.
[[nodiscard]] IoEnd read_some(int socket, void* data, std::size_t size_bytes, std::size_t* done,
                              std::vector<UniqueFd>* fds = nullptr);
/// `fds` go with the first byte.
[[nodiscard]] IoEnd write_some(int socket, const void* data, std::size_t size_bytes, std::size_t* done,
                               std::span<const int> fds = {});

[[nodiscard]] IoEnd wait_for(int socket, short events, const Deadline& deadline, short* happened = nullptr) noexcept;
[[nodiscard]] IoEnd read_all(int socket, void* data, std::size_t size_bytes, const Deadline& deadline,
                             std::vector<UniqueFd>* fds = nullptr);

}  // namespace gdrkit::shmem_impl::bootstrap
