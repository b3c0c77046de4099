// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group process: limits, capabilities and device nodes of this process.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "diag/doctor/check.hpp"
#include "diag/machine/virtualization.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr double unlimited = 1e30;
constexpr double mib = 1024.0 * 1024.0;
constexpr unsigned ipc_lock_capability = 14;
constexpr unsigned sys_nice_capability = 23;
constexpr std::int64_t amazon = 0x1d0f;  // vendor of EFA

/// The soft limit in a line of /proc/self/limits.
Fact<double> soft_limit(const MachineView& view, const std::string& name) {
  const auto text = required(view.text("/proc/self/limits"));
  if (!text.is_found()) return pass<double>(text);
  const auto at = ("\n" + text.value).find("\n" + name + " ");
  std::istringstream rest(at == std::string::npos ? "" : text.value.substr(at + name.size()));
  std::string word;
  rest >> word;
  char* end = nullptr;
  const double limit = word == "unlimited" ? unlimited : std::strtod(word.c_str(), &end);
  if (word.empty() || (end != nullptr && *end != '\0')) {
    return {Outcome::malformed, limit, "/proc/self/limits: has no number after '" + name + "'"};
  }
  return found(limit);
}

Fact<bool> has_capability(const MachineView& view, unsigned capability) {
  const auto effective = labelled(view.text("/proc/self/status"), "CapEff");
  Fact<bool> fact;
  fact.outcome = effective.is_absent() ? Outcome::malformed : effective.outcome;
  fact.reason = "/proc/self/status: " + effective.reason;
  if (!effective.is_found()) return fact;
  char* end = nullptr;
  const auto bits = std::strtoull(effective.value.c_str(), &end, 16);
  fact.value = (bits >> capability & 1u) != 0;
  if (end == effective.value.c_str()) fact.outcome = Outcome::malformed;
  return fact;
}

/// The value of a label of /proc/meminfo, in bytes.
Fact<double> memory_bytes(const MachineView& view, const std::string& label) {
  const auto line = required(labelled(view.text("/proc/meminfo"), label));
  if (!line.is_found()) return {line.outcome, 0, "/proc/meminfo: " + line.reason};
  char* end = nullptr;
  const double bytes = std::strtod(line.value.c_str(), &end) * (line.value.find(" kB") != std::string::npos ? 1024 : 1);
  if (end != line.value.c_str()) return found(bytes);
  return {Outcome::malformed, 0, "/proc/meminfo: has no number after '" + label + "'"};
}

/// Options of the tmpfs that was mounted last at `place`, which hides earlier ones.
Fact<std::string> tmpfs_options(const MachineView& view, const std::string& place) {
  const auto mounts = required(view.text("/proc/mounts"));
  if (!mounts.is_found()) return mounts;
  Fact<std::string> fact{Outcome::absent, "", "/proc/mounts: nothing is mounted at " + place};
  for (const std::string& line : split(mounts.value, '\n')) {
    std::istringstream words(line);
    std::string source, target, kind, options;
    words >> source >> target >> kind >> options;
    if (target != place) continue;
    fact = kind == "tmpfs" ? found(options)
                           : Fact<std::string>{Outcome::absent, "", "/proc/mounts: " + place + " is of type " + kind};
  }
  return fact;
}

/// The option size=, which Linux prints in kB; half of the memory if it is not set.
Fact<double> tmpfs_size(const MachineView& view, const std::string& place) {
  const auto options = tmpfs_options(view, place);
  if (!options.is_found()) return pass<double>(options);
  const std::string padded = "," + options.value;
  const auto at = padded.find(",size=");
  if (at == std::string::npos) {
    const auto memory = memory_bytes(view, "MemTotal");
    return {memory.outcome, memory.value / 2, memory.reason};
  }
  char* end = nullptr;
  double size = std::strtod(padded.c_str() + at + 6, &end);
  const double factors[] = {1, 1024, mib, 1024 * mib};
  const std::string units = "kmg";
  const auto unit = *end == '\0' || *end == ',' ? std::string::npos : units.find(*end);
  if (unit != std::string::npos) ++end;
  size *= factors[unit == std::string::npos ? 0 : unit + 1];
  if (size <= 0 || (*end != '\0' && *end != ',')) {
    return {Outcome::malformed, size, "/proc/mounts: '" + options.value + "' does not contain a size of " + place};
  }
  return found(size);
}

