// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NVML: the query functions of libnvidia-ml.so.1, loaded at run time. Layouts and numbers follow NVIDIA's public NVML
// API reference (64-bit Linux). They are stable: NVML uses a new name or a version field for each change.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::platform {

struct NvmlPciInfo {
  char bus_id_legacy[16] = {};
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t pci_device_id = 0;
  std::uint32_t pci_subsystem_id = 0;
  char bus_id[32] = {};  ///< 00000000:3B:00.0
};
struct NvmlMemory {  ///< of the frame buffer or BAR1; both structures have this member order
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
struct NvmlFieldValue {
  std::uint32_t field = 0;
  std::uint32_t scope = 0;
  std::int64_t timestamp = 0;
  std::int64_t latency_us = 0;
  std::int32_t value_type = 0;  ///< one of nvml_value_*
  std::int32_t result = 0;
  std::uint64_t value = 0;  ///< a union: narrower types use the low bytes
};
struct NvmlFabricInfo {
  std::uint8_t cluster[16] = {};
  std::int32_t status = 0;
  std::uint32_t clique = 0;
  std::uint8_t state = 0;
};
struct NvmlCcState {
  std::uint32_t environment = 0;
  std::uint32_t feature = 0;
  std::uint32_t developer_tools = 0;
};
struct NvmlCcSettings {
  std::uint32_t version = 0;
  std::uint32_t environment = 0;
  std::uint32_t feature = 0;
  std::uint32_t developer_tools = 0;
  std::uint32_t multi_gpu = 0;
};
static_assert(sizeof(NvmlPciInfo) == 68 && sizeof(NvmlMemory) == 24 && sizeof(NvmlFieldValue) == 40);
static_assert(sizeof(NvmlFabricInfo) == 28 && sizeof(NvmlCcState) == 12 && sizeof(NvmlCcSettings) == 20);

/// Value of a version field: the size of the structure, with its number in the top byte.
inline constexpr std::uint32_t nvml_cc_settings_version = sizeof(NvmlCcSettings) | 1u << 24;

inline constexpr int nvml_success = 0;
inline constexpr int nvml_invalid_argument = 2;
inline constexpr int nvml_not_supported = 3;
inline constexpr int nvml_no_permission = 4;
inline constexpr int nvml_driver_not_loaded = 9;
inline constexpr int nvml_function_not_found = 13;
inline constexpr int nvml_gpu_is_lost = 15;
inline constexpr int nvml_lib_rm_version_mismatch = 18;

inline constexpr int nvml_uncorrected_errors = 1;
inline constexpr int nvml_volatile_counter = 0;
inline constexpr int nvml_p2p_read = 0;
inline constexpr int nvml_p2p_write = 1;
inline constexpr int nvml_p2p_nvlink = 2;
inline constexpr int nvml_link_can_p2p = 0;
inline constexpr std::uint32_t nvml_field_link_speed_common = 90;  ///< MB/s, before Hopper
inline constexpr std::uint32_t nvml_field_link_count = 91;
inline constexpr std::uint32_t nvml_field_link_speed = 164;  ///< scope: the link; MB/s, since Hopper
inline constexpr std::uint32_t nvml_field_link_state = 165;  ///< scope: the link; since Hopper
inline constexpr std::uint32_t nvml_field_c2c_count = 170;
inline constexpr int nvml_value_double = 0;
inline constexpr int nvml_value_uint = 1;
inline constexpr int nvml_value_ulong = 2;
inline constexpr int nvml_value_ullong = 3;
inline constexpr int nvml_value_sllong = 4;
inline constexpr int nvml_value_sint = 5;
inline constexpr int nvml_value_ushort = 6;

/// One pointer per function of nvml_calls.def. All return an nvmlReturn_t; device handles are void*.
struct NvmlCalls {
#define GDRKIT_NVML_CALL(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/nvml_calls.def"
#undef GDRKIT_NVML_CALL
};

/// Returns the functions of libnvidia-ml.so.1, which stays loaded. Loading opens no device. ENOENT: the library is
/// missing. ENOSYS: it lacks a function that all drivers since 2013 have; the error names it. A failed call may be
/// repeated.
[[nodiscard]] base::Result<const NvmlCalls*> nvml_calls() noexcept;

/// For example "NVML_ERROR_GPU_IS_LOST"; "an unknown result" for numbers without a name here.
[[nodiscard]] const char* nvml_result_name(int result) noexcept;

}  // namespace gdrkit::platform
