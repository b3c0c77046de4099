// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The interface to the system calls of the backends. Tests replace it by fakes, recorders and injected faults.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>

namespace gdrkit::driver {

/// Every call returns a value >= 0 on success and a negative errno on failure. The value of errno is unspecified.
/// Implementations are thread safe and never throw. The real one retries after EINTR where that is safe (open, ioctl,
/// mmap), but never for close.
class System {
 public:
  virtual ~System() = default;

  virtual int open(const char* path, int flags) noexcept = 0;  ///< returns a file descriptor; always adds O_CLOEXEC
  virtual int close(int fd) noexcept = 0;
  /// `argument` is a buffer whose size is part of `request` (_IOC_SIZE).
  virtual int ioctl(int fd, unsigned long request, void* argument) noexcept = 0;
  virtual int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
                   void** mapped) noexcept = 0;
  virtual int munmap(void* address, std::size_t length) noexcept = 0;
  /// access(2): 0 if this process may use the path as `mode` specifies (R_OK | W_OK), else -ENOENT, -EACCES, ...
  virtual int access(const char* path, int mode) noexcept = 0;
  virtual int madvise(void* address, std::size_t length, int advice) noexcept = 0;
  /// Reads at most capacity-1 bytes of a small text file and terminates them with NUL. Returns the number of bytes
  /// read.
  virtual ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept = 0;
  /// Stores the major and minor number of a character device. -ENOTSUP: the file is of another kind.
  virtual int node_numbers(const char* /*path*/, unsigned* /*major*/, unsigned* /*minor*/) noexcept { return -ENOENT; }
};

/// Replaces result codes that user space does not define. 524 (ENOTSUPP) reaches user space through modules and
/// dma-bufs that pass on the result of the NVIDIA driver.
[[nodiscard]] constexpr int as_user_errno(int result) noexcept {
  constexpr int kernel_enotsupp = 524;
  if (result == -kernel_enotsupp) return -EOPNOTSUPP;
  return result < -EHWPOISON ? -EIO : result;
}

/// Returns whether a load from the byte would succeed, rather than raise a signal.
[[nodiscard]] bool can_load_from(const volatile void* address) noexcept;

/// The system calls of Linux. The object exists for the whole process.
[[nodiscard]] System& real_system() noexcept;

}  // namespace gdrkit::driver
