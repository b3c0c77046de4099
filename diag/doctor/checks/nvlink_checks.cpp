// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group nvlink: the links between GPUs, the fabric manager and IMEX. Level probe.
#include <algorithm>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::int64_t fabric_none = 0;
constexpr std::int64_t fabric_not_started = 1;
constexpr std::int64_t fabric_in_progress = 2;
constexpr std::int64_t fabric_completed = 3;
constexpr const char* imex_channels = "/dev/nvidia-caps-imex-channels";

std::size_t active_links(const NvmlGpu& gpu) {
  return static_cast<std::size_t>(std::ranges::count_if(
      gpu.links, [](const NvmlLink& link) { return link.is_active.is_found() && link.is_active.value; }));
}

bool is_mig(const NvmlGpu& gpu) { return gpu.mig.is_found() && gpu.mig.value; }

/// The largest number of active links of any GPU with the same name.
std::size_t most_active(const std::vector<const NvmlGpu*>& gpus, const NvmlGpu& like) {
  std::size_t most = 0;
  for (const NvmlGpu* gpu : gpus) {
    if (gpu->name.value == like.name.value) most = std::max(most, active_links(*gpu));
  }
  return most;
}

void judge_links(const NvmlGpu& gpu, std::size_t most, Findings& findings) {
  const std::string& subject = gpu.address.value;
  if (is_mig(gpu)) return findings.add(State::skip, subject, "a GPU in MIG mode has no NVLink: see gpu.mig");
  if (gpu.links.empty()) {
    const bool has_none = gpu.nvlink_count.is_absent() || (gpu.nvlink_count.is_found() && gpu.nvlink_count.value == 0);
    return has_none
               ? findings.add(State::skip, subject, "has no NVLink")
               : findings.add(State::unknown, subject, "cannot read the GPU's NVLinks: " + gpu.nvlink_count.reason);
  }
  for (const NvmlLink& link : gpu.links) {
    if (link.is_active.is_found()) continue;
    return findings.add(State::unknown, subject,
                        cli::format("link %lld: ", static_cast<long long>(link.index)) + link.is_active.reason);
  }
  const std::size_t active = active_links(gpu);
  std::string text = cli::format("%zu of %zu NVLinks are active", active, gpu.links.size());
  if (active < most)
    return findings.add(State::fail, subject, text + cli::format(", %zu on another GPU of the same model", most));
  if (active == gpu.links.size()) return findings.add(State::ok, subject, text);
  findings.add(active == 0 ? State::info : State::warn, subject, text);
}

/// Whether a link of `from` ends at a switch or at `to`.
bool leads_to(const NvmlGpu& from, const NvmlGpu& to) {
  return std::ranges::any_of(from.links, [&](const NvmlLink& link) {
    if (!link.is_active.is_found() || !link.is_active.value) return false;
    const bool is_switch = link.remote_kind.is_found() && link.remote_kind.value == "switch";
    return is_switch || (link.remote.is_found() && !link.remote.value.empty() && link.remote.value == to.address.value);
  });
}

bool is_at_fault(const NvmlFacts& nvml) {
  return std::ranges::any_of(nvml.gpus, [](const NvmlGpu& gpu) {
    return gpu.fabric_state.is_found() && gpu.fabric_state.value != fabric_none &&
           gpu.fabric_state.value != fabric_completed;
  });
}

}  // namespace

const Advice advice_nvl_state = {
    "the state and the remote end of each NVLink, and whether the driver allows peer access over NVLink between "
    "connected GPUs",
    "a link that is down reduces the bandwidth, and NCCL may refuse to start",
    {"compare nvidia-smi nvlink -s on all GPUs; restart nvidia-fabricmanager, reset the GPUs; if a link stays down, "
     "contact the vendor",
     true, false, false, "nvidia-smi nvlink -s; nvidia-smi topo -p2p n"},
    "models with fewer links by design, and bridges that do not use all links, show the others as inactive on every "
    "GPU"};

void check_nvl_state(const Machine& machine, Findings& findings) {
  const auto gpus = nvml_gpus_or_skip(machine, findings);
  for (const NvmlGpu* gpu : gpus) judge_links(*gpu, most_active(gpus, *gpu), findings);
  if (gpus.empty()) return;
  const NvmlFacts& nvml = machine.probe.nvml.value;
  for (const NvmlPair& pair : nvml.pairs) {
    const NvmlGpu& first = nvml.gpus[pair.first];
    const NvmlGpu& second = nvml.gpus[pair.second];
    if (is_mig(first) || is_mig(second) || !leads_to(first, second) || !leads_to(second, first)) continue;
    const std::string subject = first.address.value + " and " + second.address.value;
    if (!pair.p2p_nvlink.is_found()) {
      findings.add(State::unknown, subject,
                   "cannot determine whether the two GPUs access each other over NVLink: " + pair.p2p_nvlink.reason);
    } else if (pair.p2p_nvlink.value != 0) {
      // Before the fabric is up no pair works, and nvl.fabric has reported it.
      findings.add(
          is_at_fault(nvml) ? State::info : State::fail, subject,
          std::string("connected by NVLink, but peer access does not work: ") + p2p_text(pair.p2p_nvlink.value));
    }
  }
}

