// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/host/placement.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/result.hpp"
#include "platform/facts/number_list.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {
namespace {

std::string node_text(int node) { return "NUMA node " + std::to_string(node); }

std::string error_text(int negative_errno) { return std::strerror(-negative_errno); }

}  // namespace

std::string Placed::line() const {
  std::string text = place.cpu >= 0 ? "on CPU " + std::to_string(place.cpu) : std::string("on no fixed CPU");
  if (place.cpu_node >= 0) text += " of " + node_text(place.cpu_node);
  text += place.memory_node >= 0 ? ", memory of node " + std::to_string(place.memory_node) : ", memory not bound";
  if (place.gpu_node >= 0) text += ", GPU on node " + std::to_string(place.gpu_node);
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

Placement::Placement(const std::string& sysfs_root, const std::string& gpu_pci_address, PlacementCalls& calls)
    : calls_(calls) {
  auto nodes = read_numa_nodes(sysfs_root);
  if (nodes.has_value()) {
    nodes_ = std::move(*nodes);
  } else {
    why_no_nodes_ = nodes.error().errno_value == ENOENT ? "this system reports no NUMA nodes" : nodes.error().text();
  }
  (void)calls_.allowed_cpus(&allowed_);  // on failure none are known: the thread is not bound
  const auto address = parse_pci_address(gpu_pci_address.c_str());
  has_gpu_address_ = !gpu_pci_address.empty() && address.has_value();
  if (has_gpu_address_) gpu_node_ = pci_numa_node(sysfs_root, *address);
}

std::vector<int> Placement::usable_cpus(int node) const {
  std::vector<int> cpus;
  if (const auto* found = find_node(nodes_, node)) {
    std::set_intersection(found->cpus.begin(), found->cpus.end(), allowed_.begin(), allowed_.end(),
                          std::back_inserter(cpus));
  }
  return cpus;
}

Placed Placement::present() const {
  Placed placed;
  placed.place.gpu_node = gpu_node_;
  placed.place.cpu_node = node_of_cpu(nodes_, calls_.current_cpu());
  if (!why_no_nodes_.empty()) placed.notes.push_back(why_no_nodes_);
  return placed;
}

void Placement::stay(Placed* placed) {
  const int cpu = calls_.current_cpu();
  const int error = cpu < 0 ? cpu : calls_.bind_thread({cpu});
  if (error < 0) {
    placed->notes.push_back("the thread could not be bound (" + error_text(error) + ")");
    return;
  }
  placed->place.cpu = cpu;
  placed->place.cpu_node = node_of_cpu(nodes_, cpu);
  placed->is_thread_bound = true;
}

void Placement::bind_cpu(int node, Placed* placed) {
  const std::vector<int> cpus = usable_cpus(node);
  if (cpus.empty()) {
    const auto* found = find_node(nodes_, node);
    const std::string all = found == nullptr ? "" : to_list_text(found->cpus);
    placed->notes.push_back(all.empty() ? "node " + std::to_string(node) + " has no CPUs"
                                        : "this process may not use the CPUs of node " + std::to_string(node) + " (" +
                                              all + ")");
    return;
  }
  // First binds to all of them: the scheduler moves the thread to an idle one. Then it is bound to that.
  if (const int error = calls_.bind_thread(cpus); error < 0) {
    placed->notes.push_back("the thread could not be bound to node " + std::to_string(node) + " (" + error_text(error) +
                            ")");
    return;
  }
  stay(placed);
}

void Placement::bind_memory(int node, Placed* placed) {
  const auto* found = find_node(nodes_, node);
  if (found == nullptr) return;
  if (found->memory_bytes == 0) {
    placed->notes.push_back("node " + std::to_string(node) + " has no memory");
    return;
  }
  const auto with_memory =
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& one) { return one.memory_bytes; });
  // With one node's memory the call has no effect. Skipping it avoids a note in containers that forbid it.
  const int error = with_memory == 1 ? 0 : calls_.bind_memory(node);
  if (error < 0) {
    placed->notes.push_back("the memory could not be bound (set_mempolicy: " + error_text(error) +
                            "), so the first access selects its node");
    return;
  }
  placed->place.memory_node = node;
  placed->is_memory_bound = true;
}

std::string Placement::advise(const Place& place, const std::string& remedy) const {
  if (gpu_node_ < 0) return {};
  const auto* gpu_node = find_node(nodes_, gpu_node_);
  if (gpu_node == nullptr) return {};
  const std::string end = ", but the GPU is on node " + std::to_string(gpu_node_) + ": " + remedy;
  // If the GPU's node has no CPUs (or no memory), no other can be nearer.
  if (place.cpu_node >= 0 && place.cpu_node != gpu_node_ && !gpu_node->cpus.empty()) {
    return "this runs on " + node_text(place.cpu_node) + end;
  }
  if (place.memory_node >= 0 && place.memory_node != gpu_node_ && gpu_node->memory_bytes != 0) {
    return "the memory is of " + node_text(place.memory_node) + end;
  }
  return {};
}

Placed Placement::automatic() {
  Placed placed = present();
  const bool is_gpu_node_known = find_node(nodes_, gpu_node_) != nullptr;
  if (is_gpu_node_known) {
    bind_cpu(gpu_node_, &placed);
  } else if (has_gpu_address_ && nodes_.size() > 1) {
    placed.notes.emplace_back("the machine does not report the GPU's node ('--numa all' shows the nearest)");
  }
  if (!placed.is_thread_bound) stay(&placed);
  bind_memory(placed.place.cpu_node, &placed);
  std::string cpus;
  if (const auto* node = find_node(nodes_, gpu_node_)) cpus = to_list_text(node->cpus);
  placed.place.advice =
      advise(placed.place, "let it use CPUs " + cpus + " (taskset, numactl, the container's CPU set)");
  return placed;
}

Placed Placement::on(const NodePair& nodes) {
  Placed placed = present();
  bind_cpu(nodes.cpu_node, &placed);
  bind_memory(nodes.memory_node, &placed);
  placed.place.advice = advise(placed.place, "'--numa " + std::to_string(gpu_node_) + "' is nearer to it");
  return placed;
}

bool Placement::move_to(int cpu, Placed* placed) {
  if (!placed->is_thread_bound) return false;
  const std::vector<int> near = placed->place.cpu_node < 0 ? allowed_ : usable_cpus(placed->place.cpu_node);
  if (std::find(near.begin(), near.end(), cpu) == near.end() || calls_.bind_thread({cpu}) < 0) return false;
  placed->place.cpu = cpu;
  return true;
}

void Placement::release() {
  if (!allowed_.empty()) (void)calls_.bind_thread(allowed_);
}

Placed Placement::keep() const {
  Placed placed = present();
  const std::string node = std::to_string(gpu_node_);
  placed.place.advice =
      advise(placed.place, "omit --no-bind, or start it with numactl --cpunodebind=" + node + " --membind=" + node);
  return placed;
}

}  // namespace gdrkit::platform
