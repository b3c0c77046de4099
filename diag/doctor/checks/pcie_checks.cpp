// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group pcie: the links of GPUs and adapters, and the counters of their ports.
#include <algorithm>
#include <cstdlib>

#include "diag/doctor/check.hpp"
#include "diag/machine/pci_config.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::int64_t nvidia = 0x10de;
constexpr double unknown_speed = 0;
constexpr long many_corrected_errors = 100;

std::string directory_of(const std::string& address) { return "/sys/bus/pci/devices/" + address; }

/// "16.0 GT/s PCIe" in GT/s.
Fact<double> read_speed(const MachineView& view, const std::string& path) {
  const auto line = view.line(path);
  if (!line.is_found()) return pass<double>(line);
  char* end = nullptr;
  const double speed = std::strtod(line.value.c_str(), &end);
  if (!std::string_view(end).starts_with(" GT/s") || speed <= unknown_speed || speed > 1000) {
    return {Outcome::malformed, speed, path + ": '" + line.value + "' is not a speed"};
  }
  return found(speed);
}

Fact<double> read_width(const MachineView& view, const std::string& path) {
  const auto number = view.number(path);
  if (number.is_found() && (number.value < 1 || number.value > 32)) {
    return {Outcome::malformed, 0, path + ": " + std::to_string(number.value) + " lanes is not a valid width"};
  }
  return {number.outcome, static_cast<double>(number.value), number.reason};
}

struct Link {
  Fact<double> current;
  double best = 0;  ///< the maximum of both ends
};

/// Returns false after adding a finding with the reason why the link cannot be judged.
template <class Read>
bool take_link(const Machine& machine, const PciDevice& device, const std::string& what, Read read, Findings& findings,
               Link* link) {
  const auto& view = machine.view;
  link->current = read(view, device.directory + "/current_link_" + what);
  const auto own = read(view, device.directory + "/max_link_" + what);
  if (!link->current.is_found() || !own.is_found()) {
    // A hypervisor shows links without values to its guests.
    if (machine.is_guest.value) {
      findings.add(State::skip, device.address, "this virtual machine does not see the link");
    } else {
      findings.add(State::unknown, device.address, link->current.is_found() ? own.reason : link->current.reason);
    }
    return false;
  }
  link->best = own.value;
  if (device.bridges.empty()) return true;
  const auto port = read(view, directory_of(device.bridges.back()) + "/max_link_" + what);
  if (port.is_unknown() && !machine.is_guest.value) {
    findings.add_unknown(device.address, port);
    return false;
  }
  if (port.is_found()) link->best = std::min(link->best, port.value);
  return true;
}

/// Total of the counters in an AER file.
Fact<long> total_of(const MachineView& view, const std::string& path, const std::string& label) {
  const auto text = view.text(path);
  if (!text.is_found()) return pass<long>(text);
  const auto at = text.value.find(label + " ");
  const char* digits = at == std::string::npos ? "" : text.value.c_str() + at + label.size() + 1;
  char* end = nullptr;
  const long total = std::strtol(digits, &end, 10);
  if (end == digits) return {Outcome::malformed, 0, path + ": has no " + label};
  return found(total);
}

/// Offsets in the PCI Express capability.
constexpr unsigned device_control = 0x08;
constexpr unsigned link_control = 0x10;

/// A register of two bytes in the PCI Express capability.
Fact<std::uint32_t> express_register(const MachineView& view, const std::string& directory, unsigned offset) {
  const PciConfig config(view, directory);
  const auto at = config.capability(express_capability);
  return at.is_found() ? config.value(at.value + offset, 2) : pass<std::uint32_t>(at);
}

