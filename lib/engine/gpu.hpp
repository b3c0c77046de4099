// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Gpu: one CUDA device as engines use it, with its primary context; PinnedMemory, host memory that it can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/cuda_scope.hpp"
#include "base/result.hpp"
#include "driver/cuda_calls.hpp"
#include "engine/engine.hpp"

namespace gdrkit::engine {

/// CUDA's attributes of an address.
struct PointerFacts {
  std::uint32_t memory_type = 0;  ///< driver::cuda_memory_type_*; 0: the address is unknown to CUDA
  std::uint32_t is_managed = 0;
  int device = -1;
  std::uint64_t context = 0;  ///< 0: memory of no context
  std::uint64_t device_address = 0;
  std::uint64_t buffer_id = 0;  ///< never used twice
  std::uint64_t range_start = 0;
  std::uint64_t range_bytes = 0;
};
/// EIO if CUDA does not return them.
[[nodiscard]] base::Result<PointerFacts> pointer_facts(const driver::CudaCalls& calls, std::uint64_t address) noexcept;

/// Thread safe. Retains the device's primary context, the one that the CUDA runtime uses too, until it is destroyed.
class Gpu {
 public:
  /// `calls` outlives it. EOPNOTSUPP where the driver lacks a function that all engines on the GPU need.
  [[nodiscard]] static base::Result<std::unique_ptr<Gpu>> open(const driver::CudaCalls& calls, int device) noexcept;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  [[nodiscard]] const driver::CudaCalls& calls() const noexcept { return calls_; }
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t context() const noexcept { return reinterpret_cast<std::uint64_t>(context_); }
  /// A CU_DEVICE_ATTRIBUTE_*; an error if this driver does not have it.
  [[nodiscard]] base::Result<int> attribute(int number) const noexcept;
  /// Name of the file for a profile of this GPU with this driver.
  [[nodiscard]] base::Result<std::string> profile_name() const noexcept;
  /// EOPNOTSUPP unless GPU code and copies of this device's primary context may read and write that memory.
  [[nodiscard]] base::Status check_access(std::uint64_t address, const PointerFacts& facts) const noexcept;

  /// While it lives, CUDA calls are legal on this thread, in the primary context.
  [[nodiscard]] base::Result<backend::CudaScope> enter() const noexcept;

 private:
  Gpu(const driver::CudaCalls& calls, int device) noexcept : calls_(calls), device_(device) {}

  const driver::CudaCalls& calls_;
  const int device_;
  int handle_ = 0;  ///< CUdevice
  void* context_ = nullptr;
};

/// Pages of our own that CUDA page-locked: they stay mapped here even where the program resets the device. Not
/// inherited by fork, since a page that a child shares would be copied away under the GPU.
class PinnedMemory {
 public:
  PinnedMemory() noexcept = default;
  [[nodiscard]] static base::Result<PinnedMemory> make(Gpu& gpu, std::size_t size_bytes) noexcept;
  PinnedMemory(PinnedMemory&& other) noexcept { *this = std::move(other); }
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(bytes_, other.bytes_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(device_address_, other.device_address_);
    return *this;
  }
  ~PinnedMemory();

  [[nodiscard]] char* bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t device_address() const noexcept { return device_address_; }
  /// Never frees the pages: a GPU that does not react may still write to them.
  void leak() noexcept { bytes_ = nullptr; }

 private:
  Gpu* gpu_ = nullptr;
  char* bytes_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::uint64_t device_address_ = 0;
};

}  // namespace gdrkit::engine
