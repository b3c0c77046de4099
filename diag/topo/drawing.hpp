// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Drawing: the tree as boxes below boxes: NUMA nodes, host bridges, switches, devices; what both pictures are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/machine/topology_facts.hpp"

namespace gdrkit::diag::topo {

enum class BoxKind { numa, host_bridge, pci_switch, gpu, adapter, nvswitch };

struct Box {
  BoxKind kind = BoxKind::numa;
  std::optional<std::size_t> above;  ///< position in Drawing::boxes; stands before this one
  std::string title;                 ///< GPU0, mlx5_0, a PCI address
  std::string detail;                ///< second line: an address, a rate; "" if nothing
  std::string link;                  ///< to what is above: "16 x 32 GT/s"; "" where it is not known or there is none
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
  std::string note;  ///< of NVLink: what is not drawn as a line, or why nothing is known
};

[[nodiscard]] Drawing draw(const TopologyFacts& facts);

}  // namespace gdrkit::diag::topo
