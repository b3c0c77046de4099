// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/node/machine_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.hpp"

namespace gdrkit::shmem_impl::node {

base::Result<MachineName> read_machine_name(const StatedMachine& stated) {
  constexpr const char* path = "/proc/sys/kernel/random/boot_id";
  MachineName name;
  if (!stated.host_id.empty()) {
    if (stated.host_id.size() >= sizeof name.boot_id) {
      return base::fail(EINVAL, "cannot use GDRKIT_SHMEM_HOSTID=%s: the name has %zu characters; use at most %zu",
                        stated.host_id.c_str(), stated.host_id.size(), sizeof name.boot_id - 1);
    }
    std::memcpy(name.boot_id, stated.host_id.data(), stated.host_id.size());
    name.is_stated = 1;
    return name;
  }
  const base::UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? ::read(file.get(), name.boot_id, sizeof name.boot_id - 1) : -1;
  if (got <= 0)
    return base::fail(errno, "cannot identify this node: reading %s failed: %s", path, std::strerror(errno));
  if (stated.has_directory) {
    name.is_stated = 1;
    return name;
  }
  struct stat status {};
  if (::stat("/proc/thread-self/ns/net", &status) != 0) {
    return base::fail(errno, "cannot identify the network namespace: reading /proc/thread-self/ns/net failed: %s",
                      std::strerror(errno));
  }
  name.network_namespace = status.st_ino;
  name.user = ::geteuid();
  return name;
}

}  // namespace gdrkit::shmem_impl::node
