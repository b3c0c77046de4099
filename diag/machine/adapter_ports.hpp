// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AdapterPorts: the ports of an RDMA device, and whether a communication library would use the device.
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
  std::string unread;                ///< why the ports could not be listed; "" if they could
  std::vector<AdapterPort> ports;
  Usable usable = Usable::unknown;
  std::string why;  ///< the reason, unless usable

  /// The rate of the fastest active port; 0 if unknown.
  [[nodiscard]] double best_rate() const;
};

/// In the order of `names`. A device is usable if a port is active and has at least half the rate of the machine's best
/// port: libraries use active ports only, and much slower ports are for storage or management.
[[nodiscard]] std::vector<AdapterPorts> read_adapter_ports(const topology::MachineView& view,
                                                           const std::vector<std::string>& names);

}  // namespace gdrkit::diag
