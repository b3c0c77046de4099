// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NarrowestLink: the maximum rate of the PCIe path between two devices.
#pragma once

#include <string>

#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

struct NarrowestLink {
  double gbit_per_s = 0;  ///< in each direction, without the link's encoding overhead; 0: unknown
  std::string where;      ///< the function below the link
  std::string unread;     ///< why a link could not be read; "" otherwise
};

/// Covers the links from both devices up to the first bridge above both, or to the host bridge. A GPU's link slows down
/// while the GPU is idle, so its speed is the maximum that both ends support.
[[nodiscard]] NarrowestLink narrowest_link(const PciTree& tree, const TreeDevice& a, const TreeDevice& b);

}  // namespace gdrkit::diag::topology
