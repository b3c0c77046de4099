// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/departures.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>

#include "base/result.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/tcp_address.hpp"

namespace gdrkit::transfer::run {
namespace {

using base::UniqueFd;

constexpr std::chrono::milliseconds connect_limit{20};  // to the loopback; takes longer if the connection queue is full
constexpr std::chrono::seconds release_limit{60};
constexpr std::chrono::hours notifier_limit{24};  // the launcher ends it earlier

shmem_impl::bootstrap::StarGroup group_of(int pe, const RankEnvironment& environment) {
  shmem_impl::bootstrap::StarGroup group;
  group.position = pe;
  group.pes.resize(static_cast<std::size_t>(environment.n_pes()));
  std::iota(group.pes.begin(), group.pes.end(), 0);
  group.n_pes = pe == 0 ? environment.n_pes() : 0;
  const std::string& token = environment.token();
  group.secret = shmem_impl::bootstrap::secret_of({reinterpret_cast<const unsigned char*>(token.data()), token.size()});
  group.where = environment.root();
  group.limit = notifier_limit;
  group.is_over = pe == 0;
  return group;
}

/// This process must not keep the launcher's pipes open: PEs and the guardian wait for their ends.
void close_all_but(int kept) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* const entry = directory ? ::readdir(directory.get()) : nullptr) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != kept && fd != ::dirfd(directory.get())) ::close(fd);
  }
}

void report_exit(UniqueFd connection, const shmem_impl::bootstrap::StarGroup& group) {
  const auto once = [&](const shmem_impl::bootstrap::Deadline&) -> base::Result<UniqueFd> {
    if (!connection) return base::fail_literal(ECONNRESET, "PE 0 has ended too");
    return std::move(connection);
  };
  (void)shmem_impl::bootstrap::make_star_member(once, group);
}

void refuse_all(const shmem_impl::bootstrap::TcpAddress& address, const shmem_impl::bootstrap::StarGroup& group) {
  auto listener = shmem_impl::bootstrap::listen_at(address);
  // PEs between fork and exec still have PE 0's listener open.
  for (const shmem_impl::bootstrap::Deadline deadline(release_limit); !listener && !deadline.has_passed();) {
    ::usleep(10'000);
    listener = shmem_impl::bootstrap::listen_at(address);
  }
  while (listener) {
    UniqueFd again(::fcntl(listener->get(), F_DUPFD_CLOEXEC, 0));
    if (!again) return;
    const auto ended = shmem_impl::bootstrap::make_star_centre(std::move(again), group);
    if (!ended && ended.error().errno_value != ECONNRESET) return;
  }
}

}  // namespace

void Departures::note(int pe) {
  if (environment_.root().empty()) return;
  const auto addresses = shmem_impl::bootstrap::resolve(environment_.root());
  if (!addresses) return;
  UniqueFd connection;
  if (pe != 0) {
    auto connected =
        shmem_impl::bootstrap::connect_to(*addresses, true, shmem_impl::bootstrap::Deadline(connect_limit));
    if (!connected && connected.error().errno_value != ETIMEDOUT) return;  // all PEs have connected
    if (connected) connection = std::move(*connected);
  }
  const pid_t launcher = ::getpid();
  const pid_t notifier = ::fork();
  if (notifier > 0) notifiers_.push_back(notifier);
  if (notifier != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(0);
  close_all_but(connection.get());
  const shmem_impl::bootstrap::StarGroup group = group_of(pe, environment_);
  if (pe != 0 && !connection) {
    auto connected =
        shmem_impl::bootstrap::connect_to(*addresses, true, shmem_impl::bootstrap::Deadline(notifier_limit));
    if (!connected) ::_exit(0);
    connection = std::move(*connected);
  }
  pe == 0 ? refuse_all(addresses->front(), group) : report_exit(std::move(connection), group);
  ::_exit(0);
}

Departures::~Departures() {
  for (const pid_t notifier : notifiers_) {
    ::kill(notifier, SIGKILL);
    ::waitpid(notifier, nullptr, 0);
  }
}

}  // namespace gdrkit::transfer::run
