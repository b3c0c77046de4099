// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Virtual memory management of the emulated driver: reservations, handles (memory files) and mappings.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "driver/emulated_memory.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/emulated_cuda_parts.hpp"

namespace gdrkit::fakes {
namespace {

using namespace driver;  // the types in the list

constexpr std::size_t granularity = std::size_t{2} << 20;
constexpr std::size_t guard_bytes = emulated_page_bytes;

struct Reservation {
  std::size_t bytes = 0;
  std::size_t mapped_bytes = 0;  ///< from its start on; 0: nothing
};

std::mutex mutex;
std::map<std::uint64_t, Reservation>& reservations() {
  static auto* const all = new std::map<std::uint64_t, Reservation>;
  return *all;
}

void* at(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

/// Reserves the size and a guard on each side of it. An address of 0: anywhere.
void* reserve(std::uint64_t address, std::size_t size) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address != 0 ? MAP_FIXED : 0);
  return ::mmap(address != 0 ? at(address) : nullptr, size, PROT_NONE, flags, -1, 0);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuMemGetAllocationGranularity(std::size_t* size, const CudaMemAllocationProp*, int option) {
  *size = granularity;
  return option == cuda_mem_granularity_recommended ? success : invalid_value;
}
int cuMemAddressReserve(std::uint64_t* address, std::size_t size, std::size_t, std::uint64_t, unsigned long long) {
  if (size == 0 || size % granularity != 0) return invalid_value;
  // With space to align the range to the GPU's pages.
  void* const room = reserve(0, size + 3 * guard_bytes);
  if (room == MAP_FAILED) return out_of_memory;
  const auto first = reinterpret_cast<std::uint64_t>(room);
  const std::uint64_t start = (first + 2 * guard_bytes - 1) / guard_bytes * guard_bytes;
  ::munmap(room, start - guard_bytes - first);
  ::munmap(at(start + size + guard_bytes), first + 2 * guard_bytes - start);
  const std::lock_guard lock(mutex);
  reservations()[start] = {size, 0};
  *address = start;
  return count_taken(success);
}
int cuMemAddressFree(std::uint64_t address, std::size_t size) {
  const std::lock_guard lock(mutex);
  const auto found = reservations().find(address);
  if (found == reservations().end() || found->second.bytes != size || found->second.mapped_bytes != 0) {
    return invalid_value;
  }
  ::munmap(at(address - guard_bytes), size + 2 * guard_bytes);
  reservations().erase(found);
  return count_released(success);
}
int cuMemCreate(std::uint64_t* handle, std::size_t size, const CudaMemAllocationProp*, unsigned long long) {
  if (size == 0 || size % granularity != 0) return invalid_value;
  const auto file = emulated_create_file(size, EmulatedKind::device);
  if (!file) return out_of_memory;
  *handle = static_cast<std::uint64_t>(*file);
  return count_taken(success);
}
int cuMemRelease(std::uint64_t handle) {
  return ::close(static_cast<int>(handle)) == 0 ? count_released(success) : invalid_value;
}
int cuMemExportToShareableHandle(void* target, std::uint64_t handle, int, unsigned long long) {
  const int file = ::dup(static_cast<int>(handle));
  std::memcpy(target, &file, sizeof file);
  return file >= 0 ? success : invalid_value;
}
int cuMemMap(std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle, unsigned long long) {
  const std::lock_guard lock(mutex);
  const auto found = reservations().find(address);
  if (found == reservations().end() || size > found->second.bytes || offset != 0) return invalid_value;
  if (found->second.mapped_bytes != 0 || !emulated_adopt(static_cast<int>(handle), address, size)) return invalid_value;
  found->second.mapped_bytes = size;
  if (const int file = ::fcntl(static_cast<int>(handle), F_DUPFD_CLOEXEC, 0); file >= 0)
    add_export(address, file, size);
  return count_taken(success);
}
int cuMemUnmap(std::uint64_t address, std::size_t size) {
  const std::lock_guard lock(mutex);
  const auto found = reservations().find(address);
  if (found == reservations().end() || found->second.mapped_bytes != size || size == 0) return invalid_value;
  remove_export(address);
  (void)reserve(address - guard_bytes, size + guard_bytes);
  found->second.mapped_bytes = 0;
  return count_released(success);
}
/// Mapped memory is accessible immediately.
int cuMemSetAccess(std::uint64_t address, std::size_t size, const CudaMemAccessDesc* access, std::size_t count) {
  const std::lock_guard lock(mutex);
  const auto found = reservations().find(address);
  const bool is_mapped = found != reservations().end() && found->second.mapped_bytes == size;
  return is_mapped && count == 1 && access->flags == cuda_mem_access_read_write ? success : invalid_value;
}

// Not supported: another process would have to emulate the same device.
int cuMemRetainAllocationHandle(std::uint64_t*, void*) { return cuda_error_not_supported; }
int cuIpcGetMemHandle(void*, std::uint64_t) { return cuda_error_not_supported; }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace gdrkit::fakes
