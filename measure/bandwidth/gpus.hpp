// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Gpus: all GPUs that CUDA shows, each with its GPU kernels and its place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/device_choice.hpp"
#include "cli/interface/numa_options.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::measure::bandwidth {

struct Gpu {
  std::unique_ptr<platform::Device> device;
  std::optional<platform::GpuKernels> kernels;
  std::string why_no_kernels;  ///< why there are no GPU kernels; "" if there are
  platform::Placement placement;
};

class Gpus {
 public:
  /// Opens all GPUs and enables peer access where it is supported. Throws Failure(cannot_run).
  Gpus(const cli::DeviceChoice& choice, const cli::NumaChoice& nodes);
  /// Uses the given devices, for tests.
  Gpus(std::vector<std::unique_ptr<platform::Device>> devices, const cli::NumaChoice& nodes);

  [[nodiscard]] int count() const { return static_cast<int>(gpus_.size()); }
  [[nodiscard]] const Gpu& operator[](int number) const { return gpus_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] bool reaches(int runner, int other) const { return reaches_[index(runner, other)]; }
  /// Makes a GPU's context current on this thread.
  platform::Device& current(int number);
  [[nodiscard]] platform::GpuKernels& kernels(int number);
  /// "GPU 0 -> GPU 1" for each pair without peer access; "" if all have it.
  [[nodiscard]] std::string unreachable_pairs() const;
  /// Why some GPU cannot run GPU kernels; "" if all can.
  [[nodiscard]] std::string why_no_kernels() const;

  /// Binds this thread, and host memory from now on, near a GPU according to the options.
  const platform::Placed& settle_near(int number);

 private:
  [[nodiscard]] std::size_t index(int runner, int other) const {
    return static_cast<std::size_t>(runner) * gpus_.size() + static_cast<std::size_t>(other);
  }
  void enable_peers();

  std::vector<Gpu> gpus_;
  std::vector<bool> reaches_;
  cli::NumaChoice nodes_;
  int settled_near_ = -1;
  platform::Placed placed_;
};

}  // namespace gdrkit::measure::bandwidth
