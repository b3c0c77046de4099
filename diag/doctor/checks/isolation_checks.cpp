// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group isolation: the IOMMU, which may redirect or refuse packets between GPU and adapter.
#include "diag/doctor/check.hpp"
#include "diag/machine/grace.hpp"
#include "diag/machine/pci_path.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr char pass_through[] = "iommu=pt";
constexpr char pass_through_risk[] =
    "devices of the host can then access all of its memory; devices of guests stay isolated";

}  // namespace

const Advice advice_iommu_mode = {
    "iommu_group/type of each GPU and adapter",
    "an IOMMU that translates sends packets between devices through the processor: that is slow, and some drivers "
    "refuse it",
    {"iommu=pt (arm64: iommu.passthrough=1, except on Grace before Linux 6.11, see iommu.smmu) on the Linux command "
     "line (RHEL: sudo grubby --update-kernel=ALL "
     "--args=iommu=pt; Debian, Ubuntu: GRUB_CMDLINE_LINUX in /etc/default/grub, then sudo update-grub); or turn the "
     "IOMMU off in the firmware setup",
     true, true, true, "cat /sys/bus/pci/devices/ADDRESS/iommu_group/type"},
    "the Linux command line proves little; this check uses the type of each device's IOMMU group. A guest does not see "
    "the host's IOMMU",
    {.boot_option = pass_through, .risk = pass_through_risk}};

void check_iommu_mode(const Machine& machine, Findings& findings) {
  const bool is_closed =
      machine.driver.is_found() && machine.driver.value.find("Open Kernel Module") == std::string::npos;
  const auto needed = needs_translation(machine.view);
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    const auto group = machine.view.node(device.directory + "/iommu_group");
    if (group.is_absent()) {
      findings.add(
          State::ok, device.address,
          machine.is_guest.value ? "is in no IOMMU group (the host may use an IOMMU)" : "is in no IOMMU group");
      continue;
    }
    const auto type = machine.view.line(device.directory + "/iommu_group/type");
    if (!type.is_found()) {
      findings.add(State::unknown, device.address, type.reason);
      continue;
    }
    const bool is_translated = type.value.starts_with("DMA");
    if (is_translated && needed.value) {
      const std::string text = "its IOMMU group is of type " + type.value;
      findings.add(needed.is_found() ? State::ok : State::unknown, device.address,
                   needed.is_found() ? text + ", which CUDA needs here: see iommu.smmu"
                                     : text + ", which CUDA may need here: " + needed.reason);
      continue;
    }
    const State state = type.value == "identity" ? State::ok
                        : !is_translated         ? State::unknown
                        : is_closed              ? State::fail
                                                 : State::warn;
    findings.add(state, device.address,
                 "its IOMMU group is of type " + type.value +
                     (is_translated && is_closed ? ", and the driver is not the open flavour" : ""));
  }
}

const Advice advice_iommu_smmu = {
    "the processor, the version of Linux, iommu_group/type of each GPU, and the ACS control of the ports above it",
    "before Linux 6.11, arm-smmu-v3 cannot attach a PASID to an identity domain: with ACS on, no program can create a "
    "CUDA context, and GPUs seem to be busy",
    {"iommu.passthrough=0 on the Linux command line, and no other iommu.passthrough (RHEL: sudo grubby "
     "--update-kernel=ALL --args=iommu.passthrough=0; Debian, Ubuntu: GRUB_CMDLINE_LINUX in /etc/default/grub, then "
     "sudo update-grub); or Linux 6.11 or newer",
     true, true, true, "cat /sys/bus/pci/devices/ADDRESS/iommu_group/type"},
    "distributions may have the fix in an older Linux: if CUDA programs start, ignore this finding. Do not clear ACS "
    "instead: Data Direct needs it (acs.datadirect)",
    {.boot_option = "iommu.passthrough=0",
     .risk = "devices then use translated addresses, which costs some bandwidth"}};

