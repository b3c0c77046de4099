// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UNIX stream sockets in the abstract namespace, which end with their processes and leave no file.
#pragma once

#include "base/result.hpp"
#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/token.hpp"
#include "shmem/bootstrap/unique_fd.hpp"

namespace gdrkit::shmem {

/// Under a name that stands for `name`. Other users see it in /proc/net/unix: it is no secret.
[[nodiscard]] base::Result<UniqueFd> listen_locally(const Token& name);
/// ECONNREFUSED: nobody listens under that name in this network namespace.
[[nodiscard]] base::Result<UniqueFd> connect_locally(const Token& name, const Deadline& deadline);
/// The process at the other end has this process's user.
[[nodiscard]] bool is_same_user(int socket);

}  // namespace gdrkit::shmem
