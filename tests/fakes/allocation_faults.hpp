// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AllocationFaults: the n-th operator new of this thread throws. Only in programs linked with
// failing_operator_new.cpp; in others arming has no effect.
#pragma once

namespace gdrkit::fakes {

struct AllocationFaults {
  int until_failure = -1;  ///< < 0: none
  int suspended = 0;
  bool was_reached = false;

  /// Returns whether this allocation must fail.
  bool strikes() noexcept {
    if (until_failure < 0 || suspended > 0) return false;
    if (until_failure-- > 0) return false;
    was_reached = true;
    return true;
  }
};

inline thread_local AllocationFaults allocation_faults;

/// While alive, allocations of this thread do not fail: the fakes make them.
class SuspendAllocationFaults {
 public:
  SuspendAllocationFaults() noexcept { ++allocation_faults.suspended; }
  ~SuspendAllocationFaults() { --allocation_faults.suspended; }
  SuspendAllocationFaults(const SuspendAllocationFaults&) = delete;
  SuspendAllocationFaults& operator=(const SuspendAllocationFaults&) = delete;
};

}  // namespace gdrkit::fakes
