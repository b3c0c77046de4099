// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group gpu: number, health and modes of the GPUs. Level probe, except the number.
#include <algorithm>

#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::int64_t cuda_11_7 = 11070;
constexpr std::int64_t cuda_11_4 = 11040;
constexpr std::int64_t exclusive_thread = 1;
constexpr std::int64_t prohibited = 2;
constexpr std::int64_t exclusive_process = 3;

}  // namespace

const Advice advice_cuda_version = {
    "the CUDA version of the driver, from NVML",
    "NCCL uses dma-buf with CUDA 11.7 and later; nvidia-peermem comes with drivers of CUDA 11.4 and later",
    {"install a newer driver (525 or later)", true, true, true, "nvidia-smi | grep CUDA"},
    "the version of the toolkit (nvcc --version) does not matter here"};

void check_cuda_version(const Machine& machine, Findings& findings) {
  const NvmlFacts* nvml = nvml_or_skip(machine, findings);
  if (nvml == nullptr) return;
  const auto& version = nvml->cuda_version.is_found() ? nvml->cuda_version : nvml->cuda_library_version;
  if (!version.is_found()) return findings.add(State::unknown, "", nvml->cuda_version.reason);
  const auto text = cli::format("CUDA %lld.%lld", static_cast<long long>(version.value / 1000),
                                static_cast<long long>(version.value % 1000 / 10));
  if (version.value >= cuda_11_7) return findings.add(State::ok, "", text);
  findings.add(State::warn, "",
               text + (version.value < cuda_11_4 ? ": neither dma-buf nor nvidia-peermem" : ": no dma-buf"));
}

const Advice advice_gpu_count = {
    "the GPUs that NVML shows to this process (--level probe), else those in /sys/bus/pci/devices",
    "a job that expects more GPUs fails, or runs on fewer; a GPU that is gone has often fallen off the bus",
    {"find the missing GPU with lspci -d 10de:, nvidia-smi -L and gpu.xid; reset it or reboot; if it is still missing, "
     "reseat the card",
     true, true, false, "nvidia-smi -L"},
    "runs only with --expect-gpus N; in a container NVML shows the GPUs that it was given, but PCI shows all GPUs of "
    "the host"};

void check_gpu_count(const Machine& machine, Findings& findings) {
  if (!machine.expected_gpus.has_value()) return findings.add(State::skip, "", "no number given with --expect-gpus");
  const auto& nvml = machine.probe.nvml;
  if (!nvml.is_found() && machine.pci_outcome != Outcome::found)
    return findings.add(State::unknown, "", "the number of GPUs is unknown: " + machine.pci_reason);
  std::size_t count = machine.gpus.size();
  if (nvml.is_found()) {
    // A job cannot use a GPU that NVML lists but cannot open.
    const auto& gpus = nvml.value.gpus;
    count = static_cast<std::size_t>(
        std::ranges::count_if(gpus, [](const NvmlGpu& gpu) { return gpu.address.is_found(); }));
  }
  findings.add(count == *machine.expected_gpus ? State::ok : State::fail, "",
               cli::counted(count, "GPU") + (nvml.is_found() ? " in NVML, " : " in PCI, ") +
                   std::to_string(*machine.expected_gpus) + " expected");
}

const Advice advice_gpu_class = {
    "at level cuda CUDA's attribute GPU_DIRECT_RDMA_SUPPORTED of each GPU; at level probe its brand from NVML",
    "without GPUDirect RDMA no adapter can access the GPU's memory: every transfer goes through host memory",
    {"use a data-centre or RTX professional GPU; with this one turn GPUDirect off (NCCL_NET_GDR_LEVEL=LOC)", false,
     false, false, "gdrkit doctor --level probe --only gpu.class"},
    "the brand is weaker evidence than the attribute, which needs CUDA (--level cuda)"};

