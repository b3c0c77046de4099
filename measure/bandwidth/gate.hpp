// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Gate: holds streams until all work is in them, so that what the CPU needs to enqueue is not measured.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/bandwidth/gpus.hpp"

namespace gdrkit::measure::bandwidth {

/// For any GPUs' streams. A GPU kernel waits in each; without GPU kernels a host function does. Opens at the latest
/// when it is destroyed: a stream that is held for ever could not be destroyed.
class Gate {
 public:
  explicit Gate(Gpus* gpus, std::uint64_t limit_ns = usual_limit_ns);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// What `stream` of GPU `gpu` is given from now on waits.
  void hold(int gpu, platform::Stream stream);
  void open();
  /// After the streams were synchronised: throws Failure when one waited so long that it went on by itself.
  void check() const;
  /// Closes it again, with no stream held; the streams must be idle.
  void reset();

  static constexpr std::uint64_t usual_limit_ns = 20'000'000'000;  ///< what the CPU may need to enqueue

 private:
  [[nodiscard]] std::uint32_t* words() const { return reinterpret_cast<std::uint32_t*>(memory_.address()); }
  static void wait(void* gate);

  Gpus& gpus_;
  platform::Allocation memory_;  // host memory: the flag, then a KernelEnd for each held stream
  std::uint64_t limit_ns_;
  std::size_t held_ = 0;
};

}  // namespace gdrkit::measure::bandwidth
