// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/mapping.hpp"

#include <algorithm>
#include <cstdlib>

#include "platform/facts/nvidia_driver.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr int first_rm_driver = 515;
constexpr int first_dmabuf_driver = 610;  // of CUDA 13.3

Known gdrdrv_fact(const Causes& causes) {
  if (causes.state_of("gdr.version") == State::fail) return {Answer::no, "gdrdrv " + causes.text_of("gdr.version")};
  const State node = causes.state_of("gdr.node");
  const std::string why = "/dev/gdrdrv: " + causes.text_of("gdr.node");
  if (node == State::ok) return {Answer::yes, why};
  return {node == State::warn || node == State::unknown ? Answer::unknown : Answer::no, why};
}

Known rm_fact(const Machine& machine) {
  if (machine.driver.is_unknown()) return {Answer::unknown, machine.driver.reason};
  if (machine.driver.is_absent()) return {Answer::no, "no /proc/driver/nvidia/version"};
  const auto driver = platform::parse_nvidia_driver(machine.driver.value);
  if (!driver.has_value()) return {Answer::unknown, "/proc/driver/nvidia/version names no version"};
  if (std::atoi(driver->version.c_str()) < first_rm_driver)
    return {Answer::no, "driver " + driver->version + " is older than 515"};
  if (labelled(machine.view.text("/proc/cpuinfo"), "CPU implementer").is_found())
    return {Answer::unknown, "arm64: the rm backend was never run there"};
  return {Answer::yes, "driver " + driver->version};
}

Known dmabuf_fact(const Machine& machine) {
  if (!machine.driver.is_found()) return {Answer::no, "no driver"};
  const auto driver = platform::parse_nvidia_driver(machine.driver.value);
  if (!driver.has_value() || std::atoi(driver->version.c_str()) < first_dmabuf_driver)
    return {Answer::no, "drivers before 610 let adapters only use dma-bufs"};
  return {Answer::unknown, "driver " + driver->version + " may let dma-bufs be mapped: gdrkit info tries it"};
}

/// The nodes that a process opens. Their mode is not checked: it depends on the user.
Known gpu_fact(const Machine& machine, const std::string& address) {
  for (const PciDevice& gpu : machine.gpus) {
    if (gpu.address == address && !gpu.driver.empty() && gpu.driver != "nvidia")
      return {Answer::no, "the GPU is bound to " + gpu.driver};
  }
  if (is_confidential(machine)) return {Answer::unknown, confidential};
  const auto names = machine.view.names("/dev");
  if (!names.is_found()) return {Answer::unknown, names.reason};
  const auto control = machine.view.node("/dev/nvidiactl");
  if (control.is_unknown()) return {Answer::unknown, control.reason};
  if (control.is_absent()) return {Answer::no, "no /dev/nvidiactl"};
  const bool has_node = std::any_of(names.value.begin(), names.value.end(), [](const std::string& name) {
    return name.size() > 6 && name.rfind("nvidia", 0) == 0 && name[6] >= '0' && name[6] <= '9';
  });
  return has_node ? Known{Answer::yes, ""} : Known{Answer::no, "no /dev/nvidiaN of a GPU"};
}

/// NVML's word on MIG; false where it was not asked.
bool is_divided(const Machine& machine, const std::string& address) {
  const auto& nvml = machine.probe.nvml;
  const NvmlGpu* gpu = nvml.is_found() ? nvml.value.gpu_at(address) : nullptr;
  return gpu != nullptr && gpu->mig.is_found() && gpu->mig.value;
}

}  // namespace

bool is_confidential(const Machine& machine) {
  const auto& nvml = machine.probe.nvml;
  return nvml.is_found() && nvml.value.cc_enabled.is_found() && nvml.value.cc_enabled.value;
}

Access judge_mapping(const MappingFacts& facts) {
  Access access;
  Known way = facts.gdrdrv;
  if (facts.gdrdrv.answer == Answer::yes) {
    access.via = "gdrdrv";
  } else if (facts.rm.answer == Answer::yes) {
    way = facts.rm;
    access.via = "rm";
  } else {
    way.answer = std::max({facts.gdrdrv.answer, facts.dmabuf.answer, facts.rm.answer});
    way.why = "gdrdrv: " + facts.gdrdrv.why + "; dmabuf: " + facts.dmabuf.why + "; rm: " + facts.rm.why;
  }
  const Known least = all_of({facts.gpu, way});
  access.use = least.answer;
  access.reason = least.answer == Answer::yes ? way.why : least.why;
  if (least.answer != Answer::yes) access.via.clear();
  return access;
}

Known in_use(const Machine& machine, const std::string& address) {
  for (const PciDevice& gpu : machine.gpus) {
    if (gpu.address != address || gpu.driver.empty()) continue;
    if (gpu.driver != "nvidia") return {Answer::no, "the GPU is bound to " + gpu.driver};
  }
  if (machine.driver.is_unknown()) return {Answer::unknown, machine.driver.reason};
  if (is_confidential(machine)) return {Answer::unknown, confidential};
  return {Answer::yes, ""};  // without a driver, drv.loaded fails with a better reason
}

Access mapping_of(const Machine& machine, const Causes& causes, const std::string& address,
                  std::vector<std::string>* blocked_by) {
  MappingFacts facts{gpu_fact(machine, address), gdrdrv_fact(causes), rm_fact(machine), dmabuf_fact(machine)};
  if (is_divided(machine, address)) {
    if (facts.gdrdrv.answer == Answer::yes) facts.gdrdrv = {Answer::unknown, "not tried on a GPU in MIG mode"};
    facts.rm = {Answer::no, "MIG is on, and the rm backend does not support MIG instances"};
  }
  Access access = judge_mapping(facts);
  std::vector<Cause> against;
  for (const Cause& cause : causes.against_mapping({"gdrkit", {address}})) {
    // Only NVIDIA's nodes matter here, and gpu_fact checks the one that all GPUs need.
    if (std::string(cause.id) != "ctr.devices" || access.use == Answer::no) against.push_back(cause);
  }
  if (!against.empty() && access.use != Answer::no) {
    access.use = Answer::no;
    access.via.clear();
    access.reason = std::string(against.front().id) + " fails: " + against.front().text;
  }
  for (const Cause& cause : against) blocked_by->emplace_back(cause.id);
  return access;
}

}  // namespace gdrkit::diag::doctor
