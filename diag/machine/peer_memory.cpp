// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/peer_memory.hpp"

#include <algorithm>

namespace gdrkit::diag {
namespace {

constexpr char nv_mem[] = "/sys/kernel/mm/memory_peers/nv_mem/version";
constexpr char nv_mem_nc[] = "/sys/kernel/mm/memory_peers/nv_mem_nc/version";
constexpr char dashed_peermem[] = "/sys/kernel/mm/memory_peers/nvidia-peermem/version";
constexpr char nvidia_peermem[] = "/sys/module/nvidia_peermem/version";
constexpr char nv_peer_mem[] = "/sys/module/nv_peer_mem/version";

Fact<std::string> first_of(const MachineView& view, std::initializer_list<const char*> paths) {
  Fact<std::string> result;
  result.reason = "its files do not exist";
  for (const char* path : paths) {
    const auto node = view.node(path);
    if (node.is_found()) return {Outcome::found, path, ""};
    if (node.is_unknown()) result = {node.outcome, "", node.reason};
  }
  return result;
}

bool exports_none(const NvmlGpu& gpu) { return gpu.cuda_dmabuf.is_found() && !gpu.cuda_dmabuf.value; }

}  // namespace

// NCCL: src/misc/ and net_ib of 2.30; UCX: uct/ib of 1.20; NVSHMEM: its IB transports (3.x).
std::vector<Detection> peer_memory_detections(const MachineView& view) {
  return {{"NCCL", first_of(view, {nv_mem, nv_mem_nc, nvidia_peermem})},
          {"UCX", first_of(view, {nv_mem, nvidia_peermem, nv_peer_mem})},
          {"NVSHMEM", first_of(view, {nv_mem, dashed_peermem, nvidia_peermem})}};
}

Fact<std::string> dmabuf_possible(const Machine& machine) {
  if (machine.driver.is_unknown()) return machine.driver;
  const auto version = read_linux_version(machine.view);
  if (!version.is_found()) return {version.outcome, "", version.reason};
  if (machine.driver.is_absent()) return {Outcome::absent, "", "no /proc/driver/nvidia/version"};
  if (machine.driver.value.find("Open Kernel Module") == std::string::npos) {
    return {Outcome::absent, "", "the driver is not the open flavour"};
  }
  // Red Hat backports it to older Linux, so the version proves nothing.
  if (!version.value.has_dmabuf()) {
    const bool is_red_hat = version.value.text.find(".el") != std::string::npos;
    return {is_red_hat ? Outcome::unreadable : Outcome::absent, "",
            "Linux " + version.value.text + (is_red_hat ? " of Red Hat may support it or not" : " is too old")};
  }
  // CUDA's result, from level probe or a recording, is stronger evidence than files. It can only rule dma-buf out.
  const auto& gpus = machine.probe.nvml.value.gpus;
  if (!gpus.empty() && std::ranges::all_of(gpus, exports_none)) {
    return {Outcome::absent, "",
            "CUDA reports that " + gpus_without_dmabuf(machine) + " does not export dma-bufs (DMA_BUF_SUPPORTED is 0)"};
  }
  return {Outcome::found, "open driver, Linux " + version.value.text, ""};
}

std::string gpus_without_dmabuf(const Machine& machine) {
  std::string addresses;
  for (const NvmlGpu& gpu : machine.probe.nvml.value.gpus) {
    if (exports_none(gpu)) addresses += (addresses.empty() ? "" : ", ") + gpu.address.value;
  }
  return addresses;
}

}  // namespace gdrkit::diag
