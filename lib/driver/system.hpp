// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The seam for system calls of backends, replaceable by fakes, recorders and faults.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>

namespace gdrkit::driver {

/// Each call returns 0 or a value >= 0 on success and a negative errno on failure; errno is not part of the
/// contract. Implementations are thread safe and never throw. The real one retries EINTR where that is safe
/// (open, ioctl, mmap), never for close.
class System {
 public:
  virtual ~System() = default;

  virtual int open(const char* path, int flags) noexcept = 0;  ///< a file descriptor; O_CLOEXEC is always added
  virtual int close(int fd) noexcept = 0;
  /// `argument` is the buffer whose size the request word carries (_IOC_SIZE).
  virtual int ioctl(int fd, unsigned long request, void* argument) noexcept = 0;
  virtual int mmap(void* wanted, std::size_t length, int protection, int flags, int fd, off_t offset,
                   void** mapped) noexcept = 0;
  virtual int munmap(void* address, std::size_t length) noexcept = 0;
  /// access(2): 0 when this process may use the path so (R_OK | W_OK), else -ENOENT, -EACCES, ...
  virtual int access(const char* path, int mode) noexcept = 0;
  virtual int madvise(void* address, std::size_t length, int advice) noexcept = 0;
  /// Reads at most capacity-1 bytes of a small text file and ends them with NUL; the number of bytes read.
  virtual ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept = 0;
  /// The numbers of a character device's node; -ENOTSUP for another kind of file. Fakes without nodes have none.
  virtual int node_numbers(const char* /*path*/, unsigned* /*major*/, unsigned* /*minor*/) noexcept { return -ENOENT; }
};

/// A system call's result without codes that user space has no name for: 524 (ENOTSUPP) reaches user space through
/// modules and dma-bufs that pass on the NVIDIA driver's result.
[[nodiscard]] constexpr int as_user_errno(int result) noexcept {
  constexpr int kernel_enotsupp = 524;
  if (result == -kernel_enotsupp) return -EOPNOTSUPP;
  return result < -EHWPOISON ? -EIO : result;
}

/// Whether a load from the byte succeeds; false where it would end in a signal.
[[nodiscard]] bool can_load_from(const volatile void* address) noexcept;

/// The operating system; lives for the whole process.
[[nodiscard]] System& real_system() noexcept;

}  // namespace gdrkit::driver