/// The other function of an adapter with two connectors (Socket Direct): the same system image on another bus. "" if
/// none.
std::string other_half(const Machine& machine, const PciDevice& device) {
  const auto bus = [](const std::string& address) { return address.substr(0, address.rfind(':')); };
  const auto image = [&](const Adapter& adapter) {
    return machine.view.line(adapter.directory + "/sys_image_guid").value;
  };
  const auto own = std::ranges::find_if(machine.adapters,
                                        [&](const Adapter& adapter) { return adapter.pci.address == device.address; });
  if (own == machine.adapters.end()) return "";
  const std::string own_image = image(*own);
  if (own_image.find_first_not_of("0:") == std::string::npos) return "";
  for (const Adapter& adapter : machine.adapters) {
    if (!adapter.pci.address.empty() && bus(adapter.pci.address) != bus(device.address) &&
        image(adapter) == own_image) {
      return adapter.name;
    }
  }
  return "";
}

/// express_register() of a device that this check judges; adds a finding if it cannot be read.
Fact<std::uint32_t> take_register(const Machine& machine, const PciDevice& device, unsigned offset,
                                  Findings& findings) {
  auto control = express_register(machine.view, device.directory, offset);
  if (!control.is_found()) {
    findings.add(control.is_absent() ? State::skip : State::unknown, device.address, control.reason);
  }
  return control;
}

}  // namespace

const Advice advice_pcie_width = {
    "current_link_width and max_link_width of the device, max_link_width of the port above, and sys_image_guid of "
    "adapters",
    "half the lanes give half the bandwidth",
    {"reseat the card or its riser; check the bifurcation of the slot in the firmware setup", true, true, true,
     "cat /sys/bus/pci/devices/ADDRESS/current_link_width"},
    "an adapter with two connectors (Socket Direct) has half the lanes in each by design: reported as ok if both "
    "halves have the same system image"};

void check_pcie_width(const Machine& machine, Findings& findings) {
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    Link link;
    if (!take_link(machine, device, "width", read_width, findings, &link)) continue;
    const std::string other = 2 * link.current.value == link.best ? other_half(machine, device) : "";
    findings.add(link.current.value >= link.best ? State::ok
                 : other.empty()                 ? State::fail
                                                 : State::info,
                 device.address,
                 cli::format("x%.0f of x%.0f", link.current.value, link.best) +
                     (other.empty() ? "" : ": " + other + " is the other half of its card"));
  }
}

const Advice advice_pcie_speed = {
    "current_link_speed and max_link_speed of the device, max_link_speed of the port above",
    "a link that trained at a lower generation has half the bandwidth or less",
    {"reseat the card; check the firmware setup for a fixed link speed", true, true, true,
     "cat /sys/bus/pci/devices/ADDRESS/current_link_speed"},
    "idle GPUs lower their link speed on purpose: a low speed of a GPU is reported as info only; check again under "
    "load"};

void check_pcie_speed(const Machine& machine, Findings& findings) {
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    Link link;
    if (!take_link(machine, device, "speed", read_speed, findings, &link)) continue;
    const bool is_low = link.current.value < link.best;
    const bool is_gpu = device.vendor == nvidia;
    findings.add(!is_low  ? State::ok
                 : is_gpu ? State::info
                          : State::fail,
                 device.address,
                 cli::format("%.1f of %.1f GT/s%s", link.current.value, link.best,
                             is_low && is_gpu ? ": normal for an idle GPU" : ""));
  }
}

const Advice advice_pcie_mrrs = {
    "bits 14:12 of device control in the adapter's PCI Express capability",
    "with small read requests an adapter reads memory more slowly",
    {"sudo setpci -s ADDRESS CAP_EXP+8.w=5000:7000", true, false, false, "sudo setpci -s ADDRESS CAP_EXP+8.w"},
    "the driver sets a GPU's value: this check examines adapters only",
    {.now = "setpci -s ADDRESS CAP_EXP+8.w=5000:7000",
     .file = "/etc/systemd/system/gdrkit-read-requests.service",
     .text = GDRKIT_SERVICE("large read requests of RDMA adapters (gdrkit doctor: pcie.mrrs)", "",
                            "setpci -s ADDRESS CAP_EXP+8.w=5000:7000"),
     .enable = GDRKIT_ENABLE("gdrkit-read-requests.service"),
     .risk = "other devices below the same port may wait longer for their data"}};

