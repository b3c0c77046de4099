// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/virtualization.hpp"

#include <algorithm>

#include "diag/machine/environment.hpp"
#include "diag/machine/machine.hpp"

namespace gdrkit::diag {
namespace {

/// Prefixes of the system's vendor or product name that only virtual machines have.
constexpr const char* virtual_names[] = {
    "QEMU",  "KVM",       "VMware", "VMW",       "innotek GmbH",    "VirtualBox",          "Xen",
    "Bochs", "Parallels", "BHYVE",  "OpenStack", "Virtual Machine", "Apple Virtualization"};
/// Of clouds whose bare-metal machines have the same names.
constexpr const char* cloud_names[] = {"Amazon EC2", "Google", "Alibaba Cloud"};

template <std::size_t count>
bool begins_with_any(const std::string& text, const char* const (&names)[count]) {
  return std::any_of(names, names + count, [&](const char* name) { return text.starts_with(name); });
}

/// Bit 4 of the second extension byte in the firmware's first table (SMBIOS type 0); only root can read it.
Fact<bool> virtual_bit(const MachineView& view) {
  constexpr std::size_t extension_at = 0x13;
  const auto table = view.bytes("/sys/firmware/dmi/entries/0-0/raw", extension_at + 1);
  Fact<bool> bit{table.outcome, false, table.reason};
  if (!table.is_found()) return bit;
  if (table.value.size() <= extension_at || table.value[0] != 0) bit.outcome = Outcome::malformed;
  if (bit.is_found()) bit.value = (table.value[extension_at] >> 4 & 1u) != 0;
  return bit;
}

Fact<std::string> by_device_tree(const MachineView& view) {
  constexpr std::size_t longest = 256;
  const std::string tree = "/proc/device-tree";
  if (view.presence(tree + "/hypervisor") == Outcome::found) {
    return {Outcome::found, tree + "/hypervisor exists", ""};
  }
  const auto compatible = view.bytes(tree + "/compatible", longest);
  const std::string kinds(compatible.value.begin(), compatible.value.end());
  if (kinds.find("linux,dummy-virt") != std::string::npos) {
    return {Outcome::found, tree + "/compatible contains linux,dummy-virt", ""};
  }
  return {compatible.outcome == Outcome::found ? Outcome::absent : Outcome::unreadable, "", compatible.reason};
}

Fact<std::string> by_firmware(const MachineView& view) {
  const auto vendor = view.line("/sys/class/dmi/id/sys_vendor");
  const auto product = view.line("/sys/class/dmi/id/product_name");
  if (!vendor.is_found() && !product.is_found()) return {Outcome::unreadable, "", vendor.reason};
  const std::string names = "the firmware reports '" + vendor.value + "', '" + product.value + "'";
  if (begins_with_any(vendor.value, virtual_names) || begins_with_any(product.value, virtual_names)) {
    return {Outcome::found, names, ""};
  }
  const auto bit = virtual_bit(view);
  if (bit.is_found() && bit.value) return {Outcome::found, "the firmware table has the bit for virtual machines", ""};
  if (bit.is_found() || !begins_with_any(vendor.value, cloud_names)) {
    return {Outcome::absent, "", names};
  }
  if (vendor.value.starts_with("Amazon EC2") && product.is_found()) {
    const bool is_metal = product.value.find(".metal") != std::string::npos;
    return {is_metal ? Outcome::absent : Outcome::found, is_metal ? "" : names, names};
  }
  return {Outcome::unreadable, "",
          names + ", as bare-metal machines of this cloud do too; root can read the firmware table that decides"};
}

using topology::Fact;
using topology::MachineView;
using topology::Outcome;

/// Files that runtimes create in the root of a container.
constexpr const char* left_files[] = {"/.dockerenv", "/run/.containerenv", "/.singularity.d"};
/// Set by systemd-nspawn, podman and others; by Kubernetes for each pod; by Apptainer and its predecessor; by
/// Charliecloud.
constexpr const char* left_variables[] = {"container", "KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER",
                                          "SINGULARITY_CONTAINER", "CH_RUNNING"};
/// Parts of the names of control groups created by runtimes. A process sees them if it has no control group namespace.
constexpr const char* group_names[] = {"/docker/", "/docker-",       "kubepods", "libpod-",
                                       "/crio-",   "cri-containerd", "/lxc"};

Fact<std::string> evidence(const std::string& text) { return {Outcome::found, text, ""}; }

}  // namespace

Fact<std::string> find_hypervisor(const MachineView& view) {
  const auto cpus = view.text("/proc/cpuinfo");
  if (!cpus.is_found()) return required(cpus);
  const auto flags = labelled(cpus, "flags");
  if (flags.is_found()) {
    const bool has_flag = has_word(flags.value, "hypervisor");
    return {has_flag ? Outcome::found : Outcome::absent, "/proc/cpuinfo has the flag 'hypervisor'",
            "/proc/cpuinfo has no flag 'hypervisor'"};
  }
  const auto kind = view.line("/sys/hypervisor/type");
  if (kind.is_found()) return {Outcome::found, "/sys/hypervisor/type contains " + kind.value, ""};
  const auto tree = by_device_tree(view);
  if (tree.is_found()) return tree;
  const bool has_firmware = view.presence("/sys/class/dmi/id") != Outcome::absent;
  return has_firmware ? by_firmware(view) : tree;
}

Fact<std::string> find_container(const MachineView& view) {
  Fact<std::string> fact;
  const auto note_problem = [&](const std::string& reason) {
    fact.outcome = Outcome::unreadable;
    fact.reason = reason;
  };
  for (const char* path : left_files) {
    const auto node = view.node(path);
    if (node.is_found()) return evidence(std::string(path) + " exists");
    if (node.is_unknown()) note_problem(node.reason);
  }
  const auto manager = view.line("/run/systemd/container");
  if (manager.is_found()) return evidence("/run/systemd/container contains " + manager.value);
  const auto variables = read_variables(view);
  if (!variables.is_found()) note_problem(variables.reason);
  for (const char* name : left_variables) {
    if (variables.value.count(name) != 0) return evidence(std::string("the variable ") + name + " is set");
  }
  const auto groups = view.text("/proc/self/cgroup");
  if (groups.is_unknown()) note_problem(groups.reason);
  for (const char* name : group_names) {
    if (groups.value.find(name) != std::string::npos) {
      return evidence(std::string("/proc/self/cgroup contains ") + name);
    }
  }
  if (fact.outcome != Outcome::unreadable) fact.reason = "no sign of a container found";
  return fact;
}

}  // namespace gdrkit::diag
