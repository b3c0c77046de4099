// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Placement: binds the measuring thread and the memory that it touches to NUMA nodes, and reports the result.
#pragma once

#include <string>
#include <vector>

#include "platform/facts/numa_nodes.hpp"

namespace gdrkit::platform {

/// The CPU of a benchmark, and the NUMA nodes of that CPU, of its memory and of the GPU. -1: unknown, or not bound.
struct Place {
  int cpu = -1;
  int cpu_node = -1;
  int memory_node = -1;
  int gpu_node = -1;
  std::string advice;  ///< a sentence if the benchmark runs on the wrong node; otherwise ""
};

/// The operating system's functions for placement, for the calling thread; they return 0 or a negative errno.
class PlacementCalls {
 public:
  virtual ~PlacementCalls() = default;
  virtual int allowed_cpus(std::vector<int>* cpus) noexcept = 0;  ///< ascending
  virtual int current_cpu() noexcept = 0;                         ///< the CPU's number
  virtual int bind_thread(const std::vector<int>& cpus) noexcept = 0;
  /// Allocates pages that the thread touches from now on only on this node (set_mempolicy, MPOL_BIND).
  virtual int bind_memory(int node) noexcept = 0;
};
[[nodiscard]] PlacementCalls& real_placement_calls() noexcept;

struct NodePair {
  int cpu_node = 0;
  int memory_node = 0;
};

/// A place, and the reasons if it is not the requested one.
struct Placed {
  Place place;
  std::vector<std::string> notes;  ///< what the system did not allow or does not report, as clauses
  [[nodiscard]] std::string line() const;
  [[nodiscard]] bool is_as_requested() const noexcept { return is_thread_bound && is_memory_bound; }

  bool is_thread_bound = false;
  bool is_memory_bound = false;
};

/// For one process. Uses the CPUs that the calling thread may use now as the limit (taskset, a container). Changes
/// nothing before the first call. A call binds the calling thread and its later memory, but not existing allocations.
class Placement {
 public:
  /// `gpu_pci_address` "": a device without one, like the emulated device.
  Placement(const std::string& sysfs_root, const std::string& gpu_pci_address,
            PlacementCalls& calls = real_placement_calls());

  [[nodiscard]] const std::vector<NumaNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] int gpu_node() const noexcept { return gpu_node_; }
  /// CPUs that this process may use, and those of a node among them.
  [[nodiscard]] const std::vector<int>& usable_cpus() const noexcept { return allowed_; }
  [[nodiscard]] std::vector<int> usable_cpus(int node) const;

  /// Binds to the GPU's node if it is known and allowed; otherwise to the current CPU, with memory of its node.
  [[nodiscard]] Placed automatic();
  /// Binds to the given nodes. The notes contain what was not allowed.
  [[nodiscard]] Placed on(const NodePair& nodes);
  /// Moves from `placed` to this CPU if it is on the same node and may be used; otherwise returns false without a
  /// change.
  bool move_to(int cpu, Placed* placed);
  /// Lets the calling thread, and processes that it starts, run on all allowed CPUs again.
  void release();
  /// Binds nothing; returns the current place of the thread.
  [[nodiscard]] Placed keep() const;

 private:
  [[nodiscard]] Placed present() const;
  void bind_cpu(int node, Placed* placed);
  void stay(Placed* placed);
  void bind_memory(int node, Placed* placed);
  [[nodiscard]] std::string advise(const Place& place, const std::string& remedy) const;

  PlacementCalls& calls_;
  std::vector<NumaNode> nodes_;  // empty if the system reports none
  std::string why_no_nodes_;
  std::vector<int> allowed_;
  int gpu_node_ = -1;
  bool has_gpu_address_ = false;
};

}  // namespace gdrkit::platform
