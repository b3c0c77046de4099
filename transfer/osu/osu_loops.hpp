// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loops: the operations of each test, written once for all engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/device/device.hpp"
#include "transfer/engines/message_engine.hpp"
#include "transfer/osu/osu_test.hpp"

namespace gdrkit::transfer::osu {

/// This rank's role in a pair, or among all ranks.
struct Part {
  engines::MessageEngine* engine = nullptr;
  int peer = 0;
  bool is_first = true;        ///< the first of its pair, which measures
  engines::Place place = 'H';  ///< of this rank's buffers
  int rank = 0;
  int n_ranks = 2;
};

struct Work {
  const OsuTest* test = nullptr;
  std::size_t size_bytes = 0;
  int iterations = 1;
  int warmup = 0;
  int window = 1;
  bool times_each = false;       ///< for percentiles
  bool has_own_buffers = false;  ///< each message of a window
  int check_warmup = 0;          ///< iterations before the data are checked
};

struct Measured {
  double seconds = 0;                ///< of all iterations; 0 on ranks that do not measure (the second of a pair)
  std::vector<double> each_seconds;  ///< on request
  /// Seconds of an iteration, on average over one of up to 8 equal parts of them.
  std::vector<double> round_seconds;
};

/// The number of buffers of one size for the messages of a window.
[[nodiscard]] inline std::size_t buffers_of(const Work& work) noexcept {
  return work.has_own_buffers ? static_cast<std::size_t>(work.window) : 1;
}

/// Collective. Begins and ends with a barrier.
[[nodiscard]] Measured run_loop(const Part& part, const Work& work);
/// One iteration without timing.
void run_once(const Part& part, const Work& work);

/// Collective. Runs one iteration with new bytes, and returns the number of wrong bytes on this rank, including one
/// past the end that must not change. Throws Failure.
[[nodiscard]] std::uint64_t count_wrong_bytes(const Part& part, Work work, platform::Device& device);

}  // namespace gdrkit::transfer::osu