namespace {

/// nvmlBrandType_t, from NVML's API reference: GeForce, and brands for data centres and professionals.
bool is_geforce(std::int64_t brand) { return brand == 5 || brand == 15; }
bool is_professional(std::int64_t brand) { return brand == 1 || brand == 2 || (brand >= 12 && brand <= 14); }

void judge_by_brand(const NvmlGpu& gpu, const std::string& name, Findings& findings) {
  if (gpu.brand.is_found() && is_geforce(gpu.brand.value)) {
    findings.add(State::warn, gpu.address.value, name + " is a GeForce, which does not support GPUDirect RDMA");
  } else if (gpu.brand.is_found() && is_professional(gpu.brand.value)) {
    findings.add(State::ok, gpu.address.value,
                 name + " has a brand that supports GPUDirect RDMA (" + gpu.cuda_rdma.reason + ")");
  } else {
    findings.add(
        State::unknown, gpu.address.value,
        name + ": its brand proves nothing; " + (gpu.brand.is_found() ? gpu.cuda_rdma.reason : gpu.brand.reason));
  }
}

}  // namespace

void check_gpu_class(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    const std::string name = gpu->name.is_found() ? gpu->name.value : "the GPU";
    if (!gpu->cuda_rdma.is_found()) {
      judge_by_brand(*gpu, name, findings);
      continue;
    }
    findings.add(gpu->cuda_rdma.value ? State::ok : State::warn, gpu->address.value,
                 name + (gpu->cuda_rdma.value ? " supports GPUDirect RDMA"
                                              : " does not support GPUDirect RDMA (reported by CUDA)"));
  }
}

const Advice advice_gpu_mig = {"MIG mode of each GPU, from NVML",
                               "in MIG mode a GPU has no NVLink and no direct access to other GPUs; adapters still "
                               "access the memory of an instance",
                               {"sudo nvidia-smi -i ADDRESS -mig 0   # the GPU must be idle, and may need a reset",
                                true, false, true, "nvidia-smi -q -d MIG"},
                               "correct on machines that share GPUs between users",
                               {.now = "nvidia-smi -i ADDRESS -mig 0",
                                .risk = "deletes the instances, and is refused or waits for a reset of the GPU while "
                                        "programs run; a MIG manager turns MIG on again at boot"}};

void check_gpu_mig(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    if (!take(gpu->address.value, gpu->mig, "has no MIG mode", findings)) continue;
    const bool changes = gpu->mig_next.is_found() && gpu->mig_next.value != gpu->mig.value;
    findings.add(gpu->mig.value ? State::warn : State::ok, gpu->address.value,
                 std::string(gpu->mig.value ? "MIG is on" : "MIG is off") + (changes ? ", until the next reset" : ""));
  }
}

const Advice advice_gpu_persistence = {
    "persistence mode of each GPU, from NVML",
    "without persistence mode the driver shuts down idle GPUs: the next program waits for seconds, and counters and "
    "settings are lost",
    {"sudo systemctl enable --now nvidia-persistenced; if the mode is still off: sudo nvidia-smi -pm 1 (after each "
     "boot)",
     true, false, true, "nvidia-smi -q -d PERSISTENCE_MODE"},
    "for a container, the daemon must run on the host; this check itself wakes an idle GPU. On Debian and Ubuntu, "
    "enabling the service is not enough, because it starts the daemon with --no-persistence-mode",
    {.now = "nvidia-smi -i ADDRESS -pm 1",
     .file = "/etc/systemd/system/gdrkit-persistence.service",
     .text =
         GDRKIT_SERVICE("persistence mode of GPUs (gdrkit doctor: gpu.persistence)",
                        "Wants=nvidia-persistenced.service\nAfter=nvidia-persistenced.service\n", "nvidia-smi -pm 1"),
     .enable = "systemctl daemon-reload\n"
               "systemctl enable --now nvidia-persistenced || true   # older drivers' packages have no such service\n"
               "systemctl enable gdrkit-persistence.service",
     .risk = "idle GPUs use a little more power"}};

void check_gpu_persistence(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    if (!take(gpu->address.value, gpu->persistence, "has no persistence mode", findings)) continue;
    findings.add(gpu->persistence.value ? State::ok : State::warn, gpu->address.value,
                 gpu->persistence.value ? "persistence mode is on" : "persistence mode is off");
  }
}

const Advice advice_gpu_ecc = {
    "uncorrectable ECC errors since the driver was loaded, and whether memory rows were remapped or wait for it",
    "an uncorrectable error ends the programs that use the memory; after a failed row remapping, more errors are "
    "likely",
    {"end all programs and reset the GPU (sudo nvidia-smi --gpu-reset -i ADDRESS); if the errors return, replace it",
     true, false, true, "nvidia-smi -q -d ECC,ROW_REMAPPER"},
    "the next reset of the GPU completes a pending remapping, which is not always a sign of a failing GPU"};

