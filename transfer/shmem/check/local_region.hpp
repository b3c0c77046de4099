// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// LocalRegion: a local buffer of a transfer, in one of the kinds of memory that the library distinguishes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Made collectively, as one kind is symmetric memory. Throws Failure.
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

}  // namespace gdrkit::transfer::shmem
