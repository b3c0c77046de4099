// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AdapterPorts: the ports of RDMA adapters, their addresses, and which adapters carry GPU traffic.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/matching.hpp"

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
  std::string unread;  ///< why the ports could not be listed; "" if they could
  std::vector<AdapterPort> ports;
  Usable usable = Usable::unknown;
  std::string why;  ///< the reason, unless usable

  /// The rate of the fastest active port; 0 if unknown.
  [[nodiscard]] double best_rate() const;
};

/// In the order of `adapters`. A device is usable if a port is active and has at least half the rate of the machine's
/// best port: libraries use active ports only, and much slower ports are for storage or management.
[[nodiscard]] std::vector<AdapterPorts> read_adapter_ports(const topology::MachineView& view,
                                                           const std::vector<topology::TreeDevice>& adapters);

/// Whether an adapter carries GPU traffic, and why not.
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

/// An address of a port. RoCE takes its source addresses from the port's table.
struct Gid {
  unsigned index = 0;
  std::string text;       ///< 0000:0000:0000:0000:0000:ffff:0a00:0001
  std::string type;       ///< "RoCE v2", "IB/RoCE v1"; "" if it could not be read
  std::string interface;  ///< the network interface; "" if it could not be read

  [[nodiscard]] bool is_v2() const { return type == "RoCE v2"; }
  [[nodiscard]] bool is_ipv4() const { return text.starts_with("0000:0000:0000:0000:0000:ffff:"); }
  [[nodiscard]] bool is_link_local() const { return text.starts_with("fe80:"); }
};

/// The entries in use, by index. Linux shows zeros for unused entries, and refuses to show a container the entries of
/// the host's interfaces. Not found: the table could not be listed, or no entry could be read.
[[nodiscard]] topology::Fact<std::vector<Gid>> read_gids(const topology::MachineView& view,
                                                         const std::string& port_directory);

}  // namespace gdrkit::diag
