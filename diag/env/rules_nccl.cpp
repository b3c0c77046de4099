// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rules for NCCL, which detects most of a machine's properties itself.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "cli/interface/exit_code.hpp"
#include "diag/env/proposal.hpp"
#include "diag/machine/grace.hpp"

namespace gdrkit::diag::env {
namespace {

using topology::PathClass;

constexpr std::size_t most_adapters = 32;  // of NCCL

void propose_adapters(const Facts& facts, Proposal* proposal) {
  if (facts.left_out.empty() || facts.chosen.empty()) return;
  proposal->job.push_back({"NCCL_IB_HCA",
                           "=" + joined(devices_of(facts), ","),
                           "NCCL uses every active adapter; excluded: " + joined(facts.left_out, "; "),
                           {"nic.rate", "env.ib_hca"}});
  if (facts.chosen.size() > most_adapters) proposal->notes.push_back("NCCL uses 32 adapters at most");
}

/// Network devices over which ranks could connect: up, and neither loopback nor belonging to containers.
std::vector<std::string> candidates(const MachineView& view) {
  std::vector<std::string> devices;
  for (const std::string& device : view.names("/sys/class/net").value) {
    const auto starts = [&](const char* start) { return device.starts_with(start); };
    if (device == "lo" || starts("docker") || starts("veth") || starts("virbr") || starts("br-") || starts("cni") ||
        starts("cali"))
      continue;
    if (view.line("/sys/class/net/" + device + "/operstate").value == "up") devices.push_back(device);
  }
  return devices;
}

void propose_interface(const Facts& facts, Proposal* proposal) {
  const auto devices = candidates(facts.machine.view);
  const std::string route = default_route(facts.machine.view);
  if (devices.size() < 2 || !is_plain(route) || std::ranges::find(devices, route) == devices.end()) return;
  proposal->job.push_back(
      {"NCCL_SOCKET_IFNAME",
       "=" + route,
       cli::format("%zu network devices are up, and this one has the default route; its name may differ on other nodes",
                   devices.size()),
       {"env.socket_if"}});
}

/// The index of a RoCE v2 GID with an IPv4 address that all chosen adapters have; -1 if there is none.
int common_gid(const Facts& facts) {
  std::set<int> common;
  bool is_first = true;
  for (const std::size_t index : facts.chosen) {
    const AdapterUse& use = facts.layout.adapters[index];
    const std::string port = "/sys/class/infiniband/" + use.name + "/ports/" + use.port;
    std::set<int> own;
    for (int gid = 0; gid < 16; ++gid) {
      const std::string number = std::to_string(gid);
      const bool is_v2 = facts.machine.view.line(port + "/gid_attrs/types/" + number).value == "RoCE v2";
      if (is_v2 &&
          facts.machine.view.line(port + "/gids/" + number).value.starts_with("0000:0000:0000:0000:0000:ffff:"))
        own.insert(gid);
    }
    std::set<int> both;
    std::ranges::set_intersection(common, own, std::inserter(both, both.begin()));
    common = is_first ? own : both;
    is_first = false;
  }
  return common.empty() ? -1 : *common.begin();
}

void propose_gid(const Facts& facts, Proposal* proposal) {
  const bool is_roce =
      std::ranges::any_of(facts.chosen, [&](std::size_t index) { return facts.layout.adapters[index].is_ethernet; });
  if (!is_roce) return;
  const auto found = facts.libraries.named("libnccl");
  int major = 0;
  int minor = 0;
  const bool is_known =
      found.is_found() && std::sscanf(found.value.front().version.c_str(), "%d.%d", &major, &minor) == 2;
  const int gid = common_gid(facts);
  if (is_known && (major < 2 || (major == 2 && minor < 21)) && gid >= 0) {
    proposal->job.push_back(
        {"NCCL_IB_GID_INDEX",
         std::to_string(gid),
         "NCCL " + found.value.front().version +
             " does not find the RoCE v2 address itself; from NCCL 2.21 on, leave this variable unset",
         {}});
  } else if (!is_known) {
    proposal->notes.push_back(
        "the adapters use RoCE: leave NCCL_IB_GID_INDEX unset with NCCL 2.21 and later, which finds the address "
        "itself");
  }
}

void propose_fabric(const Facts& facts, Proposal* proposal) {
  if (facts.user_options.fabric == "rail") {
    proposal->job.push_back({"NCCL_CROSS_NIC", "0", "requested with --fabric rail: rings stay on their rail", {}});
  }
  if (facts.user_options.fabric == "ecmp") {
    proposal->job.push_back(
        {"NCCL_IB_QPS_PER_CONNECTION", "4", "requested with --fabric ecmp: several connections use several paths", {}});
    proposal->job.push_back({"NCCL_IB_SPLIT_DATA_ON_QPS",
                             "0",
                             "requested with --fabric ecmp: messages alternate between the connections",
                             {}});
  }
}

void report_far_adapters(const Facts& facts, Proposal* proposal) {
  if (is_grace(facts.machine.view).value) return;
  const auto is_far = [](const RankPlace& place) {
    return place.adapter &&
           (place.nearness == PathClass::phb || place.nearness == PathClass::node || place.nearness == PathClass::sys);
  };
  const auto far = std::ranges::count_if(facts.layout.ranks, is_far);
  if (far == 0) return;
  const bool is_flat = facts.machine.is_guest.is_found() && facts.machine.is_guest.value;
  proposal->notes.push_back(
      cli::format("%zu of %zu GPUs have no adapter within PXB, so NCCL uses host memory for them; ",
                  static_cast<std::size_t>(far), facts.layout.ranks.size()) +
      (is_flat ? "this is a guest whose bus may hide the switches: get NCCL_TOPO_FILE from the provider of the machine"
               : "NCCL_NET_GDR_LEVEL=PHB allows direct access through the processor: measure both before you keep it"));
}

}  // namespace

void propose_nccl(const Facts& facts, Proposal* proposal) {
  propose_adapters(facts, proposal);
  propose_interface(facts, proposal);
  propose_gid(facts, proposal);
  propose_fabric(facts, proposal);
  report_far_adapters(facts, proposal);
}

}  // namespace gdrkit::diag::env
