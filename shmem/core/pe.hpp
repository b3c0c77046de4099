// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pe: one processing element: its GPU, its heap, the ways to the others, and everything that it can do to them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "shmem/bootstrap/exchange.hpp"
#include "shmem/core/collectives.hpp"
#include "shmem/core/local_buffers.hpp"
#include "shmem/core/pe_line.hpp"
#include "shmem/core/pe_proxy.hpp"
#include "shmem/core/put_order.hpp"
#include "shmem/core/team_line.hpp"
#include "shmem/core/team_memory.hpp"
#include "shmem/heap/symmetric_heap.hpp"
#include "shmem/node/node.hpp"
#include "shmem/proxy/proxy.hpp"
#include "shmem/remote/remote.hpp"
#include "shmem/stream/stream_control.hpp"
#include "shmem/stream/stream_work.hpp"
#include "shmem/transport/atomics.hpp"
#include "shmem/transport/home_memory.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::core {

struct PeOptions {
  int n_pes = 0;  ///< 0: the environment says it and `pe`
  int pe = 0;
  std::optional<int> device;
  std::chrono::milliseconds limit{0};  ///< of collectives and waits
  const bootstrap::UniqueId* unique_id = nullptr;
  bootstrap::AllgatherFunction allgather = nullptr;
  void* allgather_argument = nullptr;
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_max_bytes = 0;  ///< 0: the largest GPU's memory
  bool compares_stream_collectives = false;
  bool is_p2p_disabled = false;  ///< every other PE counts as one of another machine; the same on all PEs
  std::optional<int> machine;    ///< with is_p2p_disabled: PEs with the same number count as of one machine
  std::string host_id;           ///< as in StatedMachine
  std::string socket_folder;     ///< of the MeetingPlace; "": abstract names
  transport::RemoteWay remote_way = transport::RemoteWay::automatic;
  std::string reading_engine;                      ///< as in TransportSetting
  const platform::UcxCalls* ucx_calls = nullptr;   ///< nullptr: the machine's, loaded where it is needed
  std::chrono::milliseconds remote_silence{7000};  ///< after which a PE of another machine is dead
};

enum class Comparison : std::uint8_t { equal, not_equal, greater, less_equal, less, greater_equal };
enum class SignalOperation : std::uint8_t { set, add };

/// A word of 4 or 8 bytes in the own heap, and how it is compared.
struct Word {
  const void* address = nullptr;
  std::size_t size_bytes = 8;
  bool is_signed = false;
};

/// Words that follow each other, and what is asked of each.
struct Words {
  Word first;
  std::size_t count = 0;
  Comparison comparison = Comparison::equal;
  const std::uint64_t* values = nullptr;
  std::size_t value_count = 0;  ///< 1, or `count`
  const int* left_out = nullptr;
};

/// Thread-safe but for start and finalize, as gdrkit/shmem.h says of its functions; collective functions by one
/// thread of each PE.
class Pe {
 public:
  /// Collective.
  [[nodiscard]] static base::Result<std::unique_ptr<Pe>> start(const PeOptions& options) noexcept;
  ~Pe();
  /// Collective: waits for all PEs. The rest is the destructor's.
  base::Status finalize() noexcept;

