// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rules for UCX, NVSHMEM, Open MPI and MVAPICH2.
#include <algorithm>

#include "diag/env/proposal.hpp"

namespace gdrkit::diag::env {
namespace {

using topology::PathClass;

bool is_near(PathClass nearness) {
  return nearness == PathClass::pix || nearness == PathClass::pxb || nearness == PathClass::chip_host;
}

/// True if each GPU has one adapter that is nearer to it than all others.
bool has_one_adapter_each(const Proposal& proposal) {
  return proposal.ranks.size() > 1 && std::ranges::all_of(proposal.ranks, [](const ProposedRank& rank) {
           return !rank.adapter.empty() && rank.place.is_only_near && is_near(rank.place.nearness);
         });
}

bool is_cut_short(const std::string& transports) {
  if (transports.empty() || transports == "all") return false;
  const std::string list = "," + transports + ",";
  const auto has = [&](const char* word) { return list.find(std::string(",") + word) != std::string::npos; };
  return transports.front() == '^'
             ? has("^cuda") || has("^ib")
             : !(has("cuda,") || has("cuda_copy,")) || !(has("rc") || has("dc") || has("ib,") || has("ud"));
}

/// True if NVSHMEM's own distances select another adapter for a GPU than the matched one.
bool differs_for_nvshmem(const Facts& facts, const RankPlace& place) {
  const auto& tree = facts.layout.tree;
  const auto distance = [&](std::size_t adapter) {
    return topology::nvshmem_distance(tree.gpus[place.gpu], tree.adapters[adapter]).value;
  };
  const PathClass own = distance(*place.adapter);
  if (own == PathClass::unknown) return false;
  return std::ranges::any_of(facts.chosen, [&](std::size_t other) {
    const PathClass value = distance(other);
    return value != PathClass::unknown && value < own;
  });
}

}  // namespace

void propose_ucx(const Facts& facts, Proposal* proposal) {
  if (has_one_adapter_each(*proposal)) {
    for (ProposedRank& rank : proposal->ranks) rank.settings["UCX_NET_DEVICES"] = rank.adapter;
    proposal->rank_reason = "each GPU has one nearest adapter, and UCX spreads large messages over two";
  } else if (!facts.left_out.empty() && !facts.chosen.empty()) {
    proposal->job.push_back({"UCX_NET_DEVICES",
                             joined(devices_of(facts), ","),
                             "UCX uses every active adapter; excluded: " + joined(facts.left_out, "; "),
                             {"nic.rate", "env.ib_hca"}});
  }
  const Setting* transports = facts.environment.find("UCX_TLS");
  if (transports != nullptr && !facts.chosen.empty() && is_cut_short(transports->value)) {
    proposal->job.push_back(
        {"UCX_TLS",
         "rc,cuda,sm,self",
         "the list in " + transports->place() + " excludes RDMA or GPU memory; unsetting UCX_TLS works as well",
         {"env.ucx"}});
  }
  if (facts.user_options.is_strict && !facts.chosen.empty()) {
    proposal->job.push_back({"UCX_IB_GPU_DIRECT_RDMA",
                             "y",
                             "requested with --assert: without direct access UCX fails instead of using a slower path",
                             {"peer.any"}});
  }
}

void propose_nvshmem(const Facts& facts, Proposal* proposal) {
  const bool is_efa = std::ranges::any_of(facts.chosen, [&](std::size_t index) {
    return facts.layout.tree.adapters[index].function.vendor.value == 0x1d0f;
  });
  const bool is_cxi = facts.chosen.empty() && !facts.machine.view.names("/sys/class/cxi").value.empty();
  if (is_efa || is_cxi) {
    proposal->job.push_back({"NVSHMEM_REMOTE_TRANSPORT",
                             "libfabric",
                             std::string("the adapters are ") + (is_efa ? "EFA" : "Slingshot") +
                                 ", which the default transport does not support",
                             {}});
    proposal->job.push_back(
        {"NVSHMEM_LIBFABRIC_PROVIDER", is_efa ? "efa" : "cxi", "the provider for these adapters", {}});
    return;
  }
  const auto params = facts.machine.view.text("/proc/driver/nvidia/params");
  const bool is_mlx5 = !facts.chosen.empty() && std::ranges::all_of(facts.chosen, [&](std::size_t index) {
    return facts.layout.tree.adapters[index].function.vendor.value == 0x15b3;
  });
  if (is_mlx5 && labelled(params, "RegistryDwords").value.find("PeerMappingOverride=1") != std::string::npos) {
    proposal->job.push_back({"NVSHMEM_IB_ENABLE_IBGDA",
                             "1",
                             "the driver has PeerMappingOverride=1, so GPUs can drive the adapters themselves",
                             {"env.ibgda"}});
  }
  std::vector<std::string> mapping;
  bool differs = false;
  for (const ProposedRank& rank : proposal->ranks) {
    if (rank.adapter.empty()) continue;
    mapping.push_back(rank.adapter + ":1");
    differs = differs || differs_for_nvshmem(facts, rank.place);
  }
  if (differs && mapping.size() == proposal->ranks.size()) {
    proposal->job.push_back({"NVSHMEM_ENABLE_NIC_PE_MAPPING",
                             "1",
                             "NVSHMEM's own distances do not select the nearest adapters",
                             {"env.nvshmem"}});
    proposal->job.push_back({"NVSHMEM_HCA_PE_MAPPING",
                             joined(mapping, ","),
                             "the nearest adapter of each GPU, in PCI order",
                             {"env.nvshmem"}});
  }
  const auto called = [&](std::size_t index) { return facts.layout.adapters[index].name; };
  const auto is_other = [&](std::size_t index) { return !called(index).starts_with("mlx5"); };
  if (!facts.chosen.empty() && std::ranges::all_of(facts.chosen, is_other)) {
    const std::string first = called(facts.chosen.front());
    const std::string prefix = first.substr(0, first.find_first_of("_0123456789"));
    const bool is_common =
        std::ranges::all_of(facts.chosen, [&](std::size_t index) { return called(index).starts_with(prefix); });
    if (is_common && is_plain(prefix))
      proposal->job.push_back({"NVSHMEM_HCA_PREFIX",
                               prefix,
                               "older releases (3.4.5 among them) use only adapters whose names begin with mlx5",
                               {"env.nvshmem"}});
  }
}

void propose_openmpi(const Facts& facts, Proposal* proposal) {
  const auto ucx = facts.libraries.named("libucp");
  if (facts.chosen.empty()) {
    proposal->notes.push_back("no usable RDMA adapter: the defaults of Open MPI are sufficient");
    return;
  }
  if (!ucx.is_found()) {
    proposal->notes.push_back(
        "UCX not found in the library directories of the system: if Open MPI includes its own, set OMPI_MCA_pml=ucx "
        "and "
        "OMPI_MCA_osc=ucx");
  } else {
    const std::string reason =
        "UCX is installed (" +
        (ucx.value.front().version.empty() ? std::string("libucp") : "libucp.so." + ucx.value.front().version) +
        ") and transfers GPU memory over RDMA; without this setting, an Open MPI built without UCX silently uses TCP";
    proposal->job.push_back({"OMPI_MCA_pml", "ucx", reason, {"peer.any"}});
    proposal->job.push_back({"OMPI_MCA_osc", "ucx", "one-sided operations over UCX too", {"peer.any"}});
    proposal->notes.push_back("with Open MPI 4 add OMPI_MCA_btl=^openib; Open MPI 5 no longer has openib");
  }
  propose_ucx(facts, proposal);
}

void propose_mvapich2(const Facts& facts, Proposal* proposal) {
  proposal->job.push_back(
      {"MV2_USE_CUDA", "1", "MVAPICH2-GDR handles GPU memory only with this setting", {"drv.loaded"}});
  const auto library = facts.libraries.named("libgdrapi");
  if (library.is_found() && is_plain(library.value.front().name)) {
    const std::string path = library.value.front().path;
    if (path.find_first_of(" \t\n'\"\\$`") == std::string::npos) {
      proposal->job.push_back(
          {"MV2_GPUDIRECT_GDRCOPY_LIB", path, "small messages then use BAR1 mappings", {"gdr.version"}});
    }
  }
  std::vector<std::string> names;
  if (has_one_adapter_each(*proposal)) {
    for (const ProposedRank& rank : proposal->ranks) names.push_back(facts.layout.adapters[*rank.place.adapter].name);
    proposal->job.push_back(
        {"MV2_PROCESS_TO_RAIL_MAPPING", joined(names, ":"), "each GPU has one nearest adapter", {}});
  } else if (!facts.left_out.empty() && !facts.chosen.empty()) {
    for (const std::size_t index : facts.chosen) names.push_back(facts.layout.adapters[index].name);
    proposal->job.push_back(
        {"MV2_IBA_HCA", joined(names, ":"), "left out: " + joined(facts.left_out, "; "), {"nic.rate"}});
  }
  proposal->notes.push_back("MVAPICH-Plus reads the MVP_* variables instead");
}

}  // namespace gdrkit::diag::env
