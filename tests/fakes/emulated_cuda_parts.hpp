// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Results and functions that the files of the emulated CUDA driver share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::fakes {

// Of CUresult.
inline constexpr int success = 0;
inline constexpr int invalid_value = 1;
inline constexpr int out_of_memory = 2;
inline constexpr int not_initialised = 3;
inline constexpr int invalid_device = 101;
inline constexpr int invalid_context = 201;
inline constexpr int no_binary_for_gpu = 209;
inline constexpr int operating_system = 304;
inline constexpr int invalid_handle = 400;
inline constexpr int not_found = 500;

/// The context of the calling thread; null: none.
[[nodiscard]] void* current_context() noexcept;

/// Makes the device memory at `address` exportable as the memory file `descriptor`, which it takes ownership of, until
/// it is removed.
void add_export(std::uint64_t address, int descriptor, std::size_t size_bytes);
void remove_export(std::uint64_t address) noexcept;

/// Returns the result of `work`, or out_of_memory if it throws.
template <class Work>
int guarded(Work work) noexcept {
  try {
    return work();
  } catch (...) {
    return out_of_memory;
  }
}

}  // namespace gdrkit::fakes
