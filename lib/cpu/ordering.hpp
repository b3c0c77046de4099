// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CPU fences, named by purpose, between this thread's accesses to host memory and to a mapping.
//
// arm64 maps write-combining as Normal Non-cacheable and "device" as Device-nGnRE. Both belong to the outer shareable
// domain, in which Linux also orders host memory against devices (dma_wmb and dma_rmb). All fences are therefore OSH.
// POWER maps both as caching-inhibited. Only SYNC orders such accesses against accesses to ordinary memory: LWSYNC
// orders ordinary memory only, and EIEIO orders each of the two kinds separately (Power ISA, book II, 4.6.3).
#pragma once

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(__powerpc64__)
#include <atomic>
#endif

namespace gdrkit::cpu {

/// One instruction for each processor; "" keeps only the compiler from reordering.
#if defined(__x86_64__)
#define GDRKIT_FENCE(x86, arm64, power) asm volatile(x86 ::: "memory")
#elif defined(__aarch64__)
#define GDRKIT_FENCE(x86, arm64, power) asm volatile(arm64 ::: "memory")
#elif defined(__powerpc64__)
#define GDRKIT_FENCE(x86, arm64, power) asm volatile(power ::: "memory")
#else
#define GDRKIT_FENCE(x86, arm64, power) std::atomic_thread_fence(std::memory_order_seq_cst)
#endif

/// Call after stores to a write-combining mapping, before the caller continues.
/// Observers: the device and every other CPU. Orders this thread's earlier device stores before each of its later
/// stores. A typical later store is a "data is ready" flag in host memory or in the same mapping. Without the fence, a
/// store may wait in a write-combining buffer until it is evicted. Pairs with the observer's load of the flag, followed
/// by its load of the data.
/// x86: SFENCE drains the write-combining buffers and orders non-temporal stores (Intel SDM volume 3A, section 12.3.1).
/// arm64: DSB, because DMB orders stores but does not complete them: data could stay in a gathering buffer.
inline void flush_write_combining() noexcept { GDRKIT_FENCE("sfence", "dsb oshst", "sync"); }

/// Call after stores to a device mapping, before the caller continues. Observers and pairing: as above.
/// x86 performs uncached accesses in program order and without delay: only the compiler must not reorder them.
/// arm64 orders stores to Device memory among themselves, but not against later stores to ordinary memory.
inline void flush_device() noexcept { GDRKIT_FENCE("", "dsb oshst", "sync"); }

/// Call after stores to a cached mapping, before the caller continues.
/// Observers: the GPU and every other CPU, all coherent with this one. Orders the stores before each later store, such
/// as a flag. Pairs with the observer's acquire of the flag. On x86, stores become visible in program order. On POWER,
/// this memory is ordinary, so LWSYNC is enough.
inline void order_after_cached_stores() noexcept { GDRKIT_FENCE("", "dmb oshst", "lwsync"); }

/// Call before ordinary loads from a mapping.
/// Observer: this thread, which reads data that the device or another CPU writes. The CPU may read write-combining
/// memory out of order and speculatively. Without the fence, a load could be performed before the call, or before an
/// earlier load of the caller (a flag in host memory). Pairs with the writer, which stores data before flag.
/// x86: LFENCE completes all earlier instructions first. Ordinary loads never read from a streaming-load buffer (Intel
/// SDM volume 2, MOVNTDQA: only further MOVNTDQA do). LFENCE does not order the caller's earlier stores to host memory.
/// A caller that stores a request there must poll for the device's reply anyway.
/// arm64 and POWER: a full fence, because the types of two mappings may differ. The caller's earlier store to a cached
/// mapping and this load from a write-combining mapping can then access the same bytes. The CPU does not order them,
/// because their addresses differ.
inline void order_before_loads() noexcept { GDRKIT_FENCE("lfence", "dmb osh", "sync"); }

/// Call before streaming loads from a write-combining mapping.
/// Observer: as above. A streaming load may also read from a buffer that an earlier streaming load filled, even a
/// speculative one after a mispredicted loop end. MFENCE drops such buffers, so the following loads return data at
/// least as recent as the call. (Intel SDM volume 2, MOVNTDQA: an MFENCE synchronizes its reads with other agents'
/// writes.) It takes about 20 ns more than LFENCE on a Sapphire Rapids CPU, so only this function uses it. Other
/// architectures have no such loads.
inline void order_before_streaming_loads() noexcept { GDRKIT_FENCE("mfence", "dmb osh", "sync"); }

/// Call after the load of a flag from a write-combining mapping, before the caller continues.
/// Observer: this thread, which reads data that another agent writes. Loads from write-combining memory are weakly
/// ordered. Without the fence, a later load of the caller, from host memory or the mapping, could be performed first
/// and return data older than the flag. Pairs with the writer, which stores data before flag.
inline void order_after_loads() noexcept { GDRKIT_FENCE("lfence", "dmb oshld", "sync"); }

/// Call at the end of a read whose callers rely on GDRCopy's fences only.
/// Observers: the device and every other CPU. Orders this thread's earlier stores, which may wait in a write-combining
/// buffer, before each of its later stores. Pairs as flush_write_combining() does.
/// x86: SFENCE, as in GDRCopy. It does not order loads, so a later load of the caller may be older than the read.
/// arm64 and POWER: also orders later loads, because the cost of the weaker fences was not measured there.
inline void order_stores_after_loads() noexcept { GDRKIT_FENCE("sfence", "dmb oshld", "sync"); }

/// Call after the load of a flag from a device mapping. Observer and pairing: as above. x86 performs uncached loads in
/// program order.
inline void order_after_device_loads() noexcept { GDRKIT_FENCE("", "dmb oshld", "sync"); }

/// Call after the load of a flag from a cached mapping. Observer and pairing: as above. x86 performs loads in program
/// order. On POWER, this memory is ordinary, so LWSYNC is enough.
inline void order_after_cached_loads() noexcept { GDRKIT_FENCE("", "dmb oshld", "lwsync"); }

#undef GDRKIT_FENCE

}  // namespace gdrkit::cpu
