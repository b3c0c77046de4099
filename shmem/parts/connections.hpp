// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Connections: a PE's GPU, its symmetric heap and its transports to the other PEs. They are set up once, at the start.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "shmem/bootstrap/exchange.hpp"
#include "shmem/heap/symmetric_heap.hpp"
#include "shmem/node/node.hpp"
#include "shmem/parts/pe_line.hpp"
#include "shmem/parts/team_memory.hpp"
#include "shmem/remote/remote.hpp"
#include "shmem/transport/atomics.hpp"
#include "shmem/transport/own_heap_memory.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::parts {

struct ConnectionOptions {
  int n_pes = 0;  ///< 0: read n_pes and pe from the environment
  int pe = 0;
  std::optional<int> device;
  std::chrono::milliseconds limit{0};  ///< timeout of collectives and waits
  const bootstrap::UniqueId* unique_id = nullptr;
  bootstrap::AllgatherFunction allgather = nullptr;
  void* allgather_argument = nullptr;
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_max_bytes = 0;  ///< 0: the memory size of the largest GPU
  bool is_p2p_disabled = false;      ///< treat every other PE as a PE of another node; all PEs must pass the same
  std::optional<int> machine;        ///< with is_p2p_disabled: PEs with the same number are on one node
  std::string host_id;               ///< as in StatedMachine
  std::string socket_directory;      ///< for the Rendezvous; "": abstract socket names
  transport::RemoteWay remote_way = transport::RemoteWay::automatic;
  std::string reading_engine;                     ///< as in TransportSetting
  const platform::UcxCalls* ucx_calls = nullptr;  ///< nullptr: load the installed UCX when it is needed
  std::chrono::milliseconds remote_silence{
      7000};  ///< a PE of another node that sends nothing for this time counts as dead
};

/// A PE's GPU.
struct PeGpu {
  unsigned char uuid[16] = {};
  std::int32_t multiprocessors = 0;  ///< 0: unknown, as of the emulated device
};
/// Returns how many blocks each PE may launch so that the blocks of all PEs run at the same time on idle GPUs, with one
/// block per multiprocessor. Blocks of different PEs wait for each other, so a block that cannot start stops the others
/// until their limit. PEs in different processes share a GPU in time slices, unless MPS runs them together.
[[nodiscard]] int blocks_at_once(const std::vector<PeGpu>& gpus) noexcept;

/// A position in the heap of a PE.
struct PeerPosition {
  int slot = 0;  ///< the PE's number in the transports
  heap::HeapPosition position;
};

/// Thread-safe, except start and close. Returned references are valid as long as this object.
class Connections {
 public:
  using Transports = std::vector<std::unique_ptr<transport::Transport>>;

  /// Collective.
  [[nodiscard]] static base::Result<std::unique_ptr<Connections>> start(const ConnectionOptions& options);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  /// Ends the connections to other nodes.
  void close() noexcept;

