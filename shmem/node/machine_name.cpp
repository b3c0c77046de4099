// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/node/machine_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shmem/bootstrap/unique_fd.hpp"

namespace gdrkit::shmem {

base::Result<MachineName> read_machine_name() {
  constexpr const char* path = "/proc/sys/kernel/random/boot_id";
  MachineName name;
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? ::read(file.get(), name.boot_id, sizeof name.boot_id - 1) : -1;
  if (got <= 0) return base::fail(errno, "cannot read %s, which names this machine: %s", path, std::strerror(errno));
  struct stat status {};
  if (::stat("/proc/thread-self/ns/net", &status) != 0) {
    return base::fail(errno, "cannot read /proc/thread-self/ns/net, which names the network namespace: %s",
                      std::strerror(errno));
  }
  name.network_namespace = status.st_ino;
  name.user = ::geteuid();
  return name;
}

}  // namespace gdrkit::shmem
