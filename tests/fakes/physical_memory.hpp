// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PhysicalMemory: emulates a piece of GPU memory by a memory file, so that mappings of it are real and shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdrkit::fakes {

/// Lives until the last reference ends, like the driver's memory descriptors.
class PhysicalMemory {
 public:
  /// `page_bytes`: the GPU page size, the allocation unit of BAR1.
  PhysicalMemory(unsigned gpu, std::uint64_t bytes, std::uint64_t page_bytes);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  [[nodiscard]] unsigned gpu() const noexcept { return gpu_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return page_bytes_; }
  [[nodiscard]] int file() const noexcept { return file_; }
  /// The device's own view, which CUDA reads and writes.
  [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept { return {view_, static_cast<std::size_t>(bytes_)}; }

  /// false: an address space that is not video memory (system memory of a fabric and the like).
  bool is_video_memory = true;
  /// Memory allocated under a subdevice can be duplicated only under a subdevice.
  bool needs_subdevice_parent = false;
  /// RM_MAP_MEMORY returns NOT_SUPPORTED (confidential computing, protected or multicast memory).
  bool is_unmappable = false;

 private:
  unsigned gpu_;
  std::uint64_t bytes_;
  std::uint64_t page_bytes_;
  int file_;
  std::uint8_t* view_;
};

}  // namespace gdrkit::fakes
