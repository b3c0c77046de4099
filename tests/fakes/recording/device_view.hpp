// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceView: maps each mapped page of a replay to its device addresses, as derived from the conversation.
// Data that CUDA read or wrote in the recording is copied into the pages before the library reads them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver/cuda.hpp"

namespace gdrkit::fakes {

/// Follows a memory object from its CUDA address to its mapping. Numbers are canonical ones.
class DeviceView {
 public:
  void saw_attributes(std::uint64_t address, const driver::PointerAttributes& attributes) {
    blocks_[address] = attributes.mapping_base;
  }
  void saw_export(std::uint64_t address, const driver::ObservedExport& observed);
  void saw_retained(std::uint64_t address, std::uint64_t handle) { retained_[handle] = address; }
  void saw_exported_file(std::uint64_t handle, int fd) { exported_[fd] = retained_[handle]; }
  void saw_ioctl(unsigned long request, const void* argument);
  void saw_mmap(int fd, void* mapped, std::size_t length);
  void saw_munmap(const void* first, std::size_t length);

  /// Writes `rows` pieces of `width` bytes to the pages that map them.
  void write(std::uint64_t address, std::size_t pitch, std::size_t width, const std::vector<std::uint8_t>& bytes);

 private:
  struct Shown {
    std::uint64_t device_address;
    std::uint8_t* mapped;
    std::size_t length;
  };
  std::map<std::uint64_t, std::uint64_t> blocks_;        ///< requested address -> start of its block
  std::map<std::uint64_t, std::uint64_t> retained_;      ///< allocation handle -> address
  std::map<int, std::uint64_t> exported_;                ///< descriptor -> address
  std::map<std::uint32_t, std::uint64_t> object_start_;  ///< RM handle -> device address of its first byte
  std::map<int, std::uint64_t> file_start_;              ///< device file -> device address of its RM mapping
  std::vector<Shown> shown_;
};

}  // namespace gdrkit::fakes
