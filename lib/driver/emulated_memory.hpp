// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated device's memory: ordinary shared memory that any library of this process can recognise by its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::driver {

/// What an emulated allocation pretends to be, so that refusals can be tried without a device.
enum class EmulatedKind : std::uint8_t { device = 0, managed = 1, host = 2 };

struct EmulatedAllocation {
  std::uint64_t start = 0;      ///< the exact address emulated_allocate returned
  std::size_t size_bytes = 0;   ///< the exact requested size
  std::uint64_t buffer_id = 0;  ///< never used twice in a process
  EmulatedKind kind = EmulatedKind::device;
};

/// The emulated device's page, as a GPU's: allocations start at a multiple of it and own whole ones.
inline constexpr std::size_t emulated_page_bytes = 65536;

/// Allocates zeroed memory in its own 64 KiB-aligned pages between inaccessible guards. The state is in the address
/// space itself (a named memory file), not in this library's variables: libgdrapi, libgdrkit and a test in one process
/// see the same memory. Not inherited by fork, as a forked child has no device. EINVAL for size 0, ENOMEM, EMFILE. *fd,
/// if given, is the memory file, which the caller closes.
[[nodiscard]] base::Result<std::uint64_t> emulated_allocate(std::size_t size_bytes, EmulatedKind kind,
                                                            int* fd = nullptr) noexcept;
/// EINVAL when `address` is not the start of a live emulated allocation.
base::Status emulated_free(std::uint64_t address) noexcept;
/// What the names of memory files begin with where Linux lists this process's descriptors and mappings.
inline constexpr std::string_view emulated_file_prefix = "/memfd:gdrkit-emulated:";
/// The memory file of an allocation that is not mapped yet; it takes memory where it is written to. The caller closes
/// the descriptor.
[[nodiscard]] base::Result<int> emulated_create_file(std::size_t size_bytes, EmulatedKind kind) noexcept;
/// Maps the file of a device allocation of `size_bytes`, whole pages, at `address` as a live allocation. The caller has
/// reserved the page before it and the page behind its end too: they become guards. Not inherited by fork. To be
/// unmapped with its guards, by munmap.
base::Status emulated_adopt(int fd, std::uint64_t address, std::size_t size_bytes) noexcept;
/// The live allocation whose pages hold `address` (which may lie past the exact size, in the last page), by reading
/// /proc/self/maps; EINVAL if there is none.
[[nodiscard]] base::Result<EmulatedAllocation> emulated_find(std::uint64_t address) noexcept;
/// Keeps the pages at `page_address` (64 KiB aligned, inside one allocation's pages) alive past emulated_free, as a pin
/// does: a second mapping, inaccessible, not inherited by fork. Undo with emulated_unmap.
[[nodiscard]] base::Result<void*> emulated_hold(std::uint64_t page_address, std::size_t size_bytes) noexcept;
/// A readable and writable mapping of the first `size_bytes` of what `held` holds, the emulated counterpart of a BAR1
/// mapping. Undo with emulated_unmap.
[[nodiscard]] base::Result<void*> emulated_map_held(void* held, std::size_t size_bytes) noexcept;
/// Ends a mapping made by emulated_hold or emulated_map_held with this size.
base::Status emulated_unmap(void* mapping, std::size_t size_bytes) noexcept;

}  // namespace gdrkit::driver
