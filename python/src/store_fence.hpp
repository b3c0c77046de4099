// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace gdrkit_python {

/// Pushes the stores that this thread made through a memoryview or NumPy array of a mapping out of the core's
/// write-combining buffers: the GPU that then sees a flag stored after it sees them too. It pairs with the GPU's
/// acquiring load of that flag.
inline void store_fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("sync" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace gdrkit_python
