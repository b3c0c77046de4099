// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NodeArea: what the PEs of one machine tell each other through shared host memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace gdrkit::shmem {

/// Written by one PE, read by the others of its machine. Two cache lines, as CPUs fetch them in pairs.
struct alignas(128) PeLine {
  std::atomic<std::uint64_t> arrivals;  ///< how many synchronisations this PE has come to
  // What it was called with, valid between two synchronisations.
  std::atomic<std::uint64_t> operation;
  std::atomic<std::uint64_t> arguments[2];
};
static_assert(sizeof(PeLine) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);

/// An array of them, by the PE's position on its node.
using NodeArea = PeLine*;

}  // namespace gdrkit::shmem
