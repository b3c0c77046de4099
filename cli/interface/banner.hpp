// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Banner: the first lines of GDRCopy's benchmarks.
#pragma once

#include <string>

#include "gdrapi.h"
#include "platform/device/device.hpp"

namespace gdrkit::cli {

/// "GPU id:0; name: NVIDIA H200; Bus id: 0000:3b:00" for each GPU, then "selecting device 0".
void print_banner(const platform::Device& selected);

/// "info.va: ..." to "info.wc_mapping: ..."
void print_info_lines(const gdr_info_t& info);

/// Name of the backend that the drop-in library uses in the present environment ("" if unknown), and of its copy
/// kernels. The names come from gdrkit's own library.
struct BackendNames {
  std::string backend;
  std::string store_kernel;  ///< copy kernel for host to device
  std::string load_kernel;   ///< copy kernel for device to host
};
[[nodiscard]] BackendNames backend_names();

}  // namespace gdrkit::cli
