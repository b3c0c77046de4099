// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TopologyFacts: positions of GPUs and adapters, their distances as each library sees them, and their matching; of a
// machine, a recording or a file of NCCL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/machine/adapter_ports.hpp"
#include "diag/machine/machine.hpp"
#include "diag/topology/matching.hpp"
#include "diag/topology/nccl_graph.hpp"

namespace gdrkit::diag {

/// Whose view of distances.
enum class Viewer { smi, nccl, nvshmem, ucx };
inline constexpr Viewer all_viewers[] = {Viewer::smi, Viewer::nccl, Viewer::nvshmem, Viewer::ucx};
/// "smi": the word used by --as and JSON.
[[nodiscard]] const char* name_of(Viewer viewer);

struct TopologyFacts {
  /// `links` may be unknown, with a reason.
  TopologyFacts(std::string source, topology::PciTree read_tree, topology::NvLinks read_links,
                std::vector<AdapterPorts> read_ports);

  std::string source;         ///< "/", a recording or a file
  bool is_from_nccl = false;  ///< only NCCL's view is known
  topology::PciTree tree;
  topology::NvLinks links;
  std::vector<AdapterPorts> ports;  ///< of tree.adapters
  topology::NcclGraph graph;
  topology::NcclDistances nccl;
  topology::Matching matching;

  /// By position: GPUs first, then adapters.
  [[nodiscard]] std::size_t count() const { return tree.gpus.size() + tree.adapters.size(); }
  [[nodiscard]] const topology::TreeDevice& device(std::size_t i) const {
    return i < tree.gpus.size() ? tree.gpus[i] : tree.adapters[i - tree.gpus.size()];
  }
  [[nodiscard]] topology::Distance distance(Viewer viewer, std::size_t from, std::size_t to) const;
  /// Whether NVLink could change this entry and could not be read.
  [[nodiscard]] bool lacks_nvlink(Viewer viewer, std::size_t from, std::size_t to) const;
  [[nodiscard]] std::vector<Viewer> viewers() const;
};

/// The NVLinks found on the GPUs; unknown, with the reason, unless every link could be read.
[[nodiscard]] topology::NvLinks links_of(const topology::Fact<NvmlFacts>& nvml);

[[nodiscard]] TopologyFacts read_topology(const MachineView& view, const std::string& source,
                                          const topology::Fact<NvmlFacts>& nvml);

/// Read once per machine and cached. Not thread-safe.
[[nodiscard]] const TopologyFacts& topology_of(const Machine& machine);

}  // namespace gdrkit::diag