std::string limit_text(double value) { return value >= unlimited ? "unlimited" : cli::format("%.0f", value); }

}  // namespace

const Advice advice_lim_memlock = {
    "'Max locked memory' in /proc/self/limits and CAP_IPC_LOCK in /proc/self/status",
    "RDMA locks the memory that it registers: with a small limit, creating queues and registering memory fail",
    {"a line '* - memlock unlimited' in /etc/security/limits.d; services: LimitMEMLOCK=infinity; docker: --ulimit "
     "memlock=-1",
     true, false, true, "ulimit -l"},
    "programs that sshd or slurmd starts inherit the limits of that daemon, which may be older than the file",
    {.file = "/etc/security/limits.d/90-gdrkit-memlock.conf",
     .text = "* - memlock unlimited\nroot - memlock unlimited",
     .enable = "# processes that these services start inherit the service's limit, not that of a login\n"
               "for unit in slurmd docker containerd crio; do\n"
               "  if systemctl cat $unit.service >/dev/null 2>&1; then\n"
               "    mkdir -p /etc/systemd/system/$unit.service.d\n"
               "    printf '[Service]\\n"
               "LimitMEMLOCK=infinity\\n"
               "' > /etc/systemd/system/$unit.service.d/90-gdrkit-memlock.conf\n"
               "  fi\n"
               "done\n"
               "systemctl daemon-reload",
     .risk = "a user's program can then lock all memory; takes effect at the next login, and for jobs and containers "
             "after a restart of their service; undo: remove the drop-ins too"}};

void check_lim_memlock(const Machine& machine, Findings& findings) {
  const bool has_no_gpu = machine.pci_outcome == Outcome::found && machine.gpus.empty();
  const bool has_no_adapter =
      (machine.adapter_outcome == Outcome::found || machine.adapter_outcome == Outcome::absent) &&
      machine.adapters.empty();
  if (has_no_gpu && has_no_adapter)
    return findings.add(State::skip, "", "found neither an NVIDIA GPU nor an RDMA adapter, so RDMA locks no memory");
  const auto limit = soft_limit(machine.view, "Max locked memory");
  const auto may_lock = has_capability(machine.view, ipc_lock_capability);
  if (may_lock.is_found() && may_lock.value) return findings.add(State::ok, "memlock", "this process has CAP_IPC_LOCK");
  if (!limit.is_found()) return findings.add_unknown("memlock", limit);
  if (!may_lock.is_found() && limit.value < unlimited) return findings.add_unknown("memlock", may_lock);
  const State state = limit.value >= unlimited ? State::ok : limit.value >= 64 * mib ? State::warn : State::fail;
  findings.add(state, "memlock", "soft limit " + limit_text(limit.value) + (limit.value >= unlimited ? "" : " bytes"));
}

const Advice advice_lim_nofile = {
    "'Max open files' in /proc/self/limits",
    "each connection between ranks uses file descriptors: large jobs fail when the limit is reached",
    {"a line '* - nofile 1048576' in /etc/security/limits.d; services: LimitNOFILE=1048576", true, false, true,
     "ulimit -n"},
    "small jobs need few",
    {.file = "/etc/security/limits.d/90-gdrkit-nofile.conf",
     .text = "* - nofile 1048576\nroot - nofile 1048576",
     .enable = "if systemctl cat slurmd.service >/dev/null 2>&1; then\n"
               "  mkdir -p /etc/systemd/system/slurmd.service.d\n"
               "  printf '[Service]\\nLimitNOFILE=1048576\\n' > "
               "/etc/systemd/system/slurmd.service.d/90-gdrkit-nofile.conf\n"
               "  systemctl daemon-reload\n"
               "fi",
     .risk = "takes effect at the next login, and for jobs of Slurm after a restart of slurmd; undo: remove the "
             "drop-in too"}};

