// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceChoice: the GPU, or the emulated device if GDRKIT_BACKEND is emulated. Every tool that measures or checks
// hardware opens its device through this.
#pragma once

#include <memory>
#include <string>

#include "cli/interface/exit_code.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::cli {

struct DeviceChoice {
  bool is_emulated = false;
  std::string note;  ///< a tool's first line of output; "" on a GPU
};

/// What was found out about this machine's GPUs before choosing.
struct GpuFacts {
  std::string forced_backend;  ///< $GDRKIT_BACKEND or --backend; "" when none
  int cuda_devices = 0;        ///< visible to this process; 0 if CUDA failed
  std::string cuda_failure;    ///< why CUDA failed; "" if it did not
  std::string device_node;     ///< a GPU's node in /dev, "" if there is none
};

/// Throws Failure(usage), naming the backends there are, when none has this name. Probes backends, but not CUDA.
void check_backend(const std::string& wanted);

/// Initialises CUDA, if it is there, in the calling process. Throws Failure(usage) when the environment names a backend
/// or a copy kernel that does not exist, and cannot_run for a copy kernel that this CPU does not run.
[[nodiscard]] GpuFacts find_gpus();
/// The emulated device if and only if GDRKIT_BACKEND is emulated (--emulated and --backend set that variable). Else
/// throws Failure(cannot_run) with the reason if CUDA has no device.
[[nodiscard]] DeviceChoice choose_device(const GpuFacts& facts);

/// Throws Failure(cannot_run), and usage for a GDRKIT_EMULATED_DEVICES that is not a count.
[[nodiscard]] std::unique_ptr<platform::Device> open_device(const DeviceChoice& choice, int ordinal);

/// For people on stdout, or on stderr where stdout carries JSON. Nothing on a GPU.
void print_note(const DeviceChoice& choice, bool json);

/// Every backend's reason, a line each, as libgdrkit gives them; "" when one is usable.
[[nodiscard]] std::string why_no_backend();

}  // namespace gdrkit::cli
