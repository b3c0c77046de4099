// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group dmabuf: access from adapters to GPU memory without a peer-memory module.
#include <algorithm>

#include "diag/doctor/check.hpp"
#include "diag/machine/elf_file.hpp"
#include "diag/machine/libraries.hpp"
#include "diag/machine/peer_memory.hpp"

namespace gdrkit::diag::doctor {
namespace {

/// True if a ConnectX-8 has a second function, through which it accesses GPU memory over its own path.
bool has_data_direct(const Machine& machine) {
  const auto& all = machine.mellanox;
  return std::ranges::any_of(all, [&](const std::string& address) {
    return machine.view.number("/sys/bus/pci/devices/" + address + "/device").value == 0x2100;
  });
}

bool is_dmabuf_alone(const Machine& machine) {
  const auto detections = peer_memory_detections(machine.view);
  return std::ranges::any_of(detections, [](const Detection& detection) { return !detection.file.is_found(); });
}

/// Adds libibverbs' result for each adapter, which is stronger evidence than exported symbols. Returns false if
/// libibverbs was not queried.
bool add_libibverbs_results(const Machine& machine, const std::vector<Adapter>& adapters, Findings& findings) {
  const auto& verbs = machine.probe.verbs;
  if (verbs.outcome == Outcome::malformed) findings.add_unknown("libibverbs", verbs);
  if (!verbs.is_found()) return false;
  const State no = is_dmabuf_alone(machine) ? State::warn : State::info;
  for (const Adapter& adapter : adapters) {
    const VerbsDevice* device = verbs.value.device_named(adapter.name);
    if (device == nullptr) {
      findings.add(State::unknown, adapter.name,
                   "is not in the list of libibverbs; install the adapter's provider (package ibverbs-providers)");
    } else if (device->dmabuf.is_absent()) {
      findings.add(State::warn, adapter.name, device->dmabuf.reason);
    } else if (device->dmabuf.is_unknown()) {
      findings.add_unknown(adapter.name, device->dmabuf);
    } else {
      findings.add(device->dmabuf.value ? State::ok : no, adapter.name,
                   device->dmabuf.value ? "can register a dma-buf (reported by libibverbs)"
                                        : "cannot register a dma-buf: Linux, the adapter's driver or the libibverbs "
                                          "provider does not support dma-bufs");
    }
  }
  return true;
}

}  // namespace

const Advice advice_dmabuf_kernel = {"the version in /proc/version",
                                     "RDMA with dma-buf needs Linux 5.12 or newer; older versions need nvidia-peermem",
                                     {"install a newer Linux, or load nvidia-peermem", true, true, true, "uname -r"},
                                     "Red Hat backported it to its 4.18 and 5.14: there the version proves nothing"};

void check_dmabuf_kernel(const Machine& machine, Findings& findings) {
  if (adapters_or_skip(machine, findings).empty()) return;
  const auto version = read_linux_version(machine.view);
  if (!version.is_found()) return findings.add_unknown("", version);
  const bool is_red_hat = version.value.text.find(".el") != std::string::npos;
  findings.add(version.value.has_dmabuf() ? State::ok
               : is_red_hat               ? State::info
                                          : State::warn,
               "Linux", version.value.text);
}

const Advice advice_dmabuf_verbs = {
    "at level probe: whether each adapter supports ibv_reg_dmabuf_mr of libibverbs.so.1, tested with an invalid "
    "dma-buf; otherwise: the symbols that each libibverbs.so.1 in the usual directories exports; for Data Direct "
    "(ConnectX-8) also those of libmlx5",
    "NCCL, UCX and NVSHMEM look up ibv_reg_dmabuf_mr at run time; if it is missing, they do not use dma-buf, even if "
    "Linux and the driver support it",
    {"if the function is missing, install rdma-core 34 or newer (libibverbs1); for a container, install it in the "
     "container. If an adapter cannot register a dma-buf, install a newer driver or Linux, or load nvidia-peermem",
     true, false, true, "nm -D --with-symbol-versions libibverbs.so.1 | grep ibv_reg_dmabuf_mr"},
    "in a container its own library counts, not the host's; LD_LIBRARY_PATH may select another library"};

void check_dmabuf_verbs(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto& adapters = adapters_or_skip(machine, findings);
  if (adapters.empty()) return;
  const Libraries libraries(machine.view);
  const auto check_library = [&](const char* library, const char* symbol, const char* version, const char* since) {
    const auto files = libraries.named(library);
    if (files.is_unknown()) return findings.add_unknown(library, files);
    if (files.is_absent()) return findings.add(State::warn, library, files.reason);
    for (const Library& file : files.value) {
      const auto has = exports(machine.view, file.path, symbol, version);
      if (!has.is_found()) {
        findings.add(State::unknown, file.path, has.reason);
      } else {
        findings.add(
            has.value ? State::ok : State::warn, file.path,
            cli::format("exports %s%s in %s%s", has.value ? "" : "no ", symbol, version, has.value ? "" : since));
      }
    }
  };
  if (!add_libibverbs_results(machine, adapters, findings))
    check_library("libibverbs", "ibv_reg_dmabuf_mr", "IBVERBS_1.12", ": it is older than rdma-core 34");
  if (has_data_direct(machine)) check_library("libmlx5", "mlx5dv_reg_dmabuf_mr", "MLX5_1.25", ": no Data Direct");
}

const Advice advice_dmabuf_p2pdma = {
    "whether dma-buf is possible (flavour of the driver, version of Linux), and whether a peer-memory module is loaded",
    "peer-memory modules use the driver's nv-p2p interface, which is deprecated since CUDA 13.0: a machine without "
    "dma-buf loses direct access with a later driver",
    {"install the open flavour of the driver and Linux 5.12 or newer; then no module is needed", true, true, true,
     "gdrkit doctor --only peer.any"},
    "nothing is broken today: this is for planning"};

void check_dmabuf_p2pdma(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return;
  const auto dmabuf = dmabuf_possible(machine);
  const std::string excepted = gpus_without_dmabuf(machine);
  if (dmabuf.is_found() && excepted.empty()) {
    return findings.add(State::ok, "", "GPUDirect RDMA does not depend on nv-p2p: " + dmabuf.value);
  }
  if (dmabuf.is_unknown()) return findings.add_unknown("", dmabuf);
  for (const Detection& detection : peer_memory_detections(machine.view)) {
    if (detection.file.is_unknown()) return findings.add_unknown("", detection.file);
    if (detection.file.is_found()) {
      return findings.add(
          State::info, "",
          "GPUDirect RDMA works only through nv-p2p (" + detection.file.value + "): " +
              (dmabuf.is_found() ? "CUDA reports that " + excepted + " does not export dma-bufs" : dmabuf.reason));
    }
  }
  findings.add(State::skip, "", "neither dma-buf nor a peer-memory module is available; see peer.any");
}

}  // namespace gdrkit::diag::doctor
