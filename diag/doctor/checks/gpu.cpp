// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group gpu: what the driver says of each GPU, its health and its modes. Level probe.
#include "diag/doctor/checks/nvml_gpus.hpp"

namespace gdrkit::tools::doctor {
namespace {

constexpr std::int64_t cuda_11_7 = 11070;
constexpr std::int64_t cuda_11_4 = 11040;
constexpr std::int64_t exclusive_thread = 1;
constexpr std::int64_t prohibited = 2;
constexpr std::int64_t exclusive_process = 3;

}  // namespace

const Advice advice_cuda_version = {
    "the version of CUDA that the driver offers, by NVML",
    "NCCL takes dma-buf from CUDA 11.7 on; nvidia-peermem comes with the drivers of CUDA 11.4 on",
    {"install a newer driver (525 or later)", true, true, true, "nvidia-smi | grep CUDA"},
    "the toolkit's own version (nvcc --version) does not matter here"};

void check_cuda_version(const Machine& machine, Findings& findings) {
  const NvmlFacts* nvml = nvml_or_skip(machine, findings);
  if (nvml == nullptr) return;
  const auto& version = nvml->cuda_version.is_found() ? nvml->cuda_version : nvml->cuda_library_version;
  if (!version.is_found()) return findings.add(State::unknown, "", nvml->cuda_version.reason);
  const auto text = format("CUDA %lld.%lld", static_cast<long long>(version.value / 1000),
                           static_cast<long long>(version.value % 1000 / 10));
  if (version.value >= cuda_11_7) return findings.add(State::ok, "", text);
  findings.add(State::warn, "",
               text + (version.value < cuda_11_4 ? ": neither dma-buf nor nvidia-peermem" : ": no dma-buf"));
}

const Advice advice_gpu_class = {
    "at level cuda CUDA's attribute GPU_DIRECT_RDMA_SUPPORTED of each GPU; at level probe NVML's brand of it",
    "without it no adapter can reach this GPU's memory: every transfer takes the way through the host",
    {"use a data-centre or RTX professional GPU; with this one turn GPUDirect off (NCCL_NET_GDR_LEVEL=LOC)", false,
     false, false, "gdrkit doctor --level probe --only gpu.class"},
    "a brand tells less than the attribute does, which cannot be had without starting CUDA"};

namespace {

/// nvmlBrandType_t, from NVML's API reference: what is sold as GeForce, and what for data centres and professionals.
bool is_geforce(std::int64_t brand) { return brand == 5 || brand == 15; }
bool is_professional(std::int64_t brand) { return brand == 1 || brand == 2 || (brand >= 12 && brand <= 14); }

void judge_by_brand(const NvmlGpu& gpu, const std::string& name, Findings& findings) {
  if (gpu.brand.is_found() && is_geforce(gpu.brand.value)) {
    findings.add(State::warn, gpu.address.value, name + " is of the brand GeForce, which has no GPUDirect RDMA");
  } else if (gpu.brand.is_found() && is_professional(gpu.brand.value)) {
    findings.add(State::ok, gpu.address.value,
                 name + " is of a brand that has GPUDirect RDMA (" + gpu.cuda_rdma.reason + ")");
  } else {
    findings.add(
        State::unknown, gpu.address.value,
        name + ": its brand does not tell; " + (gpu.brand.is_found() ? gpu.cuda_rdma.reason : gpu.brand.reason));
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
                 name + (gpu->cuda_rdma.value ? " can do GPUDirect RDMA" : " cannot do GPUDirect RDMA, CUDA says"));
  }
}

const Advice advice_gpu_mig = {
    "MIG mode of each GPU, by NVML",
    "in MIG mode the GPU has neither NVLink nor direct access to other GPUs; adapters still reach an instance's memory",
    {"sudo nvidia-smi -i ADDRESS -mig 0   # the GPU must be idle, and may need a reset", true, false, true,
     "nvidia-smi -q -d MIG"},
    "intended where GPUs are shared out in slices",
    {.now = "nvidia-smi -i ADDRESS -mig 0",
     .risk = "takes the slices from those who use them, and is refused or waits for a reset of the GPU while programs "
             "run; a MIG manager at boot turns it on again"}};

void check_gpu_mig(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    if (!take(gpu->address.value, gpu->mig, "has no MIG mode", findings)) continue;
    const bool changes = gpu->mig_next.is_found() && gpu->mig_next.value != gpu->mig.value;
    findings.add(gpu->mig.value ? State::warn : State::ok, gpu->address.value,
                 std::string(gpu->mig.value ? "MIG is on" : "MIG is off") + (changes ? ", until the next reset" : ""));
  }
}

const Advice advice_gpu_persistence = {
    "persistence mode of each GPU, by NVML",
    "without it the driver lets go of an idle GPU: the next program waits seconds, and counters and settings are lost",
    {"sudo systemctl enable --now nvidia-persistenced; if the mode is still off: sudo nvidia-smi -pm 1 (after each "
     "boot)",
     true, false, true, "nvidia-smi -q -d PERSISTENCE_MODE"},
    "in a container the host's daemon counts; this look itself wakes an idle GPU. Debian's and Ubuntu's service starts "
    "the daemon with --no-persistence-mode: enabling it is not enough there",
    {.now = "nvidia-smi -i ADDRESS -pm 1",
     .file = "/etc/systemd/system/gdrkit-persistence.service",
     .text = "[Unit]\n"
             "Description=persistence mode of GPUs (gdrkit doctor: gpu.persistence)\n"
             "Wants=nvidia-persistenced.service\n"
             "After=nvidia-persistenced.service\n"
             "[Service]\n"
             "Type=oneshot\n"
             "RemainAfterExit=yes\n"
             "ExecStart=/bin/sh -c \"exec nvidia-smi -pm 1\"\n"
             "[Install]\n"
             "WantedBy=multi-user.target",
     .enable = "systemctl daemon-reload\n"
               "systemctl enable --now nvidia-persistenced || true   # older drivers' packages have no such service\n"
               "systemctl enable gdrkit-persistence.service",
     .risk = "idle GPUs take a little more power"}};

