// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PEs of several containers on one machine: a stated host id, and a directory for their sockets.
#include "shmem/bootstrap/rendezvous.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "shmem/node/node_join.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

/// A private directory, removed at the end.
class Directory {
 public:
  Directory() { path_ = ::mkdtemp(name_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  char name_[32] = "/tmp/gdrkit-rendezvous-XXXXXX";
  std::string path_;
};

/// Returns for each PE the PEs on its machine, for example "{ 0, 2 }", or its error. Each PE of `apart` has its own
/// network namespace.
std::vector<std::string> join_nodes(int n_pes, const std::string& directory, const std::string& host_id,
                                    std::vector<int> apart = {}, int* refused = nullptr) {
  return run_pes(n_pes, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    const bool is_apart = std::find(apart.begin(), apart.end(), exchange.pe()) != apart.end();
    if (is_apart && ::unshare(CLONE_NEWNET) != 0) *refused = errno;
    auto rendezvous = bootstrap::Rendezvous::open(directory);
    if (!rendezvous) return end_of(rendezvous);
    auto machine = node::read_machine_name({host_id, !directory.empty()});
    if (!machine) return end_of(machine);
    auto node = node::join_node(*machine, exchange, 100, long_limit, 0, *rendezvous);
    if (!node) return end_of(node);
    return ::testing::PrintToString((*node)->pes());
  });
}

TEST(Rendezvous, SharedDirectoryConnectsNetworkNamespaces) {
  const Directory directory;
  int refused = 0;
  const auto ends = join_nodes(3, directory.path(), "", {1, 2}, &refused);
  if (refused != 0) GTEST_SKIP() << "no network namespace of one's own here: " << std::strerror(refused);
  EXPECT_THAT(ends, Each(std::string("{ 0, 1, 2 }")));
  EXPECT_TRUE(directory.is_empty());
}

TEST(Rendezvous, RejectsNetworkNamespacesWithoutASharedDirectory) {
  int refused = 0;
  const auto ends = join_nodes(3, "", "node 7", {2}, &refused);
  if (refused != 0) GTEST_SKIP() << "no network namespace of one's own here: " << std::strerror(refused);
  EXPECT_THAT(ends, Each(failed_with(EHOSTUNREACH, "PE 2: cannot connect to PE 0 of the same node",
                                     "Connection refused", "GDRKIT_SHMEM_SOCKET_DIR")));
}

TEST(Rendezvous, RejectsDifferentDirectories) {
  const Directory one;
  const Directory other;
  const auto ends = run_pes(2, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    auto rendezvous = bootstrap::Rendezvous::open(exchange.pe() == 0 ? one.path() : other.path());
    return end_of(node::join_node(*node::read_machine_name({"", true}), exchange, 100, long_limit, 0, *rendezvous));
  });
  EXPECT_THAT(ends, Each(failed_with(EHOSTUNREACH, "PE 1: cannot connect to PE 0 of the same node")));
}

/// Of this thread only.
TEST(Rendezvous, RejectsTheSameHostIdFromAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start a PE as another user";
  const auto ends = run_pes(2, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    if (exchange.pe() == 1 && ::syscall(SYS_setresuid, 65534, 65534, 65534) != 0) return "cannot change the user";
    return end_of(node::join_node(*node::read_machine_name({"node", false}), exchange, 100, long_limit));
  });
  EXPECT_THAT(ends, Each(failed_with(EHOSTUNREACH, "PE 1: cannot connect to PE 0 of the same node",
                                     "the PE runs as another user")));
}

TEST(Rendezvous, ReportsAPeWithoutTheHostVariable) {
  const auto ends = run_pes(3, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    const auto machine = node::read_machine_name({exchange.pe() == 1 ? "" : "node", false});
    return end_of(node::join_node(*machine, exchange, 100, long_limit));
  });
  EXPECT_THAT(ends, Each(failed_with(EPROTO, "GDRKIT_SHMEM_HOSTID or GDRKIT_SHMEM_SOCKET_DIR is set for PE 0",
                                     "but PE 1 has neither; set the same variables for all PEs")));
}

TEST(Rendezvous, HostIdsReplaceTheBootIdentifier) {
  const Directory directory;
  const auto ends = run_pes(4, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    auto rendezvous = bootstrap::Rendezvous::open(directory.path());
    const auto machine = node::read_machine_name({exchange.pe() % 2 == 0 ? "even" : "odd", true});
    auto node = node::join_node(*machine, exchange, 100, long_limit, 0, *rendezvous);
    return node ? std::to_string((*node)->pes().front()) : end_of(node);
  });
  EXPECT_THAT(ends, ElementsAre("0", "1", "0", "1"));
}

