// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/verdicts.hpp"

#include <algorithm>

#include "diag/doctor/checks/environment_checks.hpp"
#include "diag/doctor/verdict/access.hpp"
#include "diag/doctor/verdict/causes.hpp"
#include "diag/machine/peer_memory.hpp"
#include "diag/machine/topology_facts.hpp"

namespace gdrkit::diag::doctor {
namespace {

using topology::PathClass;

constexpr std::int64_t first_dmabuf_cuda = 11070;  // NCCL requires CUDA 11.7

template <class T>
Known known_of(const Fact<T>& fact, const std::string& found, const std::string& absent) {
  if (fact.is_unknown()) return {Judgment::unknown, fact.reason};
  return fact.is_found() ? Known{Judgment::yes, found} : Known{Judgment::no, absent};
}

bool is_off(const std::string& value) { return value == "0" || value == "n" || value == "no" || value == "off"; }
bool is_on(const std::string& value) { return value == "1" || value == "y" || value == "yes" || value == "on"; }

class Judge {
 public:
  Judge(const Examination& examination, const Machine& machine)
      : machine_(machine),
        causes_(examination, machine),
        environment_(machine.view),
        topology_(topology_of(machine)),
        detections_(peer_memory_detections(machine.view)),
        dmabuf_system_(
            known_of(dmabuf_possible(machine), dmabuf_possible(machine).value, dmabuf_possible(machine).reason)),
        level_(default_level()) {}

  Verdicts compute() {
    Verdicts verdicts;
    for (const auto& gpu : topology_.tree.gpus) {
      GpuVerdict one{gpu.name, gpu.function.name, {}, {}};
      one.mapping = mapping_of(machine_, causes_, gpu.function.name, &one.blocked_by);
      verdicts.gpus.push_back(std::move(one));
    }
    verdicts.peers = judge_peers(machine_, causes_);
    const auto& tree = topology_.tree;
    if (tree.gpus.empty()) {
      verdicts.nothing = machine_.pci_outcome == Outcome::found
                             ? "this machine has no NVIDIA GPU"
                             : "cannot determine whether this machine has a GPU: " + machine_.pci_reason;
    } else if (tree.adapters.empty()) {
      verdicts.nothing = tree.adapter_outcome == Outcome::found || tree.adapter_outcome == Outcome::absent
                             ? "this machine has no RDMA adapter"
                             : "cannot determine whether this machine has an RDMA adapter: " + tree.adapter_reason;
    }
    if (!verdicts.nothing.empty()) return verdicts;
    for (const Detection& detection : detections_) {
      LibraryVerdict library{detection.library, {}};
      for (std::size_t gpu = 0; gpu < tree.gpus.size(); ++gpu) add_pairs(detection, gpu, &library);
      verdicts.libraries.push_back(std::move(library));
    }
    return verdicts;
  }

 private:
  std::string setting(const char* name) const {
    const Setting* found = environment_.find(name);
    return found == nullptr ? "" : found->value;
  }

  std::string default_level() const {
    const std::string set = nccl_level_of(setting("NCCL_NET_GDR_LEVEL"));
    return !set.empty() ? set : setting("NCCL_NET_GDR_C2C") == "0" ? "PXB" : "P2C";
  }

  /// The pairs of a GPU, the best first: by verdict, then by matching, then in PCI order.
  void add_pairs(const Detection& detection, std::size_t gpu, LibraryVerdict* library) const {
    std::vector<PairVerdict> pairs;
    const auto& best = topology_.matching.gpus[gpu].adapter;
    for (std::size_t adapter = 0; adapter < topology_.tree.adapters.size(); ++adapter) {
      PairVerdict pair = pair_of(detection, gpu, adapter);
      pair.is_best = best.has_value() && *best == adapter;  // used only for sorting
      const auto is_before = [](const PairVerdict& a, const PairVerdict& b) {
        if (a.access.use != b.access.use) return a.access.use > b.access.use;
        return a.is_best && !b.is_best;
      };
      pairs.insert(std::ranges::upper_bound(pairs, pair, is_before), pair);
    }
    for (PairVerdict& pair : pairs) pair.is_best = &pair == &pairs.front();
    library->pairs.insert(library->pairs.end(), pairs.begin(), pairs.end());
  }

