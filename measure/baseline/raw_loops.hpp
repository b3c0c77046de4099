// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The baseline: the fastest copy loops that one CPU thread can run over a write-combining mapping, in inlined
// intrinsics.
#pragma once

#include <cstddef>

namespace gdrkit::measure {

enum class RawKind { avx512, avx2, sse41 };

[[nodiscard]] const char* raw_kind_name(RawKind kind) noexcept;
[[nodiscard]] bool raw_runs_here(RawKind kind) noexcept;
/// The widest kind that runs here in *kind; false, *kind untouched, if none does.
[[nodiscard]] bool widest_raw_kind(RawKind* kind) noexcept;

/// Copies `size` bytes `iterations` times, each time complete: a store loop ends with SFENCE, a load loop begins with
/// MFENCE (1 to 8 bytes: LFENCE, as one ordinary load meets no streaming-load buffer) and ends with LFENCE, the same
/// promise the library's copies make. The loop over iterations is inside and
/// specialised for the size, so a measurement over many iterations pays no call for each. `size` is a power of two from
/// 1 on; `device` is aligned to min(size, 64), `host` may have any alignment. Returns false and copies nothing where
/// that or the kind does not hold.
[[nodiscard]] bool raw_store(RawKind kind, void* device, const void* host, std::size_t size,
                             std::size_t iterations = 1) noexcept;
[[nodiscard]] bool raw_load(RawKind kind, void* host, const void* device, std::size_t size,
                            std::size_t iterations = 1) noexcept;

}  // namespace gdrkit::measure
