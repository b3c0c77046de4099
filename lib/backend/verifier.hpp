// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verifier: compares a new mapping with CUDA's view of the same addresses, without writing to the user's memory.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Collects evidence from the pieces of one mapping. All CUDA work runs on a private non-blocking stream and does not
/// wait for other work of the device. The caller holds a CudaScope.
class Verifier {
 public:
  /// `may_have_holes`: tests each page before it is read, which takes a system call per line.
  explicit Verifier(const driver::CudaCalls& cuda, bool may_have_holes = false) noexcept
      : cuda_(cuda), may_have_holes_(may_have_holes) {}
  ~Verifier();
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  /// Compares samples of [first, end) of device memory with the mapping. `mapped` is the CPU address of `first`.
  /// Ignores words that change between two reads by CUDA. EIO: the mapping and CUDA differ. ENODEV: the mapping reads
  /// all ones.
  base::Status compare(std::uint64_t first, std::uint64_t end, const volatile std::uint8_t* mapped) noexcept;

  /// True if enough of the compared words were distinct, so that they cannot be equal by chance (unlike zeros).
  [[nodiscard]] bool has_proof() const noexcept { return distinct_words_ >= required_words; }
  base::Result<void*> stream() noexcept;  ///< the private stream, created on first use

 private:
  static constexpr unsigned required_words = 8;
  struct Sample {
    std::uint64_t first;
    const volatile std::uint8_t* mapped;
    std::size_t pitch, width, rows;
  };
  base::Status compare_sample(const Sample& sample) noexcept;
  base::Status check_pages(const Sample& sample) noexcept;
  base::Status read_by_cuda(const Sample& sample, std::uint8_t* target) noexcept;
  void count_distinct_words(const std::uint8_t* bytes, std::size_t size) noexcept;

  const driver::CudaCalls& cuda_;
  bool may_have_holes_;
  void* stream_ = nullptr;
  unsigned distinct_words_ = 0;
  std::uint64_t seen_words_[required_words] = {};
};

}  // namespace gdrkit::backend
