// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Placement: puts the measuring thread and the memory it touches on NUMA nodes, and says what came of it.
#pragma once

#include <string>
#include <vector>

#include "platform/facts/numa_nodes.hpp"
#include "platform/host/place.hpp"

namespace gdrkit::platform {

/// What placement asks of the operating system, for the calling thread; 0 or a negative errno.
class PlacementCalls {
 public:
  virtual ~PlacementCalls() = default;
  virtual int allowed_cpus(std::vector<int>* cpus) noexcept = 0;  ///< ascending
  virtual int current_cpu() noexcept = 0;                         ///< the CPU's number
  virtual int bind_thread(const std::vector<int>& cpus) noexcept = 0;
  /// Pages that the thread touches from now on come from this node and no other (set_mempolicy, MPOL_BIND).
  virtual int bind_memory(int node) noexcept = 0;
};
[[nodiscard]] PlacementCalls& real_placement_calls() noexcept;

struct NodePair {
  int cpu_node = 0;
  int memory_node = 0;
};

/// A place, and why it is not the one that was wanted.
struct Placed {
  Place place;
  std::vector<std::string> notes;  ///< what the system did not allow or does not say, a clause each
  [[nodiscard]] std::string line() const;
  [[nodiscard]] bool is_as_wanted() const noexcept { return is_thread_bound && is_memory_bound; }

  bool is_thread_bound = false;
  bool is_memory_bound = false;
};

/// Of one process. Takes the CPUs that the calling thread may use now as the allowed ones (taskset, a container), and
/// never leaves them. Touches nothing until asked to; a call binds the calling thread, and later memory, not what is
/// allocated already.
class Placement {
 public:
  /// `gpu_pci_address` "": a device without one, as the emulated device.
  Placement(const std::string& sysfs_root, const std::string& gpu_pci_address,
            PlacementCalls& calls = real_placement_calls());

  [[nodiscard]] const std::vector<NumaNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] int gpu_node() const noexcept { return gpu_node_; }
  /// CPUs that this process may use, and those of a node among them.
  [[nodiscard]] const std::vector<int>& usable_cpus() const noexcept { return allowed_; }
  [[nodiscard]] std::vector<int> usable_cpus(int node) const;

  /// On the GPU's node as far as that is known and allowed; else stays on the present CPU, with memory of its node.
  [[nodiscard]] Placed automatic();
  /// On the nodes asked for. What was not allowed is in the notes.
  [[nodiscard]] Placed on(const NodePair& nodes);
  /// From where `placed` is to this CPU, if it is of the same node and may be used; false, and nothing done, if not.
  bool move_to(int cpu, Placed* placed);
  /// Lets the calling thread, and processes it starts, run on all allowed CPUs again.
  void release();
  /// Binds nothing; says where the thread runs now.
  [[nodiscard]] Placed keep() const;

 private:
  [[nodiscard]] Placed present() const;
  void bind_cpu(int node, Placed* placed);
  void stay(Placed* placed);
  void bind_memory(int node, Placed* placed);
  [[nodiscard]] std::string advise(const Place& place, const std::string& remedy) const;

  PlacementCalls& calls_;
  std::vector<NumaNode> nodes_;  // none where the system knows none
  std::string why_no_nodes_;
  std::vector<int> allowed_;
  int gpu_node_ = -1;
  bool has_gpu_address_ = false;
};

}  // namespace gdrkit::platform
