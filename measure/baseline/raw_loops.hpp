// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The baseline: the fastest copy loops that one CPU thread can run over a write-combining mapping, in inlined
// intrinsics.
#pragma once

#include <cstddef>

namespace gdrkit::measure {

/// `gdrcopy`: calls of GDRCopy's sequence (gdrcopy_store() and gdrcopy_load()), with its fences in place of those
/// below.
enum class RawKind { avx512, avx2, sse41, gdrcopy };

[[nodiscard]] const char* raw_kind_name(RawKind kind) noexcept;
[[nodiscard]] bool raw_runs_here(RawKind kind) noexcept;
/// Stores the widest kind that this CPU supports in *kind. Returns false and leaves *kind unchanged if there is none.
[[nodiscard]] bool widest_raw_kind(RawKind* kind) noexcept;

/// Copies `size` bytes `iterations` times, completing each time. A store loop ends with SFENCE. A load loop begins with
/// MFENCE (1 to 8 bytes: LFENCE, because one ordinary load does not read a streaming-load buffer) and ends with LFENCE.
/// libgdrkit's copies give the same guarantee; the drop-in's reads give less (gdrapi.h).
///
/// The loop over iterations is inside and specialized for the size, so many iterations cost only one call. `size` is a
/// power of two from 1 on; `device` is aligned to min(size, 64), `host` may have any alignment. Returns false and
/// copies nothing if a condition is violated or the CPU does not support the kind.
[[nodiscard]] bool raw_store(RawKind kind, void* device, const void* host, std::size_t size,
                             std::size_t iterations = 1) noexcept;
[[nodiscard]] bool raw_load(RawKind kind, void* host, const void* device, std::size_t size,
                            std::size_t iterations = 1) noexcept;

// The baseline of the drop-in: the accesses and fences that GDRCopy 2.6 documents for a write-combining mapping.

/// False if this CPU lacks SSE4.1. The functions below must not be called then.
[[nodiscard]] bool gdrcopy_sequence_runs_here() noexcept;

/// One call of GDRCopy's copy: naturally aligned scalar accesses below 16 bytes and at the edges, then accesses of 16,
/// 32 and (stores, on a CPU with MOVDIR64B) 64 bytes. Loads of 16 and 32 bytes are streaming loads. There is no fence
/// before the accesses, and one SFENCE after them in both directions. The loads of consecutive calls may therefore
/// overlap, and a streaming load may return data from the streaming-load buffer of an earlier one.
///
/// Any size and alignment. As in GDRCopy, one function call chooses the accesses at run time.
void gdrcopy_store(void* device, const void* host, std::size_t size) noexcept;
void gdrcopy_load(void* host, const void* device, std::size_t size) noexcept;

}  // namespace gdrkit::measure
