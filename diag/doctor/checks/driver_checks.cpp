// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group driver: whether NVIDIA's kernel module is loaded, its version, flavour and options.
#include <algorithm>
#include <cstdlib>

#include "diag/doctor/check.hpp"
#include "platform/facts/nvidia.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr int oldest_dmabuf_driver = 525;             // the first that NCCL's dma-buf path supports (CUDA 11.7 and 12)
constexpr int oldest_peermem_driver = 470;            // the first with nvidia-peermem
constexpr std::int64_t first_turing_device = 0x1e00;  // PCI device numbers grow with the generations up to Turing

/// Returns the driver, or false after adding a finding with the reason.
bool take_driver(const Machine& machine, Findings& findings, platform::NvidiaDriver* driver) {
  if (machine.driver.is_absent()) {
    findings.add(State::skip, "", "no /proc/driver/nvidia/version: see drv.loaded");
    return false;
  }
  if (!machine.driver.is_found()) {
    findings.add_unknown("", machine.driver);
    return false;
  }
  const auto parsed = platform::parse_nvidia_driver(machine.driver.value);
  if (parsed.has_value()) *driver = *parsed;
  return parsed.has_value();
}

}  // namespace

const Advice advice_drv_loaded = {
    "/proc/driver/nvidia/version, /sys/module/nvidia/version, and the driver that each GPU is bound to",
    "without NVIDIA's kernel module no program can use the GPU",
    {"sudo modprobe nvidia   # if that fails: journalctl -k -g NVRM; in a container: load it on the host and start the "
     "container with --gpus all",
     true, false, false, "cat /proc/driver/nvidia/version"},
    "a GPU that is bound to vfio-pci on purpose is passed through to a guest",
    {.now = "modprobe nvidia"}};

void check_drv_loaded(const Machine& machine, Findings& findings) {
  const auto& gpus = gpus_or_skip(machine, findings);
  if (gpus.empty()) return;
  const auto module = machine.view.line("/sys/module/nvidia/version");
  if (machine.driver.is_found()) {
    platform::NvidiaDriver driver;
    if (take_driver(machine, findings, &driver)) {
      findings.add(State::ok, "nvidia",
                   driver.version + (driver.is_open_flavour ? ", open flavour" : ", proprietary flavour"));
    }
  } else if (module.is_found()) {
    findings.add(State::ok, "nvidia",
                 module.value + " (/sys/module/nvidia/version; " +
                     (machine.driver.is_absent() ? "/proc/driver/nvidia is not visible here" : machine.driver.reason) +
                     ")");
  } else if (std::ranges::all_of(gpus, [](const PciDevice& gpu) { return gpu.driver == "vfio-pci"; })) {
    findings.add(State::info, gpus.front().address,
                 "all GPUs are bound to vfio-pci: they are passed through to guests");
  } else if (machine.driver.is_unknown() || module.is_unknown()) {
    findings.add(State::unknown, "nvidia", machine.driver.is_unknown() ? machine.driver.reason : module.reason);
  } else {
    findings.add(
        State::fail, gpus.front().address,
        cli::format("%zu GPU(s), but neither /proc/driver/nvidia/version nor /sys/module/nvidia exists", gpus.size()));
  }
}

const Advice advice_drv_flavour = {
    "the words 'Open Kernel Module' in /proc/driver/nvidia/version",
    "only the open flavour exports GPU memory as dma-buf; with the proprietary flavour adapters need nvidia-peermem",
    {"install the driver package of the distribution that ends in -open (for a container: on its host)", true, true,
     true, "grep 'Open Kernel Module' /proc/driver/nvidia/version"},
    "GPUs before Turing have no open flavour"};

void check_drv_flavour(const Machine& machine, Findings& findings) {
  const auto& gpus = gpus_or_skip(machine, findings);
  platform::NvidiaDriver driver;
  if (gpus.empty() || !take_driver(machine, findings, &driver)) return;
  const bool is_old = std::ranges::any_of(
      gpus, [](const PciDevice& gpu) { return gpu.device > 0 && gpu.device < first_turing_device; });
  const State otherwise = is_old ? State::info : State::warn;
  findings.add(
      driver.is_open_flavour ? State::ok : otherwise, "nvidia",
      driver.version + (driver.is_open_flavour
                            ? ", open flavour"
                            : ", proprietary flavour (no 'Open Kernel Module' in /proc/driver/nvidia/version)"));
}

