// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StaleNode: whether /dev/gdrdrv is a leftover node of an earlier module.
#pragma once

#include "driver/system.hpp"

namespace gdrkit::backend::gdrdrv {

class StaleNode {
 public:
  /// Compares the numbers of the node with those of the loaded module in /proc/devices and /proc/misc.
  explicit StaleNode(driver::System& system) noexcept;

  /// True if the node is stale; false if the node or the lists cannot be read.
  explicit operator bool() const noexcept { return text_[0] != '\0'; }
  /// "/dev/gdrdrv is stale: it has the number 236:0, and the loaded gdrdrv has 240:0; ..." and the remedy.
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  char text_[200] = "";
};

}  // namespace gdrkit::backend::gdrdrv
