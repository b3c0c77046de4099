// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The launch that all <name>_host.cpp share: checks the parameters, then launches the GPU kernel, or its host
// implementation on the emulated device.
#pragma once

#include <memory>
#include <new>

#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::platform {

/// Argument of the host function that does a GPU kernel's work. run() deletes it.
template <class Parameters>
struct HostPart {
  Parameters parameters;
  LaunchShape shape;
  void (*run_on_host)(const Parameters& parameters, LaunchShape shape) noexcept;

  static void run(void* argument) {
    const std::unique_ptr<HostPart> part(static_cast<HostPart*>(argument));
    part->run_on_host(part->parameters, part->shape);
  }
};

template <GpuKernel kernel, class Parameters>
base::Status GpuKernels::launch_any(const Parameters& parameters, LaunchShape shape, Stream stream,
                                    Check<Parameters>* check, HostWork<Parameters>* run_on_host) noexcept {
  static_assert(sizeof(Parameters) % 8 == 0, "the GPU and the CPU must use the same layout");
  if (auto prepared = prepare<kernel>(); !prepared) return prepared;
  if (auto checked = check_shape(kernel, shape); !checked) return checked;
  if (auto checked = check(parameters, shape, resident_blocks_); !checked) return checked;
  if (!device_->is_emulated()) {
    Parameters copy = parameters;
    void* pointers[] = {&copy};
    return device_->launch(loaded_[static_cast<std::size_t>(kernel)].function, shape, stream, pointers);
  }
  auto* part = new (std::nothrow) HostPart<Parameters>{parameters, shape, run_on_host};
  if (part == nullptr) return base::fail(ENOMEM, "out of memory while launching %s", gpu_kernel_name(kernel));
  auto launched = device_->launch_host_function(stream, &HostPart<Parameters>::run, part);
  if (!launched) delete part;
  return launched;
}

}  // namespace gdrkit::platform
