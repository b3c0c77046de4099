// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CPU memory ordering named by purpose: between this thread's accesses to host memory and to a mapping.
//
// arm64 maps write-combining as Normal Non-cacheable and "device" as Device-nGnRE; both belong to the outer shareable
// domain, in which Linux orders host memory against devices as well (its dma_wmb and dma_rmb), hence OSH in all fences.
// POWER maps both as caching-inhibited. Of its fences only SYNC orders such accesses against those to ordinary memory:
// LWSYNC orders ordinary memory alone, EIEIO the one kind and the other, each in itself (Power ISA, book II, 4.6.3).
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif !defined(__aarch64__) && !defined(__powerpc64__)
#include <atomic>
#endif

namespace gdrkit::cpu {

/// After stores to a write-combining mapping, before the caller continues.
/// Observers: the device and every other CPU. Orders this thread's earlier device stores, which may wait in a
/// write-combining buffer for as long as nothing evicts them, before each of its later stores, such as a flag in host
/// memory or in the same mapping that announces the data. Pairs with the observer's load of that flag followed by
/// its load of the data.
/// x86: SFENCE drains the write-combining buffers and orders non-temporal stores (Intel SDM volume 3A, section 12.3.1).
/// arm64: DSB, since DMB orders but does not complete: data that gathers in a buffer could stay there.
inline void flush_write_combining() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#elif defined(__aarch64__)
  asm volatile("dsb oshst" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("sync" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// After stores to a device mapping, before the caller continues. Observers and pairing: as above.
/// x86 performs uncached accesses in program order and holds none back: only the compiler must not move later ones up.
/// arm64 keeps stores to Device memory in order among themselves, not against later ones to ordinary memory.
inline void flush_device() noexcept {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#else
  flush_write_combining();
#endif
}

/// After stores to a cached mapping, before the caller continues.
/// Observers: the GPU and every other CPU, all coherent with this one. Orders the stores before each later store, such
/// as a flag; pairs with the observer's acquire of the flag. On x86 stores are seen in program order. On POWER this
/// memory is ordinary, so LWSYNC is enough.
inline void order_after_cached_stores() noexcept {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("lwsync" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Before ordinary loads from a mapping.
/// Observers: this thread, against every writer of the device memory (the device, another CPU). Write-combining memory
/// may be read out of order and speculatively: without this a load could be performed before the call, or before an
/// earlier load of the caller, such as a flag in host memory (pairs with the writer's store of data before flag).
/// x86: LFENCE completes all earlier instructions first, and ordinary loads are never served from a streaming-load
/// buffer (Intel SDM volume 2, MOVNTDQA: only further MOVNTDQA are). It does not order the caller's earlier stores to
/// host memory; who stores a request there and then reads the device's answer polls for it anyway.
/// arm64 and POWER: a full fence. Their mappings may differ in type, so that the caller's earlier store to a cached one
/// and this load of a write-combining one can mean the same bytes at two addresses, which the CPU cannot detect.
inline void order_before_loads() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("dmb osh" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("sync" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Before streaming loads from a write-combining mapping.
/// Observers: as above. A streaming load may also be served from a buffer that an earlier one filled, if only by
/// a mispredicted loop end. MFENCE drops such buffers, so that the following loads see at least what was visible when
/// the call was made (Intel SDM volume 2, MOVNTDQA: an MFENCE synchronises its reads with other agents' writes). It
/// costs some 20 ns more than LFENCE on a Sapphire Rapids CPU, hence only here. Other architectures have no such loads.
inline void order_before_streaming_loads() noexcept {
#if defined(__x86_64__)
  _mm_mfence();
#else
  order_before_loads();
#endif
}

/// After the load of a flag from a write-combining mapping, before the caller continues.
/// Observers: this thread, against every writer of what it reads next. Loads from write-combining memory are weakly
/// ordered, so without this a later load of the caller (of host memory, or through a pointer into the mapping) could be
/// performed before it and see data older than the flag. Pairs with the writer's store of data before flag. A later
/// copy from a mapping needs no such fence: it begins with one of its own.
inline void order_after_loads() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("dmb oshld" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("sync" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// After the load of a flag from a device mapping. Observers and pairing: as above. x86 performs uncached loads in
/// program order.
inline void order_after_device_loads() noexcept {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#else
  order_after_loads();
#endif
}

/// After the load of a flag from a cached mapping. Observers and pairing: as above. x86 performs loads in program
/// order; on POWER this memory is ordinary, so LWSYNC is enough.
inline void order_after_cached_loads() noexcept {
#if defined(__powerpc64__)
  asm volatile("lwsync" ::: "memory");
#else
  order_after_device_loads();
#endif
}

}  // namespace gdrkit::cpu
