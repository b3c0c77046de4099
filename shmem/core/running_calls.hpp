// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RunningCall: a call of this thread on a PE. The PE's end waits for those of all threads.
#pragma once

#include <atomic>
#include <chrono>

namespace gdrkit::shmem_impl::core {

class Pe;

/// Where a thread says which PE it is in; the innermost of nested calls leaves the entry as it is.
struct CallSlot {
  std::atomic<const Pe*> pe{nullptr};
  unsigned depth = 0;  ///< of the thread alone
  CallSlot* next = nullptr;
  std::atomic<bool> is_taken{false};
};

/// The calling thread's; nullptr without memory.
[[nodiscard]] CallSlot* own_call_slot() noexcept;

/// What a PE's first use makes ready.
void prepare_running_calls() noexcept;

/// Enters: afterwards the caller must look whether the PE is still there. A PE's end announces itself first and looks
/// then for calls, and begins them behind a barrier that all threads pass (membarrier, or a fence here without it): one
/// of the two sees the other.
void begin_call(CallSlot& slot, const Pe* pe) noexcept;
void end_call(CallSlot& slot) noexcept;

/// Whether no other thread is in a call on it, by the end of that time. EDEADLK is the caller's to find: whether this
/// thread itself is in one.
[[nodiscard]] bool wait_for_calls(const Pe* pe, std::chrono::milliseconds limit) noexcept;
/// In a forked child only its one thread is left, and it is in no call.
void forget_running_calls() noexcept;

}  // namespace gdrkit::shmem_impl::core
