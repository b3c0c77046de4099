// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/checks/nvml_gpus.hpp"

#include <algorithm>

namespace gdrkit::diag::doctor {

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
