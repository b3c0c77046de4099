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
  const auto line = view.line("/proc/version");
  Fact<LinuxVersion> version;
  version.outcome = line.is_absent() ? Outcome::unreadable : line.outcome;
  version.reason = line.reason;
  if (!line.is_found()) return version;
  const std::string start = "Linux version ";
  if (line.value.rfind(start, 0) == 0) {
    version.value.text = line.value.substr(start.size(), line.value.find(' ', start.size()) - start.size());
  }
  if (std::sscanf(version.value.text.c_str(), "%d.%d", &version.value.major, &version.value.minor) != 2) {
    version.outcome = Outcome::malformed;
    version.reason = "/proc/version: does not contain a version";
  }
  return version;
}

/// Linux supports RDMA on dma-buf since 5.12.
[[nodiscard]] inline bool has_dmabuf(const LinuxVersion& version) {
  return version.major > 5 || (version.major == 5 && version.minor >= 12);
}

}  // namespace gdrkit::diag