const Advice advice_nvl_fabric = {
    "the state of each GPU in the NVLink fabric, from NVML",
    "until a GPU has joined the fabric, CUDA returns error 802 (system not yet initialized) to every program",
    {"sudo systemctl enable --now nvidia-fabricmanager   # must have the driver's version", true, false, true,
     "nvidia-smi -q | grep -A4 Fabric"},
    "GPUs before Hopper do not report it; in a virtual machine the fabric manager runs on the host",
    {.now = "systemctl enable --now nvidia-fabricmanager",
     .risk =
         "fails if the package is not installed, or has another version than the driver. If the service already runs, "
         "this has no effect: end all jobs, restart the service, and read journalctl -u nvidia-fabricmanager"}};

void check_nvl_fabric(const Machine& machine, Findings& findings) {
  for (const NvmlGpu* gpu : nvml_gpus_or_skip(machine, findings)) {
    const std::string& subject = gpu->address.value;
    if (!take(subject, gpu->fabric_state, "reports no NVLink fabric", findings)) continue;
    switch (gpu->fabric_state.value) {
      case fabric_none: findings.add(State::skip, subject, "reports no NVLink fabric"); break;
      case fabric_not_started: findings.add(State::fail, subject, "has not started to join the NVLink fabric"); break;
      case fabric_in_progress: findings.add(State::warn, subject, "is joining the NVLink fabric"); break;
      case fabric_completed:
        if (!gpu->fabric_status.is_found()) {
          findings.add_unknown(subject, gpu->fabric_status);
        } else if (gpu->fabric_status.value != 0) {
          findings.add(State::fail, subject,
                       cli::format("could not join the NVLink fabric: NVML status %lld",
                                   static_cast<long long>(gpu->fabric_status.value)));
        } else {
          findings.add(State::ok, subject, "has joined the NVLink fabric");
        }
        break;
      default:
        findings.add(State::unknown, subject,
                     cli::format("fabric state %lld", static_cast<long long>(gpu->fabric_state.value)));
    }
  }
}

const Advice advice_nvl_imex = {
    "whether the GPUs share an NVLink fabric with other machines (cluster UUID), and the nodes in "
    "/dev/nvidia-caps-imex-channels",
    "a process needs an IMEX channel to import GPU memory of another machine; without one, libraries use the network",
    {"sudo systemctl enable --now nvidia-imex   # on every node; channel 0: options nvidia "
     "NVreg_CreateImexChannel0=1 in /etc/modprobe.d, or give the container its node",
     true, true, true, "ls /dev/nvidia-caps-imex-channels; nvidia-imex-ctl -N"},
    "a scheduler may create the channel for each job",
    {.file = "/etc/modprobe.d/gdrkit-imex.conf",
     .text = "options nvidia NVreg_CreateImexChannel0=1",
     .enable = rebuild_initramfs,
     .risk = "takes effect at the next boot; every user of the machine may then use channel 0. This does not start the "
             "service: list all nodes in /etc/nvidia-imex/nodes_config.cfg, then run systemctl enable --now "
             "nvidia-imex on each node"}};

void check_nvl_imex(const Machine& machine, Findings& findings) {
  std::size_t joined = 0;
  const auto gpus = nvml_gpus_or_skip(machine, findings);
  for (const NvmlGpu* gpu : gpus) {
    if (gpu->fabric_state.is_unknown() || (gpu->fabric_state.is_found() && gpu->fabric_cluster.is_unknown())) {
      return findings.add(State::unknown, gpu->address.value,
                          gpu->fabric_state.is_unknown() ? gpu->fabric_state.reason : gpu->fabric_cluster.reason);
    }
    const bool has_cluster = gpu->fabric_cluster.value.find_first_not_of('0') != std::string::npos;
    if (gpu->fabric_state.value == fabric_completed && has_cluster) ++joined;
  }
  if (gpus.empty()) return;
  if (joined == 0) return findings.add(State::skip, "", "no GPU shares an NVLink fabric with other machines");
  const auto names = machine.view.names(imex_channels);
  if (names.is_unknown()) return findings.add_unknown(imex_channels, names);
  const auto channels =
      std::ranges::count_if(names.value, [](const std::string& name) { return name.starts_with("channel"); });
  findings.add(channels > 0 ? State::ok : State::warn, imex_channels,
               cli::format("%lld channel(s) for %zu GPU(s) in a fabric with other machines",
                           static_cast<long long>(channels), joined));
}

}  // namespace gdrkit::diag::doctor