void check_gpu_persistence(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    if (!take(gpu->address.value, gpu->persistence, "has no persistence mode", findings)) continue;
    findings.add(gpu->persistence.value ? State::ok : State::warn, gpu->address.value,
                 gpu->persistence.value ? "persistence mode is on" : "persistence mode is off");
  }
}

const Advice advice_gpu_ecc = {
    "errors of memory since the driver was loaded that ECC could not correct, and rows that were or must be remapped",
    "such an error ends the programs that use the memory; after a failed remapping more of them must be expected",
    {"end all programs and reset the GPU (sudo nvidia-smi --gpu-reset -i ADDRESS); if it comes back: replace it", true,
     false, true, "nvidia-smi -q -d ECC,ROW_REMAPPER"},
    "a pending remapping is done at the next reset; it need not be an ill omen"};

void check_gpu_ecc(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    const std::string& subject = gpu->address.value;
    bool is_ill = true;
    if (gpu->remap_failed.is_found() && gpu->remap_failed.value) {
      findings.add(State::fail, subject, "a row of memory could not be remapped");
    } else if (gpu->ecc_uncorrected.is_found() && gpu->ecc_uncorrected.value > 0) {
      findings.add(State::fail, subject,
                   format("%lld errors could not be corrected", static_cast<long long>(gpu->ecc_uncorrected.value)));
    } else if (gpu->remap_pending.is_found() && gpu->remap_pending.value) {
      findings.add(State::warn, subject, "a row of memory waits for a reset to be remapped");
    } else {
      is_ill = false;
    }
    if (is_ill || !take(subject, gpu->ecc_enabled, "has no ECC", findings)) continue;
    if (!gpu->ecc_enabled.value) {
      findings.add(State::info, subject, "ECC is off: errors of memory are not noticed");
    } else if (!gpu->ecc_uncorrected.is_found()) {
      findings.add_unknown(subject, gpu->ecc_uncorrected);
    } else if (gpu->remap_failed.is_unknown()) {
      findings.add_unknown(subject, gpu->remap_failed);
    } else {
      findings.add(State::ok, subject, "ECC is on, no uncorrected error");
    }
  }
}

const Advice advice_gpu_compute_mode = {
    "compute mode of each GPU, by NVML",
    "in an exclusive mode a second process on the GPU gets an error, in the prohibited one every process does",
    {"sudo nvidia-smi -i ADDRESS -c DEFAULT", true, false, false, "nvidia-smi -q -d COMPUTE"},
    "with MPS the exclusive process mode is what it should be; each load of the driver brings DEFAULT back: a mode "
    "that is "
    "another after each boot is set by a script or a scheduler",
    {.now = "nvidia-smi -i ADDRESS -c DEFAULT",
     .risk = "a scheduler that relies on one process for each GPU loses that"}};

void check_gpu_compute_mode(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    if (!take(gpu->address.value, gpu->compute_mode, "has no compute mode", findings)) continue;
    switch (gpu->compute_mode.value) {
      case 0: findings.add(State::ok, gpu->address.value, "any number of processes may use it"); break;
      case exclusive_thread:
      case exclusive_process: findings.add(State::warn, gpu->address.value, "one process alone may use it"); break;
      case prohibited: findings.add(State::fail, gpu->address.value, "no process may use it"); break;
      default:
        findings.add(State::unknown, gpu->address.value,
                     format("compute mode %lld", static_cast<long long>(gpu->compute_mode.value)));
    }
  }
}

const Advice advice_gpu_cc = {
    "whether confidential computing is on, by NVML; with it the processors' vendor and whether gdrdrv is the "
    "proprietary build",
    "the GPU's memory is then hidden from plain adapters, and transfers take the way through buffers in the host; on "
    "Intel "
    "the proprietary build of gdrdrv cannot map at all",
    {"turn confidential computing off where GPUDirect is wanted; for GDRCopy install gdrdrv built for the open driver",
     true, true, true, "nvidia-smi conf-compute -f"},
    "a machine that must keep secrets has it on purpose"};

void check_gpu_cc(const Machine& machine, Findings& findings) {
  const NvmlFacts* nvml = nvml_or_skip(machine, findings);
  if (nvml == nullptr || !take("", nvml->cc_enabled, "no confidential computing here", findings)) return;
  if (!nvml->cc_enabled.value) return findings.add(State::ok, "", "confidential computing is off");
  const auto cpus = machine.view.text("/proc/cpuinfo");
  const auto taint = machine.view.text("/sys/module/gdrdrv/taint");  // P: a proprietary module
  const bool is_intel = cpus.value.find("GenuineIntel") != std::string::npos;
  const bool is_proprietary = taint.value.find('P') != std::string::npos;
  if (is_intel && is_proprietary)
    return findings.add(State::fail, "gdrdrv",
                        "confidential computing is on, on Intel, and gdrdrv is the proprietary build");
  findings.add(State::warn, "",
               std::string("confidential computing is on") +
                   (nvml->cc_developer_mode.is_found() && nvml->cc_developer_mode.value ? ", in developer mode" : ""));
}

}  // namespace gdrkit::tools::doctor
