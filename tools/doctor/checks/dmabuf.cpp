// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group dmabuf: the way from adapter to GPU memory that needs no module beside the driver.
#include "tools/doctor/check.hpp"
#include "tools/machine/linux_version.hpp"
#include "tools/machine/peer_memory.hpp"

namespace gdrkit::tools::doctor {

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

const Advice advice_dmabuf_p2pdma = {
    "whether dma-buf is possible (flavour of the driver, version of Linux) beside a peer-memory module",
    "peer-memory modules stand on the nv-p2p interface of the driver, which is deprecated since CUDA 13.0: a machine "
    "that has no other way loses direct access with a later driver",
    {"install the open flavour of the driver and Linux 5.12 or newer; then no module is needed", true, true, true,
     "gdrkit doctor --only peer.any"},
    "nothing is broken today: this is for planning"};

void check_dmabuf_p2pdma(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return;
  const auto dmabuf = dmabuf_by_files(machine);
  if (dmabuf.is_found()) return findings.add(State::ok, "", "does not depend on nv-p2p: " + dmabuf.value);
  if (dmabuf.is_unknown()) return findings.add_unknown("", dmabuf);
  for (const Belief& belief : peer_memory_beliefs(machine.view)) {
    if (belief.file.is_unknown()) return findings.add_unknown("", belief.file);
    if (belief.file.is_found()) {
      return findings.add(State::info, "", "depends on nv-p2p alone (" + belief.file.value + "): " + dmabuf.reason);
    }
  }
  findings.add(State::skip, "", "neither dma-buf nor a peer-memory module: see peer.any");
}

}  // namespace gdrkit::tools::doctor
