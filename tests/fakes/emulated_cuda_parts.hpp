// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions that the files of the emulated CUDA driver share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::fakes {

/// The context of the calling thread; null: none.
[[nodiscard]] void* current_context() noexcept;

/// Makes the device memory at `address` exportable as the memory file `descriptor`, which it takes ownership of, until
/// it is removed.
void add_export(std::uint64_t address, int descriptor, std::size_t size_bytes);
void remove_export(std::uint64_t address) noexcept;

/// Returns the result of `work`, or CUDA_ERROR_OUT_OF_MEMORY if it throws.
template <class Work>
int guarded(Work work) noexcept {
  try {
    return work();
  } catch (...) {
    constexpr int out_of_memory = 2;
    return out_of_memory;
  }
}

}  // namespace gdrkit::fakes