const Advice advice_drv_version = {
    "the version in /proc/driver/nvidia/version",
    "drivers before 470 have no nvidia-peermem; drivers before 525 do not support the dma-buf path",
    {"install a newer driver from the distribution or from NVIDIA (for a container: on its host)", true, true, true,
     "cat /proc/driver/nvidia/version"},
    "the version numbers are those of the data-centre branches"};

void check_drv_version(const Machine& machine, Findings& findings) {
  platform::NvidiaDriver driver;
  if (gpus_or_skip(machine, findings).empty() || !take_driver(machine, findings, &driver)) return;
  const int major = std::atoi(driver.version.c_str());
  const State state = major >= oldest_dmabuf_driver    ? State::ok
                      : major >= oldest_peermem_driver ? State::warn
                                                       : State::fail;
  findings.add(state, "nvidia",
               cli::format("%s (525 or newer is recommended, 470 is required)", driver.version.c_str()));
}

const Advice advice_drv_params = {"GrdmaPciTopoCheckOverride in /proc/driver/nvidia/params",
                                  "GrdmaPciTopoCheckOverride=2 makes the driver reject every RDMA mapping; 1 makes it "
                                  "skip its check of the PCIe path",
                                  {"remove NVreg_GrdmaPciTopoCheckOverride from the files that grep -rl "
                                   "NVreg_GrdmaPciTopoCheckOverride /etc/modprobe.d /usr/lib/modprobe.d lists, rebuild "
                                   "the initramfs (update-initramfs -u; Red Hat: dracut -f), then reboot",
                                   true, true, true, "grep GrdmaPciTopoCheckOverride /proc/driver/nvidia/params"},
                                  "older drivers do not have this line"};

void check_drv_params(const Machine& machine, Findings& findings) {
  const auto value = labelled(machine.view.text("/proc/driver/nvidia/params"), "GrdmaPciTopoCheckOverride");
  if (value.is_absent())
    return findings.add(State::skip, "", "no GrdmaPciTopoCheckOverride in /proc/driver/nvidia/params");
  if (!value.is_found()) return findings.add_unknown("", value);
  const State state = value.value == "0"   ? State::ok
                      : value.value == "1" ? State::warn
                      : value.value == "2" ? State::fail
                                           : State::unknown;
  findings.add(state, "GrdmaPciTopoCheckOverride", "is '" + value.value + "'");
}

const Advice advice_drv_remap = {
    "DmaRemapPeerMmio in /proc/driver/nvidia/params, and iommu_group/type of each GPU and adapter",
    "with DmaRemapPeerMmio=0 the driver gives adapters and other GPUs the CPU physical addresses of GPU memory; a "
    "translating IOMMU has no mapping for these addresses and blocks the access",
    {"remove NVreg_DmaRemapPeerMmio=0 from /etc/modprobe.d and from the Linux command line, rebuild the initramfs "
     "(update-initramfs -u; Red Hat: dracut -f), then reboot",
     true, true, true, "grep DmaRemapPeerMmio /proc/driver/nvidia/params"},
    "without a translating IOMMU the value 0 has no effect; older drivers do not have DmaRemapPeerMmio"};

void check_drv_remap(const Machine& machine, Findings& findings) {
  const auto value = labelled(machine.view.text("/proc/driver/nvidia/params"), "DmaRemapPeerMmio");
  if (value.is_absent()) return findings.add(State::skip, "", "no DmaRemapPeerMmio in /proc/driver/nvidia/params");
  if (!value.is_found()) return findings.add_unknown("", value);
  if (value.value == "1") return findings.add(State::ok, "DmaRemapPeerMmio", "is 1");
  if (value.value != "0") return findings.add(State::unknown, "DmaRemapPeerMmio", "is '" + value.value + "'");
  bool is_harmless = true;
  for (const PciDevice& device : devices_or_skip(machine, findings)) {
    if (machine.view.presence(device.directory + "/iommu_group") == Outcome::absent) continue;
    const auto type = machine.view.line(device.directory + "/iommu_group/type");
    if (type.is_found() && type.value == "identity") continue;
    is_harmless = false;
    if (!type.is_found()) {
      findings.add(State::unknown, device.address, "DmaRemapPeerMmio is 0, and " + type.reason);
    } else {
      findings.add(State::fail, device.address, "DmaRemapPeerMmio is 0, and its IOMMU group is of type " + type.value);
    }
  }
  if (is_harmless) findings.add(State::ok, "DmaRemapPeerMmio", "is 0, and no IOMMU translates for GPUs or adapters");
}

}  // namespace gdrkit::diag::doctor