void check_gpu_ecc(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    const std::string& subject = gpu->address.value;
    bool is_ill = true;
    if (gpu->remap_failed.is_found() && gpu->remap_failed.value) {
      findings.add(State::fail, subject, "a memory row could not be remapped");
    } else if (gpu->ecc_uncorrected.is_found() && gpu->ecc_uncorrected.value > 0) {
      findings.add(State::fail, subject,
                   cli::format("%lld uncorrectable errors", static_cast<long long>(gpu->ecc_uncorrected.value)));
    } else if (gpu->remap_pending.is_found() && gpu->remap_pending.value) {
      findings.add(State::warn, subject, "a memory row waits for a reset to be remapped");
    } else {
      is_ill = false;
    }
    if (is_ill || !take(subject, gpu->ecc_enabled, "has no ECC", findings)) continue;
    if (!gpu->ecc_enabled.value) {
      findings.add(State::info, subject, "ECC is off: memory errors are not detected");
    } else if (!gpu->ecc_uncorrected.is_found()) {
      findings.add_unknown(subject, gpu->ecc_uncorrected);
    } else if (gpu->remap_failed.is_unknown()) {
      findings.add_unknown(subject, gpu->remap_failed);
    } else {
      findings.add(State::ok, subject, "ECC is on, no uncorrected errors");
    }
  }
}

const Advice advice_gpu_compute_mode = {
    "compute mode of each GPU, from NVML",
    "in an exclusive mode a second process on the GPU gets an error; in prohibited mode every process does",
    {"sudo nvidia-smi -i ADDRESS -c DEFAULT", true, false, false, "nvidia-smi -q -d COMPUTE"},
    "MPS needs the exclusive process mode; each load of the driver restores DEFAULT: if another mode returns after "
    "each boot, a script or a scheduler sets it",
    {.now = "nvidia-smi -i ADDRESS -c DEFAULT",
     .risk = "a scheduler that relies on one process for each GPU no longer works"}};

void check_gpu_compute_mode(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    if (!take(gpu->address.value, gpu->compute_mode, "has no compute mode", findings)) continue;
    switch (gpu->compute_mode.value) {
      case 0: findings.add(State::ok, gpu->address.value, "any number of processes may use it"); break;
      case exclusive_thread:
      case exclusive_process: findings.add(State::warn, gpu->address.value, "only one process may use it"); break;
      case prohibited: findings.add(State::fail, gpu->address.value, "no process may use it"); break;
      default:
        findings.add(State::unknown, gpu->address.value,
                     cli::format("compute mode %lld", static_cast<long long>(gpu->compute_mode.value)));
    }
  }
}

const Advice advice_gpu_cc = {
    "whether confidential computing is on, from NVML; if it is, the vendor of the processors and whether gdrdrv is the "
    "proprietary build",
    "with confidential computing, adapters cannot access GPU memory directly, and transfers go through bounce buffers "
    "in host memory; on Intel, gdrdrv built for the proprietary driver cannot map GPU memory at all",
    {"turn confidential computing off if you want GPUDirect; for GDRCopy install gdrdrv built for the open driver",
     true, true, true, "nvidia-smi conf-compute -f"},
    "machines that must protect data enable it intentionally"};

void check_gpu_cc(const Machine& machine, Findings& findings) {
  const NvmlFacts* nvml = nvml_or_skip(machine, findings);
  if (nvml == nullptr || !take("", nvml->cc_enabled, "no confidential computing here", findings)) return;
  if (!nvml->cc_enabled.value) return findings.add(State::ok, "", "confidential computing is off");
  const auto cpus = machine.view.text("/proc/cpuinfo");
  const auto taint = machine.view.text("/sys/module/gdrdrv/taint");  // P: a proprietary module
  const bool is_intel = cpus.value.find("GenuineIntel") != std::string::npos;
  const bool is_proprietary = taint.value.find('P') != std::string::npos;
  if (is_intel && is_proprietary)
    return findings.add(
        State::fail, "gdrdrv",
        "confidential computing is on, the processor is from Intel, and gdrdrv is the proprietary build");
  findings.add(State::warn, "",
               std::string("confidential computing is on") +
                   (nvml->cc_developer_mode.is_found() && nvml->cc_developer_mode.value ? ", in developer mode" : ""));
}

}  // namespace gdrkit::diag::doctor
