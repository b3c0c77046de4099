// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Descriptors, mappings and invalidation. The ioctls are in fake_gdrdrv_ioctl.cpp.
#include "fakes/fake_gdrdrv.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "driver/emulated_memory.hpp"

namespace gdrkit::fakes {
namespace {

std::uintptr_t word(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

FakeGdrdrv::~FakeGdrdrv() {
  for (const auto& [first, vma] : vmas_) ::munmap(reinterpret_cast<void*>(first), vma.length);
  for (const auto& [fd, number] : numbers_) ::close(fd);
  for (auto& [number, open] : opens_) {
    for (auto& [handle, region] : open.regions) {
      if (region.held != nullptr) (void)driver::emulated_unmap(region.held, region.bytes);
    }
  }
}

int FakeGdrdrv::open(const char* path, int) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::strcmp(path, "/dev/gdrdrv") != 0) return -ENOENT;
  if (open_error != 0) return -open_error;
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return -errno;
  const int number = next_open_++;
  numbers_[fd] = number;
  opens_[number].owner = ::getpid();
  opens_[number].next_handle = model_.first_handle;
  return fd;
}

int FakeGdrdrv::close(int fd) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(fd);
  if (found == numbers_.end()) {
    violations_.add("close of descriptor " + std::to_string(fd) + ", which is not open");
    return -EBADF;
  }
  const int number = found->second;
  numbers_.erase(found);
  opens_[number].has_descriptor = false;
  release_if_unused(number);
  return ::close(fd) == 0 ? 0 : -errno;
}

FakeGdrdrv::Open* FakeGdrdrv::open_of(int fd, int* number) {
  const auto found = numbers_.find(fd);
  if (found == numbers_.end()) {
    violations_.add("use of descriptor " + std::to_string(fd) + ", which is not open");
    return nullptr;
  }
  *number = found->second;
  return &opens_[found->second];
}

FakeGdrdrv::Region* FakeGdrdrv::region_of(Open& open, std::uint64_t handle) {
  const auto found = open.regions.find(handle);
  return found == open.regions.end() ? nullptr : &found->second;
}

int FakeGdrdrv::check_map(const Open& open, const Region* region, std::size_t length) const {
  if (open.owner != ::getpid()) return -EACCES;
  const bool is_mappable = region != nullptr && region->type == 0 && !region->is_freed && length <= region->bytes &&
                           region->address == region->page_address;
  return is_mappable ? -map_error : -EINVAL;
}

int FakeGdrdrv::mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
                     void** mapped) noexcept {
  const std::lock_guard lock(mutex_);
  notice_frees();
  int number = 0;
  Open* open = open_of(fd, &number);
  if (open == nullptr) return -EBADF;
  if (hint != nullptr || protection != (PROT_READ | PROT_WRITE) || flags != MAP_SHARED) {
    violations_.add("an mmap that the module does not support");
  }
  const std::uint64_t handle = static_cast<std::uint64_t>(offset) / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Region* region = region_of(*open, handle);
  const int failure = check_map(*open, region, length);
  note("MMAP handle " + std::to_string(handle) + " " + std::to_string(length) + " = " + std::to_string(-failure));
  if (failure != 0) return failure;
  const auto place = driver::emulated_map_held(region->held, length);
  if (!place) return -ENOMEM;
  const std::uint32_t own_type = model_.is_coherent && region->can_cache ? 2 : *model_.types.begin();
  region->type = region->requested_type != 0 ? region->requested_type : own_type;
  vmas_[word(*place)] = {length, number, handle, false, false};
  *mapped = *place;
  return 0;
}

int FakeGdrdrv::munmap(void* address, std::size_t length) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = vmas_.find(word(address));
  if (found == vmas_.end() || found->second.length != length) {
    violations_.add("munmap of addresses that were not mapped, or not as a whole");
    return -EINVAL;
  }
  const Vma vma = found->second;
  ::munmap(address, length);
  vmas_.erase(found);
  if (Region* region = region_of(opens_[vma.open], vma.handle); region != nullptr && !vma.is_zapped) region->type = 0;
  release_if_unused(vma.open);
  return 0;
}

