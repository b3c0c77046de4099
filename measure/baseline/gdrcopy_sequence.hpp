// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The baseline of the drop-in: the accesses and fences that GDRCopy 2.6 documents for a write-combining mapping.
#pragma once

#include <cstddef>

namespace gdrkit::measure {

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
