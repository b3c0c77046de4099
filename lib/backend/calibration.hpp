// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tests the mappings of a backend on scratch memory, for ranges whose content is too uniform to verify.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "backend/pointer_check.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

enum class Calibration : std::uint8_t {
  impossible = 0,  ///< the test could not be completed
  proved = 1,
  contradicted = 2,  ///< the mapping of scratch memory did not refer to that memory
};

/// Maps one scratch block as the backend maps user memory.
class ScratchMap {
 public:
  virtual ~ScratchMap() = default;
  /// Returns the CPU address of range.page_address; nullptr on error.
  virtual std::uint8_t* map(const DeviceRange& range) noexcept = 0;
  /// Called after every map, even a failed one. Returns false if pages may still be mapped.
  virtual bool unmap() noexcept = 0;
};

/// The calibration of each GPU. Thread safe; tests one GPU at a time.
class Calibrations {
 public:
  /// Tests each GPU once. The caller holds a CudaScope.
  Calibration of(const driver::CudaCalls& cuda, int cuda_ordinal, ScratchMap& map) noexcept;
  /// The result of an earlier test; impossible without one.
  [[nodiscard]] Calibration known(int cuda_ordinal) noexcept;

 private:
  std::mutex mutex_;  // held during a test
  std::map<int, Calibration> by_ordinal_;
};

}  // namespace gdrkit::backend
