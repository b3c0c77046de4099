// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/causes.hpp"

#include <algorithm>
#include <cstring>

namespace gdrkit::diag::doctor {

Causes::Causes(const Examination& examination, const Machine& machine) : examination_(examination) {
  objects_ = {"NCCL", "UCX", "NVSHMEM"};
  const auto add = [&](const PciDevice& device) {
    objects_.insert(device.address);
    objects_.insert(device.bridges.begin(), device.bridges.end());
  };
  for (const PciDevice& gpu : machine.gpus) add(gpu);
  for (const Adapter& adapter : machine.adapters) {
    add(adapter.pci);
    objects_.insert(adapter.name);
  }
  // nic.state only warns of a port without a link. adapter_ports excludes such ports from those that libraries use.
  blocking_ = entries(examination,
                      {"drv.loaded", "drv.params", "drv.remap", "gpu.chipset_p2p", "rdma.modules", "ctr.devices",
                       "lim.memlock", "iommu.mode", "iommu.smmu", "nic.sm", "nvl.fabric"},
                      State::fail);
  peer_memory_ = entries(examination, {"peer.conflict", "peer.symbols"}, State::fail);
  explaining_ = entries(examination,
                        {"peer.any", "rdma.stack", "nic.state", "env.gdr_level", "env.ib_hca", "env.ib_disable",
                         "env.nvshmem", "env.ucx"},
                        State::fail);
  slowing_ = entries(examination, {"acs.datadirect", "iommu.mode", "pcie.width", "pcie.speed", "pcie.mrrs", "nic.rate"},
                     State::warn);
  redirecting_ = entries(examination, {"acs.redirect"}, State::warn);
  mapping_ = entries(examination, {"drv.loaded", "ctr.devices", "bar1.size", "bar.above4g", "nvl.fabric", "iommu.smmu"},
                     State::fail);
  peers_ = entries(examination, {"drv.loaded", "nvl.fabric", "iommu.smmu"}, State::fail);
  slowing_peers_ = entries(examination, {"iommu.mode", "pcie.width", "pcie.speed"}, State::warn);
}

std::vector<Causes::Entry> Causes::entries(const Examination& examination, std::initializer_list<const char*> ids,
                                           State least) const {
  std::vector<Entry> found;
  for (const CheckResult& result : examination.results) {
    const auto is_it = [&](const char* id) { return std::strcmp(id, result.check->id) == 0; };
    if (std::none_of(ids.begin(), ids.end(), is_it)) continue;
    for (const Finding& finding : result.findings) {
      const bool is_fault = finding.state == State::fail || (least == State::warn && finding.state == State::warn);
      if (is_fault) found.push_back({result.check->id, finding});
    }
  }
  return found;
}

std::vector<Cause> Causes::find(const std::vector<Entry>& entries, const PairNames& pair) const {
  std::vector<Cause> causes;
  for (const Entry& entry : entries) {
    const std::string& subject = entry.finding.subject;
    // A setting concerns only the library whose variable it is.
    if (std::strncmp(entry.id, "env.", 4) == 0 && subject.rfind(std::string(pair.library) + "_", 0) != 0) continue;
    // "mlx5_0:1" is a port of mlx5_0; a PCI address contains colons.
    const std::string adapter = subject.substr(0, subject.rfind(':'));
    const bool is_ours = pair.own.count(subject) > 0 || pair.own.count(adapter) > 0 || subject == pair.library;
    const bool is_anothers = objects_.count(subject) > 0 || objects_.count(adapter) > 0;
    if (!is_ours && is_anothers) continue;
    const auto is_told = [&](const Cause& cause) { return std::strcmp(cause.id, entry.id) == 0; };
    if (std::none_of(causes.begin(), causes.end(), is_told)) causes.push_back({entry.id, entry.finding.text});
  }
  return causes;
}

State Causes::state_of(const char* id) const {
  constexpr int rank[] = {1, 2, 4, 5, 0, 3};  // by State
  State worst = State::skip;
  for (const CheckResult& result : examination_.results) {
    if (std::strcmp(result.check->id, id) != 0) continue;
    for (const Finding& finding : result.findings) {
      if (rank[static_cast<std::size_t>(finding.state)] > rank[static_cast<std::size_t>(worst)]) worst = finding.state;
    }
  }
  return worst;
}

std::string Causes::text_of(const char* id) const {
  const State worst = state_of(id);
  for (const CheckResult& result : examination_.results) {
    if (std::strcmp(result.check->id, id) != 0) continue;
    for (const Finding& finding : result.findings) {
      if (finding.state == worst) return finding.text;
    }
  }
  return std::string(id) + " was not run";
}

}  // namespace gdrkit::diag::doctor
