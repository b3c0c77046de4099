// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/narrowest_link.hpp"

#include <algorithm>

namespace gdrkit::diag::topology {
namespace {

/// Maximum Gbit/s of a link, without its generation's encoding overhead.
double carried(double speed_gts, double width) {
  const double coding = speed_gts < 8 ? 0.8 : speed_gts < 64 ? 128.0 / 130.0 : 242.0 / 256.0;
  return speed_gts * width * coding;
}

/// `port`: the other end of a link, if the speed is the maximum that both ends support.
void take_link(const PciFunction& function, const PciFunction* port, NarrowestLink* narrowest) {
  const Fact<double>& speed = port != nullptr ? function.most.speed_gts : function.current.speed_gts;
  const Fact<std::int64_t>& width = function.current.width;
  if (!speed.is_found() || !width.is_found()) {
    narrowest->unread = speed.is_found() ? width.reason : speed.reason;
    return;
  }
  double gts = speed.value;
  if (port != nullptr && port->most.speed_gts.is_found()) gts = std::min(gts, port->most.speed_gts.value);
  const double rate = carried(gts, static_cast<double>(width.value));
  if (narrowest->gbit_per_s > 0 && rate >= narrowest->gbit_per_s) return;
  narrowest->gbit_per_s = rate;
  narrowest->where = function.name;
}

}  // namespace

NarrowestLink narrowest_link(const PciTree& tree, const TreeDevice& a, const TreeDevice& b) {
  NarrowestLink narrowest;
  const auto end = std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  const auto shared = static_cast<std::size_t>(end.first - a.bridges.begin());
  for (const TreeDevice* device : {&a, &b}) {
    const bool may_be_idle = device->kind == DeviceKind::gpu && !device->bridges.empty();
    take_link(device->function, may_be_idle ? &tree.bridges[device->bridges.back()] : nullptr, &narrowest);
    // The last bridge is the port of the device's own link.
    for (std::size_t i = shared; i + 1 < device->bridges.size(); ++i)
      take_link(tree.bridges[device->bridges[i]], nullptr, &narrowest);
  }
  return narrowest;
}

}  // namespace gdrkit::diag::topology
