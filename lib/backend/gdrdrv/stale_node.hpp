// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StaleNode: whether /dev/gdrdrv is a node of an earlier module.
#pragma once

#include "driver/system.hpp"

namespace gdrkit::backend::gdrdrv {

class StaleNode {
 public:
  /// Compares the node's numbers with those that the loaded module has in /proc/devices and /proc/misc.
  explicit StaleNode(driver::System& system) noexcept;

  /// false also where the node or the lists cannot be read.
  explicit operator bool() const noexcept { return text_[0] != '\0'; }
  /// "/dev/gdrdrv is stale: it has the number 236:0, and the loaded gdrdrv has 240:0; ..." with what to do.
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  char text_[200] = "";
};

}  // namespace gdrkit::backend::gdrdrv
