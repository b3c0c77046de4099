// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/grace.hpp"

#include <algorithm>

#include "diag/machine/pci_path.hpp"

namespace gdrkit::diag {
namespace {

constexpr std::int64_t mellanox = 0x15b3;
constexpr std::int64_t direct_function = 0x2100;

DataDirect find_gpu(const Machine& machine, PciDevice function) {
  DataDirect direct;
  direct.root = function.bridges.empty() ? "" : function.bridges.front();
  std::size_t count = 0;
  for (const PciDevice& gpu : machine.gpus) {
    if (direct.root.empty() || gpu.bridges.empty() || gpu.bridges.front() != direct.root) continue;
    ++count;
    direct.gpu = gpu;
  }
  if (count == 1) {
    const auto& mine = function.bridges;
    const auto& theirs = direct.gpu.bridges;
    const auto [left, right] = std::ranges::mismatch(mine, theirs);
    // The paths below a switch share its upstream port: root port, upstream port, then the differing ports.
    if (left - mine.begin() >= 2 && left != mine.end() && right != theirs.end()) {
      direct.function_port = *left;
      direct.gpu_port = *right;
    }
  } else {
    direct.gpu = {};
  }
  direct.function = std::move(function);
  return direct;
}

}  // namespace

Fact<std::vector<DataDirect>> find_data_direct(const Machine& machine) {
  const auto devices = machine.view.names("/sys/bus/pci/devices");
  Fact<std::vector<DataDirect>> all{devices.is_absent() ? Outcome::found : devices.outcome, {}, devices.reason};
  for (const std::string& address : devices.value) {
    const std::string directory = "/sys/bus/pci/devices/" + address;
    const auto vendor = machine.view.number(directory + "/vendor");
    const auto device = machine.view.number(directory + "/device");
    if (vendor.is_unknown() || device.is_unknown()) {
      all.outcome = Outcome::unreadable;
      all.reason = vendor.is_unknown() ? vendor.reason : device.reason;
    }
    if (vendor.value != mellanox || device.value != direct_function) continue;
    all.value.push_back(find_gpu(machine, read_pci_device(machine.view, address)));
  }
  return all;
}

Fact<bool> is_grace(const MachineView& view) {
  const auto cpus = required(view.text("/proc/cpuinfo"));
  if (!cpus.is_found()) return pass<bool>(cpus);
  // Arm's Neoverse V2. Other implementers number their parts independently; x86 processors have neither line.
  return found(labelled(cpus, "CPU implementer").value == "0x41" && labelled(cpus, "CPU part").value == "0xd4f");
}

Fact<bool> needs_translation(const MachineView& view) {
  const auto grace = is_grace(view);
  if (!grace.is_found() || !grace.value) return grace;
  const auto version = read_linux_version(view);
  const bool is_old = version.value.major < 6 || (version.value.major == 6 && version.value.minor < 11);
  return {version.outcome, !version.is_found() || is_old, version.reason};
}

/// pci_enable_pasid in Linux requires request redirection and upstream forwarding on every port. The ports of a switch
/// have both or neither.
Fact<bool> has_pasid_path(const MachineView& view, const PciDevice& gpu) {
  constexpr std::uint32_t needed = acs_request_redirect | acs_upstream_forwarding;
  if (gpu.bridges.empty()) return {Outcome::unreadable, false, "the PCIe ports above the GPU are unknown"};
  for (const std::string& port : {gpu.bridges.front(), gpu.bridges.back()}) {
    const auto acs = read_acs(view, port);
    if (acs.is_unknown()) return {acs.outcome, false, port + ": " + acs.reason};
    if (acs.is_absent() || (acs.value.set & needed) != needed) return {Outcome::found, false, port};
  }
  return {Outcome::found, true, gpu.bridges.back()};
}

}  // namespace gdrkit::diag
