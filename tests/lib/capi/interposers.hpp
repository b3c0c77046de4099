// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Counts the allocations and locks of the program and of every library in it. The definitions in
// interposers.cpp come first in symbol resolution; counting is off until it is enabled.
#pragma once

namespace gdrkit::tests {

struct CallCounts {
  long allocations = 0;  ///< malloc and its kin, free included
  long locks = 0;        ///< pthread mutex, rwlock, spin lock: taking, trying, releasing
};

void start_counting() noexcept;
[[nodiscard]] CallCounts stop_counting() noexcept;

/// What `body` made the calling thread call.
template <class Body>
[[nodiscard]] CallCounts count_calls(Body body) {
  start_counting();
  body();
  return stop_counting();
}

}  // namespace gdrkit::tests
