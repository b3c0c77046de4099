// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/core/pe.hpp"

#include <algorithm>
#include <new>

namespace gdrkit::shmem_impl::core {

base::Result<std::unique_ptr<Pe>> Pe::start(const PeOptions& options) noexcept try {
  std::unique_ptr<Pe> pe(new Pe());
  if (auto connected = pe->connect(options); !connected) return base::pass(connected);
  if (options.leaves_device_current) {
    if (auto current = pe->device().make_current(); !current) return base::pass(current);
  }
  return pe;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while starting a PE");
}

base::Status Pe::connect(const PeOptions& options) {
  auto connections = parts::Connections::start(options);
  if (!connections) return base::pass(connections);
  connections_ = std::move(*connections);
  synchronization_.emplace(*connections_);
  platform::Device& device = connections_->device();
  const platform::DeviceScope scope(device);
  if (auto current = scope.status(); !current) return current;
  auto transfers = parts::Transfers::make(*connections_);
  if (!transfers) return base::pass(transfers);
  transfers_ = std::move(*transfers);
  auto gpu_code = parts::GpuCode::make(*connections_, *transfers_);
  if (!gpu_code) return base::pass(gpu_code);
  gpu_code_ = std::move(*gpu_code);
  waits_.emplace(*connections_, *transfers_);
  streams_.emplace(*connections_, *transfers_, *gpu_code_);
  auto collectives =
      collective::TeamCollectives::make({*connections_, *transfers_, *gpu_code_}, options.compares_stream_collectives);
  if (!collectives) return base::pass(collectives);
  collectives_ = std::move(*collectives);
  return synchronization_->sync_all("init");
}

base::Status Pe::finalize() noexcept {
  auto ended = barrier_all();
  connections_->node().leave();
  if (ended) synchronization_->wait_for_farewell();
  return ended;
}

Pe::~Pe() {
  if (connections_ == nullptr) return;
  const platform::DeviceScope scope(connections_->device());
  // GPU kernels on the application's streams may still use memory that is freed here. Their waits are bounded.
  (void)connections_->device().synchronize_all();
  collectives_.reset();
  streams_.reset();
  gpu_code_.reset();
  if (transfers_ != nullptr) transfers_->stop_proxy();
  connections_->close();
  transfers_.reset();
}

base::Status Pe::barrier_all() noexcept {
  if (auto done = transfers_->complete_all(); !done) return done;
  if (auto synchronized = synchronization_->sync_all("barrier_all"); !synchronized) return synchronized;
  // After the barrier, so that the other PEs do not time out if this PE reports an error of its GPU kernels.
  return check_gpu_waits();
}

base::Status Pe::quiet() noexcept {
  auto done = transfers_->complete_all();
  base::keep_first(done, check_gpu_waits());
  return done;
}

base::Status Pe::check_gpu_waits() noexcept {
  if (auto whole = collectives_->take_fault(); !whole) return whole;
  return gpu_code_->check_waits();
}

base::Status Pe::synchronize_stream(void* stream) noexcept {
  if (auto done = streams_->synchronize(stream); !done) return done;
  return check_gpu_waits();
}

base::Result<void*> Pe::allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept {
  constexpr std::size_t largest_alignment = heap::HeapSpace::slot_alignment;
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = synchronization_->agree(is_zeroed ? "calloc" : "malloc", parts::allocating, size_bytes, alignment);
      !agreed)
    return base::pass(agreed);
  if (size_bytes == 0) return base::fail(EINVAL, "cannot allocate 0 bytes of symmetric memory; pass at least 1 byte");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > largest_alignment) {
    return base::fail(EINVAL, "cannot allocate symmetric memory: invalid alignment %zu; use a power of two up to 1 GiB",
                      alignment);
  }
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return base::pass(current);
  auto offset =
      connections_->heap().allocate(size_bytes, std::max<std::size_t>(alignment, heap::BlockList::unit_bytes));
  if (!offset) return base::pass(offset);
  if (is_zeroed) {
    if (auto filled = connections_->device().fill(connections_->heap().own_address(*offset), 0, size_bytes); !filled)
      return base::pass(filled);
  }
  if (auto synchronized = barrier_all(); !synchronized) return base::pass(synchronized);
  return reinterpret_cast<void*>(connections_->heap().own_address(*offset));
}

base::Status Pe::free(void* address) noexcept {
  const std::lock_guard lock(collective_mutex_);
  // Puts to the memory complete before it can be reused.
  if (auto done = transfers_->complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - connections_->heap().own_address(0);
  if (auto agreed = synchronization_->agree("free", parts::freeing, offset, 0); !agreed) return agreed;
  return connections_->heap().free(reinterpret_cast<std::uint64_t>(address));
}

/// The PEs agree on everything that can differ or fail before they map memory, so that all PEs get the same offset.
base::Result<void*> Pe::register_symmetric(const void* address, std::size_t size_bytes) noexcept {
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = synchronization_->agree("buffer_register_symmetric", parts::registering, size_bytes, 0); !agreed)
    return base::pass(agreed);
  if (size_bytes == 0)
    return base::fail(EINVAL, "cannot register a symmetric buffer: the size is 0; pass at least 1 byte");
  const platform::DeviceScope scope(connections_->device());
  const auto word = reinterpret_cast<std::uint64_t>(address);
  auto memory = scope.status() ? connections_->heap().share(word, size_bytes)
                               : base::Result<heap::SharedMemory>(base::pass(scope.status()));
  const base::Status shared = base::status_of(memory);
  if (auto all = connections_->heap().settle(shared, "sharing a buffer"); !all) return base::pass(all);
  if (auto agreed = synchronization_->agree("buffer_register_symmetric (bytes of the whole allocation)", parts::sharing,
                                            memory->size_bytes, 0);
      !agreed) {
    return base::pass(agreed);
  }
  auto offset = connections_->heap().add_buffer(word, size_bytes, *memory);
  if (!offset) return base::pass(offset);
  // No PE may put to a buffer that its PE has not registered yet.
  if (auto synchronized = barrier_all(); !synchronized) return base::pass(synchronized);
  return reinterpret_cast<void*>(connections_->heap().own_address(*offset));
}

base::Status Pe::unregister_symmetric(const void* address) noexcept {
  const std::lock_guard lock(collective_mutex_);
  // Puts to the buffer complete before it is unmapped.
  if (auto done = transfers_->complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - connections_->heap().own_address(0);
  if (auto agreed = synchronization_->agree("buffer_unregister_symmetric", parts::unregistering, offset, 0); !agreed)
    return agreed;
  auto buffer = connections_->heap().find_buffer(offset);
  if (!buffer) return base::pass(buffer);
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  transfers_->forget(buffer->chunk);
  return connections_->heap().remove_buffer(offset);
}

}  // namespace gdrkit::shmem_impl::core
