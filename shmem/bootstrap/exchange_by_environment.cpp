// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/launcher_store.hpp"
#include "shmem/bootstrap/rendezvous.hpp"
#include "shmem/bootstrap/star_exchange.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

bool is_listener(int fd) noexcept {
  int accepts = 0;
  socklen_t size = sizeof accepts;
  return fd >= 0 && ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0;
}

/// The launcher's, once: its number may later be another socket of the application.
base::Result<base::UniqueFd> take_listener(int fd) {
  static std::atomic<bool> is_taken{false};
  if (!is_listener(fd) || is_taken.exchange(true)) return base::UniqueFd();
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return base::UniqueFd(fd);
}

/// Listens at the address of `root` if it is numeric. A host name may resolve to the loopback on its own machine, so PE
/// 0 then listens on every address.
base::Result<base::UniqueFd> listen_at_root(const std::string& root, const std::vector<TcpAddress>& addresses) {
  const std::string host = root.substr(0, root.rfind(':'));
  in_addr v4{};
  const bool is_literal = host == "localhost" || host.front() == '[' || ::inet_pton(AF_INET, host.c_str(), &v4) == 1;
  if (is_literal) {
    auto there = listen_at(addresses.front());
    if (there || there.error().errno_value != EADDRNOTAVAIL) return there;
  }
  return listen_everywhere(addresses.front().port());
}

/// Other users may bind the name before PE 0 does, but each side checks the user of the other.
base::Result<std::unique_ptr<Exchange>> exchange_by_user(const LaunchEnvironment& environment,
                                                         std::chrono::milliseconds limit) {
  const char* const directory = std::getenv("GDRKIT_SHMEM_SOCKET_DIR");
  auto rendezvous = Rendezvous::open(directory == nullptr ? "" : directory);
  if (!rendezvous) return base::pass(rendezvous);
  const secret::Key public_key = secret_of(secret::bytes_of(environment.root + " " + std::to_string(::geteuid())));
  Token name;
  std::copy_n(public_key.begin(), name.size(), name.begin());
  if (environment.pe == 0) {
    auto listener = rendezvous->listen(name);
    if (!listener) return base::pass(listener);
    return listen_for_own_pes(std::move(*listener), environment.root, public_key, environment.n_pes, limit);
  }
  return connect_to_own_pe_0(*rendezvous, name, environment.root, public_key, environment.pe, environment.n_pes, limit);
}

base::Result<std::unique_ptr<Exchange>> exchange_at_root(const LaunchEnvironment& environment,
                                                         std::chrono::milliseconds limit) {
  const auto addresses = resolve(environment.root);
  if (!addresses) return base::pass(addresses);
  if (environment.token.empty()) {
    if (std::any_of(addresses->begin(), addresses->end(), [](const auto& each) { return each.is_of_this_machine(); })) {
      return exchange_by_user(environment, limit);
    }
    return base::fail(
        EACCES,
        "cannot join PE 0 at %s on another node: %s provides no secret for the job; set GDRKIT_SHMEM_TOKEN for all PEs "
        "to the same random text, such as the output of 'openssl rand -hex 16'",
        environment.root.c_str(), environment.launcher.c_str());
  }
  const secret::Key secret = secret_of(secret::bytes_of(environment.token));
  if (environment.pe != 0) {
    return connect_to_pe_0(*addresses, false, secret, environment.pe, environment.n_pes, limit);
  }
  auto listener = take_listener(environment.listen_fd);
  if (listener && !*listener) listener = listen_at_root(environment.root, *addresses);
  if (!listener) return base::pass(listener);
  return listen_for_pes(std::move(*listener), environment.root, secret, environment.n_pes, limit);
}

}  // namespace

base::Result<std::unique_ptr<Exchange>> exchange_by_environment(const LaunchEnvironment& environment,
                                                                std::chrono::milliseconds limit) noexcept try {
  if (auto fits = check_pe(environment.pe, environment.n_pes); !fits) return base::pass(fits);
  if (environment.n_pes == 1) return listen_for_pes(base::UniqueFd(), "", secret::Key{}, 1, limit);
  if (!environment.root.empty()) return exchange_at_root(environment, limit);
  const auto id = share_unique_id(environment.pe, limit);
  if (!id) {
    return base::fail(id.error().errno_value,
                      "cannot get the address of PE 0 from %s: %s; set GDRKIT_SHMEM_ROOT=host:port for all PEs, with a "
                      "free port of PE 0's node",
                      environment.launcher.c_str(), id.error().text());
  }
  return exchange_by_unique_id(*id, environment.pe, environment.n_pes, limit);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while joining the job");
}

}  // namespace gdrkit::shmem_impl::bootstrap