ssize_t FakeGdrdrv::read_text(const char* path, char* buffer, std::size_t capacity) noexcept {
  const auto found = files.find(path);
  if (found == files.end() || capacity == 0) return -ENOENT;
  const std::size_t length = std::min(found->second.size(), capacity - 1);
  found->second.copy(buffer, length);
  buffer[length] = '\0';
  return static_cast<ssize_t>(length);
}

int FakeGdrdrv::node_numbers(const char* /*path*/, unsigned* major, unsigned* minor) noexcept {
  if (!node) return -ENOENT;
  std::tie(*major, *minor) = *node;
  return 0;
}

int FakeGdrdrv::madvise(void* address, std::size_t length, int advice) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = vmas_.find(word(address));
  if (found == vmas_.end() || found->second.length != length) {
    violations_.add("madvise of addresses that are not mapped, or not of all");
  } else if (advice == MADV_DONTFORK) {
    found->second.is_kept_from_fork = true;
  }
  return ::madvise(address, length, advice) == 0 ? 0 : -errno;
}

/// Like the module's zapping: the addresses stay reserved, and an access causes SIGBUS.
void FakeGdrdrv::zap(const Open& open, std::uint64_t handle) {
  for (auto& [first, vma] : vmas_) {
    if (&opens_[vma.open] != &open || vma.handle != handle || vma.is_zapped) continue;
    const int nothing = ::memfd_create("zapped", MFD_CLOEXEC);
    if (nothing < 0 || ::mmap(reinterpret_cast<void*>(first), vma.length, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, nothing, 0) == MAP_FAILED) {
      violations_.add("the fake cannot zap");
    }
    if (nothing >= 0) ::close(nothing);
    vma.is_zapped = true;
  }
}

void FakeGdrdrv::notice_frees() {
  const std::lock_guard lock(mutex_);
  if (model_.is_persistent) return;
  for (auto& [number, open] : opens_) {
    for (auto& [handle, region] : open.regions) {
      if (region.is_freed) continue;
      const auto now = driver::emulated_find(region.page_address);
      if (now && now->buffer_id == region.owner_id) continue;
      zap(open, handle);
      (void)driver::emulated_unmap(region.held, region.bytes);
      region.held = nullptr;
      region.is_freed = true;
      region.type = 0;
    }
  }
}

int FakeGdrdrv::unpin(Open& open, std::uint64_t handle) {
  Region* region = region_of(open, handle);
  if (region == nullptr) return -EINVAL;
  zap(open, handle);
  if (region->held != nullptr) (void)driver::emulated_unmap(region->held, region->bytes);
  open.regions.erase(handle);
  return 0;
}

/// Mappings keep their file open: the pins end with the last descriptor and the last mapping.
void FakeGdrdrv::release_if_unused(int number) {
  Open& open = opens_[number];
  if (open.has_descriptor) return;
  for (const auto& [first, vma] : vmas_) {
    if (vma.open == number) return;
  }
  while (!open.regions.empty()) (void)unpin(open, open.regions.begin()->first);
  opens_.erase(number);
}

GdrdrvCensus FakeGdrdrv::census() const {
  const std::lock_guard lock(mutex_);
  GdrdrvCensus census{numbers_.size(), 0, vmas_.size()};
  for (const auto& [number, open] : opens_) census.pins += open.regions.size();
  return census;
}

std::size_t FakeGdrdrv::vmas_inherited_by_fork() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [first, vma] : vmas_) count += vma.is_kept_from_fork ? 0 : 1;
  return count;
}

std::vector<std::string> FakeGdrdrv::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

}  // namespace gdrkit::fakes
