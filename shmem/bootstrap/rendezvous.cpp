// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/rendezvous.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

namespace gdrkit::shmem_impl::bootstrap {
namespace {

constexpr char prefix[] = "gdrkit-shmem-";
/// Minimum age of a socket that is removed as stale. A live socket also refuses connections between bind and listen,
/// and, on a network file system, from other machines. The age exceeds the time in which the PEs of a job connect.
constexpr time_t least_stale_age_s = 24 * 60 * 60;

/// In a user namespace, such as a rootless container's, users that it does not map all have one number (65534).
bool may_stand_for_others(uid_t user) {
  uid_t unmapped = 65534;
  std::ifstream("/proc/sys/kernel/overflowuid") >> unmapped;
  if (user != unmapped) return false;
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
  std::uint32_t count = 0;
  std::ifstream("/proc/self/uid_map") >> inside >> outside >> count;
  return count != UINT32_MAX;
}

struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;
};

/// The path names the directory by its descriptor. It is short at any depth, and refers to the directory that was
/// checked.
LocalAddress local_address(const std::string& name, int directory) {
  const bool is_abstract = directory < 0;
  const std::string text = is_abstract ? name : "/proc/self/fd/" + std::to_string(directory) + "/" + name;
  LocalAddress local;
  local.address.sun_family = AF_UNIX;
  // The first byte of an abstract name stays 0.
  std::memcpy(local.address.sun_path + (is_abstract ? 1 : 0), text.data(), text.size());
  local.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return local;
}

base::UniqueFd local_socket() {
  return base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int connect_once(int socket, const LocalAddress& local) {
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&local.address), local.size);
}

tl::unexpected<base::Error> refused(const std::string& path, int error, const std::string& why) {
  return base::fail(
      error,
      "cannot use GDRKIT_SHMEM_SOCKET_DIR=%s: %s; create the directory as this user with mkdir -m 700, and "
      "mount the directory in each container",
      path.c_str(), why.c_str());
}

tl::unexpected<base::Error> cannot_listen(bool is_in_directory) {
  const int error = errno;
  const char* remedy = is_in_directory ? "set GDRKIT_SHMEM_SOCKET_DIR to a directory that this user can write to"
                                       : "use a GDRKIT_SHMEM_ROOT that no other job uses";
  if (error == EMFILE || error == ENFILE) remedy = "raise ulimit -n";
  return base::fail(error, "cannot open a UNIX socket for the PEs of this node: %s; %s", std::strerror(error), remedy);
}

}  // namespace

LocalListener::~LocalListener() {
  if (directory_) ::unlinkat(directory_.get(), name_.c_str(), 0);
}

base::Result<Rendezvous> Rendezvous::open(const std::string& path) {
  Rendezvous rendezvous;
  if (path.empty()) return rendezvous;
  rendezvous.directory_ = base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!rendezvous.directory_ || ::fstat(rendezvous.directory_.get(), &status) != 0)
    return refused(path, errno, std::strerror(errno));
  if (status.st_uid != ::geteuid()) {
    return refused(path, EPERM,
                   "the directory belongs to user " + std::to_string(status.st_uid) +
                       ", but this process runs as user " + std::to_string(::geteuid()));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return refused(path, EPERM, "the mode of the directory gives other users access");
  }
  return rendezvous;
}

base::Result<LocalListener> Rendezvous::listen(const Token& token) const {
  const std::string name = prefix + to_hex(token);
  base::UniqueFd directory;
  if (directory_) {
    remove_stale();
    directory = base::UniqueFd(::fcntl(directory_.get(), F_DUPFD_CLOEXEC, 0));
    if (!directory)
      return base::fail(
          errno, "cannot open a UNIX socket in GDRKIT_SHMEM_SOCKET_DIR for the PEs of this node: %s; raise ulimit -n",
          std::strerror(errno));
  }
  const LocalAddress local = local_address(name, directory.get());
  base::UniqueFd socket = local_socket();
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&local.address), local.size) != 0) {
    return cannot_listen(static_cast<bool>(directory_));
  }
  LocalListener listener(std::move(socket), std::move(directory), name);
  if (::listen(listener.get(), SOMAXCONN) != 0) return cannot_listen(static_cast<bool>(directory_));
  return listener;
}

base::Result<base::UniqueFd> Rendezvous::connect(const Token& token, const Deadline& deadline) const {
  const LocalAddress local = local_address(prefix + to_hex(token), directory_.get());
  base::UniqueFd socket = local_socket();
  if (!socket) return base::fail(errno, "cannot open a UNIX socket: %s", std::strerror(errno));
  while (connect_once(socket.get(), local) != 0) {
    // EAGAIN: more PEs are connecting than the listener's backlog holds.
    if ((errno != EAGAIN && errno != EINTR) || deadline.has_passed()) {
      return base::fail(errno, "%s (UNIX socket)", std::strerror(errno));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return socket;
}

/// Removes files of processes that were killed before all PEs were connected.
void Rendezvous::remove_stale() const {
  const int again = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> files(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (files == nullptr) return;
  while (const dirent* const file = ::readdir(files.get())) {
    struct stat status {};
    if (std::strncmp(file->d_name, prefix, sizeof prefix - 1) != 0 || std::strlen(file->d_name) > 64 ||
        ::fstatat(directory_.get(), file->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(status.st_mode) ||
        status.st_mtime > ::time(nullptr) - least_stale_age_s) {
      continue;
    }
    const base::UniqueFd socket = local_socket();
    if (socket && connect_once(socket.get(), local_address(file->d_name, directory_.get())) != 0 &&
        errno == ECONNREFUSED) {
      ::unlinkat(directory_.get(), file->d_name, 0);
    }
  }
}

bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid() &&
         !may_stand_for_others(peer.uid);
}

}  // namespace gdrkit::shmem_impl::bootstrap
