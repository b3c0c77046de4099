// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/probe.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "diag/machine/guarded_thread.hpp"
#include "diag/machine/nvml_gather.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nvml_library.hpp"
#include "platform/vendor/verbs_library.hpp"

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::MachineView;
using topology::Outcome;

/// If the driver or its nodes are missing, NVIDIA's libraries start nvidia-modprobe, which loads modules and creates
/// device nodes. Level probe must not change the machine, so the libraries are only loaded if nothing is missing. "":
/// nothing is missing.
std::string what_is_missing(const MachineView& view, const char* node) {
  const bool is_loaded =
      view.node("/proc/driver/nvidia/version").is_found() || view.node("/sys/module/nvidia/version").is_found();
  if (!is_loaded) return "NVIDIA's kernel module is not loaded (no /proc/driver/nvidia/version)";
  const auto found = view.node(node);
  if (!found.is_found()) return found.is_absent() ? std::string(node) + " is absent" : found.reason;
  return found.value.kind == topology::NodeKind::character_device ? "" : std::string(node) + " is not a device";
}

Fact<NvmlFacts> query_nvml(const MachineView& view) {
  if (const auto missing = what_is_missing(view, "/dev/nvidiactl"); !missing.empty()) {
    return {Outcome::unreadable, {}, "NVML was not queried: " + missing};
  }
  const auto nvml = platform::nvml_calls();
  if (!nvml.has_value()) return {Outcome::unreadable, {}, nvml.error().text()};
  Fact<NvmlFacts> facts = gather_nvml_facts(**nvml);
  if (facts.is_found()) set_no_cuda_facts("CUDA was not queried: use --level cuda", &facts.value);
  return facts;
}

void query_cuda(const MachineView& view, NvmlFacts* facts) {
  if (const auto missing = what_is_missing(view, "/dev/nvidia-uvm"); !missing.empty()) {
    set_no_cuda_facts("CUDA was not queried: " + missing, facts);
  } else if (const auto cuda = platform::cuda_calls(); cuda.has_value()) {
    add_cuda_facts(**cuda, facts);
  } else {
    set_no_cuda_facts(cuda.error().text(), facts);
  }
}

/// NVML loads libcuda too. libcuda does not retry initialization that failed under the filter, so CUDA must be started
/// first.
void start_cuda(const MachineView& view) {
  if (!what_is_missing(view, "/dev/nvidiactl").empty() || !what_is_missing(view, "/dev/nvidia-uvm").empty()) return;
  if (const auto cuda = platform::cuda_calls(); cuda.has_value()) (void)(*cuda)->init(0);
}

/// Without a node no device can be opened, and libibverbs would print a warning on stderr.
Fact<VerbsFacts> query_verbs(const MachineView& view) {
  const auto nodes = view.names("/dev/infiniband");
  if (nodes.is_unknown()) return {Outcome::unreadable, {}, "libibverbs was not queried: " + nodes.reason};
  const auto is_uverbs = [](const std::string& name) { return name.starts_with("uverbs"); };
  if (std::ranges::none_of(nodes.value, is_uverbs)) {
    return {Outcome::absent, {}, "libibverbs was not queried: /dev/infiniband/uverbs* does not exist"};
  }
  const auto verbs = platform::verbs_calls();
  if (!verbs.has_value()) return {Outcome::unreadable, {}, verbs.error().text()};
  return gather_verbs_facts(**verbs);
}

void query(const MachineView& view, Level level, Probe* probe) {
  if (level == Level::cuda) start_cuda(view);
  const std::string refusal = run_guarded([&] { probe->nvml = query_nvml(view); });
  if (!refusal.empty()) probe->nvml = {Outcome::unreadable, {}, "NVML was not queried: " + refusal};
  const std::string other_refusal = run_guarded([&] { probe->verbs = query_verbs(view); });
  if (!other_refusal.empty()) probe->verbs = {Outcome::unreadable, {}, "libibverbs was not queried: " + other_refusal};
  if (level == Level::cuda && probe->nvml.is_found()) query_cuda(view, &probe->nvml.value);
}

}  // namespace

const char* name_of(Level level) { return level_names()[static_cast<std::size_t>(level)].c_str(); }

const std::vector<std::string>& level_names() {
  static const std::vector<std::string> names = {"quick", "probe", "cuda"};
  return names;
}

Level level_named(const std::string& name) {
  for (const Level level : {Level::probe, Level::cuda}) {
    if (name == name_of(level)) return level;
  }
  return Level::quick;
}

Probe gather_probe(const MachineView& view, Level level) {
  Probe probe;
  if (!view.is_live()) {
    probe.nvml = read_nvml_facts(view);
    probe.kernel_log = read_kernel_log(view);
    probe.verbs = read_verbs_facts(view);
  } else if (level == Level::quick) {
    probe.nvml = {Outcome::unreadable, {}, "not queried without --level probe"};
    probe.kernel_log = {Outcome::unreadable, {}, "not read without --level probe"};
    probe.verbs = {Outcome::unreadable, {}, "not queried without --level probe"};
  } else {
    query(view, level, &probe);
    probe.kernel_log = read_live_kernel_log();
  }
  return probe;
}

}  // namespace gdrkit::diag
