// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Gate: blocks streams until all work is enqueued, so that the CPU's time to enqueue is not measured.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/bandwidth/gpus.hpp"

namespace gdrkit::measure::bandwidth {

/// For streams of any GPUs. A GPU kernel waits in each; without GPU kernels a host function does. The destructor opens
/// the gate at the latest, because a blocked stream cannot be destroyed.
class Gate {
 public:
  explicit Gate(Gpus* gpus, std::uint64_t limit_ns = usual_limit_ns);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Work that is enqueued on `stream` of GPU `gpu` from now on waits for the gate.
  void hold(int gpu, platform::Stream stream);
  void open();
  /// Call it after synchronizing the streams. Throws Failure if a stream's wait timed out before the gate opened.
  void check() const;
  /// Closes the gate again, without streams. The streams must be idle.
  void reset();

  static constexpr std::uint64_t usual_limit_ns = 20'000'000'000;  ///< maximum time for the CPU to enqueue

 private:
  [[nodiscard]] std::uint32_t* words() const { return reinterpret_cast<std::uint32_t*>(memory_.address()); }
  static void wait(void* gate);

  Gpus& gpus_;
  platform::Allocation memory_;  // host memory: the flag, then a KernelEnd for each blocked stream
  std::uint64_t limit_ns_;
  std::size_t held_ = 0;
};

}  // namespace gdrkit::measure::bandwidth
