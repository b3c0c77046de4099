// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvidiaDriver: the loaded NVIDIA driver, as reported by its kernel module.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::platform {

struct NvidiaDriver {
  std::string version;           ///< "580.159.04"
  bool is_open_flavour = false;  ///< the kernel module built from published source
};

/// Text of /proc/driver/nvidia/version. EINVAL if its first line contains no version.
[[nodiscard]] base::Result<NvidiaDriver> parse_nvidia_driver(std::string_view text);

/// Under `proc_root` ("/proc"). ENOENT: no NVIDIA kernel module is loaded (or the container hides it).
[[nodiscard]] base::Result<NvidiaDriver> read_nvidia_driver(const std::string& proc_root);

}  // namespace gdrkit::platform
