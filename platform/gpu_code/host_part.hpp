// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How each <name>_host.cpp launches its GPU kernel: after validating the parameters, on the GPU, or by a host thread on
// the emulated device.
#pragma once

#include <memory>
#include <new>

#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::platform {

/// Arguments of the host function that emulates a GPU kernel, which deletes them.
template <class Parameters>
struct HostPart {
  Parameters parameters;
  LaunchShape shape;
  void (*play)(const Parameters& parameters, LaunchShape shape) noexcept;

  static void run(void* argument) {
    const std::unique_ptr<HostPart> part(static_cast<HostPart*>(argument));
    part->play(part->parameters, part->shape);
  }
};

template <GpuKernel kernel, class Parameters>
base::Status GpuKernels::launch_any(const Parameters& parameters, LaunchShape shape, Stream stream,
                                    Check<Parameters>* check, Play<Parameters>* play) noexcept {
  static_assert(sizeof(Parameters) % 8 == 0, "the GPU and the CPU see one layout");
  if (auto prepared = prepare<kernel>(); !prepared) return prepared;
  if (auto checked = check_shape(kernel, shape); !checked) return checked;
  if (auto checked = check(parameters, shape, resident_blocks_); !checked) return checked;
  if (!device_->is_emulated()) {
    Parameters copy = parameters;
    void* pointers[] = {&copy};
    return device_->launch(loaded_[static_cast<std::size_t>(kernel)].function, shape, stream, pointers);
  }
  auto* part = new (std::nothrow) HostPart<Parameters>{parameters, shape, play};
  if (part == nullptr)
    return base::fail(ENOMEM, "out of memory while launching GPU kernel '%s'", gpu_kernel_name(kernel));
  auto launched = device_->launch_host_function(stream, &HostPart<Parameters>::run, part);
  if (!launched) delete part;
  return launched;
}

}  // namespace gdrkit::platform