void check_pcie_mrrs(const Machine& machine, Findings& findings) {
  for (const Adapter& adapter : adapters_or_skip(machine, findings)) {
    if (adapter.pci.address.empty()) continue;
    const auto control = take_register(machine, adapter.pci, device_control, findings);
    if (!control.is_found()) continue;
    const unsigned bytes = 128u << (control.value >> 12 & 7u);
    findings.add(bytes >= 4096 ? State::ok : State::warn, adapter.pci.address,
                 cli::format("%s reads up to %u bytes per request", adapter.name.c_str(), bytes),
                 "sudo setpci -s " + adapter.pci.address + " CAP_EXP+8.w=5000:7000");
  }
}

const Advice advice_pcie_mps = {
    "bits 7:5 of device control, of each device and of the port above it",
    "a device that sends larger packets than its port accepts causes errors; 128 bytes reduce the bandwidth",
    {"boot with pci=pcie_bus_perf, or set the payload size in the firmware setup", true, true, true,
     "sudo lspci -vv -s ADDRESS | grep MaxPayload"},
    "virtual machines usually show 128, which is not the value of the hardware",
    {.boot_option = "pci=pcie_bus_perf", .risk = "devices that are hot-plugged later may get too small a payload"}};

void check_pcie_mps(const Machine& machine, Findings& findings) {
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    const auto own = take_register(machine, device, device_control, findings);
    if (!own.is_found()) continue;
    const unsigned bytes = 128u << (own.value >> 5 & 7u);
    unsigned above = 0;
    if (!device.bridges.empty()) {
      const auto port = express_register(machine.view, directory_of(device.bridges.back()), device_control);
      if (port.is_unknown()) {
        findings.add_unknown(device.address, port);
        continue;
      }
      if (port.is_found()) above = 128u << (port.value >> 5 & 7u);
    }
    const State state = above != 0 && bytes > above                                             ? State::fail
                        : bytes < 256 && machine.is_guest.is_found() && !machine.is_guest.value ? State::warn
                                                                                                : State::ok;
    findings.add(
        state, device.address,
        cli::format("payload %u bytes%s", bytes, above == 0 ? "" : cli::format(", port above %u", above).c_str()));
  }
}

const Advice advice_pcie_relaxed = {
    "bit 4 of device control in the adapter's PCI Express capability, and the vendor of the processor",
    "an adapter that must keep its writes in order waits for each of them: this reduces the bandwidth considerably on "
    "AMD processors and in virtual machines",
    {"sudo setpci -s ADDRESS CAP_EXP+8.w=0010:0010; if it is off again after a boot, check the firmware setup", true,
     false, false, "sudo setpci -s ADDRESS CAP_EXP+8.w"},
    "with the bit on, the library still has to request relaxed ordering for each registration; on some older Intel "
    "processors Linux turns the bit off on purpose: on Intel this is reported as info only",
    {.now = "setpci -s ADDRESS CAP_EXP+8.w=0010:0010",
     .file = "/etc/systemd/system/gdrkit-relaxed-ordering.service",
     .text = GDRKIT_SERVICE("relaxed ordering of RDMA adapters (gdrkit doctor: pcie.relaxed)", "",
                            "setpci -s ADDRESS CAP_EXP+8.w=0010:0010"),
     .enable = GDRKIT_ENABLE("gdrkit-relaxed-ordering.service"),
     .risk = "Linux or the firmware may have turned it off because the processor's port has a known fault"}};

