// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group rdma: the RDMA stack, Linux's own or NVIDIA's DOCA-OFED.
#include <string>
#include <tuple>

#include "diag/doctor/check.hpp"
#include "diag/machine/peer_memory.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::int64_t network_class = 0x02;
constexpr std::int64_t data_direct_device = 0x2100;  // a second function of ConnectX-8, without a port

/// Network functions of NVIDIA (Mellanox) without an RDMA device.
void find_idle_adapters(const Machine& machine, Findings& findings) {
  const State without_use = machine.gpus.empty() ? State::info : State::fail;
  for (const std::string& address : machine.mellanox) {
    const std::string directory = "/sys/bus/pci/devices/" + address;
    const auto number = [&](const char* file) { return machine.view.number(directory + "/" + file).value; };
    if (number("class") >> 16 != network_class) continue;
    if (number("device") == data_direct_device) continue;
    bool has_own = false;
    bool has_sibling = false;
    for (const Adapter& adapter : machine.adapters) {
      has_own = has_own || adapter.pci.address == address;
      has_sibling = has_sibling || adapter.pci.address.substr(0, 10) == address.substr(0, 10);
    }
    if (has_own) continue;
    const auto driver = machine.view.resolved(directory + "/driver");
    const bool is_virtual = machine.view.presence(directory + "/physfn") == Outcome::found;
    if (driver.is_unknown()) {
      findings.add(State::unknown, address, driver.reason);
    } else if (driver.is_absent()) {
      findings.add(is_virtual ? State::info : without_use, address,
                   std::string("is an NVIDIA adapter without a driver") +
                       (is_virtual ? " (a virtual function: it may be reserved for a guest)" : ""));
    } else if (driver.value.find("/vfio") != std::string::npos) {
      findings.add(State::info, address, "is bound to vfio: it is passed through to a guest");
    } else {
      findings.add(has_sibling ? State::info : without_use, address,
                   "is bound to " + driver.value.substr(driver.value.rfind('/') + 1) + " and has no RDMA device" +
                       (has_sibling ? " (another function of the card has one, as in a bond)" : ""));
    }
  }
}

}  // namespace

const Advice advice_rdma_stack = {
    "NVIDIA's network functions in /sys/bus/pci/devices, /sys/module/mlx_compat, /sys/module/mlx5_core/version, "
    "/sys/module/efa/version, and the path to GPU memory (peer memory, dma-buf)",
    "NCCL, UCX and NVSHMEM cannot use an adapter without an RDMA device; the in-tree RDMA stack (except Ubuntu's) "
    "reaches GPU memory only through dma-buf, which the proprietary driver does not support",
    {"run sudo modprobe mlx5_ib; or install DOCA-OFED; or, with the in-tree stack, install the open flavour of the "
     "driver",
     true, false, true, "ls /sys/class/infiniband; ls -d /sys/module/mlx_compat"},
    "the in-tree mlx5_core has no version; some distributions (Ubuntu) include the peer-memory interface in their "
    "stack"};

void check_rdma_stack(const Machine& machine, Findings& findings) {
  find_idle_adapters(machine, findings);
  if (adapters_or_skip(machine, findings).empty()) return;
  const auto compat = machine.view.node("/sys/module/mlx_compat");
  if (compat.is_unknown()) return findings.add_unknown("", compat);
  const auto version_of = [&](const char* module) {
    const auto version = machine.view.line(std::string("/sys/module/") + module + "/version");
    return version.is_found() ? std::string(" ") + module + " " + version.value : std::string();
  };
  const std::string versions = version_of("mlx5_core") + version_of("efa");
  if (compat.is_found()) {
    return findings.add(State::ok, "", "NVIDIA's stack (MLNX_OFED or DOCA-OFED):" + versions);
  }
  const std::string own = "the in-tree stack" + (versions.empty() ? "" : ":" + versions);
  if (machine.gpus.empty()) return findings.add(State::ok, "", own);
  const auto dmabuf = dmabuf_possible(machine);
  if (dmabuf.is_found()) return findings.add(State::ok, "", own + ", with dma-buf: " + dmabuf.value);
  for (const Detection& detection : peer_memory_detections(machine.view)) {
    if (detection.file.is_found()) return findings.add(State::ok, "", own + ", with " + detection.file.value);
    if (detection.file.is_unknown()) return findings.add_unknown("", detection.file);
  }
  findings.add(dmabuf.is_unknown() ? State::unknown : State::warn, "", own + ", and " + dmabuf.reason);
}

const Advice advice_rdma_modules = {
    "/sys/module/ib_uverbs, /sys/module/rdma_ucm, /dev/infiniband",
    "no program can use an adapter without ib_uverbs, and no program can connect with rdma_cm without rdma_ucm",
    {"sudo modprobe -a ib_uverbs rdma_ucm   # permanently: a file in /etc/modules-load.d", true, false, false,
     "ls /dev/infiniband"},
    "a module that is built into Linux may have no directory in /sys/module: its node in /dev/infiniband counts too",
    {.now = "modprobe -a ib_uverbs rdma_ucm",
     .file = "/etc/modules-load.d/gdrkit-rdma.conf",
     .text = "ib_uverbs\nrdma_ucm"}};

void check_rdma_modules(const Machine& machine, Findings& findings) {
  if (adapters_or_skip(machine, findings).empty()) return;
  const auto nodes = machine.view.names("/dev/infiniband");
  const auto has = [&](const char* module, const std::string& node) {
    const Outcome outcome = machine.view.presence(std::string("/sys/module/") + module);
    if (outcome == Outcome::found) return Outcome::found;
    for (const std::string& name : nodes.value) {
      if (name.starts_with(node)) return Outcome::found;
    }
    return nodes.is_unknown() ? nodes.outcome : outcome;
  };
  for (const auto& [module, node, missing] :
       {std::tuple{"ib_uverbs", "uverbs", State::fail}, std::tuple{"rdma_ucm", "rdma_cm", State::warn}}) {
    const Outcome outcome = has(module, node);
    if (outcome == Outcome::found) {
      findings.add(State::ok, module, "is there");
    } else if (outcome == Outcome::absent) {
      findings.add(missing, module,
                   cli::format("is not loaded: no /sys/module/%s, no /dev/infiniband/%s", module, node));
    } else {
      findings.add(State::unknown, module,
                   "unknown whether the module is loaded: /sys/module and /dev/infiniband are not readable");
    }
  }
}

}  // namespace gdrkit::diag::doctor
