// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group peer: peer-memory modules, which let an RDMA adapter register GPU memory by its address.
#include <algorithm>
#include <string>

#include "diag/doctor/check.hpp"
#include "diag/machine/peer_memory.hpp"
#include "diag/machine/virtualization.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr char peermem_file[] = "/etc/modules-load.d/gdrkit-peermem.conf";

/// The number of modules that were loaded after `name`, or -1 if it is not listed.
int load_position(const std::string& modules, const std::string& name) {
  int place = 0;
  for (std::size_t at = 0; at < modules.size(); ++place) {
    if (modules.compare(at, name.size() + 1, name + " ") == 0) return place;
    at = std::min(modules.find('\n', at), modules.size() - 1) + 1;
  }
  return -1;
}

}  // namespace

const Advice advice_peer_any = {
    "the files by which NCCL, UCX and NVSHMEM detect a peer-memory module; the flavour of the driver and the version "
    "of Linux, which dma-buf needs",
    "with neither a peer-memory module nor dma-buf every transfer between adapter and GPU goes through host memory, "
    "silently; NVSHMEM disables its InfiniBand transports",
    {"sudo modprobe nvidia-peermem   # if peer.symbols is ok; or, for dma-buf: open flavour of the driver and Linux "
     "5.12 or newer",
     true, false, false, "cat /sys/module/nvidia_peermem/version"},
    "the libraries query the driver for dma-buf at run time; files show only that it is possible. Each library "
    "searches for other files: what one of them detects proves nothing for the others",
    {.now = "modprobe nvidia-peermem", .file = peermem_file, .text = "nvidia-peermem"}};

void check_peer_any(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return;
  const auto dmabuf = dmabuf_possible(machine);
  const auto detections = peer_memory_detections(machine.view);
  bool is_any_served = dmabuf.is_found();
  for (const Detection& detection : detections) is_any_served = is_any_served || detection.file.is_found();
  const std::string excepted = gpus_without_dmabuf(machine);
  for (const auto& [library, file] : detections) {
    const std::string by_dmabuf =
        dmabuf.is_found()
            ? "dma-buf is possible: " + dmabuf.value + (excepted.empty() ? "" : ", but not for " + excepted + " (CUDA)")
            : (dmabuf.is_absent() ? "no dma-buf: " : "unknown whether dma-buf is possible: ") + dmabuf.reason;
    const std::string by_module = file.is_found() ? "detects a peer-memory module: " + file.value
                                  : file.is_absent()
                                      ? "detects no peer-memory module"
                                      : "unknown whether the library detects a peer-memory module: " + file.reason;
    const State without = file.is_unknown() || dmabuf.is_unknown() ? State::unknown
                          : is_any_served                          ? State::warn
                                                                   : State::fail;
    const bool is_for_all = dmabuf.is_found() && excepted.empty();
    findings.add(file.is_found() || is_for_all ? State::ok : without, library, by_module + "; " + by_dmabuf);
  }
}

const Advice advice_peer_conflict = {
    "/sys/module/nv_peer_mem and /sys/module/nvidia_peermem",
    "nv_peer_mem and nvidia_peermem register for the same memory; the second registration fails, and the order may "
    "change from boot to boot",
    {"sudo systemctl disable --now nv_peer_mem; sudo rmmod nv_peer_mem; remove its package (nvidia-peer-memory); "
     "sudo modprobe nvidia-peermem",
     true, false, true, "ls -d /sys/module/nv_peer_mem /sys/module/nvidia_peermem"},
    "either module may create memory_peers/nv_mem: the directories in /sys/module show which one is loaded",
    {.now = "systemctl disable --now nv_peer_mem || true   # there may be no such service\n"
            "modprobe -r nvidia-peermem nv_peer_mem\n"
            "modprobe nvidia-peermem",
     .file = peermem_file,
     .text = "nvidia-peermem",
     .risk = "fails while a program has GPU memory registered: stop the jobs first. Afterwards remove the package of "
             "nv_peer_mem"}};

