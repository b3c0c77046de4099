// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/gdrdrv/stale_node.hpp"

#include <cstdio>
#include <cstring>

#include "backend/gdrdrv/gdrdrv_abi.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

constexpr unsigned misc_major = 10;

/// The number of "gdrdrv" in a list of Linux. -1: not in the list; -2: the list cannot be read.
int number_in(driver::System& system, const char* list) noexcept {
  char text[8192];
  if (system.read_text(list, text, sizeof text) < 0) return -2;
  for (const char* line = text; line != nullptr && *line != '\0';) {
    int number = -1;
    char name[16] = "";
    if (std::sscanf(line, "%d %15s", &number, name) == 2 && std::strcmp(name, "gdrdrv") == 0) return number;
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return -1;
}

}  // namespace

StaleNode::StaleNode(driver::System& system) noexcept {
  unsigned major = 0;
  unsigned minor = 0;
  if (system.node_numbers(node, &major, &minor) != 0) return;
  const int own_major = number_in(system, "/proc/devices");
  const int own_minor = number_in(system, "/proc/misc");
  if (own_major == -2) return;
  const bool is_current =
      major == misc_major ? static_cast<int>(minor) == own_minor : static_cast<int>(major) == own_major;
  if (is_current) return;
  if (own_major >= 0) {
    std::snprintf(
        text_, sizeof text_,
        "%s is stale: it has the number %u:%u, and the loaded gdrdrv has %d:0; remove it, then run mknod -m 666 "
        "%s c %d 0 (in a container: start it again)",
        node, major, minor, own_major, node, own_major);
  } else if (own_minor < 0) {
    std::snprintf(
        text_, sizeof text_,
        "%s is stale: it has the number %u:%u, and no gdrdrv kernel module is loaded; load it, or remove the node",
        node, major, minor);
  }
}

}  // namespace gdrkit::backend::gdrdrv
