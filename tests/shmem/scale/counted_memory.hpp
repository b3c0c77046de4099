// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CountedMemory: counts this program's allocations by operator new, which counted_memory.cpp replaces.
#pragma once

#include <atomic>
#include <cstdint>

namespace gdrkit::shmem_impl::tests {

struct CountedMemory {
  static inline std::atomic<std::int64_t> live_bytes{0};
  static inline std::atomic<std::int64_t> peak_bytes{0};
  /// Of the calling thread: bytes allocated there, less those freed there.
  static inline thread_local std::int64_t of_thread = 0;

  static void begin_peak() noexcept { peak_bytes.store(live_bytes.load()); }
};

}  // namespace gdrkit::shmem_impl::tests
