// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rendezvous: the UNIX sockets through which the PEs of a machine find each other.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/token.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// A listening socket. The destructor removes its file from the directory.
class LocalListener {
 public:
  LocalListener(base::UniqueFd socket, base::UniqueFd directory, std::string name) noexcept
      : socket_(std::move(socket)), directory_(std::move(directory)), name_(std::move(name)) {}
  LocalListener(LocalListener&&) noexcept = default;
  LocalListener& operator=(LocalListener&&) = delete;
  ~LocalListener();
  [[nodiscard]] int get() const noexcept { return socket_.get(); }
  /// The file stays until the destructor.
  [[nodiscard]] base::UniqueFd take_socket() noexcept { return std::move(socket_); }

 private:
  base::UniqueFd socket_;
  base::UniqueFd directory_;  ///< empty: the name is abstract and ends with the socket
  std::string name_;
};

/// By default, sockets have abstract names. These are visible within one network namespace and leave no file. A
/// directory serves PEs in several namespaces that mount it. A killed process may leave its file there; a later job
/// removes it.
class Rendezvous {
 public:
  Rendezvous() noexcept = default;
  /// `path` empty: abstract names. EPERM: the directory belongs to another user, or other users have access to it.
  [[nodiscard]] static base::Result<Rendezvous> open(const std::string& path);

  /// Listens under a text form of `name`. Other users can see the name: it is not a secret.
  [[nodiscard]] base::Result<LocalListener> listen(const Token& name) const;
  /// ECONNREFUSED, ENOENT: no process listens under that name here.
  [[nodiscard]] base::Result<base::UniqueFd> connect(const Token& name, const Deadline& deadline) const;

 private:
  void remove_stale() const;

  base::UniqueFd directory_;
};

/// Whether the process at the other end runs as the same user as this process. Returns false if Linux cannot
/// identify the user with certainty.
[[nodiscard]] bool is_same_user(int socket);

}  // namespace gdrkit::shmem_impl::bootstrap
