// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuKernels: the GPU kernels on one device; on the emulated one, host threads do their work.
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

// Include <name>_params.hpp to launch one.
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
[[nodiscard]] const char* gpu_kernel_name(GpuKernel kernel) noexcept;  ///< "ping_pong" etc.

class GpuKernels {
 public:
  /// Loads the named GPU kernels now, and each other one at its first launch: a program loads only those that it uses.
  /// `device` must outlive it and be current. ENOEXEC like prepare().
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

  /// Loads the machine code of this build for the GPU, or its PTX; once, from any thread, also while a stream is
  /// captured. ENOEXEC if the driver accepts neither, with an error message that names the GPU: tools then exit with
  /// 77. Call it early for GPU kernels for which others wait: at a launch the driver may wait for all running GPU
  /// kernels, one of which may in turn wait for this one.
  template <GpuKernel kernel>
  base::Status prepare() noexcept;
  /// The same with other images. ENOEXEC also for one that is truncated, or neither a fat binary nor PTX.
  base::Status prepare(GpuKernel kernel, const GpuImages& images) noexcept;

  /// Returns when the GPU kernel is enqueued. EINVAL for invalid parameters. Memory must stay valid until the stream
  /// was synchronized. Thread-safe.
#define GDRKIT_GPU_KERNEL(name, Parameters) \
  base::Status launch(const Parameters& parameters, LaunchShape shape, Stream stream) noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

  /// Number of blocks of `threads` threads that certainly run at once, one on each multiprocessor: the maximum for
  /// ping_pong.
  [[nodiscard]] unsigned resident_blocks() const noexcept { return resident_blocks_; }

 private:
  explicit GpuKernels(Device& device) noexcept;
  /// EINVAL for invalid parameters or shapes.
  template <class Parameters>
  using Check = base::Status(const Parameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept;
  /// The same results, limits and ends as the GPU's part.
  template <class Parameters>
  using Play = void(const Parameters& parameters, LaunchShape shape) noexcept;
  struct Loaded {
    std::atomic<bool> is_there = false;
    Module module;  // handle 0: not loaded
    Function function;
  };
  template <GpuKernel kernel, class Parameters>
  base::Status launch_any(const Parameters& parameters, LaunchShape shape, Stream stream, Check<Parameters>* check,
                          Play<Parameters>* play) noexcept;
  static base::Status check_shape(GpuKernel kernel, LaunchShape shape) noexcept;
  base::Status load_image(GpuKernel kernel, GpuImage image, Loaded* loaded) noexcept;

  Device* device_;
  std::mutex mutex_;  // of loading
  Loaded loaded_[gpu_kernel_count];
  unsigned resident_blocks_ = 1;
};

#define GDRKIT_GPU_KERNEL(name, Parameters) \
  template <>                               \
  base::Status GpuKernels::prepare<GpuKernel::name>() noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::platform
