// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Machine: facts that many checks need, gathered once: PCI devices with the bridges above them, adapters, guest or not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diag/machine/probe.hpp"
#include "diag/topology/machine_view.hpp"
#include "diag/topology/text_parts.hpp"

namespace gdrkit::diag {

using topology::Fact;
using topology::found;
using topology::has_word;
using topology::is_one_of;
using topology::labelled;
using topology::MachineView;
using topology::Outcome;
using topology::pass;
using topology::plain;
using topology::split;
using topology::trimmed;

struct PciDevice {
  std::string address;               ///< 0000:3b:00.0
  std::string directory;             ///< /sys/bus/pci/devices/0000:3b:00.0
  std::vector<std::string> bridges;  ///< addresses, from the root port down to the port that the device is behind
  std::int64_t vendor = 0;
  std::int64_t device = 0;
  std::string driver;  ///< "" if no driver is bound
};

/// An RDMA device with its PCI function.
struct Adapter {
  std::string name;       ///< mlx5_0
  std::string directory;  ///< /sys/class/infiniband/mlx5_0
  PciDevice pci;          ///< address "" if it is not a PCI device
};

struct TopologyFacts;

struct Machine {
  explicit Machine(const MachineView& from, Level level = Level::quick);

  const MachineView& view;
  Outcome pci_outcome = Outcome::absent;  ///< of the list of PCI devices
  std::string pci_reason;
  std::size_t pci_count = 0;
  std::vector<PciDevice> gpus;
  std::vector<std::string> mellanox;          ///< addresses of all functions of that vendor
  Outcome adapter_outcome = Outcome::absent;  ///< of the list of RDMA devices; absent: there is none
  std::string adapter_reason;
  std::vector<Adapter> adapters;
  Fact<bool> is_guest;       ///< of a hypervisor
  Fact<std::string> driver;  ///< text of /proc/driver/nvidia/version
  Probe probe;
  std::optional<std::size_t> expected_gpus;               ///< the expected number, given by the caller
  mutable std::shared_ptr<const TopologyFacts> topology;  ///< use topology_of(), which reads it at the first call
};

/// Of a device that is in the list of PCI devices.
[[nodiscard]] PciDevice read_pci_device(const MachineView& view, const std::string& address);

struct LinuxVersion {
  std::string text;  ///< "5.14.0-427.el9.x86_64"
  int major = 0;
  int minor = 0;

  /// Linux supports RDMA on dma-buf since 5.12.
  [[nodiscard]] bool has_dmabuf() const { return major > 5 || (major == 5 && minor >= 12); }
};
/// From /proc/version.
[[nodiscard]] Fact<LinuxVersion> read_linux_version(const MachineView& view);

/// Paths of the configuration files "*.conf" in the reading order of systemd, modprobe and others: by name, regardless
/// of their directory. `directories` has the most important first: of several files with one name only the first
/// counts. A missing directory counts as empty. The outcome is not `found` if a directory could not be listed.
[[nodiscard]] Fact<std::vector<std::string>> drop_ins(const MachineView& view,
                                                      const std::vector<std::string>& directories);

/// `root` is "/" or a recording ("-": on standard input). Throws Failure(bad_recording) if it is neither.
[[nodiscard]] MachineView open_view(const std::string& root);

}  // namespace gdrkit::diag
