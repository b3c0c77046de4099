// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group memory: BAR1, the window to the GPU's memory, and the NUMA node of each device.
#include <algorithm>

#include "diag/doctor/check.hpp"
#include "diag/machine/environment.hpp"
#include "diag/machine/pci_config.hpp"
#include "platform/facts/number_list.hpp"
#include "platform/facts/nvidia.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t small_bar1 = 256 * mib;
constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;

bool take_bar1(const Machine& machine, const PciDevice& gpu, Findings& findings, platform::PciBar* bar) {
  const auto text = machine.view.text(gpu.directory + "/resource");
  if (!text.is_found()) {
    findings.add(State::unknown, gpu.address, text.reason);
    return false;
  }
  const auto bars = platform::parse_pci_bars(text.value);
  if (!bars.has_value()) {
    findings.add(State::unknown, gpu.address, gpu.directory + "/resource: is not a list of 'start end flags'");
    return false;
  }
  *bar = platform::nvidia_bar1(*bars);
  return true;
}

/// For every device: the node in sysfs, judged by the number of nodes.
void judge_node(const Machine& machine, const PciDevice& device, const std::string& subject, Findings& findings) {
  const auto node = machine.view.number(device.directory + "/numa_node");
  if (!node.is_found()) return findings.add(State::unknown, subject, node.reason);
  if (node.value >= 0)
    return findings.add(State::ok, subject, cli::format("node %lld", static_cast<long long>(node.value)));
  const auto online = machine.view.line("/sys/devices/system/node/online");
  const auto nodes = platform::parse_number_list(online.value);
  if (online.is_unknown() || !nodes.has_value()) {
    return findings.add(State::unknown, subject,
                        "numa_node is -1, and the number of NUMA nodes is unknown: " + online.reason);
  }
  findings.add(
      nodes->size() > 1 ? State::warn : State::info, subject,
      cli::format("numa_node is -1 on a machine with %zu NUMA node(s)", std::max<std::size_t>(nodes->size(), 1)));
}

}  // namespace

const Advice advice_bar1_size = {
    "the second region in each GPU's resource file, compared with the GPU's memory if NVML was queried (--level probe)",
    "BAR1 limits how much memory all programs together can have mapped: 256 MiB is too small for large buffers",
    {"turn on Above 4G Decoding and Resizable BAR in the firmware setup", true, true, true,
     "gdrkit info   # prints BAR1 for each GPU"},
    "this check reads the second region, which is BAR1 (the file resource1; on Hopper: resource2)"};

namespace {

/// Bytes of the GPU's own memory, if NVML was queried.
Fact<std::int64_t> memory_of(const Machine& machine, const PciDevice& gpu) {
  for (const NvmlGpu& facts : machine.probe.nvml.value.gpus) {
    if (facts.address.value == gpu.address) return facts.memory_bytes;
  }
  return {Outcome::unreadable, 0, machine.probe.nvml.reason};
}

}  // namespace

void check_bar1_size(const Machine& machine, Findings& findings) {
  for (const PciDevice& gpu : gpus_or_skip(machine, findings)) {
    platform::PciBar bar{};
    if (!take_bar1(machine, gpu, findings, &bar)) continue;
    const auto memory = memory_of(machine, gpu);
    const bool is_less =
        memory.is_found() && memory.value > 0 && bar.size_bytes < static_cast<std::uint64_t>(memory.value);
    const State state = bar.size_bytes < small_bar1               ? State::fail
                        : bar.size_bytes == small_bar1 || is_less ? State::warn
                                                                  : State::ok;
    const auto in_mib = [](auto bytes) { return static_cast<unsigned long long>(bytes) / mib; };
    findings.add(state, gpu.address,
                 is_less ? cli::format("BAR1 has %llu MiB, the GPU %llu MiB of memory", in_mib(bar.size_bytes),
                                       in_mib(memory.value))
                         : cli::format("BAR1 has %llu MiB", in_mib(bar.size_bytes)));
  }
}

