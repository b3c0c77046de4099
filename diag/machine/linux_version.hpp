// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// LinuxVersion: the contents of /proc/version.
#pragma once

#include <cstdio>
#include <string>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

struct LinuxVersion {
  std::string text;  ///< "5.14.0-427.el9.x86_64"
  int major = 0;
  int minor = 0;
};

[[nodiscard]] inline Fact<LinuxVersion> read_linux_version(const MachineView& view) {
  const auto line = required(view.line("/proc/version"));
  if (!line.is_found()) return pass<LinuxVersion>(line);
  LinuxVersion version;
  const std::string start = "Linux version ";
  if (line.value.starts_with(start)) {
    version.text = line.value.substr(start.size(), line.value.find(' ', start.size()) - start.size());
  }
  if (std::sscanf(version.text.c_str(), "%d.%d", &version.major, &version.minor) != 2) {
    return {Outcome::malformed, version, "/proc/version: does not contain a version"};
  }
  return found(version);
}

/// Linux supports RDMA on dma-buf since 5.12.
[[nodiscard]] inline bool has_dmabuf(const LinuxVersion& version) {
  return version.major > 5 || (version.major == 5 && version.minor >= 12);
}

}  // namespace gdrkit::diag
