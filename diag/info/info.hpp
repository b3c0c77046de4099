// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Info: the facts of `gdrkit info`, for its text and its JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "platform/facts/machine.hpp"
#include "platform/facts/nvidia.hpp"

namespace gdrkit::diag::info {

struct BackendInfo {
  std::string name;
  std::string summary;
  bool is_usable = false;
  bool is_automatic = false;
  int error = 0;       ///< positive errno if not usable
  std::string reason;  ///< why not usable
};

struct CopyKernelInfo {
  std::string name;
  bool is_usable = false;
  bool stores = false;  ///< the choice for copies to the device
  bool loads = false;   ///< the choice for copies from the device
};

struct GpuInfo {
  platform::NvidiaGpu gpu;
  std::string name;
};

struct Info {
  platform::Machine machine;
  std::string chosen_backend;  ///< "" if none can run
  bool is_emulated = false;
  std::string why_none;  ///< the library's error text if none can run
  std::vector<BackendInfo> backends;
  std::vector<CopyKernelInfo> copy_kernels;
  std::vector<GpuInfo> gpus;
  std::optional<platform::NvidiaDriver> driver;
  std::vector<std::pair<std::string, std::string>> settings;  ///< environment variables that are set
  std::vector<std::string> missing;                           ///< a sentence each
};

[[nodiscard]] Info gather_info();
/// Writes to the destination of --json.
void write_info_json(const cli::DocumentOption& option, const Info& info);

}  // namespace gdrkit::diag::info
