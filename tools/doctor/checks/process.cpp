// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group process: what this process, and so those started like it, may do.
#include <cstdlib>
#include <sstream>

#include "tools/doctor/check.hpp"

namespace gdrkit::tools::doctor {
namespace {

constexpr double unlimited = 1e30;
constexpr double mib = 1024.0 * 1024.0;
constexpr unsigned ipc_lock_capability = 14;

/// The soft limit in a line of /proc/self/limits.
Fact<double> soft_limit(const MachineView& view, const std::string& name) {
  const auto text = view.text("/proc/self/limits");
  Fact<double> fact;
  fact.outcome = text.is_absent() ? Outcome::unreadable : text.outcome;
  fact.reason = text.reason;
  if (!text.is_found()) return fact;
  const auto at = ("\n" + text.value).find("\n" + name + " ");
  std::istringstream rest(at == std::string::npos ? "" : text.value.substr(at + name.size()));
  std::string word;
  rest >> word;
  char* end = nullptr;
  fact.value = word == "unlimited" ? unlimited : std::strtod(word.c_str(), &end);
  if (word.empty() || (end != nullptr && *end != '\0')) {
    fact.outcome = Outcome::malformed;
    fact.reason = "/proc/self/limits: has no number after '" + name + "'";
  }
  return fact;
}

Fact<bool> may_lock_memory(const MachineView& view) {
  const auto effective = labelled(view.text("/proc/self/status"), "CapEff");
  Fact<bool> fact;
  fact.outcome = effective.is_absent() ? Outcome::malformed : effective.outcome;
  fact.reason = "/proc/self/status: " + effective.reason;
  if (!effective.is_found()) return fact;
  char* end = nullptr;
  const auto bits = std::strtoull(effective.value.c_str(), &end, 16);
  fact.value = (bits >> ipc_lock_capability & 1u) != 0;
  if (end == effective.value.c_str()) fact.outcome = Outcome::malformed;
  return fact;
}

std::string limit_text(double value) { return value >= unlimited ? "unlimited" : format("%.0f", value); }

}  // namespace

const Advice advice_lim_memlock = {
    "'Max locked memory' in /proc/self/limits and CAP_IPC_LOCK in /proc/self/status",
    "RDMA locks the memory that it registers: with a small limit queues and registrations fail",
    {"a line '* - memlock unlimited' in /etc/security/limits.d; services: LimitMEMLOCK=infinity; docker: --ulimit "
     "memlock=-1",
     true, false, true, "ulimit -l"},
    "programs started by sshd or slurmd have the limits that those have, which may be older"};

void check_lim_memlock(const Machine& machine, Findings& findings) {
  const auto limit = soft_limit(machine.view, "Max locked memory");
  const auto may_lock = may_lock_memory(machine.view);
  if (may_lock.is_found() && may_lock.value) return findings.add(State::ok, "memlock", "this process has CAP_IPC_LOCK");
  if (!limit.is_found()) return findings.add_unknown("memlock", limit);
  if (!may_lock.is_found() && limit.value < unlimited) return findings.add_unknown("memlock", may_lock);
  const State state = limit.value >= unlimited ? State::ok : limit.value >= 64 * mib ? State::warn : State::fail;
  findings.add(state, "memlock", "soft limit " + limit_text(limit.value) + (limit.value >= unlimited ? "" : " bytes"));
}

const Advice advice_lim_nofile = {
    "'Max open files' in /proc/self/limits",
    "each connection between ranks takes descriptors: large jobs fail when there are no more",
    {"a line '* - nofile 131072' in /etc/security/limits.d; services: LimitNOFILE=131072", true, false, true,
     "ulimit -n"},
    "small jobs need few"};

void check_lim_nofile(const Machine& machine, Findings& findings) {
  const auto limit = soft_limit(machine.view, "Max open files");
  if (!limit.is_found()) return findings.add_unknown("nofile", limit);
  findings.add(limit.value < 4096 ? State::warn : State::ok, "nofile", "soft limit " + limit_text(limit.value));
}

const Advice advice_lim_stack = {
    "'Max stack size' in /proc/self/limits",
    "with no limit the C library gives threads small stacks of 2 MiB, which NCCL before 2.28 overruns",
    {"ulimit -s 8192 before the program starts", false, false, false, "ulimit -s"},
    ""};

void check_lim_stack(const Machine& machine, Findings& findings) {
  const auto limit = soft_limit(machine.view, "Max stack size");
  if (!limit.is_found()) return findings.add_unknown("stack", limit);
  findings.add(limit.value >= unlimited ? State::warn : State::ok, "stack", "soft limit " + limit_text(limit.value));
}

const Advice advice_ctr_devices = {
    "/dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidiaN when there is a driver; /dev/infiniband/uverbs* when there is an "
    "adapter",
    "a container may see all hardware in /sys and have no nodes to use it by: the libraries then leave it out silently",
    {"docker: --gpus all --device=/dev/infiniband --cap-add=IPC_LOCK; Kubernetes: the device plug-ins; host: "
     "nvidia-modprobe -u -c 0",
     true, false, false, "ls /dev/nvidia* /dev/infiniband"},
    "a container that was given some GPUs has the nodes of those only: one node is enough here"};

void check_ctr_devices(const Machine& machine, Findings& findings) {
  const auto names = machine.view.names("/dev");
  if (!names.is_found()) return findings.add(State::unknown, "/dev", names.reason);
  const auto has = [&](const std::string& start) {
    for (const std::string& name : names.value) {
      if (name.rfind(start, 0) == 0 && name.size() > start.size() && name[start.size()] >= '0' &&
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
                 has("nvidia") ? "at least one GPU has its node" : "no GPU has a node");
  }
  if (machine.adapters.empty()) return;
  const auto nodes = machine.view.names("/dev/infiniband");
  if (nodes.is_unknown()) return findings.add_unknown("/dev/infiniband", nodes);
  bool has_verbs = false;
  for (const std::string& name : nodes.value) has_verbs = has_verbs || name.rfind("uverbs", 0) == 0;
  findings.add(has_verbs ? State::ok : State::fail, "/dev/infiniband",
               has_verbs ? "has uverbs nodes" : "has no uverbs node, and there is " + machine.adapters.front().name);
}

}  // namespace gdrkit::tools::doctor
