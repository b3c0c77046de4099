// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group acs: Access Control Services of the ports between two GPUs or GPU and adapter, which may send packets up to the
// processor.

#include <algorithm>
#include <map>

#include "diag/doctor/check.hpp"
#include "diag/machine/grace.hpp"
#include "diag/machine/pci_config.hpp"
#include "diag/machine/pci_path.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr unsigned ats_capability = 0x0f;  // extended
constexpr std::uint32_t ats_enabled = 0x8000;
constexpr std::int64_t network_class = 0x02;
const char* const for_guests = "vfio-pci";
const char* const no_port_matters =
    "found no port between two GPUs, or between a GPU and an adapter, that other acs.* checks do not examine";

/// Returns true after adding a finding with the reason why the ports cannot be checked.
bool cannot_see_ports(const Machine& machine, Findings& findings) {
  if (!machine.is_guest.is_found()) findings.add_unknown("", machine.is_guest);
  if (machine.is_guest.value) findings.add(State::skip, "", "a virtual machine does not see the host's PCIe ports");
  return machine.is_guest.value || !machine.is_guest.is_found();
}

/// A port on the path between two devices of this host.
struct PathPort {
  std::string devices;          ///< the first pair of devices that it connects
  bool has_other_path = false;  ///< used only on paths that NVLink may replace, which is unknown
};

using PathPorts = std::map<std::string, PathPort>;

void add(const std::set<std::string>& ports, const std::string& devices, bool has_other_path, PathPorts* all) {
  for (const std::string& port : ports) {
    PathPort& own = all->try_emplace(port, PathPort{devices, has_other_path}).first->second;
    own.has_other_path = own.has_other_path && has_other_path;
  }
}

/// The ports between this host's GPUs, and between them and its adapters. If two GPUs share no bridge, packets always
/// pass through the processor: redirection matters there only if an IOMMU translates.
Fact<PathPorts> ports_in_use(const Machine& machine) {
  const auto grace = is_grace(machine.view);
  const auto directs = find_data_direct(machine);
  Fact<PathPorts> ports{directs.outcome, {}, directs.reason};
  if (directs.is_unknown()) return ports;
  if (!directs.value.empty() && grace.is_unknown()) return pass<PathPorts>(grace);
  std::set<std::string> roots;  // the ports below these are judged by the pattern of acs.datadirect
  for (const DataDirect& direct : directs.value) {
    if (grace.value) roots.insert(direct.root);
  }
  const auto is_left_out = [&](const PciDevice& gpu) {
    return gpu.driver == for_guests || (!gpu.bridges.empty() && roots.count(gpu.bridges.front()) != 0);
  };
  for (const PciDevice& gpu : machine.gpus) {
    if (is_left_out(gpu)) continue;
    for (const Adapter& adapter : machine.adapters)
      add(ports_between(gpu, adapter.pci), gpu.address + " and " + adapter.name, false, &ports.value);
  }
  for (const GpuPath& path : read_gpu_paths(machine)) {
    const PciDevice& first = machine.gpus[path.first];
    const PciDevice& second = machine.gpus[path.second];
    if (is_left_out(first) || is_left_out(second) || path.route == Route::nvlink) continue;
    if (path.route == Route::processor && (!path.is_translated() || grace.value)) continue;
    add(path.ports, first.address + " and " + second.address, path.route == Route::processor && path.may_be_nvlink,
        &ports.value);
  }
  return ports;
}

/// If there is no path between two GPUs, or a GPU and an adapter, adds a finding with the reason and returns false.
bool has_paths(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return false;
  const bool has_adapter_list = machine.adapter_outcome == Outcome::found || machine.adapter_outcome == Outcome::absent;
  const bool has_pair = machine.gpus.size() > 1;
  return (has_pair && has_adapter_list) || !adapters_or_skip(machine, findings).empty() || has_pair;
}

/// Network functions that are passed through to guests. They are not RDMA devices of this host.
Fact<std::vector<PciDevice>> network_functions_for_guests(const MachineView& view) {
  const auto devices = view.names("/sys/bus/pci/devices");
  Fact<std::vector<PciDevice>> functions{devices.outcome, {}, devices.reason};
  for (const std::string& address : devices.value) {
    const auto kind = view.number("/sys/bus/pci/devices/" + address + "/class");
    if (kind.is_unknown()) return pass<std::vector<PciDevice>>(kind);
    if (kind.value >> 16 != network_class) continue;
    PciDevice device = read_pci_device(view, address);
    if (device.driver == for_guests) functions.value.push_back(std::move(device));
  }
  return functions;
}