  [[nodiscard]] int pe() const noexcept { return pe_; }
  [[nodiscard]] int n_pes() const noexcept { return n_pes_; }
  [[nodiscard]] int node_pes() const noexcept { return static_cast<int>(node_->pes().size()); }
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return std::chrono::milliseconds(limit_ms_.load()); }
  void set_limit(std::chrono::milliseconds limit) noexcept { limit_ms_.store(limit.count()); }

  [[nodiscard]] platform::Device& device() const noexcept { return *device_; }
  /// Calls `call` while the device is current, and returns its result.
  template <class Call>
  auto with_device(Call call) const noexcept -> decltype(call()) {
    const platform::DeviceScope scope(*device_);
    if (auto current = scope.status(); !current) return base::pass(current);
    return call();
  }
  /// Returns nullptr on the emulated device.
  [[nodiscard]] const platform::CudaCalls* cuda() const noexcept { return cuda_; }
  [[nodiscard]] platform::GpuKernels& gpu_kernels() noexcept { return *gpu_kernels_; }
  [[nodiscard]] transport::Atomics& atomics() const noexcept { return *atomics_; }
  [[nodiscard]] node::Node& node() const noexcept { return *node_; }
  [[nodiscard]] heap::SymmetricHeap& heap() const noexcept { return *heap_; }
  /// Returns nullptr if all PEs are on this node.
  [[nodiscard]] remote::Remote* remote() const noexcept { return remote_.get(); }

  [[nodiscard]] const Transports& transports() const noexcept { return transports_; }
  /// Returns the first transport that can serve `slot`. Earlier transports serve only PEs of this node.
  [[nodiscard]] std::size_t first_transport(int slot) const noexcept { return is_remote(slot) ? remote_transport_ : 0; }
  /// Returns the arguments of transport constructors.
  [[nodiscard]] transport::TransportSetting transport_setting() const noexcept;
  /// Returns the number of slots: one for each PE of this node and, if the job has other nodes, one more for each PE of
  /// the job.
  [[nodiscard]] std::size_t slots() const noexcept;
  /// Fails with EINVAL if `pe` is out of range.
  base::Status check_pe(int pe) const noexcept;
  /// Fails like check_pe.
  [[nodiscard]] base::Result<int> slot_of(int pe) const noexcept;
  [[nodiscard]] bool is_remote(int slot) const noexcept { return slot >= node_pes(); }
  /// Returns the position in `pe`'s heap that corresponds to `address` in this PE's heap. Fails with EINVAL if
  /// [address, address + size_bytes) is not in one allocation.
  [[nodiscard]] base::Result<PeerPosition> find(const void* address, std::size_t size_bytes, int pe) const noexcept {
    const auto slot = slot_of(pe);
    if (!slot) return base::pass(slot);
    const auto position = heap_->find(address, size_bytes);
    if (!position) return base::pass(position);
    return PeerPosition{*slot, *position};
  }
  /// Returns the address at which this PE's GPU accesses that position. Fails with EOPNOTSUPP if the GPU cannot access
  /// it.
  [[nodiscard]] base::Result<std::uint64_t> reach(const void* address, std::size_t size_bytes, int pe) const noexcept;
  [[nodiscard]] base::Result<void*> pointer(const void* address, int pe) const noexcept {
    auto at = reach(address, 1, pe);
    if (!at) return base::pass(at);
    return reinterpret_cast<void*>(*at);
  }

  // Memory that the PEs of this node share. `index` is a PE's position in the node.
  /// Announces that this PE ends the whole job with that status.
  void announce_exit(int status) noexcept;
  /// Returns the status that a PE of this node announced, if any.
  [[nodiscard]] std::optional<int> announced_exit() const noexcept;
  [[nodiscard]] PeLine& line(int index) const noexcept { return static_cast<PeLine*>(node_->area())[index]; }
  [[nodiscard]] TeamLines& team_lines(int index) const noexcept;
  [[nodiscard]] const TeamMemory& team_memory() const noexcept { return team_memory_; }
  /// Returns how many blocks each PE of the job may launch so that those of all PEs run at the same time.
  [[nodiscard]] int blocks_at_once() const noexcept { return blocks_at_once_; }
  /// Returns the address of the teams' part of this PE's heap.
  [[nodiscard]] std::uint64_t teams_address() const noexcept {
    return heap_->own_address(heap::SymmetricHeap::zeroed_bytes);
  }

 private:
  Connections() noexcept = default;
  base::Status connect(const ConnectionOptions& options);
  base::Status join_node(bootstrap::Exchange& exchange, const ConnectionOptions& options);
  base::Status open_device(const ConnectionOptions& options);
  base::Status start_remote(bootstrap::Exchange& exchange, const ConnectionOptions& options);
  base::Status make_heap(bootstrap::Exchange& exchange, const ConnectionOptions& options);
  base::Status make_transports();

  int pe_ = 0;
  int n_pes_ = 1;
  int local_index_ = 0;  // position among the PEs of this machine; it selects the device
  std::atomic<std::int64_t> limit_ms_{0};
  const platform::CudaCalls* cuda_ = nullptr;
  transport::RemoteWay remote_way_ = transport::RemoteWay::automatic;
  std::string reading_engine_;
  TeamMemory team_memory_;
  int blocks_at_once_ = 1;
  std::size_t remote_transport_ = 0;
  // Members are destroyed in reverse order.
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<remote::Remote> remote_;
  std::unique_ptr<heap::SymmetricHeap> heap_;
  Transports transports_;
  std::optional<platform::GpuKernels> gpu_kernels_;
  std::unique_ptr<transport::Atomics> atomics_;
  std::unique_ptr<transport::OwnHeapMemory> own_heap_;
};

}  // namespace gdrkit::shmem_impl::parts