  PairVerdict pair_of(const Detection& detection, std::size_t gpu, std::size_t adapter) const {
    const auto& gpu_device = topology_.tree.gpus[gpu];
    const auto& adapter_device = topology_.tree.adapters[adapter];
    PairNames names{detection.library, {gpu_device.function.name, adapter_device.name, adapter_device.function.name}};
    for (const auto* device : {&gpu_device, &adapter_device}) {
      for (const std::size_t bridge : device->bridges) names.own.insert(topology_.tree.bridges[bridge].name);
    }
    AccessFacts facts;
    facts.gpu = in_use(machine_, gpu_device.function.name);
    facts.adapter = adapter_fact(detection.library, adapter);
    facts.detection = known_of(detection.file, detection.file.value, "no file of a peer-memory module");
    facts.peer_memory = peer_memory_fact(gpu_device.function.name, names);
    facts.dmabuf_system = dmabuf_system_;
    facts.dmabuf_gpu = dmabuf_gpu_fact(detection.library, gpu_device.function.name);
    facts.dmabuf_verbs = verbs_fact(adapter_device.name, adapter_device.function.name);
    facts.dmabuf_allowed = dmabuf_allowed_fact(detection.library);
    PairVerdict pair;
    pair.gpu = gpu;
    pair.adapter = adapter_device.name;
    facts.path = path_fact(detection.library, gpu, adapter, &pair.path);
    pair.access = judge(facts);
    add_causes(names, adapter, &pair);
    return pair;
  }

  void add_causes(const PairNames& names, std::size_t adapter, PairVerdict* pair) const {
    rule_out(causes_.with(Effect::blocks, names), &pair->access, &pair->blocked_by);
    if (pair->access.use == Judgment::no) {
      add_ids(causes_.with(Effect::rules_out_peer_memory, names), &pair->blocked_by);
      add_ids(causes_.with(Effect::explains, names), &pair->blocked_by);
    } else {
      const PairNames ports{names.library, ports_between(pair->gpu, adapter)};
      add_ids(causes_.with(Effect::redirects, ports), &pair->slowed_by);
      add_ids(causes_.with(Effect::slows, names), &pair->slowed_by);
    }
  }

  /// Ports below the common bridge of both; empty if they have none.
  std::set<std::string> ports_between(std::size_t gpu, std::size_t adapter) const {
    const auto& a = topology_.tree.gpus[gpu].bridges;
    const auto& b = topology_.tree.adapters[adapter].bridges;
    const auto [left, right] = std::ranges::mismatch(a, b);
    std::set<std::string> ports;
    if (left == a.begin()) return ports;
    for (auto at = left; at != a.end(); ++at) ports.insert(topology_.tree.bridges[*at].name);
    for (auto at = right; at != b.end(); ++at) ports.insert(topology_.tree.bridges[*at].name);
    return ports;
  }

  Known adapter_fact(const std::string& library, std::size_t adapter) const {
    const AdapterPorts& ports = topology_.ports[adapter];
    if (ports.usable == Usable::no) return {Judgment::no, ports.name + ": " + ports.why};
    const bool is_nccl = library == "NCCL";
    if (!environment_.variables().is_found() && is_nccl)
      return {Judgment::unknown, "NCCL's settings are unknown: " + environment_.variables().reason};
    if (is_nccl && setting("NCCL_IB_DISABLE") == "1") return {Judgment::no, "NCCL_IB_DISABLE=1"};
    if (library == "UCX" && is_off(setting("UCX_IB_GPU_DIRECT_RDMA")))
      return {Judgment::no, "UCX_IB_GPU_DIRECT_RDMA=" + setting("UCX_IB_GPU_DIRECT_RDMA")};
    if (const std::string prefix = setting("NVSHMEM_HCA_PREFIX");
        library == "NVSHMEM" && !prefix.empty() && prefix.front() != '^' && !ports.name.starts_with(prefix))
      return {Judgment::no, "NVSHMEM_HCA_PREFIX=" + prefix + " leaves out " + ports.name};
    if (const std::string text = setting("NCCL_IB_HCA"); is_nccl && !text.empty()) {
      const NcclFilter filter(text);
      const bool is_named =
          std::ranges::any_of(filter.tokens, [&](const auto& token) { return filter.names(token, ports.name); });
      if (is_named == filter.is_exclusion) return {Judgment::no, "NCCL_IB_HCA=" + text + " leaves out " + ports.name};
    }
    if (ports.usable == Usable::unknown) return {Judgment::unknown, ports.name + ": " + ports.why};
    return {Judgment::yes, ""};
  }

  Known peer_memory_fact(const std::string& address, const PairNames& names) const {
    const auto causes = causes_.with(Effect::rules_out_peer_memory, names);
    if (!causes.empty()) return {Judgment::no, std::string(causes.front().id) + " fails: " + causes.front().text};
    const NvmlGpu* gpu = nvml_gpu(address);
    if (gpu != nullptr && gpu->cuda_rdma.is_found() && !gpu->cuda_rdma.value)
      return {Judgment::no, "CUDA reports that the GPU does not support GPUDirect RDMA"};
    return {Judgment::yes, ""};
  }

  const NvmlGpu* nvml_gpu(const std::string& address) const {
    return machine_.probe.nvml.is_found() ? machine_.probe.nvml.value.gpu_at(address) : nullptr;
  }

