// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Placement: binds the measuring thread and its memory to NUMA nodes, and reports the result.
#pragma once

#include <string>
#include <vector>

#include "platform/facts/numa_nodes.hpp"
#include "platform/host/place.hpp"

namespace gdrkit::platform {

/// System calls of Placement, for the calling thread. They return 0 or a negative errno, except as noted.
class PlacementCalls {
 public:
  virtual ~PlacementCalls() = default;
  virtual int allowed_cpus(std::vector<int>* cpus) noexcept = 0;  ///< ascending
  virtual int current_cpu() noexcept = 0;                         ///< CPU number or a negative errno
  virtual int bind_thread(const std::vector<int>& cpus) noexcept = 0;
  /// Pages that the thread touches from now on are allocated only on this node (set_mempolicy, MPOL_BIND).
  virtual int bind_memory(int node) noexcept = 0;
};
[[nodiscard]] PlacementCalls& real_placement_calls() noexcept;

struct NodePair {
  int cpu_node = 0;
  int memory_node = 0;
};

/// A place, and why it differs from the requested one.
struct Placed {
  Place place;
  std::vector<std::string> notes;  ///< what the system did not allow or does not report, one clause each
  [[nodiscard]] std::string line() const;
  [[nodiscard]] bool is_fully_bound() const noexcept { return is_thread_bound && is_memory_bound; }

  bool is_thread_bound = false;
  bool is_memory_bound = false;
};

/// Placement of one process. The CPUs that the calling thread may use at construction (taskset, a container) are the
/// allowed CPUs; Placement uses no others. The constructor binds nothing. Later calls bind the calling thread and the
/// memory that it touches afterwards, but do not move existing memory.
class Placement {
 public:
  /// `gpu_pci_address` is "" for a device without a PCI address, such as the emulated device.
  Placement(const std::string& sysfs_root, const std::string& gpu_pci_address,
            PlacementCalls& calls = real_placement_calls());

  [[nodiscard]] const std::vector<NumaNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] int gpu_node() const noexcept { return gpu_node_; }
  /// Allowed CPUs of this process, and those of one node.
  [[nodiscard]] const std::vector<int>& usable_cpus() const noexcept { return allowed_; }
  [[nodiscard]] std::vector<int> usable_cpus(int node) const;

  /// Binds to the GPU's node if it is known and allowed; otherwise to the current CPU and memory of its node.
  [[nodiscard]] Placed automatic();
  /// Binds to the given nodes. The notes report what was not allowed.
  [[nodiscard]] Placed on(const NodePair& nodes);
  /// Moves from `placed` to this CPU if it is allowed and on the same node. Otherwise returns false and changes
  /// nothing.
  bool move_to(int cpu, Placed* placed);
  /// Lets the calling thread, and processes that it starts, use all allowed CPUs again.
  void release();
  /// Binds nothing; reports where the thread currently runs.
  [[nodiscard]] Placed keep() const;

 private:
  [[nodiscard]] Placed current_place() const;
  void bind_cpu(int node, Placed* placed);
  void bind_to_current_cpu(Placed* placed);
  void bind_memory(int node, Placed* placed);
  [[nodiscard]] std::string advise(const Place& place, const std::string& remedy) const;

  PlacementCalls& calls_;
  std::vector<NumaNode> nodes_;  // empty if the system reports none
  std::string no_nodes_reason_;
  std::vector<int> allowed_;
  int gpu_node_ = -1;
  bool has_gpu_address_ = false;
};

}  // namespace gdrkit::platform
