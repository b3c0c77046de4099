// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/memory_file.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

namespace gdrkit::base {

int open_memory_file(const char* name, unsigned flags) noexcept {
  constexpr unsigned no_exec_seal = 0x0008U;  // MFD_NOEXEC_SEAL, since Linux 6.3; some systems require it
  const int file = ::memfd_create(name, MFD_CLOEXEC | flags | no_exec_seal);
  if (file >= 0 || errno != EINVAL) return file;
  return ::memfd_create(name, MFD_CLOEXEC | flags);  // Linux before 6.3 rejects the flag
}

Result<int> make_memory_file(const char* name, std::uint64_t size_bytes, unsigned flags) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size_bytes > limit.rlim_cur) {
    return fail(
        EFBIG,
        "cannot create %llu bytes of shared memory: the file size limit of this process is %llu bytes; raise the "
        "limit (ulimit -f unlimited)",
        static_cast<unsigned long long>(size_bytes), static_cast<unsigned long long>(limit.rlim_cur));
  }
  const int file = open_memory_file(name, flags);
  if (file < 0) {
    const int error = errno;
    // Only a system call filter makes memfd_create return EPERM.
    return fail(error, "cannot create %llu bytes of shared memory: memfd_create: %s%s",
                static_cast<unsigned long long>(size_bytes), std::strerror(error),
                error == EPERM ? "; allow memfd_create in this container's seccomp profile" : "");
  }
  if (::ftruncate(file, static_cast<off_t>(size_bytes)) == 0) return file;
  const int error = errno;
  ::close(file);
  return fail(error, "cannot create %llu bytes of shared memory: %s", static_cast<unsigned long long>(size_bytes),
              std::strerror(error));
}

}  // namespace gdrkit::base
