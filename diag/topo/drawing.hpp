// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Drawing: the tree as nested boxes: NUMA nodes, host bridges, switches, devices. Both pictures are drawn from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/machine/topology_facts.hpp"

namespace gdrkit::diag::topo {

enum class BoxKind { numa, host_bridge, pci_switch, gpu, adapter, nvswitch };

struct Box {
  BoxKind kind = BoxKind::numa;
  std::optional<std::size_t> above;  ///< position in Drawing::boxes, less than this box's
  std::string title;                 ///< GPU0, mlx5_0, a PCI address
  std::string detail;                ///< second line: an address, a rate; "" if nothing
  std::string link;                  ///< link to the box above: "16 x 32 GT/s"; "" if unknown or none
};

/// Direct NVLinks between two GPUs, by position in Drawing::boxes.
struct NvLinkLine {
  std::size_t from = 0;
  std::size_t to = 0;
  unsigned count = 0;
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<NvLinkLine> nvlinks;
  std::string note;  ///< NVLinks that are not drawn as lines, or why they are unknown
};

[[nodiscard]] Drawing draw(const TopologyFacts& facts);

}  // namespace gdrkit::diag::topo
