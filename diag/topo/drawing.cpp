// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topo/drawing.hpp"

#include <algorithm>
#include <map>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::diag::topo {
namespace {

using topology::PciFunction;
using topology::TreeDevice;

/// "16 x 32 GT/s", followed by the maximum if it is higher. An idle GPU shows a slow link.
std::string link_text(const PciFunction& function) {
  const auto& now = function.current;
  const auto& most = function.most;
  const auto& speed = now.speed_gts.is_found() ? now.speed_gts : most.speed_gts;
  const auto& width = now.width.is_found() ? now.width : most.width;
  if (!speed.is_found() || !width.is_found() || width.value == 0) return "";
  std::string text = cli::format("%lld x %g GT/s", static_cast<long long>(width.value), speed.value);
  const bool is_less = (most.speed_gts.is_found() && most.speed_gts.value > speed.value) ||
                       (most.width.is_found() && most.width.value > width.value);
  if (is_less) text += cli::format(" (of %lld x %g)", static_cast<long long>(most.width.value), most.speed_gts.value);
  return text;
}

class Drafter {
 public:
  explicit Drafter(const TopologyFacts& facts) : facts_(facts) {}

  Drawing draw() {
    for (std::size_t i = 0; i < facts_.tree.gpus.size(); ++i) {
      const TreeDevice& gpu = facts_.tree.gpus[i];
      gpus_.push_back(add_device(gpu, BoxKind::gpu, gpu.function.name));
    }
    for (std::size_t i = 0; i < facts_.tree.adapters.size(); ++i) {
      const TreeDevice& adapter = facts_.tree.adapters[i];
      const double rate = facts_.ports[i].best_rate();
      add_device(adapter, BoxKind::adapter, adapter.function.name + (rate > 0 ? cli::format(", %.0f Gb/s", rate) : ""));
    }
    for (const TreeDevice& device : facts_.tree.nvswitches) add_device(device, BoxKind::nvswitch, device.function.name);
    add_nvlinks();
    return std::move(drawing_);
  }

 private:
  std::size_t add(Box box) {
    drawing_.boxes.push_back(std::move(box));
    return drawing_.boxes.size() - 1;
  }

  std::size_t add_once(const std::string& key, const Box& box) {
    const auto [known, is_new] = known_.emplace(key, drawing_.boxes.size());
    if (is_new) add(box);
    return known->second;
  }

  std::size_t add_device(const TreeDevice& device, BoxKind kind, const std::string& detail) {
    return add({kind, above(device), device.name, detail, link_text(device.function)});
  }

  /// The switch, host bridge or node above a device. A switch is drawn as its upstream port: every second function of
  /// the path, from the device up, as in NCCL.
  std::size_t above(const TreeDevice& device) {
    const auto& node = device.function.numa_node;
    const std::string numa = !node.is_found() ? "NUMA node unknown"
                             : node.value < 0 ? "no NUMA node"
                                              : "NUMA node " + std::to_string(node.value);
    std::size_t at = add_once(numa, {BoxKind::numa, {}, numa, "", ""});
    // An NCCL topology file has no host bridges.
    if (!device.root.empty() && !facts_.is_from_nccl) {
      at = add_once(numa + "/" + device.root, {BoxKind::host_bridge, at, device.root, "host bridge", ""});
    }
    for (std::size_t i = device.bridges.size() % 2; i + 1 < device.bridges.size(); i += 2) {
      const std::size_t bridge = device.bridges[i];
      const PciFunction& function = facts_.tree.bridges[bridge];
      at = add_once("switch " + std::to_string(bridge),
                    {BoxKind::pci_switch, at, "switch", function.name, link_text(function)});
    }
    return at;
  }

  void add_nvlinks() {
    if (!facts_.links.is_known) {
      drawing_.note = "NVLink is unknown: " + facts_.links.why_not;
      return;
    }
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      const auto own = facts_.links.gpus.find(facts_.tree.gpus[a].function.address);
      if (own == facts_.links.gpus.end()) continue;
      std::string& detail = drawing_.boxes[gpus_[a]].detail;
      if (own->second.to_switches > 0) detail += cli::format(", %u NVLinks", own->second.to_switches);
      if (own->second.c2c_count > 0) detail += ", C2C";
      for (std::size_t b = a + 1; b < gpus_.size(); ++b) {
        if (own->second.to_gpus.count(facts_.tree.gpus[b].function.address) == 0) continue;
        const unsigned count =
            facts_.links.between(facts_.tree.gpus[a].function.address, facts_.tree.gpus[b].function.address);
        drawing_.nvlinks.push_back({gpus_[a], gpus_[b], count});
      }
    }
    const bool has_switches =
        std::ranges::any_of(facts_.links.gpus, [](const auto& gpu) { return gpu.second.to_switches > 0; });
    drawing_.note = has_switches ? "NVLinks lead to switches that join all GPUs" : "";
  }

  const TopologyFacts& facts_;
  Drawing drawing_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::size_t> gpus_;
};

}  // namespace

Drawing draw(const TopologyFacts& facts) { return Drafter(facts).draw(); }

}  // namespace gdrkit::diag::topo