void check_peer_conflict(const Machine& machine, Findings& findings) {
  const auto legacy = machine.view.node("/sys/module/nv_peer_mem");
  const auto own = machine.view.node("/sys/module/nvidia_peermem");
  if (legacy.is_unknown()) return findings.add_unknown("", legacy);
  if (own.is_unknown()) return findings.add_unknown("", own);
  if (legacy.is_found() && own.is_found()) {
    findings.add(State::fail, "nv_peer_mem", "is loaded together with nvidia_peermem");
  } else if (legacy.is_found()) {
    findings.add(State::warn, "nv_peer_mem",
                 "is loaded; nvidia_peermem replaced this module, which is no longer maintained");
  } else if (own.is_found()) {
    findings.add(State::ok, "nvidia_peermem", "is the only peer-memory module");
  } else {
    findings.add(State::skip, "", "neither nv_peer_mem nor nvidia_peermem is loaded");
  }
}

const Advice advice_peer_autoload = {
    "/etc/modules-load.d/*.conf for nvidia-peermem, if it is loaded now",
    "the module is loaded now, but no file found that loads it at the next boot",
    {"echo nvidia-peermem | sudo tee /etc/modules-load.d/nvidia-peermem.conf", true, false, true,
     "grep -r peermem /etc/modules-load.d"},
    "a GPU operator (/run/nvidia, /run/mellanox) or a service may load it in other ways",
    {.file = peermem_file, .text = "nvidia-peermem"}};

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
  if (const auto container = find_container(machine.view); container.is_found()) {
    return findings.add(State::skip, "",
                        "a container (" + container.value + ") does not see which modules its host loads at boot");
  }
  findings.add(State::warn, "nvidia_peermem", "is loaded, but no file in /etc/modules-load.d lists it");
}

const Advice advice_peer_symbols = {
    "whether a peer-memory module is loaded, messages about its symbols in the Linux log (level probe), and, if "
    "dma-buf is not possible, ib_register_peer_memory_client in /proc/kallsyms",
    "nvidia-peermem needs an RDMA stack with the peer-memory interface, and must be built after that stack was "
    "installed; otherwise modprobe fails with 'Invalid argument'",
    {"install DOCA-OFED, then rebuild the driver's modules (dkms autoinstall, or reinstall the driver); or use "
     "dma-buf: open flavour of the driver and Linux 5.12 or newer",
     true, true, true, "grep ib_register_peer_memory_client /proc/kallsyms"},
    "for ordinary users the addresses in /proc/kallsyms are zero; only the names matter"};

void check_peer_symbols(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return;
  for (const char* module : {"nvidia_peermem", "nv_peer_mem", "gdrkit_peermem"}) {
    const auto directory = machine.view.node(std::string("/sys/module/") + module);
    if (directory.is_unknown()) return findings.add_unknown(module, directory);
    if (directory.is_found()) return findings.add(State::ok, module, "is loaded: it found its symbols");
  }
  const auto dmabuf = dmabuf_possible(machine);
  for (const KernelMessage& message : machine.probe.kernel_log.value.messages) {
    const auto has = [&](const char* words) { return message.text.find(words) != std::string::npos; };
    if (!has("peer") || (!has("disagrees about version of symbol") && !has("Unknown symbol"))) continue;
    return findings.add(dmabuf.is_found() ? State::warn : State::fail, "", message.text);
  }
  if (dmabuf.is_found()) return findings.add(State::ok, "", "no module is needed: " + dmabuf.value);
  const auto has = machine.view.holds("/proc/kallsyms", " ib_register_peer_memory_client");
  const auto is_listed = machine.view.holds("/proc/kallsyms", " ib_register_client");
  if (!has.is_found()) return findings.add(State::unknown, "/proc/kallsyms", has.reason);
  if (has.value) {
    findings.add(State::ok, "ib_register_peer_memory_client", "is exported: nvidia-peermem can be loaded");
  } else if (!is_listed.value) {
    findings.add(State::unknown, "/proc/kallsyms",
                 "lists no symbol of the RDMA stack: ib_core is not loaded, or the names are hidden");
  } else {
    findings.add(State::fail, "ib_register_peer_memory_client",
                 "is not exported by the RDMA stack, so nvidia-peermem cannot be loaded; no dma-buf: " + dmabuf.reason);
  }
}

