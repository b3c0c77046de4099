// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/access.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "platform/facts/nvidia.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr int first_rm_driver = 515;
constexpr int first_dmabuf_driver = 610;  // of CUDA 13.3

Known gdrdrv_fact(const Causes& causes) {
  if (causes.state_of("gdr.version") == State::fail) return {Judgment::no, "gdrdrv " + causes.text_of("gdr.version")};
  const State node = causes.state_of("gdr.node");
  const std::string why = "/dev/gdrdrv: " + causes.text_of("gdr.node");
  if (node == State::ok) return {Judgment::yes, why};
  return {node == State::warn || node == State::unknown ? Judgment::unknown : Judgment::no, why};
}

Known rm_fact(const Machine& machine) {
  if (machine.driver.is_unknown()) return {Judgment::unknown, machine.driver.reason};
  if (machine.driver.is_absent()) return {Judgment::no, "no /proc/driver/nvidia/version"};
  const auto driver = platform::parse_nvidia_driver(machine.driver.value);
  if (!driver.has_value()) return {Judgment::unknown, "/proc/driver/nvidia/version names no version"};
  if (std::atoi(driver->version.c_str()) < first_rm_driver)
    return {Judgment::no, "driver " + driver->version + " is older than 515"};
  if (labelled(machine.view.text("/proc/cpuinfo"), "CPU implementer").is_found())
    return {Judgment::unknown, "arm64: the rm backend has never been tested there"};
  return {Judgment::yes, "driver " + driver->version};
}

Known dmabuf_fact(const Machine& machine) {
  if (!machine.driver.is_found()) return {Judgment::no, "no driver"};
  const auto driver = platform::parse_nvidia_driver(machine.driver.value);
  if (!driver.has_value() || std::atoi(driver->version.c_str()) < first_dmabuf_driver)
    return {Judgment::no, "drivers before 610 let only adapters map dma-bufs, not CPUs"};
  return {Judgment::unknown, "driver " + driver->version + " may allow mapping dma-bufs: 'gdrkit info' tests it"};
}

/// The nodes that a process opens. Their mode depends on the user and is not checked.
Known gpu_fact(const Machine& machine, const std::string& address) {
  for (const PciDevice& gpu : machine.gpus) {
    if (gpu.address == address && !gpu.driver.empty() && gpu.driver != "nvidia")
      return {Judgment::no, "the GPU is bound to " + gpu.driver};
  }
  if (is_confidential(machine)) return {Judgment::unknown, confidential};
  const auto names = machine.view.names("/dev");
  if (!names.is_found()) return {Judgment::unknown, names.reason};
  const auto control = machine.view.node("/dev/nvidiactl");
  if (control.is_unknown()) return {Judgment::unknown, control.reason};
  if (control.is_absent()) return {Judgment::no, "no /dev/nvidiactl"};
  const bool has_node = std::ranges::any_of(names.value, [](const std::string& name) {
    return name.size() > 6 && name.starts_with("nvidia") && name[6] >= '0' && name[6] <= '9';
  });
  return has_node ? Known{Judgment::yes, ""} : Known{Judgment::no, "no /dev/nvidiaN of a GPU"};
}

}  // namespace

const char* name_of(Judgment judgment) {
  constexpr const char* names[] = {"no", "unknown", "yes"};
  return names[static_cast<std::size_t>(judgment)];
}

Known all_of(std::initializer_list<Known> facts) {
  return *std::ranges::min_element(facts, [](const Known& a, const Known& b) { return a.judgment < b.judgment; });
}

Access judge(const AccessFacts& facts) {
  const Known dmabuf = all_of({facts.dmabuf_allowed, facts.dmabuf_system, facts.dmabuf_verbs, facts.dmabuf_gpu});
  const Known peer_memory = all_of({facts.detection, facts.peer_memory});
  Access access;
  access.detection = std::string("peer memory ") + name_of(facts.detection.judgment) + " (" + facts.detection.why +
                     "), dma-buf " + name_of(dmabuf.judgment) + " (" + dmabuf.why + ")";
  Known memory;
  memory.judgment = std::max(dmabuf.judgment, peer_memory.judgment);
  if (memory.judgment == Judgment::yes) {
    access.via = dmabuf.judgment == Judgment::yes ? "dma-buf" : "peer memory";
    memory.why = access.via + ": " + (dmabuf.judgment == Judgment::yes ? dmabuf.why : peer_memory.why);
  } else if (memory.judgment == Judgment::unknown) {
    memory.why = dmabuf.judgment == Judgment::unknown ? "dma-buf: " + dmabuf.why : "peer memory: " + peer_memory.why;
  } else {
    memory.why = "neither peer memory (" + peer_memory.why + ") nor dma-buf (" + dmabuf.why + ")";
  }
  const Known least = all_of({facts.gpu, facts.adapter, facts.path, memory});
  access.use = least.judgment;
  access.reason = least.judgment == Judgment::yes ? memory.why + "; " + facts.path.why : least.why;
  if (access.use != Judgment::yes) access.via.clear();
  return access;
}

