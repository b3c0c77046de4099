// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/connections.hpp"

#include <gdrkit/gdrkit.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

#include "base/settings.hpp"
#include "platform/device/cuda_calls.hpp"
#include "shmem/bootstrap/star_exchange.hpp"
#include "shmem/bootstrap/star_wire.hpp"
#include "shmem/node/node_join.hpp"
#include "shmem/parts/job_node.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

/// Shared memory per PE of a node: its line, followed by its lines in teams.
constexpr std::size_t area_bytes_for_each = sizeof(PeLine) + sizeof(TeamLines);
static_assert(sizeof(PeLine) % alignof(TeamLine) == 0);

/// Data that the PEs exchange before they make heaps.
struct Offer {
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_max_bytes = 0;
  std::uint64_t device_bytes = 0;
  PeGpu gpu;
  std::int32_t is_emulated = 0;
  bootstrap::PeOutcome opened;  ///< of its device
};

base::Result<std::unique_ptr<bootstrap::Exchange>> make_exchange(const ConnectionOptions& options) noexcept {
  if (options.n_pes == 0) {
    auto environment = bootstrap::read_launch_environment();
    if (!environment) return base::pass(environment);
    return bootstrap::exchange_by_environment(*environment, options.limit);
  }
  if (auto fits = bootstrap::check_pe(options.pe, options.n_pes); !fits) return base::pass(fits);
  if (options.unique_id != nullptr) {
    return bootstrap::exchange_by_unique_id(*options.unique_id, options.pe, options.n_pes, options.limit);
  }
  if (options.allgather != nullptr) {
    return bootstrap::exchange_by_callback(options.allgather, options.allgather_argument, options.pe, options.n_pes);
  }
  if (options.n_pes == 1) return bootstrap::exchange_by_environment(bootstrap::LaunchEnvironment{}, options.limit);
  return base::fail(
      EINVAL,
      "cannot connect %d PEs: the options contain neither unique_id nor allgather; set one of them, or set "
      "n_pes to 0 and use a launcher",
      options.n_pes);
}

}  // namespace

int blocks_at_once(const std::vector<PeGpu>& gpus) noexcept {
  int blocks = std::numeric_limits<int>::max();
  for (const PeGpu& gpu : gpus) {
    if (gpu.multiprocessors <= 0) continue;
    const auto sharing = std::count_if(gpus.begin(), gpus.end(), [&](const PeGpu& other) {
      return std::memcmp(other.uuid, gpu.uuid, sizeof gpu.uuid) == 0;
    });
    blocks = std::min(blocks, std::max(1, gpu.multiprocessors / static_cast<int>(sharing)));
  }
  return blocks;
}

base::Result<std::unique_ptr<Connections>> Connections::start(const ConnectionOptions& options) {
  std::unique_ptr<Connections> made(new Connections());
  if (auto connected = made->connect(options); !connected) return base::pass(connected);
  return made;
}

base::Status Connections::connect(const ConnectionOptions& options) {
  limit_ms_.store(options.limit.count());
  reading_engine_ = options.reading_engine;
  auto exchange = make_exchange(options);
  if (!exchange) return base::pass(exchange);
  pe_ = (*exchange)->pe();
  n_pes_ = (*exchange)->n_pes();
  if (auto joined = join_node(**exchange, options); !joined) return joined;
  if (node_pes() != n_pes_ && options.ucx_calls == nullptr) remote::Remote::prepare();
  if (auto made = make_heap(**exchange, options); !made) return made;
  return make_transports();
}

base::Status Connections::join_node(bootstrap::Exchange& exchange, const ConnectionOptions& options) {
  auto rendezvous = bootstrap::Rendezvous::open(options.socket_directory);
  if (!rendezvous) return base::pass(rendezvous);
  auto machine = node::read_machine_name({options.host_id, !options.socket_directory.empty()});
  if (!machine) return base::pass(machine);
  if (options.is_p2p_disabled) {
    auto machines = exchange.gather(*machine, "comparing the nodes of the PEs");
    if (!machines) return base::pass(machines);
    const auto own = machines->begin() + pe_;
    local_index_ = static_cast<int>(std::count(machines->begin(), own, *machine));
    std::snprintf(machine->boot_id, sizeof machine->boot_id, "machine %d, apart", options.machine.value_or(pe_));
  }
  auto node = node::join_node(*machine, exchange, 0, options.limit, area_bytes_for_each, *rendezvous);
  if (!node) return base::pass(node);
  node_ = std::move(*node);
  if (!options.is_p2p_disabled) local_index_ = node_->index_of(pe_);
  return {};
}

