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
  const auto take = [&](Effect effect, State least, std::initializer_list<const char*> ids) {
    for (const CheckResult& result : examination.results) {
      const auto is_it = [&](const char* id) { return std::strcmp(id, result.check->id) == 0; };
      if (std::ranges::none_of(ids, is_it)) continue;
      for (const Finding& finding : result.findings) {
        const bool is_fault = finding.state == State::fail || (least == State::warn && finding.state == State::warn);
        if (is_fault) entries_[effect].push_back({result.check->id, finding});
      }
    }
  };
  take(Effect::blocks, State::fail,
       {"drv.loaded", "drv.params", "drv.remap", "gpu.chipset_p2p", "rdma.modules", "ctr.devices", "lim.memlock",
        "iommu.mode", "iommu.smmu", "nic.sm", "nvl.fabric"});
  take(Effect::rules_out_peer_memory, State::fail, {"peer.conflict", "peer.symbols"});
  take(Effect::explains, State::fail,
       {"peer.any", "rdma.stack", "nic.state", "env.gdr_level", "env.ib_hca", "env.ib_disable", "env.nvshmem",
        "env.ucx"});
  take(Effect::slows, State::warn,
       {"acs.datadirect", "iommu.mode", "pcie.width", "pcie.speed", "pcie.mrrs", "nic.rate"});
  take(Effect::redirects, State::warn, {"acs.redirect"});
  take(Effect::rules_out_mapping, State::fail,
       {"drv.loaded", "ctr.devices", "bar1.size", "bar.above4g", "nvl.fabric", "iommu.smmu"});
  take(Effect::blocks_peers, State::fail, {"drv.loaded", "nvl.fabric", "iommu.smmu"});
  take(Effect::slows_peers, State::warn, {"iommu.mode", "pcie.width", "pcie.speed"});
}

std::vector<Cause> Causes::with(Effect effect, const PairNames& pair) const {
  std::vector<Cause> causes;
  const auto known = entries_.find(effect);
  if (known == entries_.end()) return causes;
  for (const Entry& entry : known->second) {
    const std::string& subject = entry.finding.subject;
    // A setting concerns only the library whose variable it is.
    if (std::strncmp(entry.id, "env.", 4) == 0 && !subject.starts_with(std::string(pair.library) + "_")) continue;
    // "mlx5_0:1" is a port of mlx5_0; a PCI address contains colons.
    const std::string adapter = subject.substr(0, subject.rfind(':'));
    const bool is_ours = pair.own.count(subject) > 0 || pair.own.count(adapter) > 0 || subject == pair.library;
    const bool is_anothers = objects_.count(subject) > 0 || objects_.count(adapter) > 0;
    if (!is_ours && is_anothers) continue;
    const auto is_listed = [&](const Cause& cause) { return std::strcmp(cause.id, entry.id) == 0; };
    if (std::ranges::none_of(causes, is_listed)) causes.push_back({entry.id, entry.finding.text});
  }
  return causes;
}

const CheckResult* Causes::result_of(const char* id) const {
  for (const CheckResult& result : examination_.results) {
    if (std::strcmp(result.check->id, id) == 0) return &result;
  }
  return nullptr;
}

State Causes::state_of(const char* id) const {
  const CheckResult* result = result_of(id);
  return result == nullptr ? State::skip : result->worst();
}

std::string Causes::text_of(const char* id) const {
  const CheckResult* result = result_of(id);
  if (result == nullptr) return std::string(id) + " was not run";
  const auto is_worst = [&](const Finding& finding) { return finding.state == result->worst(); };
  return std::ranges::find_if(result->findings, is_worst)->text;
}

}  // namespace gdrkit::diag::doctor
