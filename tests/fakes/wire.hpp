// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fields of the driver's structures by offset, and its numbers. Written from the published layouts and not from
// lib/backend/rm/rm_abi.hpp, so that a wrong offset there is not wrong here too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace gdrkit::fakes {

template <class T>
[[nodiscard]] T get(const void* base, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const std::uint8_t*>(base) + offset, sizeof value);
  return value;
}

template <class T>
void put(void* base, std::size_t offset, T value) noexcept {
  std::memcpy(static_cast<std::uint8_t*>(base) + offset, &value, sizeof value);
}

/// Command numbers of the frontend ioctls, type 'F'.
namespace command {
inline constexpr unsigned card_info = 200, register_fd = 201, check_version = 210, attach_gpus = 212,
                          export_dmabuf = 217, wait_open = 218;
inline constexpr unsigned rm_free = 0x29, rm_control = 0x2a, rm_alloc = 0x2b, rm_dup = 0x34, rm_map = 0x4e,
                          rm_unmap = 0x4f;
}  // namespace command

namespace control_command {
inline constexpr std::uint32_t attached_ids = 0x201, id_info = 0x202, id_info_v2 = 0x205, pci_info = 0x21b,
                               import_object = 0x3d06, import_objects = 0x3d0c, address_space = 0xd01,
                               gid_info = 0x2080014a, fb_info_v2 = 0x20801303, surface_info = 0x410110;
}

namespace rm_class {
inline constexpr std::uint32_t root = 0x41, device = 0x80, subdevice = 0x2080, memory = 0x40;
}

namespace rm_status {
inline constexpr std::uint32_t ok = 0, duplicate_name = 0x19, insufficient_resources = 0x1a,
                               insufficient_permissions = 0x1b, invalid_argument = 0x1f, invalid_base = 0x20,
                               invalid_class = 0x22, invalid_client = 0x23, invalid_device = 0x26, invalid_limit = 0x2e,
                               invalid_object_handle = 0x33, invalid_object_parent = 0x36, invalid_param_struct = 0x3a,
                               no_memory = 0x51, not_supported = 0x56, object_not_found = 0x57, state_in_use = 0x63;
}

/// Offsets of the arrays, each with 128 entries, and of the status word of EXPORT_TO_DMABUF_FD.
struct ExportLayout {
  static constexpr std::size_t most_objects = 128;
  std::size_t handles;
  std::size_t offsets;
  std::size_t sizes;
  std::size_t status;
  bool has_mapping_type;  ///< a byte at 32
};
/// Returns nullopt if no version of the driver has a structure of this size.
[[nodiscard]] constexpr std::optional<ExportLayout> export_layout(std::size_t structure_bytes) noexcept {
  if (structure_bytes == 2600) return ExportLayout{32, 544, 1568, 2592, false};
  if (structure_bytes == 2608) return ExportLayout{36, 552, 1576, 2600, true};  // from 570 on
  return std::nullopt;
}

inline constexpr std::uint64_t host_page = 4096;

[[nodiscard]] constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) noexcept {
  return value / unit * unit;
}
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return round_down(value + unit - 1, unit);
}

}  // namespace gdrkit::fakes
