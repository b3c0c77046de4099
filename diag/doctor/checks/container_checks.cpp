// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group container: limits of control groups and namespaces.
#include <cstdlib>
#include <set>
#include <sstream>

#include "diag/doctor/check.hpp"
#include "diag/machine/adapter_ports.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t longest_path = 4096;

/// Directories of the process's control group and of its parents that may hold rdma.max. The limits of the parents
/// apply too.
std::vector<std::string> group_directories(const std::string& groups) {
  std::vector<std::string> directories;
  for (const std::string& line : split(groups, '\n')) {
    // "0::/a/b" in version 2; "7:rdma:/a/b" in version 1.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos || line.size() > longest_path) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_unified = controllers == ",,";
    if (!is_unified && controllers.find(",rdma,") == std::string::npos) continue;
    const std::string base = std::string("/sys/fs/cgroup") + (is_unified ? "" : "/rdma");
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (path.empty() || path.front() != '/' || path == "/") path.clear();
      directories.push_back(base + path);
      if (is_unified) directories.push_back(base + "/unified" + path);  // if both versions are mounted
      if (path.empty()) break;
    }
  }
  return directories;
}

/// "mlx5_0 hca_handle=2 hca_object=max": adds a finding for each value that is not "max".
void judge_limits(const std::string& file, const std::string& limits, Findings& findings) {
  for (const std::string& line : split(limits, '\n')) {
    std::istringstream words(line);
    std::string device, word;
    words >> device;
    while (words >> word) {
      const auto equals = word.find('=');
      const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (value == "max") continue;
      char* end = nullptr;
      const auto count = std::strtoull(value.c_str(), &end, 10);
      const bool is_number = !value.empty() && *end == '\0';
      findings.add(!is_number   ? State::unknown
                   : count == 0 ? State::fail
                                : State::warn,
                   device, file + (is_number ? " allows " : ": cannot parse ") + word);
    }
  }
}

}  // namespace

const Advice advice_ctr_cgroup = {"rdma.max of the control group in /proc/self/cgroup and of its parents",
                                  "hca_handle limits the open adapters, hca_object the total of queues, registrations "
                                  "and other objects; verbs calls that exceed a limit fail",
                                  {"echo 'ADAPTER hca_handle=max hca_object=max' | sudo tee GROUP/rdma.max   # on the "
                                   "host; GROUP: the container's control group",
                                   true, false, false, "cat /sys/fs/cgroup/rdma.max"},
                                  "a container does not see the limits of the parents of its control group; no file "
                                  "shows the device rules of a group"};

void check_ctr_cgroup(const Machine& machine, Findings& findings) {
  if (adapters_or_skip(machine, findings).empty()) return;
  const auto groups = machine.view.text("/proc/self/cgroup");
  if (groups.is_absent()) return findings.add(State::skip, "", "the Linux kernel has no control groups");
  if (!groups.is_found()) return findings.add_unknown("/proc/self/cgroup", groups);
  bool has_limits = false;
  const std::size_t before = findings.all().size();
  for (const std::string& directory : group_directories(groups.value)) {
    const auto limits = machine.view.text(directory + "/rdma.max");
    if (limits.is_unknown()) findings.add_unknown(directory, limits);
    if (!limits.is_found()) continue;
    has_limits = true;
    judge_limits(directory + "/rdma.max", limits.value, findings);
  }
  if (findings.all().size() > before) return;
  findings.add(State::ok, "rdma.max",
               has_limits ? "sets no limit" : "not found in any group of this process: no limit");
}

const Advice advice_ctr_rdma_ns = {
    "netns_mode of ib_core, and whether the network interfaces of RoCE addresses are in this network namespace",
    "a container with its own network namespace sees a shared adapter, but not the network interface that has the "
    "adapter's addresses, so connections fail",
    {"start the container with the host's network (docker: --network=host; Kubernetes: hostNetwork: true), or give it "
     "an interface of the adapter (SR-IOV, macvlan, or rdma link set netns)",
     true, false, false, "rdma system show; ls /sys/class/net"},
    "InfiniBand needs no network interface; in exclusive mode (netns_mode N) a namespace does not see the adapters of "
    "other namespaces"};

void check_ctr_rdma_ns(const Machine& machine, Findings& findings) {
  const auto& adapters = adapters_or_skip(machine, findings);
  if (adapters.empty()) return;
  const auto mode = machine.view.line("/sys/module/ib_core/parameters/netns_mode");
  if (mode.is_unknown()) return findings.add_unknown("netns_mode", mode);
  const bool is_shared = mode.is_absent() || mode.value == "Y";
  if (!is_shared && mode.value != "N") return findings.add(State::unknown, "netns_mode", "is '" + mode.value + "'");
  findings.add(
      State::ok, "netns_mode",
      is_shared ? "all network namespaces share the adapters" : "each adapter belongs to one network namespace");
  for (const Adapter& adapter : adapters) {
    for (const std::string& port : machine.view.names(adapter.directory + "/ports").value) {
      const std::string directory = adapter.directory + "/ports/" + port;
      const auto layer = machine.view.line(directory + "/link_layer");
      const auto gids = read_gids(machine.view, directory);
      if (layer.value != "Ethernet" || gids.value.empty()) continue;
      std::set<std::string> missing, present;
      for (const Gid& gid : gids.value) {
        if (gid.interface.empty() || gid.interface.find('/') != std::string::npos) continue;
        const bool is_here = machine.view.presence("/sys/class/net/" + gid.interface) == Outcome::found;
        (is_here ? present : missing).insert(gid.interface);
      }
      const std::string subject = adapter.name + ":" + port;
      if (!present.empty()) {
        findings.add(State::ok, subject, *present.begin() + " is in this network namespace");
      } else if (!missing.empty()) {
        findings.add(State::fail, subject, *missing.begin() + " is in another network namespace");
      } else {
        findings.add(State::unknown, subject,
                     "cannot read the network interfaces of the port's addresses (gid_attrs/ndevs)");
      }
    }
  }
}

}  // namespace gdrkit::diag::doctor
