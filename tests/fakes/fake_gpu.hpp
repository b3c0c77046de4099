// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeGpu: properties of one GPU of a fake machine, as the driver and CUDA report them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace gdrkit::fakes {

inline constexpr std::uint64_t mib = 1024 * 1024;

struct FakeGpu {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0x3b;
  std::uint8_t slot = 0;
  std::uint32_t minor = 0;  ///< /dev/nvidia<minor>
  std::uint32_t gpu_id = 0x3b00;
  std::uint32_t device_instance = 0;  ///< the resource manager's own number
  std::array<std::uint8_t, 16> uuid{};
  std::array<std::uint8_t, 16> cuda_uuid{};  ///< differs from uuid on a partition (MIG)
  std::uint64_t bar1_address = 0x200000000000;
  std::uint64_t bar1_bytes = 256 * 1024 * mib;
  bool is_integrated = false;
  bool is_coherent = false;  ///< joined to the CPU by a coherent link
  /// CARD_INFO entry and GET_ID_INFO_V2 result as recorded on a real machine; all zero: made from the fields above.
  std::array<std::uint8_t, 72> recorded_card{};
  std::array<std::uint8_t, 32> recorded_id_info{};

  [[nodiscard]] std::array<std::uint8_t, 72> card() const;
  [[nodiscard]] std::array<std::uint8_t, 32> id_info() const;
  [[nodiscard]] std::string pci() const;            ///< "0000:3b:00.0", as CUDA writes it
  [[nodiscard]] std::string resource_file() const;  ///< its memory regions in sysfs
  [[nodiscard]] std::string node() const;           ///< "/dev/nvidia0"
};

/// A GPU whose numbers all differ from each other and from those of the GPU with another index.
[[nodiscard]] FakeGpu make_gpu(unsigned index);
/// The GPU that a recorded CARD_INFO entry, GET_ID_INFO_V2 result and UUID describe.
[[nodiscard]] FakeGpu recorded_gpu(const std::array<std::uint8_t, 72>& card,
                                   const std::array<std::uint8_t, 32>& id_info,
                                   const std::array<std::uint8_t, 16>& uuid);

}  // namespace gdrkit::fakes
