// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reads and writes of sockets that never block for longer than a deadline.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/unique_fd.hpp"
#include "shmem/bootstrap/deadline.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// How a transfer ended: 0 done, EAGAIN nothing more to be done now, ECONNRESET the other end is closed, ETIMEDOUT, or
/// the system's errno.
using IoEnd = int;

/// Sockets are non-blocking; these functions transfer what is possible now. `done` accumulates over calls. Received
/// descriptors are appended to `fds` with close-on-exec; with nullptr they are closed.
[[nodiscard]] IoEnd read_some(int socket, void* data, std::size_t size_bytes, std::size_t* done,
                              std::vector<base::UniqueFd>* fds = nullptr);
/// Sends `fds` with the first byte.
[[nodiscard]] IoEnd write_some(int socket, const void* data, std::size_t size_bytes, std::size_t* done,
                               std::span<const int> fds = {});

[[nodiscard]] IoEnd wait_for(int socket, short events, const Deadline& deadline, short* happened = nullptr) noexcept;
[[nodiscard]] IoEnd read_all(int socket, void* data, std::size_t size_bytes, const Deadline& deadline,
                             std::vector<base::UniqueFd>* fds = nullptr);

}  // namespace gdrkit::shmem_impl::bootstrap
