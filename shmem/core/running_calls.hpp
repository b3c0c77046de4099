// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The calls of all threads on a PE that have begun and not ended. drop_pe waits for them.
#pragma once

#include <atomic>
#include <chrono>

namespace gdrkit::shmem_impl::core {

class Pe;

/// Records the PE on which a thread's current call runs. Only the outermost of nested calls changes `pe`.
struct CallSlot {
  std::atomic<const Pe*> pe{nullptr};
  unsigned depth = 0;  ///< only the owning thread reads and writes it
  CallSlot* next = nullptr;
  std::atomic<bool> is_taken{false};
};

/// Takes a slot for the calling thread and stores it in `own`, which must be the same thread_local variable at each
/// call. Sets `own` back to nullptr when the thread ends. Returns false if out of memory.
[[nodiscard]] bool take_call_slot(CallSlot*& own) noexcept;

/// Checks whether membarrier(2) is available. Call it before the first begin_call.
void prepare_running_calls() noexcept;

/// Records the call. The caller must then check that the PE still exists. drop_pe first announces the end of the PE,
/// then executes a barrier on all threads (membarrier, or the fence in begin_call without it), and then searches for
/// calls. So either the caller sees the announcement, or drop_pe sees the call.
void begin_call(CallSlot& slot, const Pe* pe) noexcept;
void end_call(CallSlot& slot) noexcept;

/// Waits until no thread is in a call on `pe`. Returns false if a call is still running after `limit`. The caller must
/// check before that its own thread is not in a call on `pe`.
[[nodiscard]] bool wait_for_calls(const Pe* pe, std::chrono::milliseconds limit) noexcept;
/// For a forked child: releases all slots except the calling thread's `own`. The parent's other threads do not exist in
/// the child.
void forget_running_calls(const CallSlot* own) noexcept;

}  // namespace gdrkit::shmem_impl::core
