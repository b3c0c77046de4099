// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group isolation: ACS and IOMMU, which may send a packet between GPU and adapter through the processor, or stop it.
#include <algorithm>
#include <set>

#include "tools/doctor/check.hpp"
#include "tools/machine/pci_config.hpp"

namespace gdrkit::tools::doctor {
namespace {

constexpr std::uint32_t request_redirect = 0x04;
constexpr std::uint32_t completion_redirect = 0x08;
constexpr std::uint32_t egress_control = 0x20;
constexpr char pass_through[] = "iommu=pt";
constexpr char pass_through_risk[] =
    "devices of the host can then reach all of its memory; those of guests stay confined";

/// The ports strictly below the bridge that both devices are behind; none when they share no bridge (then packets go
/// through the processor anyway, and what the ports redirect does not matter).
std::set<std::string> ports_between(const PciDevice& a, const PciDevice& b) {
  const auto [left, right] = std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  std::set<std::string> ports;
  if (left == a.bridges.begin()) return ports;
  ports.insert(left, a.bridges.end());
  ports.insert(right, b.bridges.end());
  return ports;
}

/// These need redirection set in a pattern of its own: clearing it there breaks what works.
bool may_need_redirection(const Machine& machine) {
  const auto cpus = machine.view.text("/proc/cpuinfo");
  constexpr std::int64_t connectx8 = 0x1023;
  return cpus.value.find("0xd4f") != std::string::npos &&
         std::any_of(machine.adapters.begin(), machine.adapters.end(),
                     [](const Adapter& adapter) { return adapter.pci.device == connectx8; });
}

bool has_word(const std::string& line, const std::string& word) {
  const std::string padded = " " + line + " ";
  return padded.find(" " + word + " ") != std::string::npos;
}

}  // namespace

const Advice advice_acs_redirect = {
    "the control register of the ACS capability of every port between a GPU and an adapter, strictly below the bridge "
    "that "
    "both are behind",
    "redirected packets go up to the processor and back instead of through the switch: half speed, hangs, or errors",
    {"sudo setpci -s PORT ECAP_ACS+6.w=0000   # at each boot: pci=disable_acs_redir=PORT;PORT on the command line of "
     "Linux",
     true, false, false, "sudo setpci -s PORT ECAP_ACS+6.w"},
    "without root only 64 bytes can be read, which is unknown and not fine; in a virtual machine, and on hosts that "
    "give "
    "devices to guests with ATS, redirection is wanted",
    {.now = "setpci -s ADDRESS ECAP_ACS+6.w=0000",
     .file = "/etc/systemd/system/gdrkit-acs.service",
     .text = "[Unit]\n"
             "Description=no ACS redirection between GPUs and adapters (gdrkit doctor: acs.redirect)\n"
             "[Service]\n"
             "Type=oneshot\n"
             "RemainAfterExit=yes\n"
             "ExecStart=/bin/sh -c \"exec setpci -s ADDRESS ECAP_ACS+6.w=0000\"\n"
             "[Install]\n"
             "WantedBy=multi-user.target",
     .enable = "systemctl daemon-reload\nsystemctl enable gdrkit-acs.service",
     .risk = "devices behind these ports are no longer kept apart: not on hosts that give them to guests"}};

void check_acs_redirect(const Machine& machine, Findings& findings) {
  const auto& gpus = gpus_or_skip(machine, findings);
  if (gpus.empty() || adapters_or_skip(machine, findings).empty()) return;
  if (machine.is_guest.value) return findings.add(State::skip, "", "a virtual machine is not shown the real ports");
  if (!machine.is_guest.is_found()) return findings.add_unknown("", machine.is_guest);
  if (may_need_redirection(machine)) {
    return findings.add(State::unknown, "",
                        "Grace with ConnectX-8 may need redirection in a pattern that this check does not know");
  }
  std::set<std::string> ports;
  for (const PciDevice& gpu : gpus) {
    for (const Adapter& adapter : machine.adapters) ports.merge(ports_between(gpu, adapter.pci));
  }
  if (ports.empty()) return findings.add(State::skip, "", "no GPU shares a bridge with an adapter");
  for (const std::string& port : ports) {
    const PciConfig config(machine.view, "/sys/bus/pci/devices/" + port);
    const auto at = config.extended_capability(acs_capability);
    const auto control = at.is_found() ? config.value(at.value + 6, 2) : Fact<std::uint32_t>{at.outcome, 0, at.reason};
    if (control.is_absent()) {
      findings.add(State::ok, port, "has no ACS");
    } else if (!control.is_found()) {
      findings.add_unknown(port, control);
    } else {
      const bool redirects = (control.value & (request_redirect | completion_redirect | egress_control)) != 0;
      findings.add(redirects ? State::fail : State::ok, port, format("ACS control is 0x%04x", control.value),
                   "sudo setpci -s " + port + " ECAP_ACS+6.w=0000   # at each boot: pci=disable_acs_redir=" + port);
    }
  }
}

const Advice advice_acs_override = {
    "pcie_acs_override= in /proc/cmdline",
    "the option makes a patched Linux pretend that ports isolate; it clears nothing, and hides what is true",
    {"remove pcie_acs_override= from the command line of Linux", true, true, true, "cat /proc/cmdline"},
    "workstations that give devices to guests use it on purpose"};

void check_acs_override(const Machine& machine, Findings& findings) {
  const auto line = machine.view.line("/proc/cmdline");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  const bool is_set = line.value.find("pcie_acs_override=") != std::string::npos;
  findings.add(is_set ? State::warn : State::ok, "/proc/cmdline",
               is_set ? "has pcie_acs_override=" : "has no pcie_acs_override=");
}

const Advice advice_iommu_mode = {
    "iommu_group/type of each GPU and adapter",
    "with translation on, packets between devices go through the IOMMU of the processor: slow, and refused by some "
    "drivers",
    {"boot with iommu=pt (arm64: iommu.passthrough=1), or turn the IOMMU off in the firmware's set-up", true, true,
     true, "cat /sys/bus/pci/devices/ADDRESS/iommu_group/type"},
    "the command line decides little: what counts is the type of each device's group; a guest does not see its host's "
    "IOMMU",
    {.boot_option = pass_through, .risk = pass_through_risk}};

void check_iommu_mode(const Machine& machine, Findings& findings) {
  const bool is_closed =
      machine.driver.is_found() && machine.driver.value.find("Open Kernel Module") == std::string::npos;
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    const auto group = machine.view.node(device.folder + "/iommu_group");
    if (group.is_absent()) {
      findings.add(State::ok, device.address,
                   machine.is_guest.value ? "is in no group (the host may have an IOMMU)" : "is in no group");
      continue;
    }
    const auto type = machine.view.line(device.folder + "/iommu_group/type");
    if (!type.is_found()) {
      findings.add(State::unknown, device.address, type.reason);
      continue;
    }
    const bool is_translated = type.value.rfind("DMA", 0) == 0;
    const State state = type.value == "identity" ? State::ok
                        : !is_translated         ? State::unknown
                        : is_closed              ? State::fail
                                                 : State::warn;
    findings.add(state, device.address,
                 "its IOMMU group is of type " + type.value +
                     (is_translated && is_closed ? ", and the driver is not the open flavour" : ""));
  }
}

const Advice advice_iommu_cmdline = {
    "intel_iommu=on without iommu=pt in /proc/cmdline",
    "this turns translation on for every device of the host",
    {"add iommu=pt to the command line of Linux", true, true, true, "cat /proc/cmdline"},
    "iommu.mode looks at what came of it: believe that",
    {.boot_option = pass_through, .risk = pass_through_risk}};

void check_iommu_cmdline(const Machine& machine, Findings& findings) {
  const auto line = machine.view.line("/proc/cmdline");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  const bool is_on = has_word(line.value, "intel_iommu=on");
  const bool passes = has_word(line.value, "iommu=pt") || has_word(line.value, "iommu.passthrough=1");
  findings.add(
      is_on && !passes ? State::warn : State::ok, "/proc/cmdline",
      std::string(is_on ? "has" : "has no") + " intel_iommu=on, " + (passes ? "passes through" : "no iommu=pt"));
}

}  // namespace gdrkit::tools::doctor