void check_lim_nofile(const Machine& machine, Findings& findings) {
  const auto limit = soft_limit(machine.view, "Max open files");
  if (!limit.is_found()) return findings.add_unknown("nofile", limit);
  findings.add(limit.value < 4096 ? State::warn : State::ok, "nofile", "soft limit " + limit_text(limit.value));
}

const Advice advice_lim_stack = {
    "'Max stack size' in /proc/self/limits",
    "without a limit the C library gives threads small stacks of 2 MiB, which NCCL before 2.28 overflows",
    {"run ulimit -s 8192 in the job script before the program starts", false, false, false, "ulimit -s"},
    ""};

void check_lim_stack(const Machine& machine, Findings& findings) {
  const auto limit = soft_limit(machine.view, "Max stack size");
  if (!limit.is_found()) return findings.add_unknown("stack", limit);
  findings.add(limit.value >= unlimited ? State::warn : State::ok, "stack", "soft limit " + limit_text(limit.value));
}

const Advice advice_lim_shm = {
    "the option size= of the tmpfs at /dev/shm in /proc/mounts, or half of MemTotal in /proc/meminfo",
    "ranks on one machine share memory through /dev/shm: when it is full, NCCL and MPI fail or die of SIGBUS",
    {"start the container with --shm-size=1g or --ipc=host (docker), or with an emptyDir of medium Memory at /dev/shm "
     "(Kubernetes); on a host: sudo mount -o remount,size=50% /dev/shm, and the same in /etc/fstab",
     true, false, false, "df -h /dev/shm"},
    "64 MiB is the default of docker; newer NCCL keeps its buffers elsewhere and needs less"};

void check_lim_shm(const Machine& machine, Findings& findings) {
  const auto size = tmpfs_size(machine.view, "/dev/shm");
  if (size.is_unknown()) return findings.add_unknown("/dev/shm", size);
  if (size.is_absent()) return findings.add(State::warn, "/dev/shm", size.reason);
  findings.add(size.value <= 64 * mib    ? State::fail
               : size.value < 1024 * mib ? State::warn
                                         : State::ok,
               "/dev/shm", cli::format("has at most %.0f MiB", size.value / mib));
}

const Advice advice_lim_hugepages = {"HugePages_Total in /proc/meminfo if there is an EFA adapter",
                                     "the EFA provider allocates its buffers from huge pages if any are reserved",
                                     {"sudo sysctl vm.nr_hugepages=5128   # permanently: a file in /etc/sysctl.d", true,
                                      false, false, "grep HugePages_Total /proc/meminfo"},
                                     "only EFA adapters use huge pages, and EFA also works without them"};

void check_lim_hugepages(const Machine& machine, Findings& findings) {
  const auto& adapters = adapters_or_skip(machine, findings);
  if (adapters.empty()) return;
  if (std::ranges::none_of(adapters, [](const Adapter& adapter) { return adapter.pci.vendor == amazon; })) {
    return findings.add(State::skip, "", "only EFA uses huge pages, and this machine has no EFA adapter");
  }
  const auto pages = memory_bytes(machine.view, "HugePages_Total");
  if (!pages.is_found()) return findings.add_unknown("huge pages", pages);
  findings.add(pages.value > 0 ? State::ok : State::info, "huge pages", cli::format("%.0f are reserved", pages.value));
}

