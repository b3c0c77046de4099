// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "diag/doctor/verdict/verdicts.hpp"
#include "diag/machine/pci_path.hpp"
#include "diag/machine/topology_facts.hpp"
#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr double bits_per_byte = 8;
constexpr double mbyte_per_gbyte = 1000;

/// MB/s of the NVLinks from one GPU to another: direct links, otherwise links through switches. 0: unknown.
double nvlink_rate(const NvmlGpu& from, const NvmlGpu& to) {
  double direct = 0;
  double switched = 0;
  for (const NvmlLink& link : from.links) {
    if (!link.is_active.value || !link.speed_mbps.is_found()) continue;
    if (link.remote_kind.value == "gpu") {
      if (link.remote.value == to.address.value) direct += static_cast<double>(link.speed_mbps.value);
    } else if (link.remote_kind.value != "cpu") {
      switched += static_cast<double>(link.speed_mbps.value);
    }
  }
  return direct > 0 ? direct : switched;
}

class PeerJudge {
 public:
  PeerJudge(const Machine& machine, const Causes& causes)
      : machine_(machine), causes_(causes), topology_(topology_of(machine)), nvml_(machine.probe.nvml) {}

  std::vector<PeerVerdict> judge() {
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < topology_.tree.gpus.size(); ++i) position[topology_.tree.gpus[i].function.name] = i;
    std::vector<PeerVerdict> verdicts;
    for (const GpuPath& path : read_gpu_paths(machine_)) {
      const auto first = position.find(machine_.gpus[path.first].address);
      const auto second = position.find(machine_.gpus[path.second].address);
      if (first == position.end() || second == position.end()) continue;
      verdicts.push_back(judge(path, std::min(first->second, second->second), std::max(first->second, second->second)));
    }
    return verdicts;
  }

 private:
  PeerVerdict judge(const GpuPath& path, std::size_t gpu, std::size_t peer) {
    PeerVerdict verdict;
    verdict.gpu = gpu;
    verdict.peer = peer;
    const auto distance = topology_.distance(Viewer::smi, gpu, peer);
    const bool is_nvlink = path.route == Route::nvlink;
    verdict.path = is_nvlink ? "NV" + std::to_string(distance.nvlinks) : topology::name_of(distance.value);
    verdict.acs = is_nvlink ? "not on the way" : acs_of(path);
    verdict.iommu = path.iommu.is_unknown() ? "unknown" : path.iommu.is_absent() ? "none" : path.iommu.value;
    const bool is_redirected = verdict.acs == "redirects";
    verdict.route = is_nvlink                        ? "NVLink"
                    : path.route == Route::processor ? "processor"
                    : is_redirected                  ? "PCIe bridge, redirected to the processor"
                                                     : "PCIe bridge";
    if (path.may_be_nvlink) verdict.route += ", unless NVLink connects them";
    verdict.gbyte_per_s = rate_of(path, gpu, peer);
    const std::string& address = machine_.gpus[path.first].address;
    const std::string& other = machine_.gpus[path.second].address;
    Known known = all_of({driver_fact(address, other), in_use(machine_, address), in_use(machine_, other)});
    if (known.judgment == Judgment::yes && !is_nvlink && is_redirected && path.is_translated())
      known = {Judgment::unknown, "ports redirect packets to an IOMMU that translates: transfers may hang"};
    verdict.access.use = known.judgment;
    verdict.access.reason = known.why;
    if (known.judgment == Judgment::yes) verdict.access.via = is_nvlink ? "NVLink" : "PCIe";
    add_causes(path, &verdict);
    return verdict;
  }

  void add_causes(const GpuPath& path, PeerVerdict* verdict) const {
    const PairNames names{"GPU", {machine_.gpus[path.first].address, machine_.gpus[path.second].address}};
    rule_out(causes_.with(Effect::blocks_peers, names), &verdict->access, &verdict->blocked_by);
    if (path.route == Route::nvlink || verdict->access.use == Judgment::no) return;
    add_ids(causes_.with(Effect::redirects, {"GPU", path.ports}), &verdict->slowed_by);
    add_ids(causes_.with(Effect::slows_peers, names), &verdict->slowed_by);
  }

  /// What the driver reports about peer access, independent of the path.
  Known driver_fact(const std::string& address, const std::string& other) const {
    if (!nvml_.is_found())
      return {Judgment::unknown, "cannot determine whether the driver allows peer access: " + nvml_.reason};
    for (const std::string& one : {address, other}) {
      if (is_divided(machine_, one)) return {Judgment::no, one + " is in MIG mode, which does not support peer access"};
    }
    const NvmlPair* pair = nvml_.value.pair_of(address, other);
    if (pair == nullptr) return {Judgment::unknown, "NVML does not show both GPUs"};
    for (const auto* status : {&pair->p2p_read, &pair->p2p_write}) {
      if (!status->is_found()) return {Judgment::unknown, "peer access: " + status->reason};
      if (status->value != 0)
        return {Judgment::no, std::string("the driver reports on peer access: ") + p2p_text(status->value)};
    }
    return {Judgment::yes, "the driver reports that peer access works"};
  }

  std::string acs_of(const GpuPath& path) {
    if (!machine_.is_guest.is_found() || machine_.is_guest.value)
      return "unknown";  // a guest does not see the real ports
    bool is_unknown = false;
    for (const std::string& port : path.ports) {
      const auto [at, is_new] = acs_.try_emplace(port);
      if (is_new) at->second = read_acs(machine_.view, port);
      if ((at->second.value.set & acs_redirects) != 0) return "redirects";
      is_unknown = is_unknown || at->second.is_unknown();
    }
    return is_unknown ? "unknown" : "off";
  }

  double rate_of(const GpuPath& path, std::size_t gpu, std::size_t peer) const {
    if (path.route == Route::nvlink) {
      const NvmlGpu* a = nvml_.value.gpu_at(machine_.gpus[path.first].address);
      const NvmlGpu* b = nvml_.value.gpu_at(machine_.gpus[path.second].address);
      if (a == nullptr || b == nullptr) return 0;
      return std::min(nvlink_rate(*a, *b), nvlink_rate(*b, *a)) / mbyte_per_gbyte;
    }
    const auto link = topology::narrowest_link(topology_.tree, topology_.tree.gpus[gpu], topology_.tree.gpus[peer]);
    return link.unread.empty() ? link.gbit_per_s / bits_per_byte : 0;
  }

  const Machine& machine_;
  const Causes& causes_;
  const TopologyFacts& topology_;
  const Fact<NvmlFacts>& nvml_;
  std::map<std::string, Fact<Acs>> acs_;  // by port
};

}  // namespace

std::vector<PeerVerdict> judge_peers(const Machine& machine, const Causes& causes) {
  return PeerJudge(machine, causes).judge();
}

}  // namespace gdrkit::diag::doctor