const Advice advice_bar_above4g = {
    "start address of BAR1 of each GPU",
    "BAR1 cannot be mapped without an address; below 4 GiB, it cannot grow to the size of the GPU's memory",
    {"turn on Above 4G Decoding in the firmware setup; if it is on: boot with pci=realloc", true, true, true,
     "cat /sys/bus/pci/devices/ADDRESS/resource"},
    "in virtual machines these are guest addresses"};

void check_bar_above4g(const Machine& machine, Findings& findings) {
  for (const PciDevice& gpu : gpus_or_skip(machine, findings)) {
    platform::PciBar bar{};
    if (!take_bar1(machine, gpu, findings, &bar)) continue;
    const State state = bar.size_bytes == 0 || bar.start == 0 ? State::fail
                        : bar.start < four_gib                ? State::warn
                                                              : State::ok;
    findings.add(state, gpu.address,
                 state == State::fail
                     ? "BAR1 has no address"
                     : cli::format("BAR1 starts at 0x%llx", static_cast<unsigned long long>(bar.start)));
  }
}

const Advice advice_rebar_cap = {
    "the Resizable BAR capability: possible and current size of each region",
    "the region could expose more of the GPU's memory",
    {"turn on Resizable BAR in the firmware setup", true, true, true, "sudo lspci -vv -s ADDRESS | grep -A4 Resizable"},
    "some firmware does not let Linux resize regions; data-centre GPUs often have a large BAR1 and no such capability"};

void check_rebar_cap(const Machine& machine, Findings& findings) {
  for (const PciDevice& gpu : gpus_or_skip(machine, findings)) {
    const PciConfig config(machine.view, gpu.directory);
    const auto at = config.extended_capability(resizable_bar_capability);
    if (!at.is_found()) {
      findings.add(at.is_absent() ? State::skip : State::unknown, gpu.address,
                   at.is_absent() ? "has no Resizable BAR capability" : at.reason);
      continue;
    }
    const auto first = config.value(at.value + 8, 4);
    const unsigned count = std::min(first.value >> 5 & 7u, 6u);
    for (unsigned i = 0; i < std::max(count, 1u); ++i) {
      const auto possible = config.value(at.value + 4 + 8 * i, 4);
      const auto control = config.value(at.value + 8 + 8 * i, 4);
      if (!possible.is_found() || !control.is_found()) {
        findings.add(State::unknown, gpu.address, possible.is_found() ? control.reason : possible.reason);
        break;
      }
      // Bit 4 means 1 MiB, and each following bit twice as much. The current size is encoded as the same power.
      unsigned largest = 0;
      for (unsigned bit = 4; bit < 32; ++bit) largest = (possible.value >> bit & 1u) != 0 ? bit - 4 : largest;
      const unsigned current = control.value >> 8 & 0x3f;
      findings.add(current < largest ? State::warn : State::ok, gpu.address,
                   cli::format("region %u has 2^%u MiB of at most 2^%u MiB", control.value & 7u, current, largest));
    }
  }
}

const Advice advice_bar1_free = {
    "free and total size of each GPU's BAR1, from NVML",
    "memory that is pinned for adapters or mapped for the CPU uses space in BAR1; if BAR1 is full, pinning fails",
    {"end the programs that hold pins (gdr.leak names those of gdrdrv); a larger BAR1 (bar1.size) solves it "
     "permanently",
     false, false, false, "nvidia-smi -q -d MEMORY | grep -A3 BAR1"},
    "on GH200 and GB200 BAR1 is small and rarely used by design"};

void check_bar1_free(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    const std::string& subject = gpu->address.value;
    if (!take(subject, gpu->bar1_total_bytes, "has no BAR1", findings)) continue;
    if (!take(subject, gpu->bar1_free_bytes, "has no BAR1", findings)) continue;
    const auto total = static_cast<std::uint64_t>(gpu->bar1_total_bytes.value);
    const auto free = static_cast<std::uint64_t>(gpu->bar1_free_bytes.value);
    if (gpu->c2c_links.is_found() && gpu->c2c_links.value > 0) {
      findings.add(State::skip, subject, "reaches its memory through NVLink-C2C, not through BAR1");
    } else if (free > total || total == 0) {
      findings.add(State::unknown, subject,
                   cli::format("NVML reports %llu of %llu bytes of BAR1 as free", static_cast<unsigned long long>(free),
                               static_cast<unsigned long long>(total)));
    } else {
      const State state = free < 64 * mib ? State::fail : free / (total / 100 + 1) <= 20 ? State::warn : State::ok;
      findings.add(state, subject,
                   cli::format("%llu of %llu MiB of BAR1 are free", static_cast<unsigned long long>(free / mib),
                               static_cast<unsigned long long>(total / mib)));
    }
  }
}