/// "xx110x1" from bit 6 down to 0, the format of Linux's config_acs.
bool fits(const std::string& pattern, std::uint32_t set) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool is_set = (set >> (pattern.size() - 1 - i) & 1u) != 0;
    if (pattern[i] != 'x' && is_set != (pattern[i] == '1')) return false;
  }
  return true;
}

}  // namespace

const Advice advice_acs_redirect = {
    "the control register of the ACS capability of every port on the path between two GPUs, or between a GPU and an "
    "adapter, below the bridge that both share; if two GPUs share no bridge and an IOMMU translates, also of the ports "
    "up to the processor",
    "redirected packets go up to the processor and back instead of through the switch: half the bandwidth, hangs, or "
    "errors",
    {"sudo setpci -s PORT ECAP_ACS+6.w=0000   # at each boot: the unit that gdrkit doctor fix acs.redirect writes",
     true, false, false, "sudo setpci -s PORT ECAP_ACS+6.w"},
    "without root, only 64 bytes of the configuration space can be read, so ACS is unknown. This check skips devices "
    "that need redirection: those of virtual machines, those passed through to guests (acs.vm_ats), and Data Direct "
    "(acs.datadirect). GPUs that NVLink connects do not use the ports; --level probe detects NVLink",
    {.now = "setpci -s ADDRESS ECAP_ACS+6.w=0000",
     .file = "/etc/systemd/system/gdrkit-acs.service",
     .text =
         GDRKIT_SERVICE("no ACS redirection between GPUs, and between GPUs and adapters (gdrkit doctor: acs.redirect)",
                        "", "setpci -s ADDRESS ECAP_ACS+6.w=0000"),
     .enable = GDRKIT_ENABLE("gdrkit-acs.service"),
     .risk = "the devices behind these ports are then not isolated from each other; do not use this on hosts that pass "
             "devices through to guests"}};

void check_acs_redirect(const Machine& machine, Findings& findings) {
  if (!has_paths(machine, findings) || cannot_see_ports(machine, findings)) return;
  const auto ports = ports_in_use(machine);
  if (ports.is_unknown()) return findings.add_unknown("", ports);
  if (ports.value.empty()) return findings.add(State::skip, "", no_port_matters);
  for (const auto& [port, path] : ports.value) {
    const auto acs = read_acs(machine.view, port);
    if (acs.is_absent()) {
      findings.add(State::ok, port, "has no ACS");
    } else if (!acs.is_found()) {
      findings.add_unknown(port, acs);
    } else if ((acs.value.set & acs_redirects) == 0) {
      findings.add(State::ok, port, cli::format("ACS control is 0x%04x", acs.value.set));
    } else {
      findings.add(path.has_other_path ? State::warn : State::fail, port,
                   cli::format("ACS control is 0x%04x, on the path between ", acs.value.set) + path.devices +
                       (path.has_other_path ? " unless NVLink connects them" : ""),
                   "sudo setpci -s " + port +
                       " ECAP_ACS+6.w=0000   # at each boot: the unit that gdrkit doctor fix acs.redirect writes");
    }
  }
}

const Advice advice_acs_override = {
    "pcie_acs_override= in /proc/cmdline",
    "pcie_acs_override, an option of a patched Linux, reports isolation that the hardware does not provide; it does "
    "not clear any ACS bit",
    {"remove pcie_acs_override=VALUE from the Linux command line (Debian, Ubuntu: /etc/default/grub, then update-grub; "
     "Red Hat: grubby --update-kernel=ALL --remove-args=pcie_acs_override=VALUE), then reboot",
     true, true, true, "cat /proc/cmdline"},
    "workstations that pass devices through to guests use it on purpose"};

void check_acs_override(const Machine& machine, Findings& findings) {
  const auto line = machine.view.line("/proc/cmdline");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  const bool is_set = line.value.find("pcie_acs_override=") != std::string::npos;
  findings.add(is_set ? State::warn : State::ok, "/proc/cmdline",
               is_set ? "has pcie_acs_override=" : "has no pcie_acs_override=");
}

