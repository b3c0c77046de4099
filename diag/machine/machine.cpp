// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/machine.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "diag/machine/virtualization.hpp"
#include "platform/facts/nvidia.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag {
namespace {

constexpr std::int64_t nvidia = 0x10de;
constexpr std::int64_t mellanox_vendor = 0x15b3;
constexpr std::int64_t display_class = 0x03;

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Fact<bool> is_virtual(const MachineView& view) {
  const Fact<std::string> hypervisor = find_hypervisor(view);
  return {hypervisor.is_unknown() ? hypervisor.outcome : Outcome::found, hypervisor.is_found(), hypervisor.reason};
}

/// The driver's version text. Its flavour is a word in that text; an unexpected text proves nothing.
Fact<std::string> driver_text(const MachineView& view) {
  const std::string path = "/proc/driver/nvidia/version";
  auto text = view.text(path);
  if (text.is_found() && !platform::parse_nvidia_driver(text.value).has_value()) {
    text.outcome = Outcome::malformed;
    text.reason = path + ": contains no version";
  }
  return text;
}

}  // namespace

PciDevice read_pci_device(const MachineView& view, const std::string& address) {
  PciDevice device;
  device.address = address;
  device.directory = "/sys/bus/pci/devices/" + address;
  device.vendor = view.number(device.directory + "/vendor").value;
  device.device = view.number(device.directory + "/device").value;
  if (const auto driver = view.resolved(device.directory + "/driver"); driver.is_found()) {
    device.driver = last_name(driver.value);
  }
  // /sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0: each address above the device is a bridge.
  const auto real = view.resolved(device.directory);
  for (const std::string& part : split(real.is_found() ? real.value : "", '/')) {
    if (part != address && platform::parse_pci_address(part).has_value()) device.bridges.push_back(part);
  }
  return device;
}

Machine::Machine(const MachineView& from, Level level)
    : view(from), is_guest(is_virtual(from)), driver(driver_text(from)), probe(gather_probe(from, level)) {
  const auto devices = view.names("/sys/bus/pci/devices");
  pci_outcome = devices.outcome;
  pci_reason = devices.reason;
  for (const std::string& address : devices.value) {
    if (!platform::parse_pci_address(address).has_value()) continue;
    ++pci_count;
    const std::string directory = "/sys/bus/pci/devices/" + address;
    const auto vendor = view.number(directory + "/vendor");
    const auto kind = view.number(directory + "/class");
    if (vendor.value == mellanox_vendor) mellanox.push_back(address);
    if (!vendor.is_found() || (vendor.value == nvidia && !kind.is_found())) {
      pci_outcome = Outcome::unreadable;
      pci_reason = vendor.is_found() ? kind.reason : vendor.reason;
    } else if (vendor.value == nvidia && kind.value >> 16 == display_class) {
      gpus.push_back(read_pci_device(view, address));
    }
  }
  const auto names = view.names("/sys/class/infiniband");
  adapter_outcome = names.outcome;
  adapter_reason = names.reason;
  for (const std::string& name : names.value) {
    Adapter adapter{name, "/sys/class/infiniband/" + name, {}};
    const auto device = view.resolved(adapter.directory + "/device");
    if (device.is_unknown()) {
      adapter_outcome = device.outcome;
      adapter_reason = device.reason;
    }
    const std::string address = device.is_found() ? last_name(device.value) : "";
    if (platform::parse_pci_address(address).has_value()) adapter.pci = read_pci_device(view, address);
    adapters.push_back(std::move(adapter));
  }
}

Fact<LinuxVersion> read_linux_version(const MachineView& view) {
  const auto line = required(view.line("/proc/version"));
  if (!line.is_found()) return pass<LinuxVersion>(line);
  LinuxVersion version;
  const std::string start = "Linux version ";
  if (line.value.starts_with(start)) {
    version.text = line.value.substr(start.size(), line.value.find(' ', start.size()) - start.size());
  }
  if (std::sscanf(version.text.c_str(), "%d.%d", &version.major, &version.minor) != 2) {
    return {Outcome::malformed, version, "/proc/version: does not contain a version"};
  }
  return found(version);
}

Fact<std::vector<std::string>> drop_ins(const MachineView& view, const std::vector<std::string>& directories) {
  Fact<std::vector<std::string>> files{Outcome::found, {}, ""};
  std::map<std::string, std::string> by_name;
  for (const std::string& directory : directories) {
    const auto names = view.names(directory);
    if (names.is_unknown()) files = {names.outcome, {}, names.reason};
    for (const std::string& name : names.value) {
      if (name.ends_with(".conf") && name != ".conf") by_name.emplace(name, directory + "/" + name);
    }
  }
  for (const auto& [name, path] : by_name) files.value.push_back(path);
  return files;
}

MachineView open_view(const std::string& root) {
  auto view = MachineView::open(root);
  if (!view.has_value()) throw cli::Failure(cli::ExitCode::bad_recording, view.error().text());
  return std::move(*view);
}

}  // namespace gdrkit::diag
