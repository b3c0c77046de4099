// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuKernels: the GPU kernels on one device; on the emulated one host threads do their work.
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

// Whoever launches one includes its <name>_params.hpp.
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
[[nodiscard]] const char* gpu_kernel_name(GpuKernel kernel) noexcept;  ///< "ping_pong" and so on

class GpuKernels {
 public:
  /// Loads those that are named, and each other one at its first launch: a program loads what it uses. `device` must
  /// outlive it and be current. ENOEXEC as prepare().
  template <GpuKernel... at_once>
  [[nodiscard]] static base::Result<GpuKernels> load(Device& device) noexcept {
    GpuKernels kernels(device);
    base::Status loaded;
    (void)(true && ... && (loaded = kernels.prepare<at_once>()).has_value());
    if (!loaded) return base::pass(loaded);
    return kernels;
  }

  /// While no other thread uses `other`.
  GpuKernels(GpuKernels&& other) noexcept;
  GpuKernels& operator=(GpuKernels&&) = delete;
  ~GpuKernels();

  /// Loads the machine code that this build holds of it for the GPU, else its PTX; once, and from any thread, also
  /// while a stream is captured. ENOEXEC when the driver takes neither, with an error message that names the GPU: tools
  /// then exit 77. To be called early for what others wait for: the driver may wait for all GPU kernels that run, one
  /// of which may wait for this one in turn.
  template <GpuKernel kernel>
  base::Status prepare() noexcept;
  /// The same with other images. ENOEXEC also for one that is cut off, or neither a fat binary nor PTX.
  base::Status prepare(GpuKernel kernel, const GpuImages& images) noexcept;

  /// Each returns when the GPU kernel is in the stream. EINVAL for parameters that it does not take. Memory must stay
  /// until the stream was synchronised. Thread-safe.
#define GDRKIT_GPU_KERNEL(name, Parameters) \
  base::Status launch(const Parameters& parameters, LaunchShape shape, Stream stream) noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

  /// Blocks of `threads` that run at once for sure, one on each multiprocessor: as many as ping_pong takes.
  [[nodiscard]] unsigned resident_blocks() const noexcept { return resident_blocks_; }

 private:
  explicit GpuKernels(Device& device) noexcept;
  /// EINVAL for what the GPU kernel does not take.
  template <class Parameters>
  using Check = base::Status(const Parameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept;
  /// The same results, bounds and ends as the GPU's part.
  template <class Parameters>
  using Play = void(const Parameters& parameters, LaunchShape shape) noexcept;
  struct Loaded {
    std::atomic<bool> is_there = false;
    Module module;  // handle 0: nothing to unload
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
