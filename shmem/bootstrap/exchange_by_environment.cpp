// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <cstdlib>
#include <new>

#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/launcher_store.hpp"
#include "shmem/bootstrap/star_exchange.hpp"

namespace gdrkit::shmem {
namespace {

bool is_listener(int fd) noexcept {
  int accepts = 0;
  socklen_t size = sizeof accepts;
  return fd >= 0 && ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0;
}

/// A copy of the launcher's, which stays open for the next job of this process.
base::Result<UniqueFd> inherited_listener(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own) return base::fail(errno, "cannot use the launcher's socket: the limit of open files is reached");
  return own;
}

/// At the address itself where the launcher gave one. A name may stand for the loopback on the machine that has it, so
/// there PE 0 listens on every address.
base::Result<UniqueFd> listen_at_root(const std::string& root, const std::vector<TcpAddress>& addresses) {
  const std::string host = root.substr(0, root.rfind(':'));
  in_addr v4{};
  const bool is_literal = host == "localhost" || host.front() == '[' || ::inet_pton(AF_INET, host.c_str(), &v4) == 1;
  if (is_literal) {
    auto there = listen_at(addresses.front());
    if (there || there.error().errno_value != EADDRNOTAVAIL) return there;
  }
  return listen_everywhere(addresses.front().port());
}

base::Result<std::unique_ptr<Exchange>> exchange_at_root(const LaunchEnvironment& environment,
                                                         std::chrono::milliseconds limit) {
  const auto addresses = resolve(environment.root);
  if (!addresses) return base::pass(addresses);
  const Token token =
      token_of_text(environment.token.empty() ? environment.launcher + " " + environment.root : environment.token);
  if (environment.pe != 0) {
    return connect_to_pe_0(*addresses, false, token, environment.pe, environment.n_pes, limit);
  }
  auto listener = is_listener(environment.listen_fd) ? inherited_listener(environment.listen_fd)
                                                     : listen_at_root(environment.root, *addresses);
  if (!listener) return base::pass(listener);
  return listen_for_pes(std::move(*listener), environment.root, token, environment.n_pes, limit);
}

base::Result<std::unique_ptr<Exchange>> exchange_by_launcher(const LaunchEnvironment& environment,
                                                             std::chrono::milliseconds limit) {
  if (auto fits = check_pe(environment.pe, environment.n_pes); !fits) return base::pass(fits);
  if (environment.n_pes == 1) return listen_for_pes(UniqueFd(), "", Token{}, 1, limit);
  if (!environment.root.empty()) return exchange_at_root(environment, limit);
  const auto id = share_unique_id(environment.pe, limit);
  if (!id) {
    return base::fail(id.error().errno_value,
                      "%s does not say where PE 0 is, and %s; set GDRKIT_SHMEM_ROOT=host:port, "
                      "with a free port of PE 0's machine, for all PEs",
                      environment.launcher.c_str(), id.error().text());
  }
  return exchange_by_unique_id(*id, environment.pe, environment.n_pes, limit);
}

}  // namespace

base::Result<std::unique_ptr<Exchange>> exchange_by_environment(const LaunchEnvironment& environment,
                                                                std::chrono::milliseconds limit) noexcept {
  try {
    return exchange_by_launcher(environment, limit);
  } catch (const std::bad_alloc&) {
    return base::fail_literal(ENOMEM, "no memory to join the job");
  }
}

}  // namespace gdrkit::shmem
