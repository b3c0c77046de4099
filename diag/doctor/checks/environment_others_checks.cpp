// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group environment: settings of UCX and NVSHMEM, compared with the machine.
#include <fnmatch.h>

#include <algorithm>

#include "diag/doctor/check.hpp"
#include "diag/doctor/checks/environment_checks.hpp"

namespace gdrkit::diag::doctor {
namespace {

/// NVSHMEM's rule: any value that does not begin with 0, no or false means yes.
bool is_on(const Environment& environment, const std::string& name) {
  const Setting* setting = environment.find(name);
  return setting != nullptr &&
         (setting->value.empty() || std::string("0NnFf").find(setting->value.front()) == std::string::npos);
}

bool is_rdma_transport(const std::string& word) {
  // rc, rc_x, rc_verbs, ...
  return is_one_of(word, {"all", "ib"}) || is_one_of(word.substr(0, word.find('_')), {"rc", "dc", "ud", "srd", "gga"});
}

}  // namespace

void judge_ucx_devices(const Machine& machine, const Setting& setting, Findings& findings) {
  // "all" means every device; a leading ^ excludes devices.
  if (setting.value == "all") return findings.add(State::ok, setting.name, described(setting));
  const bool is_exclusion = setting.value.front() == '^';
  std::vector<std::string> devices = machine.view.names("/sys/class/net").value;
  for (const Adapter& adapter : machine.adapters) {
    for (const std::string& port : machine.view.names(adapter.directory + "/ports").value)
      devices.push_back(adapter.name + ":" + port);
  }
  std::size_t count = 0;
  std::vector<std::string> lost;
  for (const std::string& word : listed(setting.value.substr(is_exclusion ? 1 : 0))) {
    const bool is_there = std::ranges::any_of(
        devices, [&](const std::string& device) { return ::fnmatch(word.c_str(), device.c_str(), 0) == 0; });
    if (is_there) ++count;
    if (!is_there) lost.push_back(word);
  }
  for (const std::string& word : lost) {
    const bool lacks_port =
        std::ranges::any_of(machine.adapters, [&](const Adapter& adapter) { return adapter.name == word; });
    const State state = count == 0 && !is_exclusion ? State::fail : State::warn;
    findings.add(state, setting.name,
                 described(setting) + ": no device has the name '" + word + "'" +
                     (lacks_port ? "; with its port the name is " + word + ":1" : ""),
                 lacks_port ? "" : removal(setting));
  }
  if (lost.empty()) findings.add(State::ok, setting.name, described(setting));
}

const Advice advice_env_nvshmem = {
    "NVSHMEM_HCA_LIST, NVSHMEM_HCA_PE_MAPPING, NVSHMEM_ENABLE_NIC_PE_MAPPING and NVSHMEM_HCA_PREFIX, compared with the "
    "adapters",
    "NVSHMEM ignores NVSHMEM_HCA_LIST and NVSHMEM_HCA_PE_MAPPING unless NVSHMEM_ENABLE_NIC_PE_MAPPING=1 is set, and "
    "uses only adapters whose names begin with NVSHMEM_HCA_PREFIX",
    {"export NVSHMEM_ENABLE_NIC_PE_MAPPING=1   # or NVSHMEM_HCA_PREFIX=ibp", false, false, false,
     "NVSHMEM_DEBUG=INFO prints the adapters that NVSHMEM uses"},
    "if NVSHMEM_HCA_PREFIX is not set, older releases (for example 3.4.5) use only mlx5 adapters, and the newest "
    "releases use almost all adapters"};

void check_env_nvshmem(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  for (const char* name : {"NVSHMEM_HCA_LIST", "NVSHMEM_HCA_PE_MAPPING"}) {
    const Setting* setting = environment->find(name);
    if (setting == nullptr || setting->value.empty() || is_on(*environment, "NVSHMEM_ENABLE_NIC_PE_MAPPING")) continue;
    findings.add(State::fail, name, described(*setting) + " has no effect without NVSHMEM_ENABLE_NIC_PE_MAPPING=1");
  }
  const Setting* prefix = environment->find("NVSHMEM_HCA_PREFIX");
  const std::string name_prefix = prefix == nullptr ? "mlx5" : prefix->value;
  const bool has_any = std::ranges::any_of(
      machine.adapters, [&](const Adapter& adapter) { return adapter.name.starts_with(name_prefix); });
  const bool is_exclusion = !name_prefix.empty() && name_prefix.front() == '^';
  const bool is_used = !environment->of(CommLibrary::nvshmem).empty();
  if (!machine.adapters.empty() && !has_any && !is_exclusion && (prefix != nullptr || is_used)) {
    findings.add(prefix != nullptr ? State::fail : State::warn, "NVSHMEM_HCA_PREFIX",
                 (prefix != nullptr ? described(*prefix) : std::string("not set")) + ": no adapter name begins with '" +
                     name_prefix + "'; found " + machine.adapters.front().name,
                 "export NVSHMEM_HCA_PREFIX=" + machine.adapters.front().name.substr(
                                                    0, machine.adapters.front().name.find_first_of("_0123456789")));
  }
  if (findings.all().empty()) findings.add(State::ok, "", "the settings of NVSHMEM are consistent");
}

const Advice advice_env_ibgda = {
    "NVSHMEM_IB_ENABLE_IBGDA, NVSHMEM_IBGDA_NIC_HANDLER, RegistryDwords in /proc/driver/nvidia/params, "
    "/sys/module/gdrdrv",
    "a GPU that drives the adapter directly needs the adapter's doorbells mapped, which the driver allows only with a "
    "registry key; otherwise a CPU thread rings them",
    {"options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"   # a file in /etc/modprobe.d", true, true, true,
     "grep RegistryDwords /proc/driver/nvidia/params"},
    "arm64 needs no key; a CPU thread is slower: it uses gdrdrv, or from NVSHMEM 3.4.5 on host memory",
    {.file = "/etc/modprobe.d/gdrkit-ibgda.conf",
     .text = "options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"",
     .enable = rebuild_initramfs,
     .risk = "takes effect at the next boot; GPUs may then map registers of other devices. If another file in "
             "/etc/modprobe.d sets NVreg_RegistryDwords, one of the two is lost: write all keys on one line"}};

void check_env_ibgda(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  if (!is_on(*environment, "NVSHMEM_IB_ENABLE_IBGDA"))
    return findings.add(State::ok, "", "NVSHMEM_IB_ENABLE_IBGDA is not set");
  const auto cpus = machine.view.text("/proc/cpuinfo");
  if (labelled(cpus, "CPU implementer").is_found())
    return findings.add(State::ok, "", "arm64 needs no registry key of the driver");
  const auto params = machine.view.text("/proc/driver/nvidia/params");
  if (!params.is_found()) return findings.add(State::unknown, "/proc/driver/nvidia/params", params.reason);
  const bool has_key = labelled(params, "RegistryDwords").value.find("PeerMappingOverride=1") != std::string::npos;
  const std::string handler = value_of(*environment, "NVSHMEM_IBGDA_NIC_HANDLER");
  if (has_key) return findings.add(State::ok, "", "the driver has PeerMappingOverride=1");
  if (handler == "gpu")
    return findings.add(State::fail, "NVSHMEM_IBGDA_NIC_HANDLER",
                        "'gpu' needs the driver option PeerMappingOverride=1, which is not set");
  const Outcome gdrdrv = machine.view.presence("/sys/module/gdrdrv");
  if (gdrdrv == Outcome::found)
    return findings.add(State::info, "",
                        "no PeerMappingOverride=1: a CPU thread rings the adapter's doorbells through gdrdrv");
  if (gdrdrv != Outcome::absent)
    return findings.add(State::unknown, "/sys/module/gdrdrv", "cannot determine whether gdrdrv is loaded");
  findings.add(State::warn, "",
               "found neither PeerMappingOverride=1 nor gdrdrv: NVSHMEM before 3.4.5 cannot use IBGDA; later releases "
               "use it through host memory");
}

const Advice advice_env_ucx = {
    "UCX_TLS and UCX_IB_GPU_DIRECT_RDMA in the environment and in ucx.conf, compared with GPUs, adapters and "
    "/dev/gdrdrv",
    "UCX uses only the listed transports: without cuda it cannot send GPU memory, without RDMA it uses TCP",
    {"unset UCX_TLS   # or UCX_TLS=rc,cuda,sm,self", false, false, false, "ucx_info -d | grep Transport"},
    "UCX itself warns of unused names; a list may fit one program and not the next"};

void check_env_ucx(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const bool has_adapter = !machine.adapters.empty();
  const bool has_gpu = !machine.gpus.empty();
  const Setting* transports = environment->find("UCX_TLS");
  if (transports != nullptr && !transports->value.empty()) {
    const bool is_exclusion = transports->value.front() == '^';
    const auto words = listed(transports->value.substr(is_exclusion ? 1 : 0));
    const auto has = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::any_of(words, [&](const std::string& word) { return is_one_of(word, names); });
    };
    const bool has_rdma = std::ranges::any_of(words, is_rdma_transport);
    if (is_exclusion ? has({"ib"}) : has_adapter && !has_rdma) {
      findings.add(has_adapter ? State::warn : State::info, "UCX_TLS", described(*transports) + " excludes RDMA",
                   removal(*transports));
    }
    if (has_gpu && (is_exclusion ? has({"cuda", "cuda_copy"}) : !has({"all", "cuda", "cuda_copy"}))) {
      findings.add(State::warn, "UCX_TLS",
                   described(*transports) + " excludes cuda_copy, without which UCX cannot send GPU memory",
                   removal(*transports));
    }
    const auto node = machine.view.node("/dev/gdrdrv");
    if (!is_exclusion && has({"gdr_copy"}) && node.is_absent()) {
      findings.add(State::warn, "UCX_TLS",
                   described(*transports) +
                       " names gdr_copy, but /dev/gdrdrv does not exist, so gdr_copy works only with a libgdrapi that "
                       "does not need gdrdrv");
    }
    if (!is_exclusion && has({"gdr_copy"}) && node.is_unknown()) findings.add_unknown("/dev/gdrdrv", node);
  }
  const Setting* direct = environment->find("UCX_IB_GPU_DIRECT_RDMA");
  if (direct != nullptr && is_one_of(direct->value, {"n", "no", "N", "No", "NO", "0", "off"})) {
    findings.add(has_adapter && has_gpu ? State::fail : State::info, direct->name,
                 described(*direct) + " turns GPUDirect RDMA off", removal(*direct));
  }
  if (findings.all().empty())
    findings.add(State::ok, "",
                 transports == nullptr ? "UCX_TLS is not set: UCX chooses" : "UCX_TLS is " + described(*transports));
}

}  // namespace gdrkit::diag::doctor