namespace {

/// Returns EINVAL if GDRKIT_BACKEND has an unknown name. Another failure of the backend is not an error here: without
/// BAR1 the driver copies.
base::Status check_backend_name(const std::string& name) {
  gdrkit_open_options options{};
  options.struct_size = sizeof options;
  options.backend = name.c_str();
  gdrkit_context_t context{};
  const int opened = gdrkit_open(&options, &context);
  if (opened == -EINVAL) return base::fail(EINVAL, "%s", gdrkit_last_error());
  if (opened == 0) (void)gdrkit_close(context);
  return {};
}

}  // namespace

base::Status Connections::open_device(const ConnectionOptions& options) {
  const std::string backend = base::read_settings().backend;
  if (!backend.empty() && backend != "emulated") {
    if (base::Status known = check_backend_name(backend); !known) return known;
  }
  if (backend == "emulated") {
    auto count = platform::emulated_device_count();
    if (!count) return base::pass(count);
    auto opened = platform::open_emulated_device(options.device.value_or(local_index_ % *count));
    if (!opened) return base::pass(opened);
    device_ = std::move(*opened);
    return {};
  }
  auto calls = platform::cuda_calls();
  if (!calls) {
    return base::fail(calls.error().errno_value,
                      "%s; without a GPU use gdrkit run --emulated, or GDRKIT_BACKEND=emulated", calls.error().text());
  }
  cuda_ = *calls;
  auto count = platform::cuda_device_count(*cuda_);
  if (!count) return base::pass(count);
  if (*count == 0)
    return base::fail(
        ENODEV,
        "no GPU is visible to this process; without a GPU use gdrkit run --emulated, or GDRKIT_BACKEND=emulated");
  // Opening makes the device current here; the caller's thread keeps what it had.
  void* before = nullptr;
  (void)cuda_->ctx_get_current(&before);
  auto opened = platform::open_cuda_device(options.device.value_or(local_index_ % *count), *cuda_);
  (void)cuda_->ctx_set_current(before);
  if (!opened) return base::pass(opened);
  device_ = std::move(*opened);
  return {};
}

base::Status Connections::start_remote(bootstrap::Exchange& exchange, const ConnectionOptions& options) {
  remote::RemoteOptions remote_options;
  remote_options.device = device_.get();
  remote_options.node = node_.get();
  remote_options.limit_ms = &limit_ms_;
  remote_options.calls = options.ucx_calls;
  // `automatic` uses direct transfers only with a GPU; see transport/ucx.cpp.
  remote_options.is_direct = options.remote_way == transport::RemoteWay::direct ||
                             (options.remote_way == transport::RemoteWay::automatic && !device_->is_emulated());
  remote_options.silence = options.remote_silence;
  remote_options.heartbeat = options.remote_silence / 7;
  auto started = remote::Remote::start(exchange, remote_options);
  if (!started) {
    return base::fail_vendor(started.error().errno_value, started.error().vendor_code,
                             "cannot use UCX to connect to PEs on other nodes: %s", started.error().text());
  }
  remote_ = std::move(*started);
  remote_way_ = options.remote_way;
  node_ = std::make_unique<JobNode>(std::move(node_), *remote_);
  return {};
}