const Advice advice_ctr_caps = {
    "CapEff in /proc/self/status and 'Max locked memory' in /proc/self/limits, in a container",
    "without CAP_IPC_LOCK RDMA can lock only as much memory as the limit allows; without CAP_SYS_NICE docker's seccomp "
    "filter refuses to bind memory to a NUMA node",
    {"start the container with --cap-add=IPC_LOCK --cap-add=SYS_NICE --ulimit memlock=-1 (docker), or with "
     "securityContext.capabilities.add: [IPC_LOCK, SYS_NICE] (Kubernetes)",
     true, false, false, "grep CapEff /proc/self/status"},
    "this check cannot detect the containers of some runtimes"};

void check_ctr_caps(const Machine& machine, Findings& findings) {
  const auto container = find_container(machine.view);
  if (container.is_absent()) return findings.add(State::skip, "", container.reason);
  if (!container.is_found()) return findings.add_unknown("container", container);
  const auto may_lock = has_capability(machine.view, ipc_lock_capability);
  const auto limit = soft_limit(machine.view, "Max locked memory");
  const auto may_bind = has_capability(machine.view, sys_nice_capability);
  if (!may_lock.is_found()) return findings.add_unknown("container", may_lock);
  if (!may_lock.value && !limit.is_found()) return findings.add_unknown("container", limit);
  const bool is_unlimited = limit.is_found() && limit.value >= unlimited;
  findings.add(may_lock.value || is_unlimited ? State::ok : State::warn, "CAP_IPC_LOCK",
               std::string(may_lock.value ? "is there" : "is missing") +
                   (is_unlimited ? ", memlock is unlimited" : "") + " (" + container.value + ")");
  findings.add(may_bind.value ? State::ok : State::info, "CAP_SYS_NICE", may_bind.value ? "is there" : "is missing");
}

const Advice advice_ctr_devices = {
    "/dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidiaN when there is a driver; /dev/infiniband/uverbs* when there is an "
    "adapter",
    "a container may see all hardware in /sys but have no device nodes: libraries then skip the devices silently",
    {"start the container with --gpus all --device=/dev/infiniband --cap-add=IPC_LOCK (docker), or use the device "
     "plug-ins (Kubernetes); on a host: sudo nvidia-modprobe -u -c 0, sudo modprobe ib_uverbs",
     true, false, false, "ls /dev/nvidia* /dev/infiniband"},
    "a container with some of the GPUs has only their nodes: one node is enough for this check"};

void check_ctr_devices(const Machine& machine, Findings& findings) {
  const auto names = machine.view.names("/dev");
  if (!names.is_found()) return findings.add(State::unknown, "/dev", names.reason);
  const auto has = [&](const std::string& start) {
    for (const std::string& name : names.value) {
      if (name.starts_with(start) && name.size() > start.size() && name[start.size()] >= '0' &&
          name[start.size()] <= '9')
        return true;
    }
    return false;
  };
  if (machine.driver.is_unknown()) findings.add_unknown("/dev/nvidia*", machine.driver);
  if (machine.driver.is_found() && !gpus_or_skip(machine, findings).empty()) {
    for (const char* node : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
      const auto found = machine.view.node(node);
      findings.add(found.is_found()    ? State::ok
                   : found.is_absent() ? State::fail
                                       : State::unknown,
                   node, found.is_found() ? "is there" : found.reason);
    }
    findings.add(has("nvidia") ? State::ok : State::fail, "/dev/nvidia*",
                 has("nvidia") ? "at least one GPU has a node" : "no GPU has a node");
  }
  if (machine.adapters.empty()) return;
  const auto nodes = machine.view.names("/dev/infiniband");
  if (nodes.is_unknown()) return findings.add_unknown("/dev/infiniband", nodes);
  bool has_verbs = false;
  for (const std::string& name : nodes.value) has_verbs = has_verbs || name.starts_with("uverbs");
  findings.add(has_verbs ? State::ok : State::fail, "/dev/infiniband",
               has_verbs ? "has uverbs nodes" : "has no uverbs node for " + machine.adapters.front().name);
}

}  // namespace gdrkit::diag::doctor
