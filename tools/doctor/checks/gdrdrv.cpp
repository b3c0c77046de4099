// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group gdrdrv: the kernel module that GDRCopy needs and gdrkit can do without.
#include <cstdio>

#include "tools/doctor/check.hpp"

namespace gdrkit::tools::doctor {
namespace {

/// The number before "gdrdrv" in /proc/devices, -1 without one.
int major_of_gdrdrv(const std::string& devices) {
  const auto at = devices.find(" gdrdrv\n");
  if (at == std::string::npos) return -1;
  const auto line = devices.rfind('\n', at);
  int major = -1;
  return std::sscanf(devices.c_str() + (line == std::string::npos ? 0 : line + 1), "%d", &major) == 1 ? major : -1;
}

}  // namespace

const Advice advice_gdr_version = {
    "/sys/module/gdrdrv/version",
    "gdrkit and GDRCopy 2.x refuse a gdrdrv before 2.0; those before 2.4 lack calls that newer libraries ask for",
    {"install gdrdrv 2.4 or newer (kernel/README.md of gdrkit, or GDRCopy's package) and load it again", true, false,
     true, "cat /sys/module/gdrdrv/version"},
    "without gdrdrv gdrkit maps through the stock driver: its absence is no fault"};

void check_gdr_version(const Machine& machine, Findings& findings) {
  const auto version = machine.view.line("/sys/module/gdrdrv/version");
  if (version.is_absent()) return findings.add(State::skip, "", "gdrdrv is not loaded: no /sys/module/gdrdrv/version");
  if (!version.is_found()) return findings.add_unknown("", version);
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.value.c_str(), "%d.%d", &major, &minor) != 2) {
    return findings.add(State::unknown, "gdrdrv", "'" + version.value + "' is no version");
  }
  const State state = major < 2 ? State::fail : major == 2 && minor < 4 ? State::warn : State::ok;
  findings.add(state, "gdrdrv", version.value);
}

const Advice advice_gdr_node = {
    "/dev/gdrdrv (kind, numbers, permissions) and the number of gdrdrv in /proc/devices",
    "programs open the node; its number changes with each load of the module, and an old node leads to another device",
    {"sudo rm -f /dev/gdrdrv; sudo mknod -m 666 /dev/gdrdrv c $(awk '$2==\"gdrdrv\"{print $1}' /proc/devices) 0   "
     "# container: --device /dev/gdrdrv",
     true, false, false, "ls -l /dev/gdrdrv; grep gdrdrv /proc/devices"},
    ""};

void check_gdr_node(const Machine& machine, Findings& findings) {
  const auto devices = machine.view.text("/proc/devices");
  if (!devices.is_found()) return findings.add_unknown("", devices);
  const int major = major_of_gdrdrv(devices.value);
  if (major < 0) return findings.add(State::skip, "", "gdrdrv is not loaded: not in /proc/devices");
  const auto node = machine.view.node("/dev/gdrdrv");
  if (node.is_unknown()) return findings.add_unknown("", node);
  if (node.is_absent()) return findings.add(State::fail, "/dev/gdrdrv", "is missing, and gdrdrv is loaded");
  const auto& found = node.value;
  if (found.kind != topology::NodeKind::character_device || found.major != static_cast<unsigned>(major) ||
      found.minor != 0) {
    return findings.add(State::fail, "/dev/gdrdrv",
                        format("is no character device %d:0 (it has %u:%u)", major, found.major, found.minor));
  }
  const bool is_open = (found.mode & 06) == 06;
  findings.add(is_open ? State::ok : State::warn, "/dev/gdrdrv",
               format("%u:%u, mode %04o, user %u, group %u%s", found.major, found.minor, found.mode, found.user,
                      found.group, is_open ? "" : ": not for everybody"));
}

}  // namespace gdrkit::tools::doctor