base::Status Connections::make_heap(bootstrap::Exchange& exchange, const ConnectionOptions& options) {
  Offer mine;
  mine.heap_bytes = options.heap_bytes;
  mine.heap_max_bytes = options.heap_max_bytes;
  auto opened = open_device(options);
  if (opened) {
    const platform::DeviceScope scope(*device_);
    mine.is_emulated = device_->is_emulated() ? 1 : 0;
    if (auto memory = device_->memory()) mine.device_bytes = memory->total_bytes;
    static_assert(sizeof mine.gpu.uuid == sizeof device_->identity().uuid);
    std::memcpy(mine.gpu.uuid, &device_->identity().uuid, sizeof mine.gpu.uuid);
    auto multiprocessors = device_->attribute(platform::DeviceAttribute::multiprocessor_count);
    if (multiprocessors && !device_->is_emulated()) mine.gpu.multiprocessors = *multiprocessors;
  } else {
    mine.opened = bootstrap::PeOutcome(opened);
  }
  auto offers = exchange.gather(mine, "comparing devices and heap sizes");
  if (!offers) return base::pass(offers);
  if (!opened) return opened;
  heap::HeapSizes sizes{mine.heap_bytes, mine.heap_max_bytes};
  std::uint64_t largest_device = 0;
  std::vector<PeGpu> gpus;
  for (int other = 0; other < n_pes_; ++other) {
    const Offer& offer = (*offers)[static_cast<std::size_t>(other)];
    if (offer.opened.errno_value != 0) {
      return bootstrap::fail_as(offer.opened, "PE " + std::to_string(other) + " cannot open its device");
    }
    if (offer.is_emulated != mine.is_emulated) {
      return base::fail(
          EPROTO,
          "PE %d uses the emulated device, but PE %d uses a GPU; set GDRKIT_BACKEND=emulated for all PEs or for none",
          mine.is_emulated != 0 ? pe_ : other, mine.is_emulated != 0 ? other : pe_);
    }
    if (offer.heap_bytes != mine.heap_bytes || offer.heap_max_bytes != mine.heap_max_bytes) {
      return base::fail(EPROTO,
                        "PE %d requests a heap of %" PRIu64 " bytes with a limit of %" PRIu64
                        " bytes, but PE %d requests %" PRIu64 " bytes with a limit of %" PRIu64
                        " bytes; request the same sizes on all PEs",
                        other, offer.heap_bytes, offer.heap_max_bytes, pe_, mine.heap_bytes, mine.heap_max_bytes);
    }
    largest_device = std::max(largest_device, offer.device_bytes);
    gpus.push_back(offer.gpu);
  }
  blocks_at_once_ = parts::blocks_at_once(gpus);
  if (sizes.max_bytes == 0) sizes.max_bytes = largest_device;
  team_memory_ = TeamMemory(n_pes_, sizes.max_bytes);
  sizes.reserved_bytes = heap::SymmetricHeap::zeroed_bytes + team_memory_.size_bytes();
  const platform::DeviceScope scope(*device_);
  if (auto current = scope.status(); !current) return current;
  if (node_pes() != n_pes_) {
    if (auto started = start_remote(exchange, options); !started) return started;
  }
  auto heap = heap::SymmetricHeap::create(*device_, *node_, pe_, sizes, cuda_);
  const bool is_stated = !options.host_id.empty() || !options.socket_directory.empty();
  if (!heap && heap.error().vendor_code != 0 && is_stated && node_pes() > 1) {
    return base::fail_vendor(
        heap.error().errno_value, heap.error().vendor_code,
        "%s; pass the GPUs of all PEs of this node to each container, or unset GDRKIT_SHMEM_HOSTID "
        "and GDRKIT_SHMEM_SOCKET_DIR",
        heap.error().text());
  }
  if (!heap) return base::pass(heap);
  heap_ = std::move(*heap);
  return {};
}

