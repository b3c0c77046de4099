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

/// Before ordinary loads from a write-combining mapping.
/// Observers: this thread, against whoever writes the device memory (the device, another CPU). Write-combining memory
/// may be read out of order and speculatively: without this a load could be performed before the call, or before an
/// earlier load of the caller, such as a flag in host memory (pairs with the writer's store of data before flag).
/// LFENCE completes all earlier instructions first, and ordinary loads are never answered from a streaming-load buffer
/// (Intel SDM volume 2, MOVNTDQA: only further MOVNTDQA are). It does not order the caller's earlier stores to host
/// memory; who stores a request there and then reads the device's answer polls for it anyway.
inline void order_before_loads() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("dsb ld" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Before streaming loads from a write-combining mapping.
/// Observers: as above. A streaming load may moreover be answered from a buffer that an earlier one filled, if only by
/// a mispredicted loop end. MFENCE drops such buffers, so that the following loads see at least what was visible when
/// the call was made (Intel SDM volume 2, MOVNTDQA: an MFENCE synchronises its reads with other agents' writes). It
/// costs some 20 ns more than LFENCE on a Sapphire Rapids CPU, hence only here.
inline void order_before_streaming_loads() noexcept {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dsb sy" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// After the load of a flag from a write-combining mapping, before the caller goes on.
/// Observers: this thread, against whoever writes what it reads next. Loads from write-combining memory are weakly
/// ordered, so without this a later load of the caller (of host memory, or through a pointer into the mapping) could be
/// performed before it and see data older than the flag. Pairs with the writer's store of data before flag. A later
/// copy from a mapping needs no such fence: it begins with one of its own.
inline void order_after_loads() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("dmb ld" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace gdrkit::cpu