void check_iommu_smmu(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto grace = is_grace(machine.view);
  if (!grace.is_found()) return findings.add_unknown("/proc/cpuinfo", grace);
  if (!grace.value) return findings.add(State::skip, "", "the processor is not NVIDIA Grace");
  if (!machine.is_guest.is_found()) return findings.add_unknown("", machine.is_guest);
  if (machine.is_guest.value) return findings.add(State::skip, "", "a virtual machine does not see the host's IOMMU");
  const auto needed = needs_translation(machine.view);
  if (!needed.is_found()) return findings.add_unknown("/proc/version", needed);
  const std::string version = "Linux " + read_linux_version(machine.view).value.text;
  if (!needed.value) return findings.add(State::ok, "", version + " is 6.11 or newer");
  for (const PciDevice& gpu : machine.gpus) {
    const auto type = iommu_type(machine.view, gpu);
    if (type.is_unknown()) {
      findings.add_unknown(gpu.address, type);
    } else if (type.is_absent()) {
      findings.add(State::ok, gpu.address, "is in no IOMMU group");
    } else if (type.value != "identity") {
      findings.add(State::ok, gpu.address, "its IOMMU group has type " + type.value + ", as " + version + " requires");
    } else if (const auto pasid = has_pasid_path(machine.view, gpu); !pasid.is_found()) {
      findings.add(State::unknown, gpu.address,
                   "is in an identity domain, and the ACS state is unknown: " + pasid.reason);
    } else {
      findings.add(pasid.value ? State::fail : State::ok, gpu.address,
                   pasid.value ? "is in an identity domain of arm-smmu-v3 with ACS on, and " + version +
                                     " is older than 6.11: no CUDA context can be created"
                               : "is in an identity domain, and ACS is off on " + pasid.reason);
    }
  }
}

const Advice advice_iommu_cmdline = {
    "intel_iommu=on without iommu=pt in /proc/cmdline",
    "intel_iommu=on turns translation on for every device of the host",
    {"iommu=pt on the Linux command line (RHEL: sudo grubby --update-kernel=ALL --args=iommu=pt; Debian, Ubuntu: "
     "GRUB_CMDLINE_LINUX in /etc/default/grub, then sudo update-grub)",
     true, true, true, "cat /proc/cmdline"},
    "iommu.mode checks the mode in use, which counts more",
    {.boot_option = pass_through, .risk = pass_through_risk}};

void check_iommu_cmdline(const Machine& machine, Findings& findings) {
  const auto line = machine.view.line("/proc/cmdline");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  const bool is_on = has_word(line.value, "intel_iommu=on");
  const bool passes = has_word(line.value, "iommu=pt") || has_word(line.value, "iommu.passthrough=1");
  findings.add(
      is_on && !passes && !needs_translation(machine.view).value ? State::warn : State::ok, "/proc/cmdline",
      std::string(is_on ? "has" : "has no") + " intel_iommu=on, " + (passes ? "passes through" : "no iommu=pt"));
}

const Advice advice_iommu_groups = {
    "iommu_group of each Data Direct function of a ConnectX-8 and of its GPU",
    "the driver lets the function access the GPU only if Linux put both into one group",
    {"boot with the pattern that acs.datadirect names: Linux forms the groups once, at boot", true, true, true,
     "readlink /sys/bus/pci/devices/ADDRESS/iommu_group"},
    "groups do not matter for other adapters: with isolation each device has its own group"};

void check_iommu_groups(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto directs = find_data_direct(machine);
  if (directs.is_unknown()) return findings.add_unknown("", directs);
  if (directs.value.empty()) return findings.add(State::skip, "", "no adapter has a Data Direct function");
  if (machine.is_guest.value) return findings.add(State::skip, "", "in a virtual machine the groups are the guest's");
  for (const DataDirect& direct : directs.value) {
    if (direct.gpu.address.empty()) {
      findings.add(State::unknown, direct.function.address, "not exactly one GPU is below its root port");
      continue;
    }
    const auto own = machine.view.resolved(direct.function.directory + "/iommu_group");
    const auto other = machine.view.resolved(direct.gpu.directory + "/iommu_group");
    if (own.is_absent() && other.is_absent()) {
      findings.add(State::warn, direct.function.address, "it and " + direct.gpu.address + " are in no group");
    } else if (own.is_unknown() || other.is_unknown()) {
      findings.add(State::unknown, direct.function.address, own.is_unknown() ? own.reason : other.reason);
    } else {
      const bool is_one = own.is_found() && own.value == other.value;
      const auto name = [](const auto& group) {
        return group.is_found() ? group.value.substr(group.value.rfind('/') + 1) : "none";
      };
      findings.add(is_one ? State::ok : State::warn, direct.function.address,
                   "is in group " + name(own) + ", " + direct.gpu.address + " in " + name(other));
    }
  }
}

}  // namespace gdrkit::diag::doctor
