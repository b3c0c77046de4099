// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verifier: compares a fresh mapping with CUDA's view of the same addresses, without writing to the user's memory.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Collects evidence over the pieces of one mapping. All CUDA work runs on a private non-blocking stream: nothing waits
/// for the device's other work. The caller holds a CudaScope.
class Verifier {
 public:
  /// `may_have_holes`: a page is tested before it is loaded from, at the cost of a system call for each line.
  explicit Verifier(const driver::CudaCalls& cuda, bool may_have_holes = false) noexcept
      : cuda_(cuda), may_have_holes_(may_have_holes) {}
  ~Verifier();
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  /// Compares lines spread over [first, end) of device memory with the mapping, `mapped` being the CPU address of
  /// `first`. Memory that is being written proves nothing where it changes between two reads by CUDA; EIO when mapping
  /// and CUDA still differ, ENODEV when the mapping reads all ones.
  base::Status compare(std::uint64_t first, std::uint64_t end, const volatile std::uint8_t* mapped) noexcept;

  /// true once enough of what was compared could not have agreed by chance (zeros everywhere prove nothing).
  [[nodiscard]] bool has_proof() const noexcept { return telling_words_ >= words_that_prove; }
  base::Result<void*> stream() noexcept;  ///< the private stream, created on first use

 private:
  static constexpr unsigned words_that_prove = 8;
  struct Sample {
    std::uint64_t first;
    const volatile std::uint8_t* mapped;
    std::size_t pitch, width, rows;
  };
  base::Status compare_sample(const Sample& sample) noexcept;
  base::Status check_pages(const Sample& sample) noexcept;
  base::Status read_by_cuda(const Sample& sample, std::uint8_t* target) noexcept;
  void count_telling_words(const std::uint8_t* bytes, std::size_t size) noexcept;

  const driver::CudaCalls& cuda_;
  bool may_have_holes_;
  void* stream_ = nullptr;
  unsigned telling_words_ = 0;
  std::uint64_t seen_words_[words_that_prove] = {};
};

}  // namespace gdrkit::backend
