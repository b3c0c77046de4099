// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AdapterUse: which RDMA adapters carry GPU traffic, and why the others do not.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/matching.hpp"

namespace gdrkit::diag {

struct AdapterUse {
  std::string name;          ///< mlx5_0
  std::string port;          ///< its fastest active port; "" if none is active
  double rate_gb_per_s = 0;  ///< rate of that port in Gbit/s
  bool is_ethernet = false;  ///< RoCE
  bool is_active = false;
  bool is_usable = false;
  bool is_unread = false;  ///< a required file could not be read; why_not names it
  std::string why_not;     ///< the reason, unless usable
  [[nodiscard]] std::string device() const { return name + ":" + port; }
};

/// By position in PciTree::adapters. An adapter is usable if it has an active port at least half as fast as the best.
/// The adapter with the default route and those of bonds are excluded.
[[nodiscard]] std::vector<AdapterUse> judge_adapters(const topology::MachineView& view, const topology::PciTree& tree);

/// The network device of IPv4's default route; "" if there is none.
[[nodiscard]] std::string default_route(const topology::MachineView& view);

/// GPUs that this process can use, by position in PciTree::gpus: the driver lists those that belong to the container.
[[nodiscard]] std::vector<std::size_t> visible_gpus(const topology::MachineView& view, const topology::PciTree& tree);

}  // namespace gdrkit::diag
