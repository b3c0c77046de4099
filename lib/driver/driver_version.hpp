// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DriverVersion: the version of the loaded NVIDIA kernel driver, as numbers.
#pragma once

#include <compare>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::driver {

struct DriverVersion {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;

  auto operator<=>(const DriverVersion&) const = default;
};

/// "580.159.04" or "515.43": two or three decimal numbers of at most five digits. EINVAL for anything else.
[[nodiscard]] base::Result<DriverVersion> parse_driver_version(std::string_view text) noexcept;

/// Finds the version in the text of /proc/driver/nvidia/version, whose first line names the module flavor and then the
/// version. EINVAL: the line contains no version.
[[nodiscard]] base::Result<std::string_view> find_version_text(std::string_view proc_text) noexcept;

}  // namespace gdrkit::driver
