// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE does for GPU code and buffers of the application's.
#include <cinttypes>

#include "platform/device/cuda_calls.hpp"
#include "platform/device/device_scope.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

base::Status Pe::watch_for_gpu_kernels() noexcept {
  if (auto watched = control_->watch(); !watched) return watched;
  return proxy_ != nullptr ? proxy_->serve() : base::Status();
}

base::Status Pe::fill_state(gdrkit_shmem_fill_state_t fill) noexcept {
  if (connections_->device().is_emulated()) return {};
  if (auto watched = watch_for_gpu_kernels(); !watched) return watched;
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  const gdrkit_shmem_device_state state = device_state();
  if (const int failed = fill(&state); failed != 0) {
    return base::fail_vendor(EIO, failed,
                             "giving PE %d's state to a translation unit's GPU code failed with %d: is its GPU code "
                             "built for this GPU?",
                             connections_->pe(), failed);
  }
  return {};
}

base::Status Pe::initialise_module(void* module) noexcept {
  if (module == nullptr) return base::fail_literal(EINVAL, "the module is NULL");
  if (auto watched = watch_for_gpu_kernels(); !watched) return watched;
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  const gdrkit_shmem_device_state state = device_state();
  auto symbol = connections_->device().get_symbol({reinterpret_cast<std::uint64_t>(module)}, "gdrkit_shmem_state");
  if (!symbol) {
    const base::Error& error = symbol.error();
    return base::fail_vendor(error.errno_value, error.vendor_code,
                             "%s: compile the module with GDRKIT_SHMEM_MODULE defined (gdrkit/shmem_state.cuh)",
                             error.text());
  }
  if (symbol->size_bytes != sizeof state) {
    return base::fail(EPROTO, "the module's gdrkit_shmem_state has %zu bytes, this library's %zu: compile it anew",
                      symbol->size_bytes, sizeof state);
  }
  return connections_->device().copy_to_device(symbol->address, &state, sizeof state);
}

base::Result<int> Pe::cooperative_blocks(void* function, unsigned threads, std::size_t shared_bytes) noexcept {
  if (function == nullptr || threads == 0) return base::fail_literal(EINVAL, "a launch needs a function and threads");
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return base::pass(current);
  return connections_->device().cooperative_blocks({reinterpret_cast<std::uint64_t>(function)}, threads, shared_bytes);
}

base::Status Pe::launch_cooperative(void* function, const platform::CooperativeShape& shape, void* stream,
                                    void** parameters) noexcept {
  const unsigned threads = shape.block[0] * shape.block[1] * shape.block[2];
  const std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  auto most = cooperative_blocks(function, threads, shape.shared_bytes);
  if (!most) return base::pass(most);
  if (blocks == 0 || blocks > static_cast<std::uint64_t>(*most)) {
    return base::fail(EINVAL,
                      "%" PRIu64
                      " blocks of %u threads and %u bytes of shared memory do not run at once: PE %d's GPU "
                      "takes 1 to %d",
                      blocks, threads, shape.shared_bytes, connections_->pe(), *most);
  }
  if (auto watched = watch_for_gpu_kernels(); !watched) return watched;
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  return connections_->device().launch_cooperative({reinterpret_cast<std::uint64_t>(function)}, shape,
                                                   {reinterpret_cast<std::uint64_t>(stream)}, parameters);
}

base::Status Pe::register_buffer(const void* address, std::size_t size_bytes) noexcept {
  if (connections_->heap().contains(address)) {
    return base::fail(EINVAL, "%p is in the symmetric heap, which needs no registration", address);
  }
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  auto memory = memory_of(address, size_bytes);
  if (!memory) return base::pass(memory);
  const auto word = reinterpret_cast<std::uint64_t>(address);
  if (*memory == transport::LocalMemory::device) {
    // Transfers trust what is registered: nothing beyond its end, and no other GPU's memory.
    std::uint64_t start = 0;
    std::size_t extent = 0;
    if (const int got = connections_->cuda()->mem_get_address_range(&start, &extent, word); got != 0) {
      return base::fail_vendor(EINVAL, got, "cuMemGetAddressRange of %p: %s", address, platform::cuda_result_name(got));
    }
    const std::uint64_t offset = word - start;
    if (offset > extent || size_bytes > extent - offset) {
      return base::fail(EINVAL, "%p + %zu bytes leaves its allocation of %zu bytes", address, size_bytes, extent);
    }
    int ordinal = -1;
    int attribute = platform::cuda_pointer_attribute_device_ordinal;
    void* values[] = {&ordinal};
    (void)connections_->cuda()->pointer_get_attributes(1, &attribute, values, word);
    if (ordinal != connections_->device().identity().ordinal) {
      return base::fail(EINVAL, "%p is memory of GPU %d, PE %d has GPU %d", address, ordinal, connections_->pe(),
                        connections_->device().identity().ordinal);
    }
  }
  return buffers_.add(word, size_bytes, *memory);
}

base::Status Pe::unregister_buffer(const void* address) noexcept {
  return buffers_.remove(reinterpret_cast<std::uint64_t>(address));
}

}  // namespace gdrkit::shmem_impl::core
