// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AdapterPorts: the ports of an RDMA device, and whether a communication library would take the device.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

struct AdapterPort {
  std::string number;
  topology::Fact<std::string> state;       ///< "4: ACTIVE"
  topology::Fact<double> rate_gbit_per_s;  ///< 400, of the whole port
  topology::Fact<std::string> link_layer;  ///< "InfiniBand", "Ethernet"

  [[nodiscard]] bool is_active() const { return state.value.find("ACTIVE") != std::string::npos; }
};

enum class Usable { yes, no, unknown };

struct AdapterPorts {
  std::string name;
  topology::Fact<std::string> guid;  ///< node_guid
  std::string unread;                ///< not "": why the ports could not be listed
  std::vector<AdapterPort> ports;
  Usable usable = Usable::unknown;
  std::string why;  ///< unless usable: the sentence

  /// Of the fastest active port; 0 when none is known.
  [[nodiscard]] double best_rate() const;
};

/// In the order of `names`. A device counts when a port is active and has at least half the rate of the best one of
/// the machine: libraries take active ports only, and slow ones beside fast ones are for storage or management.
[[nodiscard]] std::vector<AdapterPorts> read_adapter_ports(const topology::MachineView& view,
                                                           const std::vector<std::string>& names);

}  // namespace gdrkit::diag