void add_ids(const std::vector<Cause>& causes, std::vector<std::string>* ids) {
  for (const Cause& cause : causes) ids->emplace_back(cause.id);
}

void rule_out(const std::vector<Cause>& causes, Access* access, std::vector<std::string>* blocked_by) {
  if (!causes.empty() && access->use != Judgment::no) {
    access->use = Judgment::no;
    access->via.clear();
    access->reason = std::string(causes.front().id) + " fails: " + causes.front().text;
  }
  add_ids(causes, blocked_by);
}

bool is_divided(const Machine& machine, const std::string& address) {
  const auto& nvml = machine.probe.nvml;
  const NvmlGpu* gpu = nvml.is_found() ? nvml.value.gpu_at(address) : nullptr;
  return gpu != nullptr && gpu->mig.is_found() && gpu->mig.value;
}

bool is_confidential(const Machine& machine) {
  const auto& nvml = machine.probe.nvml;
  return nvml.is_found() && nvml.value.cc_enabled.is_found() && nvml.value.cc_enabled.value;
}

Access judge_mapping(const MappingFacts& facts) {
  Access access;
  Known way = facts.gdrdrv;
  if (facts.gdrdrv.judgment == Judgment::yes) {
    access.via = "gdrdrv";
  } else if (facts.rm.judgment == Judgment::yes) {
    way = facts.rm;
    access.via = "rm";
  } else {
    way.judgment = std::max({facts.gdrdrv.judgment, facts.dmabuf.judgment, facts.rm.judgment});
    way.why = "gdrdrv: " + facts.gdrdrv.why + "; dmabuf: " + facts.dmabuf.why + "; rm: " + facts.rm.why;
  }
  const Known least = all_of({facts.gpu, way});
  access.use = least.judgment;
  access.reason = least.judgment == Judgment::yes ? way.why : least.why;
  if (least.judgment != Judgment::yes) access.via.clear();
  return access;
}

Known in_use(const Machine& machine, const std::string& address) {
  for (const PciDevice& gpu : machine.gpus) {
    if (gpu.address != address || gpu.driver.empty()) continue;
    if (gpu.driver != "nvidia") return {Judgment::no, "the GPU is bound to " + gpu.driver};
  }
  if (machine.driver.is_unknown()) return {Judgment::unknown, machine.driver.reason};
  if (is_confidential(machine)) return {Judgment::unknown, confidential};
  return {Judgment::yes, ""};  // without a driver, drv.loaded fails with a better reason
}

Access mapping_of(const Machine& machine, const Causes& causes, const std::string& address,
                  std::vector<std::string>* blocked_by) {
  MappingFacts facts{gpu_fact(machine, address), gdrdrv_fact(causes), rm_fact(machine), dmabuf_fact(machine)};
  if (is_divided(machine, address)) {
    if (facts.gdrdrv.judgment == Judgment::yes) facts.gdrdrv = {Judgment::unknown, "not tried on a GPU in MIG mode"};
    facts.rm = {Judgment::no, "MIG is on, and the rm backend does not support MIG instances"};
  }
  Access access = judge_mapping(facts);
  std::vector<Cause> against;
  for (const Cause& cause : causes.with(Effect::rules_out_mapping, {"gdrkit", {address}})) {
    // Only NVIDIA's nodes matter here. gpu_fact checks the node that all GPUs need.
    if (std::string(cause.id) != "ctr.devices" || access.use == Judgment::no) against.push_back(cause);
  }
  rule_out(against, &access, blocked_by);
  return access;
}

}  // namespace gdrkit::diag::doctor
