// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/nvidia_driver.hpp"

#include <cerrno>
#include <cstring>

#include "driver/driver_version.hpp"
#include "driver/system.hpp"

namespace gdrkit::platform {
base::Result<NvidiaDriver> parse_nvidia_driver(std::string_view text) {
  const auto version = driver::find_version_text(text);
  if (!version) return base::pass(version);
  const std::string_view line = text.substr(0, text.find('\n'));
  return NvidiaDriver{std::string(*version), line.find("Open Kernel Module") != std::string_view::npos};
}

base::Result<NvidiaDriver> read_nvidia_driver(const std::string& proc_root) {
  const std::string path = proc_root + "/driver/nvidia/version";
  char text[1024];
  const ssize_t length = driver::real_system().read_text(path.c_str(), text, sizeof(text));
  if (length < 0) {
    return base::fail(static_cast<int>(-length), "cannot read %s: %s", path.c_str(),
                      std::strerror(static_cast<int>(-length)));
  }
  return parse_nvidia_driver(std::string_view(text, static_cast<std::size_t>(length)));
}

}  // namespace gdrkit::platform
