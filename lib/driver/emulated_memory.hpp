// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated devices, as the backend and the application see them: their identity, and their memory, which is shared
// host memory that any library of this process can recognize by its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::driver {

inline constexpr const char* emulated_device_name = "gdrkit emulated device (no GPU)";
/// The address of emulated device 0; further devices count down from it. Domain, bus and device have their largest
/// values, which no real device uses.
inline constexpr const char* emulated_pci_bus_id = "ffff:ff:1f.0";
inline constexpr int most_emulated_devices = 16;

/// Parses GDRKIT_EMULATED_DEVICES. Returns 1 if it is empty. EINVAL: not a number from 1 to most_emulated_devices.
[[nodiscard]] base::Result<int> emulated_device_count(std::string_view setting) noexcept;

/// The kind of memory that an allocation emulates, so that rejections can be tested without a device.
enum class EmulatedKind : std::uint8_t { device = 0, managed = 1, host = 2 };

struct EmulatedAllocation {
  std::uint64_t start = 0;      ///< the exact address that emulated_allocate returned
  std::size_t size_bytes = 0;   ///< the exact requested size
  std::uint64_t buffer_id = 0;  ///< never reused in a process
  EmulatedKind kind = EmulatedKind::device;
};

/// The page size of the emulated device, the same as a GPU's. Allocations are aligned to it and own whole pages.
inline constexpr std::size_t emulated_page_bytes = 65536;

/// Allocates zeroed memory in its own 64 KiB-aligned pages between inaccessible guards. The state is in the address
/// space (a named memory file), not in variables of this library. So libgdrapi, libgdrkit and a test in one process
/// share the memory. Forked children do not inherit it, because they have no device. Errors: EINVAL for size 0, ENOMEM,
/// EMFILE. If `fd` is not NULL, it receives the memory file, which the caller closes.
[[nodiscard]] base::Result<std::uint64_t> emulated_allocate(std::size_t size_bytes, EmulatedKind kind,
                                                            int* fd = nullptr) noexcept;
/// Frees an allocation. EINVAL: `address` is not the start of a live emulated allocation.
base::Status emulated_free(std::uint64_t address) noexcept;
/// The start of the memory files' names in Linux's lists of descriptors and mappings of this process.
inline constexpr std::string_view emulated_file_prefix = "/memfd:gdrkit-emulated:";
/// Creates the memory file of an allocation that is not mapped yet. Its pages take memory when they are written. The
/// caller closes the descriptor.
[[nodiscard]] base::Result<int> emulated_create_file(std::size_t size_bytes, EmulatedKind kind) noexcept;
/// Maps the file of a device allocation of `size_bytes`, whole pages, at `address` as a live allocation. The caller has
/// also reserved one page before and one after it, which become guards. Forked children do not inherit it. Unmap it
/// together with its guards, with munmap.
base::Status emulated_adopt(int fd, std::uint64_t address, std::size_t size_bytes) noexcept;
/// Finds the live allocation whose pages contain `address`, by reading /proc/self/maps. The address may lie past the
/// exact size, in the last page. EINVAL: none contains it.
[[nodiscard]] base::Result<EmulatedAllocation> emulated_find(std::uint64_t address) noexcept;
/// Keeps the pages at `page_address` (64 KiB aligned, inside one allocation) alive past emulated_free, as a pin does.
/// Creates a second, inaccessible mapping that forked children do not inherit. Undo with emulated_unmap.
[[nodiscard]] base::Result<void*> emulated_hold(std::uint64_t page_address, std::size_t size_bytes) noexcept;
/// Maps the first `size_bytes` of the pages of `held` for reading and writing, as a BAR1 mapping does on a GPU. Undo
/// with emulated_unmap.
[[nodiscard]] base::Result<void*> emulated_map_held(void* held, std::size_t size_bytes) noexcept;
/// Removes a mapping that emulated_hold or emulated_map_held created with this size.
base::Status emulated_unmap(void* mapping, std::size_t size_bytes) noexcept;

}  // namespace gdrkit::driver
