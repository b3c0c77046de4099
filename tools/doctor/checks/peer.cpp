// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group peer: what lets an RDMA adapter read and write GPU memory.
#include <initializer_list>
#include <string>
#include <tuple>

#include "tools/doctor/check.hpp"
#include "tools/machine/linux_version.hpp"

namespace gdrkit::tools::doctor {
namespace {

constexpr char nv_mem[] = "/sys/kernel/mm/memory_peers/nv_mem/version";
constexpr char nv_mem_nc[] = "/sys/kernel/mm/memory_peers/nv_mem_nc/version";
constexpr char dashed_peermem[] = "/sys/kernel/mm/memory_peers/nvidia-peermem/version";
constexpr char nvidia_peermem[] = "/sys/module/nvidia_peermem/version";
constexpr char nv_peer_mem[] = "/sys/module/nv_peer_mem/version";

/// As the libraries do: does one of the files exist? "unknown" is a third answer that they do not have.
const char* believes(const MachineView& view, std::initializer_list<const char*> paths) {
  const char* answer = "no";
  for (const char* path : paths) {
    const Outcome outcome = view.presence(path);
    if (outcome == Outcome::found) return "yes";
    if (outcome != Outcome::absent) answer = "unknown";
  }
  return answer;
}

}  // namespace

const Advice advice_peer_any = {
    "the files by whose existence NCCL, UCX and NVSHMEM decide that a peer-memory module is loaded; the flavour of the "
    "driver and the version of Linux, which dma-buf needs",
    "with neither a peer-memory module nor dma-buf every byte between adapter and GPU goes through host memory, "
    "silently",
    {"sudo modprobe nvidia-peermem   # or, for dma-buf: open flavour of the driver and Linux 5.12 or newer", true,
     false, false, "cat /sys/module/nvidia_peermem/version"},
    "the libraries ask the driver for dma-buf when they run; files tell only that nothing speaks against it"};

void check_peer_any(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return;
  const std::string nccl = believes(machine.view, {nv_mem, nv_mem_nc, nvidia_peermem});
  const std::string ucx = believes(machine.view, {nv_mem, nvidia_peermem, nv_peer_mem});
  const std::string nvshmem = believes(machine.view, {nv_mem, dashed_peermem, nvidia_peermem});
  const std::string beliefs =
      "peer-memory module as the libraries see it: NCCL " + nccl + ", UCX " + ucx + ", NVSHMEM " + nvshmem;
  const auto linux_version = read_linux_version(machine.view);
  const bool is_open = machine.driver.value.find("Open Kernel Module") != std::string::npos;
  if (nccl == "yes" && ucx == "yes" && nvshmem == "yes") return findings.add(State::ok, "", beliefs);
  const bool is_dmabuf_known = (machine.driver.is_found() || machine.driver.is_absent()) && linux_version.is_found();
  if (is_dmabuf_known && is_open && has_dmabuf(linux_version.value)) {
    return findings.add(State::ok, "",
                        beliefs + "; dma-buf is possible: open driver, Linux " + linux_version.value.text);
  }
  if (!is_dmabuf_known) {
    return findings.add(
        State::unknown, "",
        beliefs + "; dma-buf: " + (linux_version.is_found() ? machine.driver.reason : linux_version.reason));
  }
  const std::string without = beliefs + "; no dma-buf: " +
                              (is_open ? "Linux " + linux_version.value.text : "the driver is not the open flavour");
  if (nccl == "yes" || ucx == "yes" || nvshmem == "yes") return findings.add(State::warn, "", without);
  const bool is_known = nccl == "no" && ucx == "no" && nvshmem == "no";
  findings.add(is_known ? State::fail : State::unknown, "", without);
}

const Advice advice_peer_conflict = {
    "/sys/module/nv_peer_mem and /sys/module/nvidia_peermem",
    "both register for the same memory; the second one fails, and which is second changes from boot to boot",
    {"sudo systemctl disable --now nv_peer_mem; sudo rmmod nv_peer_mem; remove its package (nvidia-peer-memory); "
     "sudo modprobe nvidia-peermem",
     true, false, true, "ls -d /sys/module/nv_peer_mem /sys/module/nvidia_peermem"},
    "memory_peers/nv_mem may be made by either module: the folders in /sys/module tell which"};

void check_peer_conflict(const Machine& machine, Findings& findings) {
  const auto legacy = machine.view.node("/sys/module/nv_peer_mem");
  const auto own = machine.view.node("/sys/module/nvidia_peermem");
  if (legacy.is_unknown()) return findings.add_unknown("", legacy);
  if (own.is_unknown()) return findings.add_unknown("", own);
  if (legacy.is_found() && own.is_found()) {
    findings.add(State::fail, "nv_peer_mem", "is loaded beside nvidia_peermem");
  } else if (legacy.is_found()) {
    findings.add(State::warn, "nv_peer_mem", "is loaded: the predecessor of nvidia_peermem, no longer maintained");
  } else if (own.is_found()) {
    findings.add(State::ok, "nvidia_peermem", "is the only one loaded");
  } else {
    findings.add(State::skip, "", "neither nv_peer_mem nor nvidia_peermem is loaded");
  }
}

const Advice advice_peer_autoload = {
    "/etc/modules-load.d/*.conf for nvidia-peermem, when it is loaded now",
    "the module is loaded now and nothing seen says that it will be after the next boot",
    {"echo nvidia-peermem | sudo tee /etc/modules-load.d/nvidia-peermem.conf", true, false, true,
     "grep -r peermem /etc/modules-load.d"},
    "a GPU operator (/run/nvidia, /run/mellanox) or a service may load it in ways that are not seen here"};

void check_peer_autoload(const Machine& machine, Findings& findings) {
  const auto loaded = machine.view.node("/sys/module/nvidia_peermem");
  if (loaded.is_unknown()) return findings.add_unknown("", loaded);
  if (loaded.is_absent()) return findings.add(State::skip, "", "nvidia_peermem is not loaded");
  const auto names = machine.view.names("/etc/modules-load.d");
  if (names.is_unknown()) return findings.add_unknown("", names);
  for (const std::string& name : names.value) {
    const std::string path = "/etc/modules-load.d/" + name;
    const auto text = machine.view.text(path);
    if (text.is_unknown()) return findings.add_unknown("", text);
    for (const char* spelling : {"\nnvidia-peermem", "\nnvidia_peermem"}) {
      if (("\n" + text.value).find(spelling) != std::string::npos) return findings.add(State::ok, path, "lists it");
    }
  }
  findings.add(State::warn, "nvidia_peermem", "is loaded, and no file in /etc/modules-load.d lists it");
}

const Advice advice_dmabuf_kernel = {
    "the version in /proc/version",
    "RDMA through dma-buf came with Linux 5.12; before it nvidia-peermem is needed",
    {"install a newer Linux, or load nvidia-peermem", true, true, true, "uname -r"},
    "Red Hat carries it back to its 4.18 and 5.14: there the version alone says nothing"};

void check_dmabuf_kernel(const Machine& machine, Findings& findings) {
  if (adapters_or_skip(machine, findings).empty()) return;
  const auto version = read_linux_version(machine.view);
  if (!version.is_found()) return findings.add_unknown("", version);
  const bool is_red_hat = version.value.text.find(".el") != std::string::npos;
  findings.add(has_dmabuf(version.value) ? State::ok
               : is_red_hat              ? State::info
                                         : State::warn,
               "Linux", version.value.text);
}

const Advice advice_rdma_modules = {
    "/sys/module/ib_uverbs, /sys/module/rdma_ucm, /dev/infiniband",
    "without ib_uverbs no program can use an adapter; without rdma_ucm none that connects by rdma_cm",
    {"sudo modprobe -a ib_uverbs rdma_ucm   # to keep: a file in /etc/modules-load.d", true, false, false,
     "ls /dev/infiniband"},
    "what is built into Linux may have no folder in /sys/module: its node in /dev/infiniband counts too"};

void check_rdma_modules(const Machine& machine, Findings& findings) {
  if (adapters_or_skip(machine, findings).empty()) return;
  const auto nodes = machine.view.names("/dev/infiniband");
  const auto has = [&](const char* module, const std::string& node) {
    const Outcome outcome = machine.view.presence(std::string("/sys/module/") + module);
    if (outcome == Outcome::found) return Outcome::found;
    for (const std::string& name : nodes.value) {
      if (name.rfind(node, 0) == 0) return Outcome::found;
    }
    return nodes.is_unknown() ? nodes.outcome : outcome;
  };
  for (const auto& [module, node, missing] :
       {std::tuple{"ib_uverbs", "uverbs", State::fail}, std::tuple{"rdma_ucm", "rdma_cm", State::warn}}) {
    const Outcome outcome = has(module, node);
    if (outcome == Outcome::found) {
      findings.add(State::ok, module, "is there");
    } else if (outcome == Outcome::absent) {
      findings.add(missing, module, format("is not loaded: no /sys/module/%s, no /dev/infiniband/%s", module, node));
    } else {
      findings.add(State::unknown, module, "could not be looked for in /sys/module and /dev/infiniband");
    }
  }
}

}  // namespace gdrkit::tools::doctor
