// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CPU memory ordering named by purpose: between this thread's accesses to host memory and to a write-combining mapping.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <atomic>
#endif

namespace gdrkit::cpu {

/// After stores to a write-combining mapping, before the caller goes on.
/// Observers: the device and every other CPU. Orders this thread's earlier device stores, which may wait in a
/// write-combining buffer for as long as nothing evicts them, before each of its later stores, such as a flag in host
/// memory or in the same mapping that says "the data is there". Pairs with the observer's load of that flag followed by
/// its load of the data. SFENCE drains the write-combining buffers and orders non-temporal stores (Intel SDM volume 3A,
/// section 12.3.1).
inline void flush_write_combining() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Before loads from a write-combining mapping.
/// Observers: this thread, against whoever writes the device memory (the device, another CPU, or this thread through an
/// alias). Write-combining memory may be read speculatively and a streaming load may be answered from a buffer that an
/// earlier one filled. This drops both: the following loads see at least what was visible when the call was made. It
/// also orders them after this thread's earlier loads (a flag in host memory; pairs with the writer's store of data
/// before flag) and after its earlier stores (a request in host memory that the device answers in its own). Only MFENCE
/// does all of it (Intel SDM volume 1, section 12.10.3, on streaming loads; SFENCE orders no loads).
inline void order_before_streaming_loads() noexcept {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dsb sy" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// After loads from a write-combining mapping, before the caller goes on.
/// Observers: this thread, against whoever writes what it reads next. Loads from write-combining memory are weakly
/// ordered, so without this a later load of the caller (of any memory) could be performed before them and see data
/// older than the flag just read. Pairs with the writer's store of data before flag.
inline void order_after_streaming_loads() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("dmb ld" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace gdrkit::cpu
