// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group gpu, from files: processors for which NVIDIA's driver refuses peer transfers that pass through them.
#include <algorithm>
#include <cstdlib>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {
namespace {

/// The driver's decision on peer transfers through this processor: nv_grdma_pci_topology_supported in its open source.
enum class Processor { allowed, refused, grace, unknown };

struct Judged {
  Processor kind = Processor::unknown;
  std::string text;
};

constexpr std::int64_t arm = 0x41;
constexpr std::int64_t ampere_computing = 0xc0;
constexpr std::int64_t neoverse_n1 = 0xd0c;
constexpr std::int64_t neoverse_v2 = 0xd4f;
constexpr std::int64_t pci_ampere_computing = 0x1def;
constexpr std::int64_t pci_nvidia = 0x10de;

std::int64_t hexadecimal(const Fact<std::string>& text) {
  return text.is_found() ? std::strtoll(text.value.c_str(), nullptr, 16) : 0;
}

/// Several vendors use Arm's cores: the vendor of the GPU's root port identifies the processor.
Judged judge(const Machine& machine, const PciDevice& gpu) {
  const auto cpus = machine.view.text("/proc/cpuinfo");
  if (!cpus.is_found()) return {Processor::unknown, cpus.reason};
  if (labelled(cpus, "vendor_id").is_found() || labelled(cpus, "flags").is_found()) return {Processor::allowed, "x86"};
  const std::int64_t maker = hexadecimal(labelled(cpus, "CPU implementer"));
  const std::int64_t part = hexadecimal(labelled(cpus, "CPU part"));
  if (maker == ampere_computing) return {Processor::refused, "AmpereOne"};
  const auto vendor = gpu.bridges.empty()
                          ? Fact<std::int64_t>{}
                          : machine.view.number("/sys/bus/pci/devices/" + gpu.bridges.front() + "/vendor");
  if (maker == arm && part == neoverse_n1 && vendor.value == pci_ampere_computing)
    return {Processor::refused, "Ampere Altra"};
  if (maker == arm && part == neoverse_v2 && vendor.value == pci_nvidia) return {Processor::grace, "NVIDIA Grace"};
  return {Processor::unknown,
          cli::format(
              "unknown whether the driver allows peer transfers on this processor (implementer 0x%llx, part 0x%llx)",
              static_cast<unsigned long long>(maker), static_cast<unsigned long long>(part))};
}

/// The links between GPU and processor, from level probe. The driver skips its check if there are any.
Fact<std::int64_t> c2c_links(const Machine& machine, const PciDevice& gpu) {
  const auto& nvml = machine.probe.nvml;
  if (!nvml.is_found()) return {Outcome::unreadable, 0, nvml.reason};
  const NvmlGpu* known = nvml.value.gpu_at(gpu.address);
  return known != nullptr ? known->c2c_links
                          : Fact<std::int64_t>{Outcome::unreadable, 0, "NVML does not show this GPU"};
}

/// Grace accesses GPUs that NVLink-C2C connects coherently, but not cards in PCIe slots.
Judged judge_all(const Machine& machine, const PciDevice& gpu) {
  const auto links = c2c_links(machine, gpu);
  if (links.is_found() && links.value > 0) return {Processor::allowed, "NVLink-C2C connects it to the processor"};
  const Judged judged = judge(machine, gpu);
  if (judged.kind != Processor::grace) return judged;
  if (links.is_unknown()) {
    return {Processor::unknown, "unknown whether NVLink-C2C connects the GPU to the processor: " + links.reason};
  }
  return {Processor::refused, "NVIDIA Grace without NVLink-C2C"};
}

bool has_common_bridge(const PciDevice& gpu, const PciDevice& adapter) {
  return !gpu.bridges.empty() && !adapter.bridges.empty() && gpu.bridges.front() == adapter.bridges.front();
}

/// Adapters whose path to the GPU goes through the processor.
std::vector<std::string> adapters_apart(const Machine& machine, const PciDevice& gpu) {
  std::vector<std::string> apart;
  for (const Adapter& adapter : machine.adapters) {
    if (!adapter.pci.address.empty() && !has_common_bridge(gpu, adapter.pci)) apart.push_back(adapter.name);
  }
  return apart;
}

}  // namespace

const Advice advice_gpu_chipset_p2p = {
    "the processors in /proc/cpuinfo, the vendor of the GPU's root port, and whether GPU and adapter share a root "
    "port; on Grace, at level probe, NVLink-C2C",
    "the driver refuses RDMA mappings between two devices if the path between them goes through Ampere Altra, "
    "AmpereOne, or NVIDIA Grace without NVLink-C2C: memory registration fails",
    {"move the adapter below the GPU's PCIe switch; as a last resort: options nvidia NVreg_GrdmaPciTopoCheckOverride=1 "
     "in /etc/modprobe.d, then reload the driver",
     true, true, true, "gdrkit doctor --only gpu.chipset_p2p"},
    "in virtual machines the driver does not check the processor; the override allows transfers that may hang or "
    "corrupt data, so test them"};

void check_gpu_chipset_p2p(const Machine& machine, Findings& findings) {
  const auto& gpus = gpus_or_skip(machine, findings);
  if (gpus.empty() || adapters_or_skip(machine, findings).empty()) return;
  const auto allowed = labelled(machine.view.text("/proc/driver/nvidia/params"), "GrdmaPciTopoCheckOverride");
  for (const PciDevice& gpu : gpus) {
    const auto apart = adapters_apart(machine, gpu);
    if (apart.empty()) {
      findings.add(State::ok, gpu.address, "shares a root port with every adapter: the processor does not matter");
      continue;
    }
    const Judged judged = judge_all(machine, gpu);
    if (judged.kind == Processor::allowed) {
      findings.add(State::ok, gpu.address, judged.text + ": the driver allows peer transfers");
    } else if (judged.kind == Processor::unknown) {
      findings.add(State::unknown, gpu.address, judged.text);
    } else if (machine.is_guest.is_found() && machine.is_guest.value) {
      findings.add(State::skip, gpu.address, "in a virtual machine the driver does not check the processor");
    } else if (allowed.is_found() && allowed.value == "1") {
      findings.add(
          State::info, gpu.address,
          "GrdmaPciTopoCheckOverride=1 allows peer transfers, which the driver otherwise refuses on " + judged.text);
    } else {
      for (const std::string& adapter : apart) {
        findings.add(State::fail, gpu.address + " and " + adapter,
                     "their path goes through the processor, and the driver refuses peer transfers on " + judged.text);
      }
    }
  }
}

}  // namespace gdrkit::diag::doctor
