// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The part of the resource manager's user ABI that this backend speaks: numbers and structures, x86-64 and arm64.
// Source: the public headers of NVIDIA's open kernel modules; sizes and offsets hold for every release since 515.43.04.
#pragma once

#include <linux/ioctl.h>

#include <cstddef>
#include <cstdint>

namespace gdrkit::backend::rm {

template <class T>
constexpr unsigned long request_word(unsigned number, std::size_t bytes = sizeof(T)) noexcept {
  return _IOC(_IOC_READ | _IOC_WRITE, 'F', number, bytes);
}

namespace number {
inline constexpr unsigned card_info = 200, register_fd = 201, check_version = 210;
inline constexpr unsigned rm_free = 0x29, rm_control = 0x2a, rm_alloc = 0x2b, rm_dup_object = 0x34;
inline constexpr unsigned rm_map_memory = 0x4e, rm_unmap_memory = 0x4f;
}  // namespace number

namespace object_class {
inline constexpr std::uint32_t root_client = 0x41, device = 0x80, subdevice = 0x2080;
}

namespace control {
inline constexpr std::uint32_t gpu_get_id_info_v2 = 0x205, import_object_from_fd = 0x3d06;
inline constexpr std::uint32_t client_get_addr_space_type = 0xd01;
inline constexpr std::uint32_t gpu_get_gid_info = 0x2080014a, fb_get_info_v2 = 0x20801303;
inline constexpr std::uint32_t memory_get_surface_info = 0x410110;
}  // namespace control

struct CardInfo {
  std::uint8_t valid;
  std::uint8_t pad0[3];
  std::uint32_t domain;
  std::uint8_t bus, slot, function, pad1;
  std::uint16_t vendor, device;
  std::uint32_t gpu_id;
  std::uint16_t irq, pad2;
  std::uint64_t register_address, register_size;
  std::uint64_t bar1_address, bar1_size;
  std::uint32_t minor;
  std::uint8_t device_name[10];
  std::uint8_t pad3[2];
};
static_assert(sizeof(CardInfo) == 72 && offsetof(CardInfo, gpu_id) == 16 && offsetof(CardInfo, bar1_address) == 40 &&
              offsetof(CardInfo, minor) == 56);
inline constexpr std::size_t max_cards = 32;

struct RegisterFd {
  std::int32_t control_fd;
};

struct CheckVersion {
  std::uint32_t command;  ///< version_query: report the module's version, compare nothing
  std::uint32_t reply;
  char text[64];
};
static_assert(sizeof(CheckVersion) == 72);
inline constexpr std::uint32_t version_query = '2';

struct RmFree {
  std::uint32_t root, parent, object, status;
};

/// Short form. Status moved from word 24 to word 28 in 535.43.02 while the size stayed; both are sent as zero and read
/// together (paramsSize, the newer meaning of word 24, may be zero: "the class's own size").
struct RmAlloc {
  std::uint32_t root, parent, object, object_class;
  std::uint64_t parameters;
  std::uint32_t status_before_535, status_since_535;
};
static_assert(sizeof(RmAlloc) == 32);

struct RmControl {
  std::uint32_t client, object, command, flags;
  std::uint64_t parameters;
  std::uint32_t parameter_bytes, status;
};
static_assert(sizeof(RmControl) == 32);

struct RmDupObject {
  std::uint32_t client, parent, object, source_client, source_object, flags, status;
};
static_assert(sizeof(RmDupObject) == 28);

struct RmMapMemory {
  std::uint32_t client, device, memory, pad0;
  std::uint64_t offset, length, linear_address;
  std::uint32_t status, flags;
  std::int32_t fd, pad1;
};
static_assert(sizeof(RmMapMemory) == 56 && offsetof(RmMapMemory, fd) == 48);
/// Caching type of a new mapping in RmMapMemory::flags, bits 25:23.
inline constexpr unsigned caching_shift = 23;
inline constexpr std::uint32_t caching_mask = 7, caching_cached = 0, caching_write_combined = 2;

struct RmUnmapMemory {
  std::uint32_t client, device, memory, pad0;
  std::uint64_t linear_address;
  std::uint32_t status, flags;
};
static_assert(sizeof(RmUnmapMemory) == 32);

struct DeviceParameters {
  std::uint32_t device_id, client_share, target_client, target_device, flags, pad0;
  std::uint64_t va_space_size, va_start, va_limit;
  std::uint32_t va_mode, pad1;
};
static_assert(sizeof(DeviceParameters) == 56 && offsetof(DeviceParameters, va_mode) == 48);

struct SubdeviceParameters {
  std::uint32_t subdevice_id;
};

struct GpuIdInfo {
  std::uint32_t gpu_id, flags, device_instance, subdevice_instance, sli_status, board_id, gpu_instance;
  std::int32_t numa_id;
};
static_assert(sizeof(GpuIdInfo) == 32);

struct GidInfo {
  std::uint32_t index, flags, length;
  std::uint8_t data[256];
};
static_assert(sizeof(GidInfo) == 268);
inline constexpr std::uint32_t gid_binary = 2;

struct AddrSpaceType {
  std::uint32_t object, map_flags, type;
};
inline constexpr std::uint32_t addr_space_video_memory = 2;

struct SurfaceInfo {
  std::uint32_t count, pad0;
  std::uint64_t entries;
};
static_assert(sizeof(SurfaceInfo) == 16);
/// Entry of SurfaceInfo and of FB_GET_INFO_V2.
struct InfoEntry {
  std::uint32_t index, data;
};
inline constexpr std::uint32_t surface_size_in_4k = 7;
inline constexpr std::uint32_t fb_bar1_size_kib = 5, fb_bar1_available_kib = 0x1d, fb_bar1_contiguous_kib = 0x1f;

struct ImportObject {
  std::int32_t fd;
  std::uint32_t type;  ///< import_type_rm
  std::uint32_t device, parent, object;
};
static_assert(sizeof(ImportObject) == 20);
inline constexpr std::uint32_t import_type_rm = 1;

}  // namespace gdrkit::backend::rm