void check_pcie_relaxed(const Machine& machine, Findings& findings) {
  const auto cpus = machine.view.text("/proc/cpuinfo");
  const bool is_amd = labelled(cpus, "vendor_id").value == "AuthenticAMD";
  for (const Adapter& adapter : adapters_or_skip(machine, findings)) {
    if (adapter.pci.address.empty()) continue;
    const auto control = take_register(machine, adapter.pci, device_control, findings);
    if (!control.is_found()) continue;
    constexpr std::uint32_t relaxed_ordering = 0x0010;
    const bool is_on = (control.value & relaxed_ordering) != 0;
    const bool matters = is_amd || machine.is_guest.value;
    if (!is_on && !matters && (!cpus.is_found() || !machine.is_guest.is_found())) {
      findings.add(State::unknown, adapter.pci.address,
                   "relaxed ordering is off, and the processor, which determines whether this matters, is unknown");
      continue;
    }
    findings.add(is_on     ? State::ok
                 : matters ? State::warn
                           : State::info,
                 adapter.pci.address, adapter.name + " has relaxed ordering " + (is_on ? "on" : "off"),
                 "sudo setpci -s " + adapter.pci.address + " CAP_EXP+8.w=0010:0010");
  }
}

const Advice advice_pcie_aspm = {
    "bits 1:0 of link control in the PCI Express capability of each GPU and adapter",
    "an idle link enters a power-saving state (L0s or L1); the next packet waits microseconds for the link to become "
    "active",
    {"echo performance | sudo tee /sys/module/pcie_aspm/parameters/policy; if Linux refuses that, turn ASPM off in the "
     "firmware setup",
     true, false, false, "sudo lspci -vv -s ADDRESS | grep LnkCtl:"},
    "pcie_aspm=off on the Linux command line does not turn power saving off: Linux then keeps what the firmware set. "
    "In a virtual machine the host decides: reported as info only",
    {.now = "echo performance >/sys/module/pcie_aspm/parameters/policy",
     .boot_option = "pcie_aspm.policy=performance",
     .risk = "idle links use more power; Linux refuses the command if the firmware keeps control of ASPM"}};

void check_pcie_aspm(const Machine& machine, Findings& findings) {
  constexpr const char* names[] = {"off", "L0s", "L1", "L0s and L1"};
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    const auto control = take_register(machine, device, link_control, findings);
    if (!control.is_found()) continue;
    const unsigned states = control.value & 3u;
    if (states != 0 && !machine.is_guest.is_found()) {
      findings.add(State::unknown, device.address, "may enter L0s or L1: " + machine.is_guest.reason);
      continue;
    }
    findings.add(states == 0              ? State::ok
                 : machine.is_guest.value ? State::info
                                          : State::warn,
                 device.address, cli::format("power saving of the link: %s", names[states]));
  }
}

const Advice advice_pcie_aer = {
    "the totals in aer_dev_fatal, aer_dev_nonfatal and aer_dev_correctable",
    "errors on the link cause repeated packets, or the loss of the device",
    {"reseat the card, then replace the riser or the card; the counters restart at zero with each boot", true, true,
     true, "cat /sys/bus/pci/devices/ADDRESS/aer_dev_correctable"},
    "the counters count since boot: a few corrected errors from link training are normal"};

void check_pcie_aer(const Machine& machine, Findings& findings) {
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    const auto fatal = total_of(machine.view, device.directory + "/aer_dev_fatal", "TOTAL_ERR_FATAL");
    const auto other = total_of(machine.view, device.directory + "/aer_dev_nonfatal", "TOTAL_ERR_NONFATAL");
    const auto corrected = total_of(machine.view, device.directory + "/aer_dev_correctable", "TOTAL_ERR_COR");
    if (fatal.is_absent() && other.is_absent() && corrected.is_absent()) {
      findings.add(State::skip, device.address, "the device shows no error counters (no aer_dev_fatal)");
    } else if (!fatal.is_found() || !other.is_found() || !corrected.is_found()) {
      findings.add(State::unknown, device.address,
                   !fatal.is_found()   ? fatal.reason
                   : !other.is_found() ? other.reason
                                       : corrected.reason);
    } else {
      const State state = fatal.value > 0                                              ? State::fail
                          : other.value > 0 || corrected.value > many_corrected_errors ? State::warn
                                                                                       : State::ok;
      findings.add(state, device.address,
                   cli::format("since boot %ld fatal, %ld non-fatal, %ld corrected errors", fatal.value, other.value,
                               corrected.value));
    }
  }
}

}  // namespace gdrkit::diag::doctor
