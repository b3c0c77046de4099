// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// System on the operating system.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <new>

#include "driver/system.hpp"

namespace gdrkit::driver {
namespace {

class RealSystem final : public System {
 public:
  int open(const char* path, int flags) noexcept override {
    for (;;) {
      const int fd = ::open(path, flags | O_CLOEXEC);
      if (fd >= 0) return fd;
      if (errno != EINTR) return -errno;
    }
  }

  // Linux has closed the descriptor even if close returns EINTR: a second call could close another descriptor.
  int close(int fd) noexcept override { return ::close(fd) == 0 || errno == EINTR ? 0 : -errno; }

  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    for (;;) {
      const int result = ::ioctl(fd, request, argument);
      if (result >= 0) return result;
      if (errno != EINTR) return -errno;
    }
  }

  int mmap(void* wanted, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    for (;;) {
      void* address = ::mmap(wanted, length, protection, flags, fd, offset);
      if (address != MAP_FAILED) {
        *mapped = address;
        return 0;
      }
      if (errno != EINTR) return -errno;
    }
  }

  int munmap(void* address, std::size_t length) noexcept override {
    return ::munmap(address, length) == 0 ? 0 : -errno;
  }

  int access(const char* path, int mode) noexcept override { return ::access(path, mode) == 0 ? 0 : -errno; }

  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return ::madvise(address, length, advice) == 0 ? 0 : -errno;
  }

  int node_numbers(const char* path, unsigned* major_number, unsigned* minor_number) noexcept override {
    struct stat about {};
    if (::stat(path, &about) != 0) return -errno;
    if (!S_ISCHR(about.st_mode)) return -ENOTSUP;
    *major_number = major(about.st_rdev);
    *minor_number = minor(about.st_rdev);
    return 0;
  }

  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    if (capacity == 0) return -EINVAL;
    const int fd = open(path, O_RDONLY);
    if (fd < 0) return fd;
    std::size_t used = 0;
    ssize_t result = 0;
    while (used < capacity - 1) {
      const ssize_t got = ::read(fd, buffer + used, capacity - 1 - used);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) result = -errno;
      if (got <= 0) break;
      used += static_cast<std::size_t>(got);
    }
    close(fd);
    if (result < 0) return result;
    buffer[used] = '\0';
    return static_cast<ssize_t>(used);
  }
};

}  // namespace

bool can_load_from(const volatile void* address) noexcept {
  // With an invalid first argument the call changes nothing. Linux loads the eight bytes before it looks at it: EFAULT
  // where they cannot be loaded, EINVAL where they can.
  constexpr std::size_t word_bytes = 8;
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{word_bytes - 1};
  return ::syscall(SYS_rt_sigprocmask, ~0, word, nullptr, word_bytes) == 0 || errno != EFAULT;
}

System& real_system() noexcept {
  // Never destroyed: other threads may still call while the process exits.
  alignas(RealSystem) static unsigned char storage[sizeof(RealSystem)];
  static RealSystem& system = *new (storage) RealSystem;
  return system;
}

}  // namespace gdrkit::driver
