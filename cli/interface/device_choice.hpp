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

/// Facts about this machine's GPUs on which the choice depends.
struct GpuFacts {
  std::string forced_backend;  ///< $GDRKIT_BACKEND or --backend; "" if not set
  int cuda_devices = 0;        ///< visible to this process; 0 if CUDA failed
  std::string cuda_failure;    ///< why CUDA failed; "" if it did not
  std::string device_node;     ///< a GPU's node in /dev; "" if there is none
};

/// Throws Failure(usage) with the list of backends if the name is unknown. Probes backends, but not CUDA.
void check_backend(const std::string& requested);

/// Initializes CUDA in the calling process if it is installed. Throws Failure(usage) if the environment contains an
/// unknown backend or copy kernel, and cannot_run for a copy kernel that this CPU does not support.
[[nodiscard]] GpuFacts find_gpus();
/// Returns the emulated device if and only if GDRKIT_BACKEND is emulated (--emulated and --backend set that variable).
/// Otherwise throws Failure(cannot_run) with the reason if CUDA has no device.
[[nodiscard]] DeviceChoice choose_device(const GpuFacts& facts);

/// Throws Failure(cannot_run), and usage if GDRKIT_EMULATED_DEVICES is not a count.
[[nodiscard]] std::unique_ptr<platform::Device> open_device(const DeviceChoice& choice, int ordinal);

/// Prints the note on stdout, or on stderr if stdout carries JSON. Prints nothing on a GPU.
void print_note(const DeviceChoice& choice, bool json);

/// The reason of every backend from libgdrkit, one per line; "" if one is usable.
[[nodiscard]] std::string why_no_backend();

}  // namespace gdrkit::cli