  [[nodiscard]] int pe() const noexcept { return pe_; }
  [[nodiscard]] int n_pes() const noexcept { return n_pes_; }
  [[nodiscard]] int node_pes() const noexcept { return static_cast<int>(node_->pes().size()); }
  [[nodiscard]] const heap::SymmetricHeap& heap() const noexcept { return *heap_; }
  [[nodiscard]] const platform::Device& device() const noexcept { return *device_; }
  [[nodiscard]] platform::Device& own_device() noexcept { return *device_; }
  [[nodiscard]] node::Node& node() const noexcept { return *node_; }
  [[nodiscard]] platform::GpuKernels& gpu_kernels() noexcept { return *gpu_kernels_; }
  [[nodiscard]] Collectives& collectives() const noexcept { return *collectives_; }
  [[nodiscard]] const TeamMemory& team_memory() const noexcept { return team_memory_; }
  /// What the PE at that position of the node says in its teams.
  [[nodiscard]] TeamLines& team_lines(int index) const noexcept;
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return std::chrono::milliseconds(limit_ms_.load()); }
  /// Between its own transports and others': for tests of transports.
  [[nodiscard]] transport::TransportSetting transport_setting() const noexcept;
  /// In transports' numbering.
  [[nodiscard]] base::Result<int> slot_of(int pe) const noexcept;
  /// nullptr: all PEs are on this machine.
  [[nodiscard]] remote::Remote* remote() const noexcept { return remote_.get(); }
  /// What GPU kernels on this PE's GPU need to know of it.
  [[nodiscard]] gdrkit_shmem_device_state device_state() const noexcept;
  /// From now on another PE's end also ends the waits of this PE's GPU kernels, and they reach PEs of other machines:
  /// call it before any may do so.
  base::Status watch_for_gpu_kernels() noexcept;
  /// Calls it with the state and the GPU current. Nothing to do on the emulated device.
  base::Status fill_state(gdrkit_shmem_fill_state_t fill) noexcept;
  /// A CUmodule: its symbol gdrkit_shmem_state gets the state.
  base::Status initialise_module(void* module) noexcept;
  /// A CUfunction: how many of its blocks run at once, and a launch of blocks that do.
  [[nodiscard]] base::Result<int> cooperative_blocks(void* function, unsigned threads,
                                                     std::size_t shared_bytes) noexcept;
  base::Status launch_cooperative(void* function, const platform::CooperativeShape& shape, void* stream,
                                  void** parameters) noexcept;
  /// Local buffers of the application's. EEXIST: it overlaps one.
  base::Status register_buffer(const void* address, std::size_t size_bytes) noexcept;
  base::Status unregister_buffer(const void* address) noexcept;
  void unregister_all_buffers() noexcept { buffers_.clear(); }
  /// Collective: makes memory of the application's symmetric; the answer is its address in the heap's range.
  [[nodiscard]] base::Result<void*> register_symmetric(const void* address, std::size_t size_bytes) noexcept;
  base::Status unregister_symmetric(const void* address) noexcept;
  /// A line for each transport: what it carries to and from that PE, or why nothing.
  [[nodiscard]] base::Result<std::string> describe(int pe) noexcept;
  void set_limit(std::chrono::milliseconds limit) noexcept { limit_ms_.store(limit.count()); }

  [[nodiscard]] base::Result<void*> allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept;
  base::Status free(void* address) noexcept;
  /// EOPNOTSUPP: this process's GPU does not reach that PE's memory.
  [[nodiscard]] base::Result<void*> pointer(const void* address, int pe) const noexcept;

  base::Status put(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept;
  base::Status get(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept;
  base::Status signal(void* word, std::uint64_t value, SignalOperation operation, int pe) noexcept;
  base::Status put_signal(void* target, const void* source, std::size_t size_bytes, void* word, std::uint64_t value,
                          SignalOperation operation, int pe, bool is_async) noexcept;
  /// `fetched`: nullptr where the answer is not wanted; with `is_async` it may come as late as in quiet.
  base::Status atomic(void* target, std::size_t size_bytes, transport::AtomicOperation operation, std::uint64_t operand,
                      std::uint64_t compare, std::uint64_t* fetched, int pe, bool is_async = false) noexcept;

  [[nodiscard]] base::Result<std::uint64_t> load(const Word& word) noexcept;
  [[nodiscard]] base::Result<bool> test(const Word& word, Comparison comparison, std::uint64_t value) noexcept;
  /// Answers what the word held.
  [[nodiscard]] base::Result<std::uint64_t> wait_until(const Word& word, Comparison comparison,
                                                       std::uint64_t value) noexcept;

  /// Each has compared as asked at some time.
  base::Status wait_until_all(const Words& words) noexcept;
  /// Which words do, in rising order: at least one, unless all are left out.
  [[nodiscard]] base::Result<std::vector<std::size_t>> wait_until_some(const Words& words) noexcept;
  [[nodiscard]] base::Result<std::vector<std::size_t>> test_some(const Words& words) noexcept;

  void fence() noexcept { order_.fence(); }
  /// Also tells of waits of GPU kernels that gave up, once: ETIMEDOUT, or ECONNRESET where a PE has ended.
  base::Status quiet() noexcept;
  /// What this PE's CPU put to and wants from that PE is there.
  base::Status complete_to(int pe) noexcept;
  // The two parts of quiet, for those who meet between them.
  base::Status complete_all() noexcept;
  base::Status check_gpu_waits() noexcept;

  // Work of a stream of this PE's GPU (a CUstream; nullptr: the default stream): added, not waited for.

  /// `signal.address` 0: no signal.
  base::Status put_on_stream(void* target, const void* source, std::size_t size_bytes, int pe,
                             const platform::StreamSignal& signal, void* stream) noexcept;
  /// Reads `value` during the call.
  base::Status put_value_on_stream(void* target, const void* value, std::size_t size_bytes, int pe,
                                   void* stream) noexcept;
  base::Status get_on_stream(void* target, const void* source, std::size_t size_bytes, int pe, void* stream) noexcept;
  base::Status put_signal_on_stream(void* target, const void* source, std::size_t size_bytes, void* word,
                                    std::uint64_t value, SignalOperation operation, int pe, void* stream) noexcept;
  base::Status signal_on_stream(void* word, std::uint64_t value, SignalOperation operation, int pe,
                                void* stream) noexcept;
  base::Status wait_on_stream(const Word& word, Comparison comparison, std::uint64_t value, void* stream) noexcept;
  base::Status quiet_on_stream(void* stream) noexcept;
  [[nodiscard]] base::Result<void*> create_stream() noexcept;
  base::Status destroy_stream(void* stream) noexcept;
  /// Waits for it, and tells of waits that gave up as quiet() does.
  base::Status synchronize_stream(void* stream) noexcept;

  base::Status sync_all(const char* what = "sync_all") noexcept;
  base::Status barrier_all() noexcept;

 private:
  /// Another PE's place for a transfer.
  struct RemoteRange {
    int slot = 0;
    heap::HeapRange range;
  };

  Pe() noexcept = default;
  base::Status connect(const PeOptions& options);
  base::Status open_device(const PeOptions& options);
  base::Status make_heap(bootstrap::Exchange& exchange, const PeOptions& options);
  base::Status make_transports();
  base::Status join_machine(bootstrap::Exchange& exchange, const PeOptions& options, std::size_t area_bytes_for_each);
  base::Status start_remote(bootstrap::Exchange& exchange, const PeOptions& options);
  base::Status make_proxy();

  [[nodiscard]] bool is_remote(int slot) const noexcept { return slot >= node_pes(); }
  [[nodiscard]] std::size_t first_transport(int slot) const noexcept { return is_remote(slot) ? remote_transport_ : 0; }
  [[nodiscard]] base::Result<RemoteRange> find_remote(const void* address, std::size_t size_bytes,
                                                      int pe) const noexcept;
  /// Where this PE's GPU reaches that PE's copy of [address, address + size_bytes).
  [[nodiscard]] base::Result<std::uint64_t> reach(const void* address, std::size_t size_bytes, int pe) const noexcept;
  [[nodiscard]] base::Result<platform::StreamSignal> stream_signal(const void* word, std::uint64_t value,
                                                                   SignalOperation operation, int pe) const noexcept;
  [[nodiscard]] bool is_beyond_gpu(int pe) const noexcept;
  /// For work of a stream to a PE that this GPU does not reach: waits for the stream's earlier work, then does it, so
  /// that it is done before the call returns.
  template <class Call>
  base::Status by_cpu_in_order(const void* address, std::size_t size_bytes, int pe, void* stream, Call call) noexcept;
  /// EINVAL for a range that leaves its allocation in the own heap.
  [[nodiscard]] base::Result<transport::LocalMemory> memory_of(const void* address,
                                                               std::size_t size_bytes) const noexcept;
  /// Like put, but answers which transport took it.
  [[nodiscard]] base::Result<std::size_t> put_by(int slot, const heap::HeapRange& range, const void* source,
                                                 std::size_t size_bytes, bool is_async) noexcept;
  base::Status store_word(const RemoteRange& remote, std::uint64_t value, std::size_t size_bytes,
                          std::optional<std::size_t> transport) noexcept;
  base::Status complete(int slot) noexcept;

  /// Synchronises all PEs of all machines.
  [[nodiscard]] base::Result<AgreedCalls> sync_machines(const char* what, const AgreedCall& call,
                                                        std::chrono::milliseconds limit) noexcept;
  void say_farewell() noexcept;
  [[nodiscard]] static base::Status compare_calls(const char* what, const AgreedCalls& calls) noexcept;
  /// EPROTO when the PEs' operations or arguments differ. Ends with all PEs having compared.
  base::Status agree(const char* what, std::uint64_t operation, std::uint64_t first, std::uint64_t second) noexcept;
  [[nodiscard]] PeLine& line(std::size_t index) const noexcept { return static_cast<PeLine*>(node_->area())[index]; }

  int pe_ = 0;
  int n_pes_ = 1;
  int own_slot_ = 0;
  int local_index_ = 0;  // among the PEs of this machine, for the choice of a device
  std::atomic<std::int64_t> limit_ms_{0};
  const platform::CudaCalls* cuda_ = nullptr;  // nullptr on the emulated device
  // Destroyed from the last to the first.
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<remote::Remote> remote_;
  std::unique_ptr<heap::SymmetricHeap> heap_;
  std::vector<std::unique_ptr<transport::Transport>> transports_;
  std::optional<platform::GpuKernels> gpu_kernels_;
  std::unique_ptr<transport::Atomics> atomics_;
  std::unique_ptr<stream::StreamControl> control_;
  std::optional<stream::StreamWork> stream_work_;
  TeamMemory team_memory_;
  std::unique_ptr<Collectives> collectives_;
  std::size_t remote_transport_ = 0;  // those before serve PEs of this machine
  transport::RemoteWay remote_way_ = transport::RemoteWay::automatic;
  std::string reading_engine_;
  std::unique_ptr<transport::HomeMemory> home_;
  PeProxyWork proxy_work_{*this};
  std::unique_ptr<proxy::Proxy> proxy_;  // nullptr: all PEs are on this machine
  PutOrder order_;
  LocalBuffers buffers_;
  std::mutex collective_mutex_;
};

}  // namespace gdrkit::shmem_impl::core