const Advice advice_numa_gpu = {
    "numa_node of each GPU, and the nodes in /sys/devices/system/node/online",
    "without a NUMA node, no program can be bound near the device, and NCCL treats all such devices as equally far "
    "away",
    {"update the firmware, or check its NUMA settings (NPS, SNC); for a guest: configure virtual NUMA nodes", true,
     true, true, "cat /sys/bus/pci/devices/ADDRESS/numa_node"},
    "-1 is harmless on a machine with one node"};

void check_numa_gpu(const Machine& machine, Findings& findings) {
  for (const PciDevice& gpu : gpus_or_skip(machine, findings)) judge_node(machine, gpu, gpu.address, findings);
}

const Advice advice_numa_nic = {"numa_node of each RDMA adapter, and the nodes in /sys/devices/system/node/online",
                                advice_numa_gpu.why, advice_numa_gpu.remedy, advice_numa_gpu.trap};

void check_numa_nic(const Machine& machine, Findings& findings) {
  for (const Adapter& adapter : adapters_or_skip(machine, findings)) {
    if (!adapter.pci.address.empty()) judge_node(machine, adapter.pci, adapter.name, findings);
  }
}

const Advice advice_numa_process = {
    "Cpus_allowed_list in /proc/self/status, local_cpulist of each GPU, and the variables that launchers set for each "
    "rank",
    "a process on another NUMA node reaches its GPU over the link between the processors: copies are slower",
    {"start the program with numactl --cpunodebind=NODE --membind=NODE PROGRAM (NODE: numa_node of the GPU), or turn "
     "on the launcher's own binding",
     false, false, false, "grep Cpus_allowed_list /proc/self/status"},
    "this check cannot determine which GPU the process will use, so CPUs near any GPU are ok. A shell that no launcher "
    "started is usually not bound; this is reported as info only"};

void check_numa_process(const Machine& machine, Findings& findings) {
  const auto& gpus = gpus_or_skip(machine, findings);
  if (gpus.empty()) return;
  const auto allowed = labelled(machine.view.text("/proc/self/status"), "Cpus_allowed_list");
  const auto own = platform::parse_number_list(allowed.value);
  if (!allowed.is_found() || !own.has_value() || own->empty()) {
    return findings.add(State::unknown, "/proc/self/status",
                        allowed.is_found() ? "'" + allowed.value + "' is not a list of processors" : allowed.reason);
  }
  bool touches_one = false, is_sure = true;
  for (const PciDevice& gpu : gpus) {
    const auto line = machine.view.line(gpu.directory + "/local_cpulist");
    const auto local = platform::parse_number_list(line.value);
    if (!line.is_found() || !local.has_value()) {
      findings.add(State::unknown, gpu.address,
                   line.is_found() ? "'" + line.value + "' is not a list of processors" : line.reason);
      is_sure = false;
      continue;
    }
    if (std::includes(local->begin(), local->end(), own->begin(), own->end())) {
      return findings.add(State::ok, "processors " + allowed.value, "are near " + gpu.address);
    }
    touches_one =
        touches_one || std::find_first_of(own->begin(), own->end(), local->begin(), local->end()) != own->end();
  }
  if (!is_sure) return;
  const auto variables = read_variables(machine.view);
  if (!variables.is_found()) return findings.add_unknown("/proc/self/environ", variables);
  const std::string launcher = local_rank_variable(variables.value);
  findings.add(launcher.empty() ? State::info : State::warn, "processors " + allowed.value,
               std::string(touches_one ? "are more than those near one GPU" : "are not near any GPU") +
                   (launcher.empty() ? "; no launcher started this process" : ", and " + launcher + " is set"));
}

}  // namespace gdrkit::diag::doctor
