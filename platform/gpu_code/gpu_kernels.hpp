// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuKernels: the GPU kernels on one device. On the emulated device host threads do their work.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/image.hpp"
#include "platform/gpu_code/kernel_end.hpp"

namespace gdrkit::platform {

// Code that launches a GPU kernel includes its <name>_params.hpp.
#define GDRKIT_GPU_KERNEL(name, Parameters) struct Parameters;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

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
[[nodiscard]] const char* gpu_kernel_name(GpuKernel kernel) noexcept;  ///< for example "ping_pong"

class GpuKernels {
 public:
  /// Loads the named GPU kernels now and each other one at its first launch. `device` must outlive the result and be
  /// current. ENOEXEC: see prepare().
  template <GpuKernel... at_once>
  [[nodiscard]] static base::Result<GpuKernels> load(Device& device) noexcept {
    GpuKernels kernels(device);
    base::Status loaded;
    (void)(true && ... && (loaded = kernels.prepare<at_once>()).has_value());
    if (!loaded) return base::pass(loaded);
    return kernels;
  }

  /// No other thread may use `other` during the move.
  GpuKernels(GpuKernels&& other) noexcept;
  GpuKernels& operator=(GpuKernels&&) = delete;
  ~GpuKernels();

  /// Loads the GPU kernel's machine code for this GPU, or its PTX. Loads it once; thread-safe, also during the capture
  /// of a stream. ENOEXEC: the driver accepts neither; the error names the GPU, and tools exit with code 77. Call it
  /// before launching GPU kernels that wait: loading may block until all running GPU kernels end.
  template <GpuKernel kernel>
  base::Status prepare() noexcept;
  /// The same with other images. ENOEXEC also if an image is truncated, or neither a fat binary nor PTX.
  base::Status prepare(GpuKernel kernel, const GpuImages& images) noexcept;

  /// Each overload returns after the GPU kernel has been submitted to the stream. EINVAL: invalid parameters. Memory
  /// must stay valid until the stream is synchronized. Thread-safe.
#define GDRKIT_GPU_KERNEL(name, Parameters) \
  base::Status launch(const Parameters& parameters, LaunchShape shape, Stream stream) noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

  /// Number of blocks of `threads` threads that are certain to run concurrently: one per multiprocessor. Limit of
  /// ping_pong.
  [[nodiscard]] unsigned resident_blocks() const noexcept { return resident_blocks_; }

 private:
  explicit GpuKernels(Device& device) noexcept;
  /// EINVAL: the GPU kernel does not support the parameters or the shape.
  template <class Parameters>
  using Check = base::Status(const Parameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept;
  /// Must produce the same results, limits and ends as the GPU code.
  template <class Parameters>
  using HostWork = void(const Parameters& parameters, LaunchShape shape) noexcept;
  struct Loaded {
    std::atomic<bool> is_loaded = false;
    Module module;  // handle 0: not loaded
    Function function;
  };
  template <GpuKernel kernel, class Parameters>
  base::Status launch_any(const Parameters& parameters, LaunchShape shape, Stream stream, Check<Parameters>* check,
                          HostWork<Parameters>* run_on_host) noexcept;
  static base::Status check_shape(GpuKernel kernel, LaunchShape shape) noexcept;
  base::Status load_image(GpuKernel kernel, GpuImage image, Loaded* loaded) noexcept;

  Device* device_;
  std::mutex mutex_;  // serializes loading
  Loaded loaded_[gpu_kernel_count];
  unsigned resident_blocks_ = 1;
};

#define GDRKIT_GPU_KERNEL(name, Parameters) \
  template <>                               \
  base::Status GpuKernels::prepare<GpuKernel::name>() noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::platform