const Advice advice_acs_vm_ats = {
    "ATS of network functions that are passed through to guests (vfio-pci), and the ACS control of the ports between "
    "each of them and a GPU that is passed through too",
    "ACS redirection isolates guests and must stay on; packets between two devices of one guest go directly through "
    "the switch only if ATS is on in the adapter and Direct Translated is on in the ports",
    {"run sudo mlxconfig -d ADDRESS set ATS_ENABLED=true, then power-cycle the machine; see the finding of each port "
     "for the command",
     true, true, true, "sudo lspci -vv -s ADDRESS | grep -A2 'Address Translation'; sudo setpci -s PORT ECAP_ACS+6.w"},
    "do not clear ACS on such a host; ATS shows as on only while a guest uses the function"};

void check_acs_vm_ats(const Machine& machine, Findings& findings) {
  const auto& gpus = gpus_or_skip(machine, findings);
  if (gpus.empty()) return;
  if (std::ranges::none_of(gpus, [](const PciDevice& gpu) { return gpu.driver == for_guests; })) {
    return findings.add(State::skip, "", "no GPU is passed through to a guest (vfio-pci)");
  }
  if (cannot_see_ports(machine, findings)) return;
  const auto functions = network_functions_for_guests(machine.view);
  if (functions.is_unknown()) return findings.add_unknown("", functions);
  std::set<std::string> ports;
  for (const PciDevice& function : functions.value) {
    std::set<std::string> own;
    for (const PciDevice& gpu : gpus) {
      if (gpu.driver == for_guests) own.merge(ports_between(gpu, function));
    }
    if (own.empty()) continue;
    ports.merge(own);
    const PciConfig config(machine.view, function.directory);
    const auto at = config.extended_capability(ats_capability);
    const auto control = at.is_found() ? config.value(at.value + 6, 2) : Fact<std::uint32_t>{at.outcome, 0, at.reason};
    const bool is_on = control.is_found() && (control.value & ats_enabled) != 0;
    if (control.is_unknown()) findings.add_unknown(function.address, control);
    if (!control.is_unknown()) {
      findings.add(is_on ? State::ok : State::warn, function.address,
                   is_on                 ? "has ATS on"
                   : control.is_absent() ? "shows no ATS"
                                         : "has ATS off");
    }
  }
  for (const std::string& port : ports) {
    const auto acs = read_acs(machine.view, port);
    if (acs.is_unknown()) findings.add_unknown(port, acs);
    if (!acs.is_found() || (acs.value.set & acs_request_redirect) == 0) continue;
    findings.add((acs.value.set & acs_direct_translated) != 0 ? State::ok : State::warn, port,
                 cli::format("redirects, ACS control is 0x%04x", acs.value.set),
                 "boot with pci=config_acs=1xxxxxx@" + port + " (Linux 6.11)");
  }
  if (findings.all().empty())
    findings.add(State::skip, "", "no network function is passed through to a guest together with a GPU");
}

const Advice advice_acs_datadirect = {
    "the ACS control of the ports that lead to each Data Direct function of a ConnectX-8, of those that lead to its "
    "GPU, and of their root port",
    "Data Direct needs a specific ACS setting on each port; it does not work if ACS is cleared on all ports, as "
    "acs.redirect advises for other machines",
    {"boot with the pattern in pci=config_acs=... (Linux 6.11): rdma_topo of a recent rdma-core writes it for all "
     "ports",
     true, true, true, "sudo rdma_topo check; sudo setpci -s PORT ECAP_ACS+6.w"},
    "the first Linux versions with config_acs accept only one port; setpci at run time does not change the IOMMU "
    "groups (iommu.groups); the required pattern is known only for Grace"};