base::Status Connections::make_transports() {
  const platform::DeviceScope scope(*device_);
  if (auto current = scope.status(); !current) return current;
  // Load all GPU kernels that the library launches now. During a capture, or while GPU kernels wait for each other, it
  // would be too late.
  using platform::GpuKernel;
  auto loaded = platform::GpuKernels::load<GpuKernel::atomic, GpuKernel::collective, GpuKernel::stream_signal,
                                           GpuKernel::stream_value, GpuKernel::stream_wait>(*device_);
  if (!loaded) return base::pass(loaded);
  gpu_kernels_.emplace(std::move(*loaded));
  auto atomics = transport::Atomics::make(*device_, *gpu_kernels_);
  if (!atomics) return base::pass(atomics);
  atomics_ = std::move(*atomics);
  if (remote_ != nullptr) {
    auto own_heap = transport::OwnHeapMemory::make(*device_, *heap_, *atomics_);
    if (!own_heap) return base::pass(own_heap);
    own_heap_ = std::move(*own_heap);
  }
#define GDRKIT_SHMEM_TRANSPORT(name)              \
  {                                               \
    auto made = make_##name(transport_setting()); \
    if (!made) return base::pass(made);           \
    transports_.push_back(std::move(*made));      \
  }
#include "shmem/transport/transports.def"
#undef GDRKIT_SHMEM_TRANSPORT
  while (remote_transport_ < transports_.size() && !transports_[remote_transport_]->is_remote()) ++remote_transport_;
  if (remote_ != nullptr) {
    const auto bar1 = std::find_if(transports_.begin(), transports_.end(),
                                   [](const auto& one) { return std::string_view(one->name()) == "bar1"; });
    if (bar1 != transports_.end() && remote_way_ != transport::RemoteWay::copied) own_heap_->use(**bar1);
    remote_->open(*own_heap_);
  }
  return {};
}

transport::TransportSetting Connections::transport_setting() const noexcept {
  return {device_.get(), heap_.get(), node_pes(), remote_.get(), own_heap_.get(), remote_way_, reading_engine_.c_str()};
}

std::size_t Connections::slots() const noexcept {
  return static_cast<std::size_t>(node_pes() + (remote_ != nullptr ? n_pes_ : 0));
}

base::Status Connections::check_pe(int pe) const noexcept {
  if (pe >= 0 && pe < n_pes_) return {};
  // The usual mistake of a first program: it was started without a launcher.
  if (n_pes_ == 1) {
    return base::fail(EINVAL, "PE %d is out of range: the job has 1 PE; start more PEs with gdrkit run -n N -- program",
                      pe);
  }
  return base::fail(EINVAL, "PE %d is out of range: the job has %d PEs", pe, n_pes_);
}

base::Result<int> Connections::slot_of(int pe) const noexcept {
  if (pe < 0 || pe >= n_pes_) return base::pass(check_pe(pe));
  const int index = node_->index_of(pe);
  return index >= 0 ? index : node_pes() + pe;
}

base::Result<std::uint64_t> Connections::reach(const void* address, std::size_t size_bytes, int pe) const noexcept {
  auto peer_position = find(address, size_bytes, pe);
  if (!peer_position) return base::pass(peer_position);
  if (is_remote(peer_position->slot)) {
    return base::fail(
        EOPNOTSUPP,
        "cannot use PE %d's memory on a stream: the PE is on another node; use a function that has no stream argument",
        pe);
  }
  return heap_->address(peer_position->slot, peer_position->position.offset);
}

void Connections::announce_exit(int status) noexcept {
  constexpr std::uint64_t announced = std::uint64_t{1} << 32;
  line(node_->index_of(pe())).announced_exit.store(announced | static_cast<std::uint32_t>(status));
}

std::optional<int> Connections::announced_exit() const noexcept {
  for (int index = 0; index < node_pes(); ++index) {
    const std::uint64_t word = line(index).announced_exit.load();
    if (word != 0) return static_cast<int>(static_cast<std::uint32_t>(word));
  }
  return std::nullopt;
}

TeamLines& Connections::team_lines(int index) const noexcept {
  auto* const first = static_cast<char*>(node_->area()) + static_cast<std::size_t>(node_pes()) * sizeof(PeLine);
  return reinterpret_cast<TeamLines*>(first)[index];
}

void Connections::close() noexcept {
  if (remote_ != nullptr) remote_->close();
}

Connections::~Connections() {
  if (device_ == nullptr) return;
  const platform::DeviceScope scope(*device_);
  close();
  own_heap_.reset();
  atomics_.reset();
  gpu_kernels_.reset();
  transports_.clear();
  heap_.reset();
}

}  // namespace gdrkit::shmem_impl::parts
