// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TransferPlan: many transfers of all sizes and alignments between two regions of equal layout, the local one and the
// remote one, with bytes between them that no transfer may touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/device/device.hpp"
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {

enum class LocalKind { host, pinned, symmetric, device };
inline constexpr LocalKind all_local_kinds[] = {LocalKind::host, LocalKind::pinned, LocalKind::symmetric,
                                                LocalKind::device};
[[nodiscard]] constexpr const char* local_name(LocalKind kind) {
  constexpr const char* names[] = {"host", "pinned", "symmetric", "device"};
  return names[static_cast<int>(kind)];
}

/// A local buffer of a transfer. Made collectively, as one kind is symmetric memory. Throws Failure.
class LocalRegion {
 public:
  LocalRegion(Checker& checker, LocalKind kind, std::size_t size_bytes);
  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  void assign(const std::vector<std::uint8_t>& bytes);
  [[nodiscard]] std::vector<std::uint8_t> bytes() const;

 private:
  Checker& checker_;
  LocalKind kind_;
  std::vector<std::uint8_t> host_;
  std::unique_ptr<SymmetricMemory> symmetric_;
  platform::Allocation allocation_;  // pinned and device
  std::uint8_t* data_ = nullptr;
  std::size_t size_bytes_;
};

struct PlannedTransfer {
  std::size_t size_bytes = 0;
  std::size_t local_offset = 0;   ///< in the region
  std::size_t remote_offset = 0;  ///< in the region
  std::size_t begin = 0;          ///< of the part of the region that belongs to this transfer, a multiple of 64
};

struct TransferPlan {
  std::vector<PlannedTransfer> transfers;
  std::size_t region_bytes = 0;
};

enum class Side { local, remote };

constexpr std::size_t largest_planned_bytes = std::size_t{8} << 20;

/// Sizes from 1 byte to `largest_bytes`, and to largest_planned_bytes at most.
[[nodiscard]] TransferPlan plan_transfers(std::size_t largest_bytes);
/// The region with every transfer's data, made from `seed`, on that side, and `filler` in all other bytes.
[[nodiscard]] std::vector<std::uint8_t> region_image(const TransferPlan& plan, Side side, std::uint64_t seed,
                                                     std::uint8_t filler);
/// The first difference: "4097 bytes (local + 1, remote + 3): byte 17 is 0x3a, expected 0x91". Empty if there is none.
[[nodiscard]] std::optional<std::string> first_difference(const TransferPlan& plan, Side side,
                                                          const std::vector<std::uint8_t>& got,
                                                          const std::vector<std::uint8_t>& expected);

}  // namespace gdrkit::transfer::shmem
