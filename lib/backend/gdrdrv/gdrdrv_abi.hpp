// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The user interface of the gdrdrv kernel module: ioctl words and their structures.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::backend::gdrdrv {

inline constexpr const char* node = "/dev/gdrdrv";
inline constexpr std::uint32_t gpu_page_bytes = 65536;

struct GetVersion {
  std::uint32_t driver;       ///< major << 16 | minor
  std::uint32_t minimum_api;  ///< oldest library that the module serves
};

struct PinBuffer {
  std::uint64_t address;
  std::uint64_t size_bytes;
  std::uint64_t p2p_token;
  std::uint32_t va_space;
  std::uint32_t padding;
  std::uint64_t handle;  ///< out
};

struct PinBufferV2 {
  std::uint64_t address;
  std::uint64_t size_bytes;
  std::uint32_t flags;
  std::uint32_t padding;
  std::uint64_t handle;  ///< out
};

struct UnpinBuffer {
  std::uint64_t handle;
};

struct GetCallbackFlag {
  std::uint64_t handle;
  std::uint32_t flag;  ///< out: not 0 once the memory's owner freed it
  std::uint32_t padding;
};

/// Of GET_INFO and GET_INFO_V2, which differ in the last two words only.
struct GetInfo {
  std::uint64_t handle;
  std::uint64_t address;
  std::uint64_t mapped_bytes;
  std::uint32_t page_bytes;
  std::uint32_t tsc_khz;
  std::uint64_t pin_cycles;
  std::uint32_t type_or_is_mapped;   ///< GET_INFO_V2: mapping type; GET_INFO: 0 or 1
  std::uint32_t is_write_combining;  ///< GET_INFO only
};

struct GetAttribute {
  std::uint32_t attribute;
  std::uint32_t value;  ///< out
};

struct RequestMappingType {
  std::uint64_t handle;
  std::uint32_t type;
  std::uint32_t padding;
};

static_assert(sizeof(GetVersion) == 8 && sizeof(PinBuffer) == 40 && sizeof(PinBufferV2) == 32 &&
              sizeof(UnpinBuffer) == 8);
static_assert(sizeof(GetCallbackFlag) == 16 && sizeof(GetInfo) == 48 && sizeof(GetAttribute) == 8);
static_assert(sizeof(RequestMappingType) == 16 && offsetof(PinBuffer, handle) == 32 &&
              offsetof(PinBufferV2, handle) == 24);
static_assert(offsetof(GetInfo, type_or_is_mapped) == 40);

/// All are "read and write" of 8 bytes but for the two pins: the size in the word is not the structure's.
constexpr unsigned long request_word(unsigned number, std::size_t bytes = 8) noexcept {
  return 0xc000'0000ul | static_cast<unsigned long>(bytes) << 16 | 0xdaul << 8 | number;
}

namespace request {
inline constexpr unsigned long pin_buffer = request_word(1, sizeof(PinBuffer));
inline constexpr unsigned long unpin_buffer = request_word(2);
inline constexpr unsigned long get_callback_flag = request_word(3);
inline constexpr unsigned long get_info = request_word(4);
inline constexpr unsigned long get_info_v2 = request_word(5);
inline constexpr unsigned long get_attribute = request_word(6);
inline constexpr unsigned long pin_buffer_v2 = request_word(7, sizeof(PinBufferV2));
inline constexpr unsigned long request_mapping_type = request_word(8);
inline constexpr unsigned long get_version = request_word(255);
}  // namespace request

inline constexpr std::uint32_t attribute_persistent = 1;
inline constexpr std::uint32_t attribute_force_pcie = 2;
inline constexpr std::uint32_t pin_flag_force_pcie = 1;

}  // namespace gdrkit::backend::gdrdrv
