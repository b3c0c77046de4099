// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/check.hpp"

#include <algorithm>

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t longest_text = 400;

}  // namespace

const char* name_of(State state) {
  constexpr const char* names[] = {"ok", "info", "warn", "fail", "skip", "unknown"};
  return names[static_cast<std::size_t>(state)];
}

void Findings::add(State state, const std::string& subject, const std::string& text, const std::string& command) {
  all_.push_back({state, plain(subject, longest_text), plain(text, longest_text), plain(command, longest_text)});
}

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = {
#define GDRKIT_CHECK(name, id, group, level, required, title) \
  {id, #group, title, Level::level, required, &advice_##name, &check_##name},
#include "diag/doctor/checks.def"
#undef GDRKIT_CHECK
  };
  return checks;
}

const std::vector<PciDevice>& gpus_or_skip(const Machine& machine, Findings& findings) {
  if (machine.pci_outcome != Outcome::found) {
    findings.add(State::unknown, "", "cannot determine whether this machine has a GPU: " + machine.pci_reason);
  } else if (machine.gpus.empty()) {
    findings.add(State::skip, "",
                 cli::format("no NVIDIA GPU: no device of %zu in /sys/bus/pci/devices has vendor 0x10de and class 0x03",
                             machine.pci_count));
  }
  return machine.gpus;
}

const std::vector<Adapter>& adapters_or_skip(const Machine& machine, Findings& findings) {
  if (machine.adapter_outcome == Outcome::absent ||
      (machine.adapter_outcome == Outcome::found && machine.adapters.empty())) {
    findings.add(State::skip, "", "no RDMA adapter: /sys/class/infiniband is empty or absent");
  } else if (machine.adapter_outcome != Outcome::found) {
    findings.add(State::unknown, "",
                 "cannot determine whether this machine has an RDMA adapter: " + machine.adapter_reason);
  }
  return machine.adapters;
}

std::vector<PciDevice> devices_or_skip(const Machine& machine, Findings& findings) {
  std::vector<PciDevice> devices = gpus_or_skip(machine, findings);
  if (machine.adapter_outcome != Outcome::found && machine.adapter_outcome != Outcome::absent) {
    (void)adapters_or_skip(machine, findings);
  }
  for (const Adapter& adapter : machine.adapters) {
    const auto is_same = [&](const PciDevice& other) { return other.address == adapter.pci.address; };
    if (adapter.pci.address.empty() || std::ranges::any_of(devices, is_same)) continue;
    devices.push_back(adapter.pci);
  }
  return devices;
}

const NvmlFacts* nvml_or_skip(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return nullptr;
  if (!machine.probe.nvml.is_found()) {
    findings.add(State::unknown, "", machine.probe.nvml.reason);
    return nullptr;
  }
  return &machine.probe.nvml.value;
}

std::vector<const NvmlGpu*> nvml_gpus_or_skip(const Machine& machine, Findings& findings) {
  std::vector<const NvmlGpu*> shown;
  const NvmlFacts* nvml = nvml_or_skip(machine, findings);
  if (nvml == nullptr) return shown;
  for (const NvmlGpu& gpu : nvml->gpus) {
    const auto is_this = [&](const PciDevice& device) { return device.address == gpu.address.value; };
    if (!gpu.address.is_found()) {
      findings.add(State::unknown, cli::format("GPU %lld", static_cast<long long>(gpu.index)), gpu.address.reason);
    } else if (std::ranges::any_of(machine.gpus, is_this)) {
      shown.push_back(&gpu);
    }
  }
  if (shown.empty() && nvml->gpus.empty()) {
    findings.add(State::unknown, "",
                 cli::format("NVML shows no GPU to this process, but PCI shows %zu", machine.gpus.size()));
  } else if (nvml->gpus.size() < machine.gpus.size()) {
    findings.add(State::skip, "",
                 cli::format("NVML shows this process %zu of %zu GPUs; the others were not checked", nvml->gpus.size(),
                             machine.gpus.size()));
  }
  return shown;
}

}  // namespace gdrkit::diag::doctor
