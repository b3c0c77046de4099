// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvidiaDriver: the loaded NVIDIA driver, as its kernel module reports it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::platform {

struct NvidiaDriver {
  std::string version;           ///< "580.159.04"
  bool is_open_flavour = false;  ///< the open kernel module
};

/// Parses the text of /proc/driver/nvidia/version. EINVAL: the first line contains no version.
[[nodiscard]] base::Result<NvidiaDriver> parse_nvidia_driver(std::string_view text);

/// Reads the version under `proc_root` ("/proc"). ENOENT: no NVIDIA kernel module is loaded, or the container hides it.
[[nodiscard]] base::Result<NvidiaDriver> read_nvidia_driver(const std::string& proc_root);

}  // namespace gdrkit::platform
