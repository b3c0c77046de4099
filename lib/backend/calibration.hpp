// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Proves a backend's way to device memory on scratch memory, for ranges whose own content is too plain to prove
// anything.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "backend/pointer_check.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

enum class Calibration : std::uint8_t {
  impossible = 0,  ///< could not be tried to its end
  proved = 1,
  contradicted = 2,  ///< the mapping of scratch memory did not show that memory
};

/// Maps one scratch block as the backend maps user memory.
class ScratchMap {
 public:
  virtual ~ScratchMap() = default;
  /// The CPU address of range.page_address; nullptr where it cannot be mapped.
  virtual std::uint8_t* map(const DeviceRange& range) noexcept = 0;
  /// Called after every map, also after a failed one. false: pages may still be mapped.
  virtual bool unmap() noexcept = 0;
};

/// Allocates a scratch block of stream-ordered memory in the current context, has it mapped, and sends a pattern each
/// way: written by CUDA and read through the mapping, then written through the mapping and read by CUDA. Nothing waits
/// for the device's other work. The caller holds a CudaScope; where its context belongs to another device than
/// `cuda_ordinal`, the scratch block would too, and nothing can be tried.
[[nodiscard]] Calibration calibrate(const driver::CudaCalls& cuda, int cuda_ordinal, ScratchMap& map) noexcept;

/// The result of calibration for each GPU. Thread safe; one GPU is tried at a time.
class Calibrations {
 public:
  /// Tried once a GPU. The caller holds a CudaScope.
  Calibration of(const driver::CudaCalls& cuda, int cuda_ordinal, ScratchMap& map) noexcept;
  /// The result of an earlier try; impossible if there was none.
  [[nodiscard]] Calibration known(int cuda_ordinal) noexcept;

 private:
  std::mutex mutex_;  // held while one is tried
  std::map<int, Calibration> by_ordinal_;
};

}  // namespace gdrkit::backend