void check_acs_datadirect(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto directs = find_data_direct(machine);
  if (directs.is_unknown()) return findings.add_unknown("", directs);
  if (directs.value.empty()) return findings.add(State::skip, "", "no adapter has a Data Direct function");
  if (cannot_see_ports(machine, findings)) return;
  const auto grace = is_grace(machine.view);
  if (!grace.is_found()) return findings.add_unknown("/proc/cpuinfo", grace);
  if (!grace.value)
    return findings.add(State::skip, "", "the ACS pattern that Data Direct needs on this processor is unknown");
  for (const DataDirect& direct : directs.value) {
    if (direct.gpu_port.empty()) {
      findings.add(State::unknown, direct.function.address,
                   direct.gpu.address.empty() ? "not exactly one GPU is below its root port"
                                              : "it shares no switch with " + direct.gpu.address);
      continue;
    }
    const std::pair<std::string, const char*> ports[] = {
        {direct.function_port, "xx110x1"}, {direct.gpu_port, "xx101x1"}, {direct.root, "xx111x0"}};
    for (const auto& [port, pattern] : ports) {
      const auto acs = read_acs(machine.view, port);
      if (!acs.is_found()) {
        findings.add(State::unknown, port, acs.is_absent() ? "has no ACS, which Data Direct needs" : acs.reason);
        continue;
      }
      findings.add(fits(pattern, acs.value.set) ? State::ok : State::fail, port,
                   cli::format("ACS control is 0x%04x; Data Direct needs %s in bits 6 to 0 (x: any value)",
                               acs.value.set, pattern),
                   "boot with pci=config_acs=" + std::string(pattern) + "@" + port +
                       "   # all ports in one option, ';' between, in quotes for GRUB");
    }
  }
}

const Advice advice_acs_persist = {
    "/proc/cmdline, /etc/rc.local and the units in /etc/systemd/system, if acs.redirect is ok, the ports can redirect, "
    "and Linux uses an IOMMU",
    "with an IOMMU, Linux turns redirection on at boot: bits that were cleared by hand are set again after the next "
    "boot",
    {"boot with pci=disable_acs_redir=PORT;PORT (all ports in one option, in quotes for GRUB), or install a unit with "
     "ExecStart=setpci -s PORT ECAP_ACS+6.w=0000 for each port",
     true, true, true, "cat /proc/cmdline"},
    "a unit may call a script, which this check does not read; some firmware keeps redirection off without any setting",
    {},
    {{RecordedPath::Kind::setpci, "/etc/{rc.local,systemd/system/*.service*}",
      "files that set configuration space at boot"}}};

void check_acs_persist(const Machine& machine, Findings& findings) {
  if (!has_paths(machine, findings) || cannot_see_ports(machine, findings)) return;
  const auto ports = ports_in_use(machine);
  if (ports.is_unknown()) return findings.add_unknown("", ports);
  if (ports.value.empty()) return findings.add(State::skip, "", no_port_matters);
  bool could_redirect = false;
  for (const auto& [port, path] : ports.value) {
    const auto acs = read_acs(machine.view, port);
    if (acs.is_unknown()) return findings.add_unknown(port, acs);
    if ((acs.value.set & acs_redirects) != 0) return findings.add(State::skip, port, "redirects: see acs.redirect");
    could_redirect = could_redirect || (acs.value.able & acs_redirects) != 0;
  }
  if (!could_redirect)
    return findings.add(State::ok, "ports", "no port between GPUs, or between GPU and adapter, can redirect");
  const auto& gpu = machine.gpus.front();
  const auto group = machine.view.node(gpu.directory + "/iommu_group");
  if (group.is_unknown()) return findings.add_unknown(gpu.address, group);
  if (group.is_absent())
    return findings.add(State::ok, "ports",
                        "Linux does not use an IOMMU, so it does not enable ACS redirection at boot");
  const auto line = machine.view.line("/proc/cmdline");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  for (const char* option : {"disable_acs_redir=", "config_acs="}) {
    if (line.value.find(option) == std::string::npos) continue;
    return findings.add(State::ok, "/proc/cmdline", std::string("has ") + option);
  }
  const std::string directory = "/etc/systemd/system";
  std::vector<std::string> places = {"/etc/rc.local"};
  const auto units = machine.view.names(directory);
  if (units.is_unknown()) return findings.add_unknown(directory, units);
  for (const std::string& unit : units.value) {
    if (unit.find(".service") != std::string::npos) places.push_back(directory + "/" + unit);
  }
  for (const std::string& place : places) {
    const auto text = machine.view.text(place);
    if (text.value.find("ECAP_ACS") != std::string::npos) return findings.add(State::ok, place, "sets ECAP_ACS");
  }
  findings.add(State::info, "ports", "no option, script or unit found that clears redirection after a boot");
}

}  // namespace gdrkit::diag::doctor