  Known dmabuf_gpu_fact(const std::string& library, const std::string& address) const {
    const auto& nvml = machine_.probe.nvml;
    if (!nvml.is_found())
      return {Judgment::unknown, "the GPU's attribute DMA_BUF_SUPPORTED is unknown (" + nvml.reason + ")"};
    const NvmlGpu* gpu = nvml_gpu(address);
    if (gpu == nullptr) return {Judgment::unknown, "NVML does not show the GPU"};
    if (!gpu->cuda_dmabuf.is_found()) return {Judgment::unknown, "DMA_BUF_SUPPORTED: " + gpu->cuda_dmabuf.reason};
    if (!gpu->cuda_dmabuf.value) return {Judgment::no, "CUDA reports that the GPU does not export dma-bufs"};
    const auto& cuda = nvml.value.cuda_version;
    if (library == "NCCL" && cuda.is_found() && cuda.value < first_dmabuf_cuda)
      return {Judgment::no, "NCCL needs a driver of CUDA 11.7 or newer for dma-buf"};
    return {Judgment::yes, "CUDA reports that the GPU exports it, " + dmabuf_system_.why};
  }

  /// libibverbs' result for the adapter. If it was not queried, the result follows from two facts: libibverbs exports
  /// the function, and the driver is mlx5, which supports it in every Linux that has the interface.
  Known verbs_fact(const std::string& name, const std::string& address) const {
    if (const auto& verbs = machine_.probe.verbs; verbs.is_found()) {
      const VerbsDevice* device = verbs.value.device_named(name);
      if (device == nullptr) return {Judgment::unknown, "libibverbs does not show " + name};
      const std::string no = device->dmabuf.is_found() ? name + " cannot register one" : device->dmabuf.reason;
      if (device->dmabuf.is_found() && device->dmabuf.value) return {Judgment::yes, ""};
      return {device->dmabuf.is_unknown() ? Judgment::unknown : Judgment::no, no};
    }
    const State library = causes_.state_of("dmabuf.verbs");
    if (library == State::warn) return {Judgment::no, causes_.text_of("dmabuf.verbs")};
    if (library != State::ok) return {Judgment::unknown, "dmabuf.verbs: " + causes_.text_of("dmabuf.verbs")};
    for (const Adapter& adapter : machine_.adapters) {
      if (adapter.pci.address != address) continue;
      if (adapter.pci.driver == "mlx5_core" || (adapter.pci.driver.empty() && adapter.name.starts_with("mlx5_")))
        return {Judgment::yes, ""};
      return {Judgment::unknown, "cannot determine whether the driver of " + adapter.name + " can register a dma-buf"};
    }
    return {Judgment::unknown, "the driver of the adapter is unknown"};
  }

  Known dmabuf_allowed_fact(const std::string& library) const {
    if (library == "NCCL" && setting("NCCL_DMABUF_ENABLE") == "0") return {Judgment::no, "NCCL_DMABUF_ENABLE=0"};
    if (library == "NVSHMEM" && is_on(setting("NVSHMEM_IB_DISABLE_DMABUF")))
      return {Judgment::no, "NVSHMEM_IB_DISABLE_DMABUF=" + setting("NVSHMEM_IB_DISABLE_DMABUF")};
    return {Judgment::yes, ""};
  }

  Known path_fact(const std::string& library, std::size_t gpu, std::size_t adapter, std::string* name) const {
    const Viewer viewer = library == "NCCL" ? Viewer::nccl : library == "UCX" ? Viewer::ucx : Viewer::nvshmem;
    const std::size_t to = topology_.tree.gpus.size() + adapter;
    const auto distance = topology_.distance(viewer, gpu, to);
    *name = topology::name_of(distance.value);
    if (distance.value == PathClass::unknown) return {Judgment::unknown, "the distance is unknown: " + distance.why};
    if (library == "NVSHMEM") return {Judgment::yes, "NVSHMEM accepts any path (" + *name + ")"};
    if (library == "UCX") {
      for (char& letter : *name)
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
      if (distance.value == PathClass::near) return {Judgment::yes, "near"};
      return {Judgment::unknown,
              "UCX treats the path (" + *name + ") as slow: depending on the size it may use host memory"};
    }
    if (is_within_nccl_level(*name, level_)) return {Judgment::yes, *name + " is within " + level_};
    if (distance.value == PathClass::nvlink_nic && is_within_nccl_level("P2C", level_))
      return {Judgment::yes, "over NVLink and another GPU (PXN)"};
    if (topology_.lacks_nvlink(viewer, gpu, to))
      return {Judgment::unknown, "the path " + *name + " is longer than NCCL's level " + level_ +
                                     ", and a shorter path over NVLink is unknown: " + topology_.links.why_not};
    return {Judgment::no, "the path " + *name + " is longer than NCCL's level " + level_};
  }

  const Machine& machine_;
  Causes causes_;
  Environment environment_;
  const TopologyFacts& topology_;
  std::vector<Detection> detections_;
  Known dmabuf_system_;
  std::string level_;
};

}  // namespace

Verdicts compute_verdicts(const Examination& examination, const Machine& machine) {
  return Judge(examination, machine).compute();
}

}  // namespace gdrkit::diag::doctor
