// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/emulated_memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace gdrkit::platform {
namespace {

/// Checks by path, not by number: other threads close and open descriptors concurrently.
bool is_file_of(int fd, std::uint64_t inode) noexcept {
  char path[40];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct stat about {};
  if (::stat(path, &about) != 0 || about.st_ino != inode) return false;
  // Other file systems may have files with the same number.
  char target[64] = "";
  const ssize_t length = ::readlink(path, target, sizeof target);
  return length > 0 &&
         std::string_view(target, static_cast<std::size_t>(length)).starts_with(driver::emulated_file_prefix);
}

}  // namespace

base::Result<std::uint64_t> emulated_allocate_exportable(std::size_t size_bytes, int* fd) noexcept {
  constexpr std::size_t page_mask = emulated_page_bytes - 1;
  if (size_bytes > SIZE_MAX - page_mask)
    return base::fail(ENOMEM, "cannot allocate %zu bytes of emulated memory: the size exceeds the address space",
                      size_bytes);
  return driver::emulated_allocate((size_bytes + page_mask) & ~page_mask, driver::EmulatedKind::device, fd);
}

base::Result<int> emulated_export(std::uint64_t address) noexcept {
  auto allocation = emulated_find(address);
  if (!allocation) return base::pass(allocation);
  if (allocation->start != address) {
    return base::fail(EINVAL, "0x%" PRIx64 " is inside an emulated allocation; use its start, 0x%" PRIx64, address,
                      allocation->start);
  }
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return base::fail(errno, "cannot read /proc/self/fd: %s", std::strerror(errno));
  int found = -1;
  int error = EOPNOTSUPP;
  while (const dirent* const entry = found < 0 ? ::readdir(directory) : nullptr) {
    const std::string_view name(entry->d_name);
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (fd < 0 || !is_file_of(fd, allocation->buffer_id)) continue;
    found = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (found < 0) error = errno;
    // The number may have been reused for another file after the check.
    if (found >= 0 && !is_file_of(found, allocation->buffer_id)) ::close(std::exchange(found, -1));
  }
  ::closedir(directory);
  if (found >= 0) return found;
  if (error != EOPNOTSUPP)
    return base::fail(error, "cannot export emulated memory: duplicating its file descriptor failed: %s",
                      std::strerror(error));
  return base::fail(EOPNOTSUPP, "the emulated memory at 0x%" PRIx64 " was not allocated as exportable", address);
}

}  // namespace gdrkit::platform