const Advice advice_peer_params = {
    "peerdirect_support and persistent_api_support in /sys/module/nvidia_peermem/parameters, and the version of "
    "mlx5_core",
    "peerdirect_support=1 is for MLNX_OFED 4.9 only, which needs it; with persistent_api_support=0 the driver revokes "
    "memory through callbacks, in which programs and the driver have deadlocked",
    {"remove 'options nvidia-peermem ...' from /etc/modprobe.d (MLNX_OFED 4.9: set peerdirect_support=1 there), then "
     "sudo modprobe -r nvidia-peermem && sudo modprobe nvidia-peermem",
     true, false, true, "grep . /sys/module/nvidia_peermem/parameters/*"},
    "older drivers have one of the parameters, or neither"};

void check_peer_params(const Machine& machine, Findings& findings) {
  const std::string directory = "/sys/module/nvidia_peermem/parameters/";
  const auto stack = machine.view.line("/sys/module/mlx5_core/version");
  const bool is_legacy = stack.value.starts_with("4.9-");
  const auto judge = [&](const char* name, const char* good, const char* other, State otherwise) {
    const auto value = machine.view.line(directory + name);
    if (value.is_absent()) return;
    if (!value.is_found()) return findings.add_unknown(name, value);
    const State state = value.value == good ? State::ok : value.value == other ? otherwise : State::unknown;
    findings.add(state, name, "is " + value.value + (is_legacy ? ", with MLNX_OFED " + stack.value : ""));
  };
  judge("peerdirect_support", is_legacy ? "1" : "0", is_legacy ? "0" : "1", State::warn);
  judge("persistent_api_support", "1", "0", State::info);
  if (findings.all().empty())
    findings.add(State::skip, "",
                 "nvidia_peermem is not loaded, or has neither peerdirect_support nor persistent_api_support");
}

const Advice advice_peer_order = {
    "the order of nvidia_peermem, ib_core and nvidia in /proc/modules, which lists the newest first",
    "nvidia_peermem registers with ib_core and gets pages from nvidia; if ib_core or nvidia was loaded later, "
    "nvidia_peermem is not connected to it",
    {"sudo modprobe -r nvidia-peermem && sudo modprobe nvidia-peermem   # permanently: 'softdep nvidia-peermem pre: "
     "ib_core nvidia' in /etc/modprobe.d",
     true, false, false, "grep -E '^(nvidia_peermem|ib_core|nvidia) ' /proc/modules"},
    "the build order matters more than the load order: nvidia_peermem is built against the RDMA stack that is "
    "installed at build "
    "time (peer.symbols). An ib_core that is built into Linux is not in /proc/modules",
    {.now = "modprobe -r nvidia-peermem\nmodprobe nvidia-peermem",
     .file = "/etc/modprobe.d/gdrkit-peermem-order.conf",
     .text = "softdep nvidia-peermem pre: ib_core nvidia",
     .risk = "fails while a program has GPU memory registered: stop the jobs first"}};

void check_peer_order(const Machine& machine, Findings& findings) {
  const auto modules = machine.view.text("/proc/modules");
  if (!modules.is_found()) {
    // Linux without module support has no such file, and then the driver's module is not loaded either.
    if (machine.driver.is_absent()) return findings.add(State::skip, "", "no NVIDIA driver is loaded");
    return findings.add(State::unknown, "/proc/modules", modules.reason);
  }
  const int own = load_position(modules.value, "nvidia_peermem");
  if (own < 0) return findings.add(State::skip, "", "nvidia_peermem is not in /proc/modules");
  std::string late;
  for (const char* name : {"ib_core", "nvidia"}) {
    const int place = load_position(modules.value, name);
    if (place >= 0 && place < own) late += std::string(late.empty() ? "" : " and ") + name;
  }
  findings.add(late.empty() ? State::ok : State::warn, "nvidia_peermem",
               late.empty() ? "was loaded after ib_core and nvidia" : "was loaded before " + late);
}

}  // namespace gdrkit::diag::doctor
