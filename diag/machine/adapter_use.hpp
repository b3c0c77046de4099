// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AdapterUse: which RDMA adapters are for traffic of GPUs, and why the others are not.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/matching.hpp"

namespace gdrkit::diag {

struct AdapterUse {
  std::string name;          ///< mlx5_0
  std::string port;          ///< its fastest active port; "" when none is active
  double rate_gb_per_s = 0;  ///< of that port, gigabits
  bool is_ethernet = false;  ///< RoCE
  bool is_active = false;
  bool is_usable = false;
  bool is_unread = false;  ///< what decides could not be read; why_not says what
  std::string why_not;     ///< unless usable
  [[nodiscard]] std::string device() const { return name + ":" + port; }
};

/// By position in PciTree::adapters. Usable: an active port, at least half as fast as the best, and not the one over
/// which the machine is reached or that belongs to a bond.
[[nodiscard]] std::vector<AdapterUse> judge_adapters(const topology::MachineView& view, const topology::PciTree& tree);

/// The network device of IPv4's default route; "" when there is none.
[[nodiscard]] std::string default_route(const topology::MachineView& view);

/// GPUs that this process can use, by position in PciTree::gpus: the driver lists those that a container was given.
[[nodiscard]] std::vector<std::size_t> visible_gpus(const topology::MachineView& view, const topology::PciTree& tree);

}  // namespace gdrkit::diag
