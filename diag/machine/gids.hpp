// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Gids: the table of addresses of an adapter's port, from which RoCE takes source addresses.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

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
                                                         const std::string& port_folder);

}  // namespace gdrkit::diag
