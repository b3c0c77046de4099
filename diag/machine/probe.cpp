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

template <class T>
Fact<T> unreadable(const std::string& reason) {
  Fact<T> fact;
  fact.outcome = Outcome::unreadable;
  fact.reason = reason;
  return fact;
}

/// NVIDIA's libraries start nvidia-modprobe, which loads modules and makes device nodes, where the driver or its nodes
/// are missing. The look must not change the machine, so they are only loaded where nothing is missing. "": all there.
std::string what_is_missing(const MachineView& view, const char* node) {
  const bool is_loaded =
      view.node("/proc/driver/nvidia/version").is_found() || view.node("/sys/module/nvidia/version").is_found();
  if (!is_loaded) return "NVIDIA's kernel module is not loaded (/proc/driver/nvidia/version)";
  const auto found = view.node(node);
  if (!found.is_found()) return found.is_absent() ? std::string(node) + " is absent" : found.reason;
  return found.value.kind == topology::NodeKind::character_device ? "" : std::string(node) + " is no device";
}

Fact<NvmlFacts> ask_nvml(const MachineView& view) {
  if (const auto missing = what_is_missing(view, "/dev/nvidiactl"); !missing.empty()) {
    return unreadable<NvmlFacts>("NVML was not asked: " + missing);
  }
  const auto nvml = platform::nvml_calls();
  if (!nvml.has_value()) return unreadable<NvmlFacts>(nvml.error().text());
  Fact<NvmlFacts> facts = gather_nvml_facts(**nvml);
  if (facts.is_found()) set_no_cuda_facts("CUDA was not asked: this needs --level cuda", &facts.value);
  return facts;
}

void ask_cuda(const MachineView& view, NvmlFacts* facts) {
  if (const auto missing = what_is_missing(view, "/dev/nvidia-uvm"); !missing.empty()) {
    set_no_cuda_facts("CUDA was not asked: " + missing, facts);
  } else if (const auto cuda = platform::cuda_calls(); cuda.has_value()) {
    add_cuda_facts(**cuda, facts);
  } else {
    set_no_cuda_facts(cuda.error().text(), facts);
  }
}

/// NVML loads libcuda too, and what that fails to do under the filter it does not try again: CUDA has to come first.
void start_cuda(const MachineView& view) {
  if (!what_is_missing(view, "/dev/nvidiactl").empty() || !what_is_missing(view, "/dev/nvidia-uvm").empty()) return;
  if (const auto cuda = platform::cuda_calls(); cuda.has_value()) (void)(*cuda)->init(0);
}

/// Without a node no device can be opened, and libibverbs would only warn on stderr.
Fact<VerbsFacts> ask_verbs(const MachineView& view) {
  Fact<VerbsFacts> none;
  none.reason = "libibverbs was not asked: there is no /dev/infiniband/uverbs*";
  const auto nodes = view.names("/dev/infiniband");
  if (nodes.is_unknown()) return unreadable<VerbsFacts>("libibverbs was not asked: " + nodes.reason);
  const auto is_uverbs = [](const std::string& name) { return name.rfind("uverbs", 0) == 0; };
  if (std::none_of(nodes.value.begin(), nodes.value.end(), is_uverbs)) return none;
  const auto verbs = platform::verbs_calls();
  return verbs.has_value() ? gather_verbs_facts(**verbs) : unreadable<VerbsFacts>(verbs.error().text());
}

void ask(const MachineView& view, Level level, Probe* probe) {
  if (level == Level::cuda) start_cuda(view);
  const std::string refusal = run_guarded([&] { probe->nvml = ask_nvml(view); });
  if (!refusal.empty()) probe->nvml = unreadable<NvmlFacts>("NVML was not asked: " + refusal);
  const std::string other_refusal = run_guarded([&] { probe->verbs = ask_verbs(view); });
  if (!other_refusal.empty()) probe->verbs = unreadable<VerbsFacts>("libibverbs was not asked: " + other_refusal);
  if (level == Level::cuda && probe->nvml.is_found()) ask_cuda(view, &probe->nvml.value);
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
    probe.nvml = unreadable<NvmlFacts>("not asked without --level probe");
    probe.kernel_log = unreadable<KernelLog>("not read without --level probe");
    probe.verbs = unreadable<VerbsFacts>("not asked without --level probe");
  } else {
    ask(view, level, &probe);
    probe.kernel_log = read_live_kernel_log();
  }
  return probe;
}

}  // namespace gdrkit::diag