TEST(Rendezvous, RejectsHostIdsLongerThan39Characters) {
  ASSERT_TRUE(node::read_machine_name({std::string(39, 'a'), false}));
  const auto name = node::read_machine_name({std::string(40, 'a'), false});
  EXPECT_THAT(end_of(name), failed_with(EINVAL, "the name has 40 characters; use at most 39"));
}

TEST(Rendezvous, TwoJobsShareADirectory) {
  const Directory directory;
  std::vector<std::string> first;
  std::thread other([&] { first = join_nodes(4, directory.path(), "node"); });
  const auto second = join_nodes(4, directory.path(), "node");
  other.join();
  EXPECT_THAT(first, Each(std::string("{ 0, 1, 2, 3 }")));
  EXPECT_THAT(second, Each(std::string("{ 0, 1, 2, 3 }")));
  EXPECT_TRUE(directory.is_empty());
}

TEST(Rendezvous, RejectsADirectoryThatOtherUsersCanEnter) {
  const Directory directory;
  for (const mode_t mode : {0777U, 01777U, 0750U, 0701U, 0720U}) {
    ASSERT_EQ(::chmod(directory.path().c_str(), mode), 0);
    EXPECT_THAT(end_of(bootstrap::Rendezvous::open(directory.path())),
                failed_with(EPERM, "the mode of the directory gives other users access"));
  }
  ASSERT_EQ(::chmod(directory.path().c_str(), 0700), 0);
  EXPECT_EQ(end_of(bootstrap::Rendezvous::open(directory.path())), "");
}

TEST(Rendezvous, RejectsADirectoryOfAnotherUser) {
  const Directory directory;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  ASSERT_EQ(::chown(directory.path().c_str(), 65534, 65534), 0);
  EXPECT_THAT(end_of(bootstrap::Rendezvous::open(directory.path())),
              failed_with(EPERM, "the directory belongs to user 65534, but this process runs as user 0"));
}

TEST(Rendezvous, RejectsPathsThatAreNotDirectories) {
  const Directory directory;
  EXPECT_THAT(end_of(bootstrap::Rendezvous::open(directory.path() + "/missing")), failed_with(ENOENT));
  std::ofstream(directory.path() + "/file") << "text";
  EXPECT_THAT(end_of(bootstrap::Rendezvous::open(directory.path() + "/file")), failed_with(ENOTDIR));
}

TEST(Rendezvous, SupportsPathsLongerThanASocketAddress) {
  const Directory directory;
  const std::string deep = directory.path() + "/" + std::string(120, 'd');
  ASSERT_EQ(::mkdir(deep.c_str(), 0700), 0);
  EXPECT_THAT(join_nodes(2, deep, ""), Each(std::string("{ 0, 1 }")));
}

/// A socket of that name in the directory, last changed `age_s` seconds ago. It listens as long as the result exists.
base::UniqueFd left_over(const Directory& directory, const std::string& name, int age_s) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory.path() + "/" + name;
  std::strcpy(address.sun_path, path.c_str());
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 8), 0);
  const timespec when{::time(nullptr) - age_s, 0};
  const timespec times[] = {when, when};
  EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  return socket;
}

/// A live socket of another machine refuses connections from this one: in a directory of a network's file system a job
/// that waits for its last PE loses it, unless only sockets are removed that are older than any start of a job.
TEST(Rendezvous, RemovesOldSocketsOfKilledProcessesOnly) {
  constexpr int two_days_s = 2 * 24 * 60 * 60;
  const Directory directory;
  left_over(directory, "gdrkit-shmem-old", two_days_s);
  left_over(directory, "gdrkit-shmem-of-another-machine", 3600);
  left_over(directory, "another-program", two_days_s);
  const base::UniqueFd live = left_over(directory, "gdrkit-shmem-live", two_days_s);
  EXPECT_THAT(join_nodes(2, directory.path(), ""), Each(std::string("{ 0, 1 }")));
  const auto exists = [&](const char* name) { return std::filesystem::exists(directory.path() + "/" + name); };
  EXPECT_FALSE(exists("gdrkit-shmem-old"));
  EXPECT_TRUE(exists("gdrkit-shmem-of-another-machine"));
  EXPECT_TRUE(exists("gdrkit-shmem-live"));
  EXPECT_TRUE(exists("another-program"));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
