// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group system: processors, power, lockdown, virtual machine or not.
#include <map>

#include "tools/doctor/check.hpp"
#include "tools/machine/hypervisor.hpp"

namespace gdrkit::tools::doctor {

const Advice advice_vm_detect = {
    "the flag 'hypervisor' in /proc/cpuinfo; where processors have no flags /sys/hypervisor/type, vendor and product "
    "in "
    "/sys/class/dmi/id, the firmware's first table and the device tree",
    "in a virtual machine links, ports and IOMMU are what the host shows, so some checks do not apply",
    {"nothing to do", false, false, true, "systemd-detect-virt --vm"},
    "bare machines of clouds have their cloud's vendor and are not virtual: off x86 the product or root's reading of "
    "the "
    "firmware's table decides"};

void check_vm_detect(const Machine& machine, Findings& findings) {
  const auto hypervisor = find_hypervisor(machine.view);
  if (hypervisor.is_unknown()) return findings.add_unknown("", hypervisor);
  findings.add(
      hypervisor.is_found() ? State::info : State::ok, "",
      hypervisor.is_found() ? "a virtual machine: " + hypervisor.value : "no virtual machine: " + hypervisor.reason);
}

const Advice advice_cpu_governor = {
    "scaling_governor and scaling_driver of every processor",
    "a processor that first has to speed up adds microseconds to each small message",
    {"sudo cpupower frequency-set -g performance", true, false, false,
     "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    "powersave under intel_pstate or amd-pstate-epp changes the speed by load: it is told and not judged",
    {.now = "cpupower frequency-set -g performance", .risk = "the processors take more power when idle"}};

void check_cpu_governor(const Machine& machine, Findings& findings) {
  const std::string folder = "/sys/devices/system/cpu/";
  const auto names = machine.view.names(folder);
  if (!names.is_found()) return findings.add(State::unknown, folder, names.reason);
  std::map<std::string, unsigned> governors;
  for (const std::string& name : names.value) {
    if (name.rfind("cpu", 0) != 0 || name.find_first_not_of("0123456789", 3) != std::string::npos || name.size() == 3)
      continue;
    const auto governor = machine.view.line(folder + name + "/cpufreq/scaling_governor");
    if (governor.is_unknown()) return findings.add_unknown(name, governor);
    if (governor.is_found()) ++governors[governor.value];
  }
  if (governors.empty()) return findings.add(State::skip, "", "no processor shows a cpufreq/scaling_governor");
  const auto driver = machine.view.line(folder + "cpu0/cpufreq/scaling_driver");
  const bool is_dynamic = driver.value == "intel_pstate" || driver.value == "amd-pstate-epp";
  for (const auto& [governor, count] : governors) {
    const State state = governor == "performance"               ? State::ok
                        : is_dynamic && governor == "powersave" ? State::info
                                                                : State::warn;
    findings.add(
        state, governor,
        format("governor of %u processor(s), driver %s", count, driver.is_found() ? driver.value.c_str() : "unknown"));
  }
}

const Advice advice_cpu_wc = {
    "the flag 'pat' in /proc/cpuinfo and 'nopat' in /proc/cmdline",
    "without PAT mappings of BAR1 cannot be write-combining: writes to the GPU become a hundred times slower",
    {"remove nopat from the command line of Linux", true, true, true,
     "grep -c ' pat ' /proc/cpuinfo; cat /proc/cmdline"},
    "arm64 has no PAT and needs none"};

void check_cpu_wc(const Machine& machine, Findings& findings) {
  const auto cpus = machine.view.text("/proc/cpuinfo");
  const auto line = machine.view.line("/proc/cmdline");
  if (!cpus.is_found()) return findings.add(State::unknown, "/proc/cpuinfo", cpus.reason);
  const auto flags = labelled(cpus, "flags");
  if (!flags.is_found()) return findings.add(State::skip, "", "/proc/cpuinfo has no flags: not an x86 processor");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  const bool has_pat = (" " + flags.value + " ").find(" pat ") != std::string::npos;
  const bool is_off = (" " + line.value + " ").find(" nopat ") != std::string::npos;
  findings.add(has_pat && !is_off ? State::ok : State::fail, "PAT",
               !has_pat ? "the processor shows no flag 'pat'"
               : is_off ? "nopat in /proc/cmdline"
                        : "the processor has it, and it is not turned off");
}

const Advice advice_cpu_balancing = {"/proc/sys/kernel/numa_balancing",
                                     "balancing unmaps pages to see who touches them: latencies get a long tail",
                                     {"sudo sysctl kernel.numa_balancing=0   # to keep: a file in /etc/sysctl.d", true,
                                      false, false, "cat /proc/sys/kernel/numa_balancing"},
                                     "",
                                     {.now = "sysctl -w kernel.numa_balancing=0",
                                      .file = "/etc/sysctl.d/90-gdrkit-numa-balancing.conf",
                                      .text = "kernel.numa_balancing = 0",
                                      .risk = "programs that rely on Linux to move their pages become slower"}};

void check_cpu_balancing(const Machine& machine, Findings& findings) {
  const auto value = machine.view.number("/proc/sys/kernel/numa_balancing");
  if (value.is_absent()) return findings.add(State::skip, "", "this Linux has no /proc/sys/kernel/numa_balancing");
  if (!value.is_found()) return findings.add_unknown("", value);
  findings.add(value.value == 0 ? State::ok : State::warn, "numa_balancing",
               format("is %lld", static_cast<long long>(value.value)));
}

const Advice advice_sec_lockdown = {
    "/sys/kernel/security/lockdown",
    "lockdown forbids unsigned kernel modules and changing PCI registers: gdrdrv and setpci remedies may be refused",
    {"sign the modules (mokutil --import), and set PCI options at boot", true, true, true,
     "cat /sys/kernel/security/lockdown"},
    "no such file: no lockdown"};

void check_sec_lockdown(const Machine& machine, Findings& findings) {
  const auto line = machine.view.line("/sys/kernel/security/lockdown");
  if (line.is_absent()) return findings.add(State::ok, "lockdown", "no /sys/kernel/security/lockdown");
  if (!line.is_found()) return findings.add_unknown("", line);
  const bool is_none = line.value.find("[none]") != std::string::npos;
  const bool is_some =
      line.value.find("[integrity]") != std::string::npos || line.value.find("[confidentiality]") != std::string::npos;
  findings.add(is_none ? State::ok : is_some ? State::warn : State::unknown, "lockdown", line.value);
}

}  // namespace gdrkit::tools::doctor
