// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Another user of the machine tries to join a job that has no secret, or to take the place of its PE 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "shmem/bootstrap/rendezvous.hpp"
#include "shmem/bootstrap/star.hpp"
#include "tests/shmem/bootstrap/processes_as_pes.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

constexpr uid_t other_user = 65534;

bootstrap::LaunchEnvironment environment_of(int pe) {
  bootstrap::LaunchEnvironment environment;
  environment.launcher = "a test";
  environment.pe = pe;
  environment.n_pes = 2;
  environment.root = "127.0.0.1:" + std::to_string(::getppid() % 30000 + 1000);
  return environment;
}

/// Derives the public key as the library does. Every user can do this.
secret::Key public_key_of(const bootstrap::LaunchEnvironment& environment, uid_t user) {
  return bootstrap::secret_of(secret::bytes_of(environment.root + " " + std::to_string(user)));
}

bootstrap::Token name_of(const secret::Key& key) {
  bootstrap::Token name;
  std::copy_n(key.begin(), name.size(), name.begin());
  return name;
}

bootstrap::StarGroup group_of(const secret::Key& key, int position) {
  bootstrap::StarGroup group;
  group.position = position;
  group.pes = {0, 1};
  group.n_pes = 2;
  group.secret = key;
  group.limit = 1s;
  return group;
}

class OtherUser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can run a process of another user";
  }
};

TEST_F(OtherUser, CannotJoin) {
  const uid_t own = ::geteuid();
  const auto ends = run_processes(2, [&](int pe) -> std::string {
    const bootstrap::LaunchEnvironment environment = environment_of(pe);
    if (pe == 0) return end_of(bootstrap::exchange_by_environment(environment, 2s));
    if (::setgid(other_user) != 0 || ::setuid(other_user) != 0) return "cannot change the user";
    const secret::Key key = public_key_of(environment, own);
    const auto rendezvous = bootstrap::Rendezvous::open("");
    // Connects without the library's check of PE 0's user.
    base::UniqueFd socket;
    for (const bootstrap::Deadline deadline(1s); !socket && !deadline.has_passed();) {
      auto connected = rendezvous->connect(name_of(key), deadline);
      if (connected) socket = std::move(*connected);
    }
    if (!socket) return "PE 0 was not found";
    const auto connect = [&](const bootstrap::Deadline&) -> base::Result<base::UniqueFd> { return std::move(socket); };
    return bootstrap::make_star_member(connect, group_of(key, 1)) ? "joined" : "refused";
  });
  EXPECT_THAT(ends[0], failed_with(ETIMEDOUT, "the job of 2 PEs: PE 1 did not connect"));
  EXPECT_EQ(ends[1], "refused");
}

TEST_F(OtherUser, CannotImpersonatePeZero) {
  const uid_t own = ::geteuid();
  const auto ends = run_processes(2, [&](int pe) -> std::string {
    const bootstrap::LaunchEnvironment environment = environment_of(pe);
    if (pe == 1) return end_of(bootstrap::exchange_by_environment(environment, 5s));
    if (::setgid(other_user) != 0 || ::setuid(other_user) != 0) return "cannot change the user";
    const secret::Key key = public_key_of(environment, own);
    auto listener = bootstrap::Rendezvous::open("")->listen(name_of(key));
    if (!listener) return "cannot listen";
    return bootstrap::make_star_centre(listener->take_socket(), group_of(key, 0)) ? "a PE connected"
                                                                                  : "no PE connected";
  });
  EXPECT_EQ(ends[0], "no PE connected");
  EXPECT_THAT(ends[1], failed_with(EACCES, "the process at this address belongs to another user"));
}

/// In a user namespace without a map, all users have the same number, including the user of this process.
TEST(SameUser, UnmappedUsersAreNotTheSameUser) {
  const auto ends = run_processes(1, [](int) -> std::string {
    int sockets[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return "no sockets";
    if (!bootstrap::is_same_user(sockets[0])) return "another user";
    if (::unshare(CLONE_NEWUSER) != 0) return "no namespace";
    return bootstrap::is_same_user(sockets[0]) ? "the same user" : "unknown";
  });
  if (ends[0] == "no namespace") GTEST_SKIP() << "this system does not allow user namespaces";
  EXPECT_EQ(ends[0], "unknown");
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
