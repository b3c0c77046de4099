// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/process_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace gdrkit::fakes {
namespace {

std::uintptr_t word(void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

ProcessMemory::~ProcessMemory() {
  for (const auto& [first, part] : parts_) ::munmap(reinterpret_cast<void*>(first), part.length);
}

int ProcessMemory::map_anonymous(void* hint, std::size_t length, int protection, int flags, void** mapped) {
  return add(hint, length, protection, flags, -1, 0, {}, mapped);
}

int ProcessMemory::map_device(void* hint, std::size_t length, int protection, int flags, int file, off_t offset,
                              const std::shared_ptr<RmMapping>& mapping, void** mapped) {
  const int result = add(hint, length, protection, flags, file, offset, {length, mapping, false}, mapped);
  if (result == 0) ++mapping->vmas;
  return result;
}

int ProcessMemory::add(void* hint, std::size_t length, int protection, int flags, int file, off_t offset, Part part,
                       void** mapped) {
  void* address = ::mmap(hint, length, protection, flags, file, offset);
  if (address == MAP_FAILED) return -errno;
  if ((flags & MAP_FIXED) != 0) forget(word(address), length);
  part.length = length;
  parts_[word(address)] = std::move(part);
  *mapped = address;
  return 0;
}

int ProcessMemory::unmap(void* address, std::size_t length) {
  if (::munmap(address, length) != 0) return -errno;
  const std::size_t before = parts_.size();
  forget(word(address), length);
  if (parts_.size() == before) violations_.add("munmap of addresses that were not mapped, or not as a whole");
  return 0;
}

bool ProcessMemory::shows(const PhysicalMemory& memory, std::uint64_t offset, std::uint64_t size) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) {
    const RmMapping* const mapping = entry.second.mapping.get();
    return mapping != nullptr && mapping->memory.get() == &memory && mapping->first <= offset &&
           offset + size <= mapping->first + mapping->length;
  });
}

int ProcessMemory::advise(void* address, std::size_t length, int advice) {
  if (::madvise(address, length, advice) != 0) return -errno;
  for (auto& [first, part] : parts_) {
    const bool is_inside = first >= word(address) && first + part.length <= word(address) + length;
    if (is_inside && advice == MADV_DONTFORK) part.is_kept_from_fork = true;
  }
  return 0;
}

std::size_t ProcessMemory::inherited_by_fork() const {
  std::size_t sum = 0;
  for (const auto& [first, part] : parts_) sum += part.mapping != nullptr && !part.is_kept_from_fork ? 1 : 0;
  return sum;
}

/// Removes [first, first + length) from the list; anonymous parts that reach beyond it are cut.
void ProcessMemory::forget(std::uintptr_t first, std::size_t length) {
  const std::uintptr_t end = first + length;
  std::map<std::uintptr_t, Part> kept;
  for (auto& [part_first, part] : parts_) {
    const std::uintptr_t part_end = part_first + part.length;
    if (part_end <= first || part_first >= end) {
      kept[part_first] = part;
      continue;
    }
    const bool is_whole = part_first >= first && part_end <= end;
    if (part.mapping != nullptr) {
      if (!is_whole) violations_.add("a mapping of device memory was unmapped in part");
      --part.mapping->vmas;
      continue;
    }
    if (part_first < first) kept[part_first] = {first - part_first, nullptr, part.is_kept_from_fork};
    if (part_end > end) kept[end] = {part_end - end, nullptr, part.is_kept_from_fork};
  }
  parts_ = std::move(kept);
}

}  // namespace gdrkit::fakes
