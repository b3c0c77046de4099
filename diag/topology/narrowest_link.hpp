// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NarrowestLink: what the PCIe path between two devices can carry at most.
#pragma once

#include <string>

#include "diag/topology/pci_tree.hpp"

namespace gdrkit::topology {

struct NarrowestLink {
  double gbit_per_s = 0;  ///< in each direction, without the coding of the link's generation; 0: not known
  std::string where;      ///< the function below the link
  std::string unread;     ///< not "": why a link could not be read
};

/// Over the links from both devices up to the first bridge above both, or to the host bridge. The link of a GPU slows
/// down while the GPU is idle, so there counts what both ends could do.
[[nodiscard]] NarrowestLink narrowest_link(const PciTree& tree, const TreeDevice& a, const TreeDevice& b);

}  // namespace gdrkit::topology
