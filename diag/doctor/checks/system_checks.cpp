// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group system: processors, power, virtual machine, systemd.
#include <algorithm>
#include <initializer_list>
#include <map>

#include "diag/doctor/check.hpp"
#include "diag/machine/virtualization.hpp"

namespace gdrkit::diag::doctor {

const Advice advice_vm_detect = {
    "the flag 'hypervisor' in /proc/cpuinfo; if /proc/cpuinfo has no flags (not x86): /sys/hypervisor/type, the device "
    "tree, vendor and product in /sys/class/dmi/id, and the first table of the firmware",
    "in a virtual machine the host controls how links, ports and IOMMU appear, so some checks do not apply",
    {"nothing to do", false, false, true, "systemd-detect-virt --vm"},
    "bare-metal machines of clouds also have the cloud's vendor name; outside x86, this check recognizes them by the "
    "product name or by the firmware table, which only root can read"};

void check_vm_detect(const Machine& machine, Findings& findings) {
  const auto hypervisor = find_hypervisor(machine.view);
  if (hypervisor.is_unknown()) return findings.add_unknown("", hypervisor);
  findings.add(
      hypervisor.is_found() ? State::info : State::ok, "",
      hypervisor.is_found() ? "a virtual machine: " + hypervisor.value : "not a virtual machine: " + hypervisor.reason);
}

const Advice advice_cpu_governor = {
    "scaling_governor and scaling_driver of every processor",
    "a processor that first has to raise its frequency adds microseconds to each small message",
    {"sudo cpupower frequency-set -g performance", true, false, false,
     "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    "powersave of intel_pstate or amd-pstate-epp changes the frequency with the load: it is reported as info only",
    {.now = "cpupower frequency-set -g performance",
     .file = "/etc/systemd/system/gdrkit-governor.service",
     .text = GDRKIT_SERVICE("processors run at full speed (gdrkit doctor: cpu.governor)", "",
                            "cpupower frequency-set -g performance"),
     .enable = GDRKIT_ENABLE("gdrkit-governor.service"),
     .risk = "idle processors use more power; tuned or another power service may undo it. cpupower is in "
             "linux-cpupower (Debian), linux-tools (Ubuntu), kernel-tools (Red Hat)"},
    {{RecordedPath::Kind::content, "/sys/devices/system/cpu/cpu*/cpufreq/{scaling_governor,scaling_driver}",
      "processors: governor"}}};

void check_cpu_governor(const Machine& machine, Findings& findings) {
  const std::string directory = "/sys/devices/system/cpu/";
  const auto names = machine.view.names(directory);
  if (!names.is_found()) return findings.add(State::unknown, directory, names.reason);
  std::map<std::string, unsigned> governors;
  for (const std::string& name : names.value) {
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos || name.size() == 3)
      continue;
    const auto governor = machine.view.line(directory + name + "/cpufreq/scaling_governor");
    if (governor.is_unknown()) return findings.add_unknown(name, governor);
    if (governor.is_found()) ++governors[governor.value];
  }
  if (governors.empty()) return findings.add(State::skip, "", "no processor has a cpufreq/scaling_governor");
  const auto driver = machine.view.line(directory + "cpu0/cpufreq/scaling_driver");
  const bool is_dynamic = driver.value == "intel_pstate" || driver.value == "amd-pstate-epp";
  for (const auto& [governor, count] : governors) {
    const State state = governor == "performance"               ? State::ok
                        : is_dynamic && governor == "powersave" ? State::info
                                                                : State::warn;
    findings.add(state, governor,
                 cli::format("governor of %u processor(s), driver %s", count,
                             driver.is_found() ? driver.value.c_str() : "unknown"));
  }
}

const Advice advice_cpu_wc = {
    "the flag 'pat' in /proc/cpuinfo and 'nopat' in /proc/cmdline",
    "without PAT, BAR1 cannot be mapped write-combining: writes to the GPU are a hundred times slower",
    {"remove nopat from the Linux command line (Debian, Ubuntu: /etc/default/grub, then update-grub; Red Hat: grubby "
     "--update-kernel=ALL --remove-args=nopat), then reboot; if nopat is not there, the hypervisor hides PAT",
     true, true, true, "grep -c ' pat ' /proc/cpuinfo; cat /proc/cmdline"},
    "arm64 has no PAT and does not need it"};

void check_cpu_wc(const Machine& machine, Findings& findings) {
  const auto cpus = machine.view.text("/proc/cpuinfo");
  const auto line = machine.view.line("/proc/cmdline");
  if (!cpus.is_found()) return findings.add(State::unknown, "/proc/cpuinfo", cpus.reason);
  const auto flags = labelled(cpus, "flags");
  if (!flags.is_found()) return findings.add(State::skip, "", "/proc/cpuinfo has no flags: not an x86 processor");
  if (!line.is_found()) return findings.add(State::unknown, "/proc/cmdline", line.reason);
  const bool has_pat = has_word(flags.value, "pat");
  const bool is_off = has_word(line.value, "nopat");
  findings.add(has_pat && !is_off ? State::ok : State::fail, "PAT",
               !has_pat ? "the processor has no flag 'pat'"
               : is_off ? "nopat in /proc/cmdline"
                        : "the processor supports it, and nopat is not set");
}

const Advice advice_cpu_balancing = {
    "/proc/sys/kernel/numa_balancing",
    "NUMA balancing unmaps pages to see which CPU touches them: this adds latency outliers",
    {"sudo sysctl kernel.numa_balancing=0   # permanently: a file in /etc/sysctl.d", true, false, false,
     "cat /proc/sys/kernel/numa_balancing"},
    "",
    {.now = "sysctl -w kernel.numa_balancing=0",
     .file = "/etc/sysctl.d/90-gdrkit-numa-balancing.conf",
     .text = "kernel.numa_balancing = 0",
     .risk = "programs that rely on Linux to migrate their pages are slower"}};

void check_cpu_balancing(const Machine& machine, Findings& findings) {
  const auto value = machine.view.number("/proc/sys/kernel/numa_balancing");
  if (value.is_absent())
    return findings.add(State::skip, "",
                        "the Linux kernel has no NUMA balancing: /proc/sys/kernel/numa_balancing does not exist");
  if (!value.is_found()) return findings.add_unknown("", value);
  findings.add(value.value == 0 ? State::ok : State::warn, "numa_balancing",
               cli::format("is %lld", static_cast<long long>(value.value)));
}

const Advice advice_cpu_copy_isa = {
    "the flags or features of the processor in /proc/cpuinfo",
    "they determine which copy kernels gdrkit can use: wider stores to write-combining memory produce fewer packets",
    {"nothing to do", false, false, true, "gdrkit info"},
    "a hypervisor may hide flags of the processor"};

void check_cpu_copy_isa(const Machine& machine, Findings& findings) {
  const auto cpus = machine.view.text("/proc/cpuinfo");
  if (!cpus.is_found()) return findings.add(State::unknown, "/proc/cpuinfo", cpus.reason);
  const auto flags = labelled(cpus, "flags");
  const auto features = labelled(cpus, "Features");
  if (!flags.is_found() && !features.is_found()) {
    return findings.add(State::unknown, "/proc/cpuinfo", "has neither flags nor features of the processor");
  }
  const std::string& all = flags.is_found() ? flags.value : features.value;
  std::string known;
  for (const char* name : {"sse2", "sse4_1", "avx2", "avx512f", "movdir64b", "asimd", "sve"}) {
    if (has_word(all, name)) known += (known.empty() ? "" : ", ") + std::string(name);
  }
  const bool is_wide = known.find("avx2") != std::string::npos || known.find("asimd") != std::string::npos;
  findings.add(is_wide ? State::ok : State::info, "processor",
               known.empty() ? "has no SIMD flag that gdrkit's copy loops use" : "has " + known);
}

const Advice advice_sys_removeipc = {
    "RemoveIPC= in logind.conf and logind.conf.d, and whether Slurm is configured",
    "when a user's last session ends, systemd removes the user's shared memory, even if a job still uses it",
    {"RemoveIPC=no under [Login] in /etc/systemd/logind.conf.d/ipc.conf, then: sudo systemctl restart systemd-logind",
     true, false, true, "systemd-analyze cat-config systemd/logind.conf | grep RemoveIPC"},
    "system users are not affected; this is harmless unless a launcher runs jobs outside of login sessions",
    {.file = "/etc/systemd/logind.conf.d/gdrkit-ipc.conf",
     .text = "[Login]\nRemoveIPC=no",
     .enable = "systemctl restart systemd-logind"},
    {{RecordedPath::Kind::content, "/{etc,run,usr/local/lib,usr/lib}/systemd/{logind.conf,logind.conf.d/*.conf}",
      "whether memory of batch jobs outlives a login"},
     {RecordedPath::Kind::name, "/{etc/slurm,etc/slurm-llnl,var/spool/slurmd,run/slurmd.pid}",
      "whether this is a node of Slurm"}}};

namespace {

/// The last valid line "RemoveIPC=..."; includes a commented line with the default if `takes_comments`.
std::string last_setting(const std::string& text, bool takes_comments) {
  const std::string name = "RemoveIPC";
  std::string value;
  for (const std::string& line : split(text, '\n')) {
    auto at = line.find_first_not_of(" \t");
    if (takes_comments && at != std::string::npos && line[at] == '#') ++at;
    if (at == std::string::npos || line.compare(at, name.size(), name) != 0) continue;
    const auto equals = line.find_first_not_of(" \t", at + name.size());
    if (equals == std::string::npos || line[equals] != '=') continue;
    value = trimmed(line.substr(equals + 1));
  }
  return value;
}

}  // namespace

void check_sys_removeipc(const Machine& machine, Findings& findings) {
  const std::vector<std::string> roots = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"};
  std::vector<std::string> directories;
  std::string value = "yes", origin = "the default of systemd";
  bool has_main = false;
  const auto take = [&](const std::string& path, bool takes_comments) {
    const auto text = machine.view.text(path);
    if (text.is_unknown()) findings.add_unknown(path, text);
    const std::string own = last_setting(text.value, takes_comments);
    if (!own.empty()) value = own, origin = path;
    return text.is_found();
  };
  for (const std::string& root : roots) {
    directories.push_back(root + "/logind.conf.d");
    // The main file contains systemd's built-in default as a comment, which some distributions change.
    if (!has_main && take(root + "/logind.conf", true)) {
      has_main = true;
      take(root + "/logind.conf", false);
    }
  }
  const auto files = drop_ins(machine.view, directories);
  if (!files.is_found()) findings.add_unknown("logind.conf.d", files);
  for (const std::string& path : files.value) take(path, false);
  if (!findings.all().empty()) return;
  if (!has_main && files.value.empty()) return findings.add(State::skip, "", "systemd-logind has no configuration");
  const bool is_off = is_one_of(value, {"no", "0", "false", "off", "n", "f"});
  if (!is_off && !is_one_of(value, {"yes", "1", "true", "on", "y", "t"})) {
    return findings.add(State::unknown, "RemoveIPC", "is '" + value + "' in " + origin);
  }
  bool has_slurm = false;
  for (const char* path : {"/etc/slurm", "/etc/slurm-llnl", "/var/spool/slurmd", "/run/slurmd.pid"}) {
    has_slurm = has_slurm || machine.view.presence(path) == Outcome::found;
  }
  findings.add(is_off      ? State::ok
               : has_slurm ? State::warn
                           : State::info,
               "RemoveIPC", "is " + value + " (" + origin + ")" + (has_slurm ? ", and Slurm is installed" : ""));
}

}  // namespace gdrkit::diag::doctor
