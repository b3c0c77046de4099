// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuKernels: the benchmarks' GPU kernels on one device; on the emulated one host threads do their work.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/image.hpp"
#include "platform/gpu_code/kernel_end.hpp"

#define GDRKIT_GPU_PARAMETERS
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_PARAMETERS

namespace gdrkit::platform {

enum class GpuKernel : std::uint8_t {
#define GDRKIT_GPU_KERNEL(name, Parameters) name,
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL
};
inline constexpr int gpu_kernel_count = 0
#define GDRKIT_GPU_KERNEL(name, Parameters) +1
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL
    ;
[[nodiscard]] const char* gpu_kernel_name(GpuKernel kernel) noexcept;  ///< "ping_pong" and so on

class GpuKernels {
 public:
  /// Loads the machine code that this build holds for the GPU, else its PTX. `device` must outlive it and be current.
  /// ENOEXEC when the driver takes neither, with an error message that names the GPU: tools then exit 77.
  [[nodiscard]] static base::Result<GpuKernels> load(Device& device) noexcept;
  /// The same with another image. ENOEXEC also when it is cut off, or neither a fat binary nor PTX.
  [[nodiscard]] static base::Result<GpuKernels> load(Device& device, GpuImage image) noexcept;

  GpuKernels(GpuKernels&& other) noexcept;
  GpuKernels& operator=(GpuKernels&&) = delete;
  ~GpuKernels();

  /// Each returns when the GPU kernel is in the stream. EINVAL for parameters that it does not take. Memory must stay
  /// until the stream was synchronised.
#define GDRKIT_GPU_KERNEL(name, Parameters) \
  base::Status launch(const Parameters& parameters, LaunchShape shape, Stream stream) noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

  /// Blocks of `threads` that run at once for sure, one on each multiprocessor: as many as ping_pong takes.
  [[nodiscard]] unsigned resident_blocks() const noexcept { return resident_blocks_; }

 private:
  explicit GpuKernels(Device& device) noexcept : device_(&device) {}
  template <class Parameters>
  base::Status launch_any(GpuKernel kernel, const Parameters& parameters, LaunchShape shape, Stream stream) noexcept;

  Device* device_;
  Module module_;  // handle 0: nothing to unload
  Function functions_[gpu_kernel_count];
  unsigned resident_blocks_ = 1;
};

}  // namespace gdrkit::platform
