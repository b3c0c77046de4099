// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/transport/atomics.hpp"

#include <new>
#include <utility>

#include "platform/gpu_code/atomic_params.hpp"

namespace gdrkit::shmem_impl::transport {
namespace {

using platform::AtomicUpdate;

/// In the order of gdrkit_shmem_atomic_operation, after fetch and set.
constexpr AtomicUpdate updates[] = {AtomicUpdate::add,     AtomicUpdate::swap,   AtomicUpdate::compare_swap,
                                    AtomicUpdate::bit_and, AtomicUpdate::bit_or, AtomicUpdate::bit_xor};
constexpr auto first_update = static_cast<std::size_t>(GDRKIT_SHMEM_ATOMIC_ADD);

}  // namespace

base::Result<std::unique_ptr<Atomics>> Atomics::make(platform::Device& device,
                                                     platform::GpuKernels& gpu_kernels) noexcept try {
  std::unique_ptr<Atomics> atomics(new Atomics(device, gpu_kernels));
  if (auto opened = atomics->open(); !opened) return base::pass(opened);
  return atomics;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while preparing atomic operations");
}

base::Status Atomics::open() noexcept {
  const platform::DeviceScope scope(device_);
  if (auto current = scope.status(); !current) return current;
  auto memory = device_.allocate(platform::AllocationKind::host, sizeof(std::uint64_t));
  if (!memory) return base::pass(memory);
  result_ = std::move(*memory);
  auto address = device_.device_address(reinterpret_cast<void*>(result_.address()));
  if (!address) return base::pass(address);
  result_address_ = *address;
  auto stream = device_.create_stream();
  if (!stream) return base::pass(stream);
  stream_ = *stream;
  return {};
}

Atomics::~Atomics() {
  const platform::DeviceScope scope(device_);
  if (stream_.handle != 0) {
    (void)device_.synchronize(stream_);
    (void)device_.destroy_stream(stream_);
  }
  (void)result_.free();
}

base::Status Atomics::run(std::uint64_t address, std::size_t size_bytes, gdrkit_shmem_atomic_operation operation,
                          std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched) noexcept {
  const platform::DeviceScope scope(device_);
  if (auto current = scope.status(); !current) return current;
  const std::lock_guard lock(mutex_);
  platform::AtomicParameters parameters{};
  parameters.target = address;
  parameters.operand = operand;
  parameters.compare = compare;
  parameters.fetched = fetched == nullptr ? 0 : result_address_;
  parameters.size_bytes = static_cast<std::uint32_t>(size_bytes);
  parameters.update = updates[static_cast<std::size_t>(operation) - first_update];
  if (auto launched = gpu_kernels_.launch(parameters, {1, 1}, stream_); !launched) return launched;
  is_pending_ = true;
  if (fetched == nullptr) return {};
  if (auto done = finish(); !done) return done;
  *fetched = *reinterpret_cast<volatile std::uint64_t*>(result_.address());
  return {};
}

base::Status Atomics::complete() noexcept {
  const std::lock_guard lock(mutex_);
  if (!is_pending_) return {};
  const platform::DeviceScope scope(device_);
  if (auto current = scope.status(); !current) return current;
  return finish();
}

base::Status Atomics::finish() noexcept {
  auto done = device_.synchronize(stream_);
  is_pending_ = !done;
  return done;
}

}  // namespace gdrkit::shmem_impl::transport
