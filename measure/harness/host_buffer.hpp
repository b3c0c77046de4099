// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostBuffer: the host's buffer of a copy, in ordinary (pageable) memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::measure {

/// Page aligned, and touched by the thread that creates it: that thread's memory policy determines the place of its
/// pages.
class HostBuffer {
 public:
  /// Throws Failure if the machine has too little memory left, and std::bad_alloc.
  explicit HostBuffer(std::size_t size_bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace gdrkit::measure
